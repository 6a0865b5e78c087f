/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step of an engine's start, decoded from a record of the BPF program. Pure: the same records
 * give the same steps. Texts are untrusted (any bytes but NUL), never NULL, and valid until the
 * next call of the decoder.
 */
#ifndef DAVY_START_STEP_H
#define DAVY_START_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum davy_start_step_kind {
	DAVY_STEP_NONE = 0,
	DAVY_STEP_FORK,	      /* other: the child */
	DAVY_STEP_EXEC,	      /* path, other: the parent, argv, envp */
	DAVY_STEP_EXIT,	      /* code: as from wait(2) */
	DAVY_STEP_OPEN,	      /* path, code: descriptor or -errno */
	DAVY_STEP_MAP,	      /* path: the file's own name, code: 0 or -errno */
	DAVY_STEP_CALL,	      /* function, path: its text, size: its second argument */
	DAVY_STEP_RETURN,     /* function, result, count, duration */
	DAVY_STEP_LINK_ERROR, /* path: the object, text: the dynamic linker's message */
	DAVY_STEP_SIGNAL, /* code: signal, other: sender or 0 for the kernel, path: sender's comm */
	DAVY_STEP_LOADED, /* the opened file is mapped */
	DAVY_STEP_KIND_COUNT,
};

struct davy_start_step {
	enum davy_start_step_kind kind;
	uint64_t at_ns; /* CLOCK_BOOTTIME */
	uint32_t pid;
	uint32_t tid;
	uint32_t other;
	int32_t code;
	uint32_t function; /* index into davy_functions */
	uint32_t count;
	uint64_t result;
	uint64_t size;
	uint64_t duration_ns;
	uint64_t address;   /* CALL: return address */
	uint64_t vma_begin; /* CALL: start of the mapping with the return address; 0: unknown */
	uint64_t vma_end;
	uint64_t vma_page;
	uint64_t inode; /* OPEN, MAP: kernel's identity of the file */
	uint32_t device;
	bool delayed; /* the thread waits for us */
	bool fresh;   /* EXEC, OPEN: first sight of its file */
	bool cut;     /* EXEC: arguments or environment are truncated */
	const char *path;
	const char *text;
	const char *argv; /* consecutive null-terminated texts */
	size_t argv_size;
	const char *envp;
	size_t envp_size;
};

const char *davy_step_kind_name(enum davy_start_step_kind kind);

/* Iterates over null-terminated texts; NULL after the last. "at" NULL: the first. */
const char *davy_step_next_text(const char *texts, size_t size, const char *at);

/* The value of an environment variable; NULL: not set. */
const char *davy_step_variable(const struct davy_start_step *step, const char *name);

/* Whether a variable ("NAME=value") affects how GPUs are found. */
bool davy_step_variable_matters(const char *variable);

/* Last component of a path. */
const char *davy_step_base(const char *path);

/* Whether the last component is a shared library's name ("libx.so", "libx.so.1"). */
bool davy_step_is_library(const char *path);

/* Whether it is a GPU's device node. */
bool davy_step_is_node(const char *path);

struct davy_decoder;

int davy_decoder_new(struct davy_decoder **ret_decoder);
void davy_decoder_free(struct davy_decoder *d);

/* 1: a step; 0: part of a step; -EBADMSG: not a valid record. */
int davy_decoder_feed(struct davy_decoder *d, const void *record, size_t size,
		      struct davy_start_step *ret_step);

#endif

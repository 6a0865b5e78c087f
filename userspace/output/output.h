/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration files made from rules of the backend policy, for engines that davylamp does not
 * start. Only text: generated.h writes the files. Model names are untrusted: a name that a format
 * cannot represent is refused; a setting that it cannot represent is noted. To add a format: a file
 * with its "write", and a row in formats.c.
 */
#ifndef DAVY_OUTPUT_H
#define DAVY_OUTPUT_H

#include <stdio.h>

#include "policy/applied.h"
#include "store/generated.h"

#define DAVY_OUTPUT_NOTES_MAX 32
#define DAVY_OUTPUT_NOTE_LEN  256

struct davy_output_model {
	const char *name; /* as the engine calls it */
	const char *path; /* path of its file; NULL: unknown */
};

struct davy_output_request {
	struct davy_policy_set set;
	struct davy_policy_subject subject; /* the device; engine and model are filled in */
	enum davy_engine engine;	    /* engine of an environment; NONE: llama-server */
	const char *server;		    /* the program that llama-swap starts */
	const char *container;		    /* name of a service or container; NULL: the engine's */
	const struct davy_output_model *models;
	size_t model_count;
};

struct davy_output_result {
	char *body;	   /* whole lines; the caller frees it */
	size_t note_count; /* settings of the rules that the text does not contain */
	char note[DAVY_OUTPUT_NOTES_MAX][DAVY_OUTPUT_NOTE_LEN];
	char why[DAVY_OUTPUT_NOTE_LEN]; /* reason of a refusal */
};

struct davy_output_format {
	const char *name;
	const char *what; /* description for users */
	enum davy_generated_style style;
	bool one_model; /* exactly one model is required */
	bool no_model;
	int (*write)(const struct davy_output_request *r, FILE *out,
		     struct davy_output_result *result);
};

/* NULL beyond the last format. */
const struct davy_output_format *davy_output_format(size_t index);
const struct davy_output_format *davy_output_format_named(const char *name);

/* 0; -EINVAL: refused, see "why"; -ENOMEM. The caller frees result->body. */
int davy_output_make(const struct davy_output_format *format,
		     const struct davy_output_request *request,
		     struct davy_output_result *ret_result);

/* For the files of the formats. */
void davy_output_note(struct davy_output_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int davy_output_refuse(struct davy_output_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes one comment line: the rule that sets "what". */
void davy_output_origin(FILE *out, const char *what, const struct davy_policy_origin *origin);
/*
 * True if "text" is printable UTF-8 without control bytes, without characters of "but", and without
 * leading or trailing blanks.
 */
bool davy_output_writable(const char *text, const char *but);

extern const struct davy_output_format davy_output_env;
extern const struct davy_output_format davy_output_router_preset;
extern const struct davy_output_format davy_output_ollama;
extern const struct davy_output_format davy_output_llama_swap;
extern const struct davy_output_format davy_output_lemonade;
extern const struct davy_output_format davy_output_compose;
extern const struct davy_output_format davy_output_quadlet;
extern const struct davy_output_format davy_output_k8s;

#endif

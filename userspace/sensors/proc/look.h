/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract between the agent and its readers (davylamp-reader look): one request, one reply,
 * each one packet of a fixed size on a SOCK_SEQPACKET socket. Both programs come from the same
 * build: a reader refuses to start with another DAVY_LOOK_VERSION. The agent believes nothing in a
 * reply that davy_look_reply_valid() has not checked: a reader has read what strangers wrote.
 */
#ifndef DAVY_LOOK_H
#define DAVY_LOOK_H

#include "sensors/proc/process_info.h"
#include "sensors/proc/process_start.h"

#define DAVY_LOOK_VERSION DAVY_VERSION "/1"
#define DAVY_LOOK_FILES	  3 /* descriptors in a reply: a C++ library, libggml-base, libllama */
#define DAVY_LOOK_SITES	  8
#define DAVY_LOOK_FD	  3 /* the reader's end of the socket */

/* What the agent wants beside the facts; see davy_look_request.wants. */
enum davy_look_want {
	DAVY_WANT_CXX = 1, /* where to probe these libraries */
	DAVY_WANT_GGML = 2,
	DAVY_WANT_LLAMA = 4,
	DAVY_WANT_VERSION = 8,	    /* the engine's build, once its libraries are mapped */
	DAVY_WANT_VERSION_NOW = 16, /* or without them */
	DAVY_WANT_ALL = 31,
};

/*
 * Functions in which the agent puts a probe; davy_site_name() gives davy_bpf_attach_library's word.
 */
enum davy_site {
	DAVY_SITE_THROW = 0,
	DAVY_SITE_SYNCHRONIZE = 1,
	DAVY_SITE_COMPUTE = 2,
	DAVY_SITE_SET = 3,
	DAVY_SITE_GET = 4,
	DAVY_SITE_UBATCH = 5,
	DAVY_SITE_DECODE = 6,
	DAVY_SITE_COUNT = 7,
};

struct davy_look_request {
	uint64_t serial;
	uint64_t start_ticks; /* of the process that is meant */
	uint32_t pid;
	uint32_t look;	/* enum davy_look */
	uint32_t wants; /* enum davy_look_want */
	uint32_t pad;
	struct davy_used_devices used;
};

struct davy_look_site {
	uint64_t offset;
	uint32_t site; /* enum davy_site */
	uint32_t file; /* index of its descriptor */
};

struct davy_look_reply {
	uint64_t serial;
	uint32_t pid;
	int32_t error;		  /* 0, or -errno: nothing below is valid */
	uint32_t loaded_backends; /* 1 << enum davy_backend, as far as libraries show it */
	uint8_t has_command;	  /* as in struct davy_process_info */
	uint8_t no_gpu;
	uint8_t opens_gpu;
	uint8_t device_used;
	uint8_t version_read;
	uint8_t pad[3];
	uint32_t file_count;
	uint32_t site_count;
	struct davy_look_site site[DAVY_LOOK_SITES];
	char engine[DAVY_VERSION_TEXT_LEN]; /* the engine's build, "" when nothing tells it */
	struct davy_ev_process ev;	    /* workload is 0: the agent knows it */
};

/* The reply to DAVY_LOOK_START. */
struct davy_look_start {
	uint64_t serial;
	uint32_t pid;
	int32_t error;
	uint32_t command_size;
	uint32_t environment_size;
	char exe[PATH_MAX];
	char command[DAVY_START_TEXT_MAX];
	char environment[DAVY_START_TEXT_MAX];
};

/*
 * Every number in range, every string terminated, every count within its array, serial and pid
 * those of the request, "file_count" what the kernel delivered. Changes nothing.
 */
bool davy_look_reply_valid(const struct davy_look_reply *r, const struct davy_look_request *q,
			   size_t file_count);
bool davy_look_start_valid(const struct davy_look_start *r, const struct davy_look_request *q);

const char *davy_site_name(enum davy_site site);

#endif

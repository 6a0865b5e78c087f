/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol between the agent and its readers (davylamp-reader look): one request, one reply,
 * each one packet of fixed size on a SOCK_SEQPACKET socket. Both programs come from the same build:
 * a reader refuses to start with another DAVY_LOOK_VERSION. The agent uses only replies that
 * davy_look_reply_valid() has checked: a reader processes untrusted input.
 */
#ifndef DAVY_LOOK_H
#define DAVY_LOOK_H

#include "sensors/proc/process_info.h"
#include "sensors/proc/process_start.h"

#define DAVY_LOOK_VERSION DAVY_VERSION "/1"
#define DAVY_LOOK_FILES	  3 /* descriptors in a reply: a C++ library, libggml-base, libllama */
#define DAVY_LOOK_SITES	  12
#define DAVY_LOOK_FD	  3 /* the reader's end of the socket */

/* Additional data that the agent requests; see davy_look_request.wants. */
enum davy_look_want {
	DAVY_WANT_CXX = 1, /* probe sites of these libraries */
	DAVY_WANT_GGML = 2,
	DAVY_WANT_LLAMA = 4,
	DAVY_WANT_VERSION = 8,	    /* the engine's build, when its libraries are mapped */
	DAVY_WANT_VERSION_NOW = 16, /* the same, without waiting for the libraries */
	DAVY_WANT_ALL = 31,
};

/* Functions that the agent probes; davy_site_name() gives the name for davy_bpf_attach_library. */
enum davy_site {
	DAVY_SITE_THROW = 0,
	DAVY_SITE_SYNCHRONIZE = 1,
	DAVY_SITE_COMPUTE = 2,
	DAVY_SITE_SET = 3,
	DAVY_SITE_GET = 4,
	DAVY_SITE_UBATCH = 5,
	DAVY_SITE_DECODE = 6,
	DAVY_SITE_RESULT = 7, /* where "compute" returns; there may be several */
	DAVY_SITE_COUNT = 8,
};

struct davy_look_request {
	uint64_t serial;
	uint64_t start_ticks; /* of the process to look at */
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
	int32_t error;		  /* 0, or -errno: the fields below are invalid */
	uint32_t loaded_backends; /* 1 << enum davy_backend, according to the loaded libraries */
	uint8_t has_command;	  /* as in struct davy_process_info */
	uint8_t no_gpu;
	uint8_t opens_gpu;
	uint8_t device_used;
	uint8_t version_read;
	uint8_t pad[3];
	uint32_t file_count;
	uint32_t site_count;
	struct davy_look_site site[DAVY_LOOK_SITES];
	char engine[DAVY_VERSION_TEXT_LEN]; /* the engine's build, "": unknown */
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
 * Checks that numbers are in range, strings terminated and counts within their arrays, that serial
 * and pid match the request, and that "file_count" is the number of received descriptors. Does not
 * modify the reply.
 */
bool davy_look_reply_valid(const struct davy_look_reply *r, const struct davy_look_request *q,
			   size_t file_count);
bool davy_look_start_valid(const struct davy_look_start *r, const struct davy_look_request *q);

const char *davy_site_name(enum davy_site site);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract between the agent and its readers (davylamp-reader look): one request, one reply,
 * each one packet of a fixed size on a SOCK_SEQPACKET socket. Both programs come from the same
 * build: a reader refuses to start with another DL_LOOK_VERSION. The agent believes nothing in a
 * reply that dl_look_reply_valid() has not checked: a reader has read what strangers wrote.
 */
#ifndef DL_SENSORS_LOOK_H
#define DL_SENSORS_LOOK_H

#include "sensors/proc/process_info.h"
#include "sensors/proc/process_start.h"

#define DL_LOOK_VERSION DL_VERSION "/1"
#define DL_LOOK_FILES	3 /* descriptors in a reply: a C++ library, libggml-base, libllama */
#define DL_LOOK_SITES	8
#define DL_LOOK_FD	3 /* the reader's end of the socket */

/* What the agent wants beside the facts; see dl_look_request.wants. */
enum dl_look_want {
	DL_WANT_CXX = 1, /* where to probe these libraries */
	DL_WANT_GGML = 2,
	DL_WANT_LLAMA = 4,
	DL_WANT_VERSION = 8,	  /* the engine's build, once its libraries are mapped */
	DL_WANT_VERSION_NOW = 16, /* or without them */
	DL_WANT_ALL = 31,
};

/* Functions in which the agent puts a probe; dl_site_name() gives dl_bpf_attach_library's word. */
enum dl_site {
	DL_SITE_THROW = 0,
	DL_SITE_SYNCHRONIZE = 1,
	DL_SITE_COMPUTE = 2,
	DL_SITE_SET = 3,
	DL_SITE_GET = 4,
	DL_SITE_UBATCH = 5,
	DL_SITE_DECODE = 6,
	DL_SITE_COUNT = 7,
};

struct dl_look_request {
	uint64_t serial;
	uint64_t start_ticks; /* of the process that is meant */
	uint32_t pid;
	uint32_t look;	/* enum dl_look */
	uint32_t wants; /* enum dl_look_want */
	uint32_t pad;
	struct dl_used_devices used;
};

struct dl_look_site {
	uint64_t offset;
	uint32_t site; /* enum dl_site */
	uint32_t file; /* index of its descriptor */
};

struct dl_look_reply {
	uint64_t serial;
	uint32_t pid;
	int32_t error;		  /* 0, or -errno: nothing below is valid */
	uint32_t loaded_backends; /* 1 << enum dl_backend, as far as libraries show it */
	uint8_t has_command;	  /* as in struct dl_process_info */
	uint8_t no_gpu;
	uint8_t opens_gpu;
	uint8_t device_used;
	uint8_t version_read;
	uint8_t pad[3];
	uint32_t file_count;
	uint32_t site_count;
	struct dl_look_site site[DL_LOOK_SITES];
	char engine[DL_VERSION_TEXT_LEN]; /* the engine's build, "" when nothing tells it */
	struct dl_ev_process ev;	  /* workload is 0: the agent knows it */
};

/* The reply to DL_LOOK_START. */
struct dl_look_start {
	uint64_t serial;
	uint32_t pid;
	int32_t error;
	uint32_t command_size;
	uint32_t environment_size;
	char exe[PATH_MAX];
	char command[DL_START_TEXT_MAX];
	char environment[DL_START_TEXT_MAX];
};

/*
 * Every number in range, every string terminated, every count within its array, serial and pid
 * those of the request, "file_count" what the kernel delivered. Changes nothing.
 */
bool dl_look_reply_valid(const struct dl_look_reply *r, const struct dl_look_request *q,
			 size_t file_count);
bool dl_look_start_valid(const struct dl_look_start *r, const struct dl_look_request *q);

const char *dl_site_name(enum dl_site site);

#endif

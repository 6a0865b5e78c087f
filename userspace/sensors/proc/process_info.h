/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determines what a process is: engine, model and settings from its command line and environment;
 * backend and devices in use from its files, threads and mappings; service and container from its
 * cgroup. Everything under /proc is untrusted: sizes are limited, and files may disappear at any
 * time. Unreadable data is left out.
 */
#ifndef DAVY_PROCESS_INFO_H
#define DAVY_PROCESS_INFO_H

#include <limits.h>

#include "core/event/event.h"
#include "sensors/proc/process_id.h"
#include "sensors/proc/process_traces.h"

struct davy_process_info {
	struct davy_ev_process ev; /* workload stays 0 */
	uint32_t pid;
	uint32_t uid;
	bool has_command;	      /* false: a kernel thread, or it is ending */
	bool no_gpu;		      /* false: a kernel thread, or it is ending */
	bool opens_gpu;		      /* loads a model but uses no GPU */
	bool device_used;	      /* has a GPU's device file open */
	uint32_t loaded_backends;     /* has memory on the device; false: the device is only open */
	char cgroup[DAVY_CGROUP_LEN]; /* 1 << enum davy_backend, according to its libraries */
	char cxx_library[PATH_MAX];   /* mapped files, for davy_open_mapped; "": not mapped */
	char ggml_library[PATH_MAX];
	char llama_library[PATH_MAX];
};

/* How closely to examine a process that is not recognised by its command line. */
enum davy_look {
	DAVY_LOOK_COMMAND = 0, /* not at all: for most processes of the host */
	DAVY_LOOK_DEVICES = 1, /* check for GPU use: for processes that a GPU driver named */
	DAVY_LOOK_START = 2,   /* only its command and environment: process_start.h, look.h */
};

/* 0; -ESRCH if the process is gone. Partially readable processes give partial facts. */
int davy_process_info_read(uint32_t pid, struct davy_process_info *ret_info);

/* With "used" NULL, the device that was opened first counts as the one in use. */
int davy_process_info_look(uint32_t pid, enum davy_look look, const struct davy_used_devices *used,
			   struct davy_process_info *ret_info);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who a process is: engine, model and settings from its command line and environment, the backend
 * and the devices in use from its files, threads and mappings, its service and container from its
 * cgroup. Everything under /proc is outside input: bounded, and gone at any moment; what cannot be
 * read is left out.
 */
#ifndef DAVY_PROCESS_INFO_H
#define DAVY_PROCESS_INFO_H

#include <limits.h>

#include "core/event/event.h"
#include "sensors/proc/process_id.h"
#include "sensors/proc/process_traces.h"

struct davy_process_info {
	struct davy_ev_process ev; /* workload is left 0 */
	uint32_t pid;
	uint32_t uid;
	bool has_command;	      /* false: a kernel thread, or it is ending */
	bool no_gpu;		      /* loads a model, and no trace of a GPU was seen */
	bool opens_gpu;		      /* has a GPU's device file open */
	bool device_used;	      /* its memory lies there; else the device is only open */
	uint32_t loaded_backends;     /* 1 << enum davy_backend, as its libraries show them */
	char cgroup[DAVY_CGROUP_LEN]; /* cgroup v2 path, "" when unknown */
	char cxx_library[PATH_MAX]; /* of mapped files, for davy_open_mapped; "" when not mapped */
	char ggml_library[PATH_MAX];
	char llama_library[PATH_MAX];
};

/* How much trouble a process is worth that its command line does not make an engine. */
enum davy_look {
	DAVY_LOOK_COMMAND = 0, /* none: nearly every process of the host */
	DAVY_LOOK_DEVICES = 1, /* whether it computes on a GPU: whoever a GPU's driver named */
	DAVY_LOOK_START = 2,   /* only how it was started: process_start.h, look.h */
};

/* -ESRCH when it is gone; half-readable processes give what could be read. */
int davy_process_info_read(uint32_t pid, struct davy_process_info *ret_info);

/* "used" may be NULL: then whichever device it opened first counts as the one it computes on. */
int davy_process_info_look(uint32_t pid, enum davy_look look, const struct davy_used_devices *used,
			   struct davy_process_info *ret_info);

#endif

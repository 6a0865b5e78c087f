/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who a process is: engine, model and settings from its command line and environment, the backend
 * and the devices in use from its files, threads and mappings, its service and container from its
 * cgroup. Everything under /proc is outside input: bounded, and gone at any moment; what cannot be
 * read is left out.
 */
#ifndef DL_SENSORS_PROCESS_INFO_H
#define DL_SENSORS_PROCESS_INFO_H

#include <limits.h>

#include "../core/event.h"
#include "process_traces.h"

#define DL_CGROUP_LEN 512

struct dl_process_info {
	struct dl_ev_process ev; /* workload is left 0 */
	uint32_t pid;
	uint32_t uid;
	bool has_command;	    /* false: a kernel thread, or it is ending */
	bool no_gpu;		    /* loads a model, and no trace of a GPU was seen */
	bool opens_gpu;		    /* has a GPU's device file open */
	bool device_used;	    /* its memory lies there; else the device is only open */
	char cgroup[DL_CGROUP_LEN]; /* cgroup v2 path, "" when unknown */
	char cxx_library[PATH_MAX]; /* of mapped files, for dl_open_mapped; "" when not mapped */
	char ggml_library[PATH_MAX];
	char llama_library[PATH_MAX];
};

/* How much trouble a process is worth that its command line does not make an engine. */
enum dl_look {
	DL_LOOK_COMMAND = 0, /* none: nearly every process of the host */
	DL_LOOK_DEVICES = 1, /* whether it computes on a GPU: whoever a GPU's driver named */
};

/* -ESRCH when it is gone; half-readable processes give what could be read. */
int dl_process_info_read(uint32_t pid, struct dl_process_info *ret_info);

/* "used" may be NULL: then whichever device it opened first counts as the one it computes on. */
int dl_process_info_look(uint32_t pid, enum dl_look look, const struct dl_used_devices *used,
			 struct dl_process_info *ret_info);

/* The second half of its identity; 0 when it is gone. */
uint64_t dl_process_start(uint32_t pid);

/* Its cgroup v2 path, "" when unknown; waits for nobody, as a look at its memory may. */
void dl_process_cgroup(uint32_t pid, char ret_path[DL_CGROUP_LEN]);

/* The process of a thread (a kernel line may name either); 0 when it is gone. */
uint32_t dl_process_of_thread(uint32_t tid);

/* Its pid as it sees it itself; 0 when it is gone. */
uint32_t dl_process_inner_pid(uint32_t pid);

#endif

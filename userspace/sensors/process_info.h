/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who a process is: engine and model from its command line, the backend in use from its threads,
 * files and mappings. Everything under /proc is outside input: bounded, and gone at any moment.
 */
#ifndef DL_SENSORS_PROCESS_INFO_H
#define DL_SENSORS_PROCESS_INFO_H

#include <limits.h>

#include "../core/event.h"

#define DL_CGROUP_LEN 512

struct dl_process_info {
	struct dl_ev_process ev; /* workload is left 0 */
	uint32_t pid;
	uint32_t uid;
	bool has_command;	    /* false: a kernel thread, or a process that is ending */
	char cgroup[DL_CGROUP_LEN]; /* cgroup v2 path, "" when unknown */
	char cxx_library[PATH_MAX]; /* openable paths of mapped files, "" when not mapped */
	char ggml_library[PATH_MAX];
};

/* -ESRCH when it is gone; half-readable processes give what could be read. */
int dl_process_info_read(uint32_t pid, struct dl_process_info *ret_info);

#endif

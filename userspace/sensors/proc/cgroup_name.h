/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determines the owner of a process from its cgroup path: the systemd unit, and the container with
 * its runtime, id or name, and pod. Text only. Supports cgroup v2, v1 and hybrid paths, of the
 * runtimes' systemd and cgroupfs drivers.
 */
#ifndef DAVY_CGROUP_NAME_H
#define DAVY_CGROUP_NAME_H

#include "core/event/types.h"

struct davy_cgroup_name {
	enum davy_runtime runtime;	    /* DAVY_RUNTIME_NONE: no container */
	bool user_unit;			    /* of a user's service manager */
	char unit[DAVY_UNIT_LEN];	    /* "ollama.service", "": unknown */
	char container[DAVY_CONTAINER_LEN]; /* an id of 64 hex digits, or LXC's or nspawn's name */
	char pod[DAVY_POD_LEN];		    /* the uid of a kubernetes pod */
};

/* Parses one path such as "/system.slice/ollama.service". */
void davy_cgroup_name_of(const char *path, struct davy_cgroup_name *ret_name);

/* Parses the text of /proc/PID/cgroup and uses the most informative line. Does not modify it. */
void davy_cgroup_name_read(const char *text, struct davy_cgroup_name *ret_name);

#endif

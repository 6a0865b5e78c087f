/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cgroup path says of a process's owner: the systemd unit, and the container with its
 * runtime, id or name, and pod. Text only; the paths are those of cgroup v2, v1 and both at once,
 * of the runtimes' systemd and cgroupfs drivers alike.
 */
#ifndef DAVY_CGROUP_NAME_H
#define DAVY_CGROUP_NAME_H

#include "core/event/types.h"

struct davy_cgroup_name {
	enum davy_runtime runtime;	    /* DAVY_RUNTIME_NONE: no container */
	bool user_unit;			    /* of a user's own service manager */
	char unit[DAVY_UNIT_LEN];	    /* "ollama.service", "" unknown */
	char container[DAVY_CONTAINER_LEN]; /* an id of 64 hex digits, or LXC's and nspawn's name */
	char pod[DAVY_POD_LEN];		    /* the uid of a kubernetes pod */
};

/* From one path such as "/system.slice/ollama.service". */
void davy_cgroup_name_of(const char *path, struct davy_cgroup_name *ret_name);

/* From the text of /proc/PID/cgroup: of its lines the one that says most. Changes nothing. */
void davy_cgroup_name_read(const char *text, struct davy_cgroup_name *ret_name);

#endif

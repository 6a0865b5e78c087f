/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cgroup v2 group of its own for a supervised engine. */
#ifndef DL_ACT_CGROUP_H
#define DL_ACT_CGROUP_H

#include <limits.h>
#include <stddef.h>

struct dl_cgroup {
	char dir[PATH_MAX];  /* where it lies in the file system, "" when there is none */
	char path[PATH_MAX]; /* as /proc/PID/cgroup tells it */
};

/*
 * Makes a group "name" below this process's own. -ENOTSUP without cgroup v2, -EACCES or -EROFS when
 * not allowed: the caller goes on without.
 */
int dl_cgroup_make(const char *name, struct dl_cgroup *ret_cgroup);

/* Puts the calling process in. */
int dl_cgroup_enter(const struct dl_cgroup *cgroup);
/* Ends all processes in it (cgroup.kill, since 5.14); does nothing without a group. */
void dl_cgroup_kill(const struct dl_cgroup *cgroup);
void dl_cgroup_remove(struct dl_cgroup *cgroup);

#endif

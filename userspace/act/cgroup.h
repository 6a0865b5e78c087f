/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cgroup v2 group of its own for a supervised engine, and the way to any. */
#ifndef DAVY_CGROUP_H
#define DAVY_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_CGROUP_EXEC "davylamp-exec-" /* and the supervisor's pid */

struct davy_cgroup {
	char dir[PATH_MAX];  /* where it lies in the file system, "" when there is none */
	char path[PATH_MAX]; /* as /proc/PID/cgroup tells it */
};

/*
 * Makes a group "name" below this process's own. -ENOTSUP without cgroup v2, -EACCES or -EROFS when
 * not allowed: the caller goes on without.
 */
int davy_cgroup_make(const char *name, struct davy_cgroup *ret_cgroup);

/* Where the cgroup v2 tree is mounted. -ENOTSUP: nowhere. */
int davy_cgroup_mount(char *ret_mount, size_t size);

/*
 * The directory of the group that /proc/PID/cgroup tells as "path", there or not. -EDEADLK when the
 * calling process lives in it or below it: who froze it could not thaw it.
 */
int davy_cgroup_dir(const char *path, char *ret_dir, size_t size);

/* The same, opened. */
int davy_cgroup_open(const char *path);

/* One below another; nothing is made, and nothing said, when there is no other. */
void davy_cgroup_make_below(const struct davy_cgroup *above, const char *name,
			    struct davy_cgroup *ret_cgroup);

/* Whether "path" is that group or one below it; both as /proc/PID/cgroup tells them. */
bool davy_cgroup_holds(const char *group, const char *path);

/*
 * Sets memory.max. Where the group above has not turned the controller on, it is, and for that the
 * calling process moves below it, if it is alone there. -ENOTSUP: no controller here; -EBUSY: there
 * are others.
 */
int davy_cgroup_memory_max(const struct davy_cgroup *cgroup, uint64_t bytes);

/* Puts the calling process in. */
int davy_cgroup_enter(const struct davy_cgroup *cgroup);
/* Ends all processes in it (cgroup.kill, since 5.14); does nothing without a group. */
void davy_cgroup_kill(const struct davy_cgroup *cgroup);
void davy_cgroup_remove(struct davy_cgroup *cgroup);

/*
 * Groups of davylamp exec whose supervisor was killed. Only empty groups go, and only those that a
 * supervisor makes: davylamp-exec-PID, with numbered ones below it.
 */
/* The group that lies there; 0: it is gone. */
int davy_cgroup_prune(const char *dir);
/* All beside the calling process. */
void davy_cgroup_sweep(void);

#endif

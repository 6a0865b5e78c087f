/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates a cgroup v2 group for a supervised engine, and opens groups. */
#ifndef DAVY_CGROUP_H
#define DAVY_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_CGROUP_EXEC "davylamp-exec-" /* and the supervisor's pid */

struct davy_cgroup {
	char dir[PATH_MAX];  /* directory, "" if none */
	char path[PATH_MAX]; /* as in /proc/PID/cgroup */
};

/*
 * Makes a group "name" below this process's group. -ENOTSUP: no cgroup v2; -EACCES or -EROFS: not
 * permitted. The caller continues without.
 */
int davy_cgroup_make(const char *name, struct davy_cgroup *ret_cgroup);

/* Where the cgroup v2 tree is mounted. -ENOTSUP: nowhere. */
int davy_cgroup_mount(char *ret_mount, size_t size);

/*
 * The directory of group "path" (as in /proc/PID/cgroup), which need not exist. -EDEADLK: the
 * calling process is in it or below it, and could not thaw what it froze.
 */
int davy_cgroup_dir(const char *path, char *ret_dir, size_t size);

/* The same, opened. */
int davy_cgroup_open(const char *path);

/* Makes a group below another. Without the other it does nothing. */
void davy_cgroup_make_below(const struct davy_cgroup *above, const char *name,
			    struct davy_cgroup *ret_cgroup);

/* Whether "path" is that group or one below it; both as in /proc/PID/cgroup. */
bool davy_cgroup_holds(const char *group, const char *path);

/*
 * Sets memory.max. Enables the controller in the group above if necessary: for this the calling
 * process moves to a subgroup, if it is alone there. -ENOTSUP: no controller; -EBUSY: other
 * processes are there.
 */
int davy_cgroup_memory_max(const struct davy_cgroup *cgroup, uint64_t bytes);

/* Moves the calling process into the group. */
int davy_cgroup_enter(const struct davy_cgroup *cgroup);
/*
 * Ends all processes in it (cgroup.kill, since 5.14) and waits until they are gone, at most 3 s:
 * one that is dying still holds its port. Does nothing without a group.
 */
void davy_cgroup_kill(const struct davy_cgroup *cgroup);
void davy_cgroup_remove(struct davy_cgroup *cgroup);

/*
 * Removes groups of 'davylamp exec' whose supervisor was killed: only empty ones named
 * davylamp-exec-PID, and numbered ones below them. davy_cgroup_prune: this group; 0: removed.
 */
int davy_cgroup_prune(const char *dir);
/* All groups beside that of the calling process. */
void davy_cgroup_sweep(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Freezes and thaws: a cgroup by its freezer, or a process with its descendants by SIGSTOP. No heap
 * and no waiting, because the guard uses it. Processes are held by pidfds whose start times were
 * compared, so that a reused pid is never signalled.
 */
#ifndef DAVY_FREEZE_H
#define DAVY_FREEZE_H

#include <stdbool.h>
#include <stdint.h>

#define DAVY_TREE_MAX 32 /* processes; a larger tree is refused */

/* Opens cgroup.freeze in the open directory, for the two functions below; -errno. */
int davy_freezer_open(int dir_fd);

/* Needs no new descriptor. -ENODEV: the cgroup was removed. */
int davy_freezer_write(int fd, bool freeze);

/* 1, 0 or -errno. */
int davy_freezer_wants_frozen(int fd);

/* Writes cgroup.freeze in the open directory. -ENODEV or -ENOENT: the cgroup was removed. */
int davy_cgroup_freeze(int dir_fd, bool freeze);

/* The wanted state (cgroup.freeze): 1, 0 or -errno. cgroup.events has the actual state. */
int davy_cgroup_wants_frozen(int dir_fd);

struct davy_cgroup_events {
	bool frozen;
	bool populated;
};

/* Reads an open cgroup.events. -ENODEV: the cgroup was removed. */
int davy_cgroup_events_read(int events_fd, struct davy_cgroup_events *ret_events);

struct davy_tree_process {
	int pidfd;
	uint32_t pid;
	uint64_t start_ticks;
};

/* The first is the root; children follow their parents. */
struct davy_tree {
	uint32_t count;
	struct davy_tree_process process[DAVY_TREE_MAX];
};

/* Takes the process with this identity as root. -ESRCH: it has ended, or the pid was reused. */
int davy_tree_open(struct davy_tree *tree, uint32_t pid, uint64_t start_ticks);

/*
 * Stops the root, then all descendants, until no new ones appear. -ESRCH: the root has ended;
 * -E2BIG: too many. On an error processes may stay stopped: the caller must continue them.
 */
int davy_tree_stop(struct davy_tree *tree);

/*
 * 1: all threads of all its processes are stopped; 0: not yet; -errno: unknown. Takes and stops
 * children that came since.
 */
int davy_tree_stopped(struct davy_tree *tree);

/* 1: the root is stopped or traced; 0: not; -ESRCH. */
int davy_tree_root_stopped(const struct davy_tree *tree);

/* SIGCONT to all, the descendants first. */
void davy_tree_continue(const struct davy_tree *tree);

/* Adds the current descendants without stopping them, to undo the stop of a dead guard. */
int davy_tree_find(struct davy_tree *tree);

void davy_tree_close(struct davy_tree *tree);

#endif

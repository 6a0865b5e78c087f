/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stopping and continuing: a cgroup by its freezer, or a process and its descendants by SIGSTOP.
 * No heap and no waiting: the guard calls this while something stands still. Processes are held by
 * pidfds that were compared with their start times, so that a number used again harms nobody.
 */
#ifndef DAVY_FREEZE_H
#define DAVY_FREEZE_H

#include <stdbool.h>
#include <stdint.h>

#define DAVY_TREE_MAX 32 /* processes; a larger tree is refused */

/* Opens cgroup.freeze of the open directory for both functions below; -errno. */
int davy_freezer_open(int dir_fd);

/* Needs no further descriptor; -ENODEV when the cgroup was removed. */
int davy_freezer_write(int fd, bool freeze);

/* 1, 0 or -errno. */
int davy_freezer_wants_frozen(int fd);

/* Writes cgroup.freeze of the open directory; -ENODEV or -ENOENT when the cgroup was removed. */
int davy_cgroup_freeze(int dir_fd, bool freeze);

/* What cgroup.freeze asks for: 1, 0 or -errno. Whether all tasks follow, cgroup.events tells. */
int davy_cgroup_wants_frozen(int dir_fd);

struct davy_cgroup_events {
	bool frozen;
	bool populated;
};

/* From an open cgroup.events; -ENODEV when the cgroup was removed. */
int davy_cgroup_events_read(int events_fd, struct davy_cgroup_events *ret_events);

struct davy_tree_process {
	int pidfd;
	uint32_t pid;
	uint64_t start_ticks;
};

/* The first is the root; a child comes after its parent. */
struct davy_tree {
	uint32_t count;
	struct davy_tree_process process[DAVY_TREE_MAX];
};

/*
 * Takes the process with this identity as root. -ESRCH when it is gone or somebody else has its
 * number.
 */
int davy_tree_open(struct davy_tree *tree, uint32_t pid, uint64_t start_ticks);

/*
 * Stops the root, then all descendants, looking again until nobody new appears. -ESRCH: the root is
 * gone; -E2BIG: too many. What was stopped stays stopped on an error: the caller continues it.
 */
int davy_tree_stop(struct davy_tree *tree);

/* 1 when all threads of all its living processes stand still, 0 not yet, -errno not to be seen. */
int davy_tree_stopped(const struct davy_tree *tree);

/* 1 when somebody has stopped, or traces, the root; 0; -ESRCH. */
int davy_tree_root_stopped(const struct davy_tree *tree);

/* SIGCONT to all, the descendants first. */
void davy_tree_continue(const struct davy_tree *tree);

/* Adds the descendants that there are now, stopping nobody: what a dead guard may have stopped. */
int davy_tree_find(struct davy_tree *tree);

void davy_tree_close(struct davy_tree *tree);

#endif

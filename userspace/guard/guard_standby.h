/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard's standby: a process that shares the guard's descriptors (CLONE_FILES) and its table
 * (shared memory). It sleeps until the guard is dead or late, then thaws. It kills a guard that
 * outlives the agent. Only userspace/guard includes this.
 */
#ifndef DAVY_GUARD_STANDBY_H
#define DAVY_GUARD_STANDBY_H

#include <stdbool.h>
#include <sys/types.h>

#include "guard/guard_freeze.h"

struct davy_standby {
	const struct davy_freeze *freezes; /* DAVY_GUARD_FREEZES in shared memory */
	int agent_pidfd;
	int guard_pidfd; /* -1: rely on PR_SET_PDEATHSIG */
	pid_t guard;
	pid_t pid;	   /* 0: none runs */
	uint64_t start_ns; /* of the last one */
	uint64_t again_ns; /* when to start the next one; UINT64_MAX: one runs */
	uint64_t pause_ns; /* current back-off */
};

void davy_standby_open(struct davy_standby *s, const struct davy_freeze *freezes, int agent_pidfd);

/* Starts a standby if none runs and the back-off is over. Call it after every wait. */
void davy_standby_tend(struct davy_standby *s, uint64_t now_ns);

/* Wakes the standby after a new freeze, to read its lease. */
void davy_standby_poke(const struct davy_standby *s);

#endif

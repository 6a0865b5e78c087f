/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard's standby: a process with the guard's descriptors (CLONE_FILES: also those that come
 * later) and its table in shared memory. It sleeps until the guard is dead or late, and thaws then;
 * it ends the guard if that outlives the agent. Only userspace/guard includes this.
 */
#ifndef DAVY_GUARD_STANDBY_H
#define DAVY_GUARD_STANDBY_H

#include <stdbool.h>
#include <sys/types.h>

#include "guard/guard_hold.h"

struct davy_standby {
	const struct davy_hold *holds; /* DAVY_GUARD_HOLDS in shared memory */
	int agent_pidfd;
	int guard_pidfd; /* -1: the kernel's signal at the guard's end must do */
	pid_t guard;
	pid_t pid;	   /* 0: none lives */
	uint64_t start_ns; /* of the last one */
	uint64_t again_ns; /* when to start the next one, UINT64_MAX: one lives */
	uint64_t pause_ns; /* before that */
};

void davy_standby_open(struct davy_standby *s, const struct davy_hold *holds, int agent_pidfd);

/* Starts one if none lives, not faster than the back-off allows. Call it after every wait. */
void davy_standby_tend(struct davy_standby *s, uint64_t now_ns);

/* There is a new hold: look when it is late. */
void davy_standby_poke(const struct davy_standby *s);

#endif

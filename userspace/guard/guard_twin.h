/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard's twin: a process with the guard's descriptors (CLONE_FILES: also those that come
 * later) and its table in shared memory, that sleeps until the guard is dead or late, and thaws
 * then. Only guard*.c include this.
 */
#ifndef DL_GUARD_TWIN_H
#define DL_GUARD_TWIN_H

#include <sys/types.h>

#include "guard_hold.h"

struct dl_twin {
	pid_t pid; /* 0: none */
	int poke_fd;
	int guard_pidfd;
};

/* "holds" are DL_GUARD_HOLDS in shared memory. -errno. */
int dl_twin_start(struct dl_twin *twin, const struct dl_hold *holds);

/* There is a new hold: look when it is late. */
void dl_twin_poke(const struct dl_twin *twin);

/* Whether it has ended. */
bool dl_twin_reap(struct dl_twin *twin);

#endif

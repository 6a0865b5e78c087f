/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starting and ending a supervised engine. The engine's end is verified by waiting for our own
 * child; nothing else is ever signalled.
 */
#ifndef DL_ACT_LAUNCH_H
#define DL_ACT_LAUNCH_H

#include <sys/types.h>

#include "../core/types.h"
#include "../engines/engine.h"
#include "cgroup.h"

struct dl_launch {
	char *const *argv;	      /* as the user gave it */
	struct dl_engine_facts facts; /* of argv */
	enum dl_backend backend;      /* what runs now, or is to */
	struct dl_cgroup cgroup;
	pid_t pid; /* 0: none */
};

/* 0 when it could be started on "backend": asked before anything is stopped. */
int dl_launch_possible(const struct dl_launch *l, enum dl_backend backend);

/*
 * Starts argv, rewritten strictly for the CPU when l->backend says so. The child gets an empty
 * signal mask, and SIGTERM when the supervisor dies. -errno of execvp too.
 */
int dl_launch_start(struct dl_launch *l);

/*
 * Ends the child, and whatever it has left in its cgroup: SIGTERM, once more after 400 ms (a busy
 * llama-server waits for its clients and ends at the second), SIGKILL after 1.5 s more. Waits until
 * it is gone; 0 and its wait status, or -ETIMEDOUT when even SIGKILL did not end it (D state).
 */
int dl_launch_stop(struct dl_launch *l, int *ret_status);

#endif

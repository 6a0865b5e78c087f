/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starting and ending supervised engines. Each is our own child, in a cgroup of its own below the
 * workload's; its end is verified by waiting for it. Nothing else is ever signalled.
 */
#ifndef DAVY_LAUNCH_H
#define DAVY_LAUNCH_H

#include <limits.h>
#include <sys/types.h>

#include "core/event/types.h"
#include "engines/engine.h"
#include "act/cgroup.h"

/* What is started, as often as it is. */
struct davy_launch {
	char *const *argv;		/* as the user gave it */
	struct davy_engine_facts facts; /* of argv */
	enum davy_backend asked;	/* what argv is held to mean, as the agent is told it */
	struct davy_cgroup cgroup;	/* of the workload: "" when there is none */
	unsigned int count;		/* engines started so far */
	bool shares_port;	 /* the engine is told to, so that another may follow beside it */
	char slot_dir[PATH_MAX]; /* as the engine sees it; "": it saves no slots */
};

struct davy_launched {
	pid_t pid; /* 0: none */
	struct davy_engine_wish wish;
	struct davy_cgroup cgroup;
};

#define DAVY_LAUNCH_VARIABLES 8

/* NULL for a value: unset. */
struct davy_launch_variable {
	const char *name;
	const char *value;
};

/* What is changed in the environment for the wish; strings live as long as the launch does. */
size_t davy_launch_environment(const struct davy_launch *l, const struct davy_engine_wish *wish,
			       struct davy_launch_variable list[DAVY_LAUNCH_VARIABLES]);

/* Removes the workload's cgroup, once nobody is left in it. */
void davy_launch_done(struct davy_launch *l);

/* 0 when it could be started so: asked before anything is stopped. */
int davy_launch_possible(const struct davy_launch *l, const struct davy_engine_wish *wish);

/*
 * Starts argv, rewritten for the wish. The child gets an empty signal mask, and SIGTERM when the
 * supervisor dies. -errno of execvp too.
 */
int davy_launch_start(struct davy_launch *l, const struct davy_engine_wish *wish,
		      struct davy_launched *ret_child);

/* 1: it is gone, and its wait status; 0: it lives, or there was none. */
int davy_launched_reap(struct davy_launched *child, int *ret_status);

/*
 * Ends the child, and whatever it has left in its cgroup: SIGTERM, once more after 400 ms (a busy
 * llama-server waits for its clients and ends at the second), SIGKILL after 1.5 s more. Waits until
 * it is gone; 0 and its wait status, or -ETIMEDOUT when even SIGKILL did not end it (D state).
 */
int davy_launched_stop(struct davy_launched *child, int *ret_status);

/*
 * The same without waiting, called again and again: "asked_ms" since the first time. What it last
 * sent is kept in "sent", 0 before.
 */
void davy_launched_end(struct davy_launched *child, uint32_t asked_ms, unsigned int *sent);

#define DAVY_LAUNCHED_STUCK_MS 12000 /* in D state: neither of them will see its end */

#endif

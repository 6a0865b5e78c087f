/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts and ends supervised engines. Each is our child in its own cgroup below the workload's. Its
 * end is verified by waiting for it. No other process is signalled.
 */
#ifndef DAVY_LAUNCH_H
#define DAVY_LAUNCH_H

#include <limits.h>
#include <sys/types.h>

#include "core/event/types.h"
#include "engines/environment.h"
#include "act/cgroup.h"

struct davy_launched {
	pid_t pid;   /* 0: none */
	pid_t inner; /* the engine below it, as found; 0: the child itself, or not found yet */
	struct davy_engine_override override;
	struct davy_cgroup cgroup;
};

/* The engine to start, repeatedly. */
struct davy_launch {
	char *const *argv;		/* as the user gave it */
	struct davy_engine_facts facts; /* of argv, or of "look" */
	/*
	 * How a script starts the engine, without our settings: they are set by variables. NULL:
	 * argv is the engine's command.
	 */
	const struct davy_engine_look *look;
	enum davy_backend asked;   /* the backend that argv selects, as reported to the agent */
	struct davy_cgroup cgroup; /* of the workload; "": none */
	unsigned int count;	   /* engines started so far */
	bool shares_port;	   /* SO_REUSEPORT, so that a second engine can listen */
	char slot_dir[PATH_MAX];   /* as the engine sees it; "": no slots are saved */
	/* Called when the child exists in its cgroup; the engine starts after it. NULL: not. */
	void (*before_exec)(void *arg, const struct davy_launched *child);
	void *arg;
};

/* The engine's process; 0: none. */
pid_t davy_launched_engine(const struct davy_launched *child);

#define DAVY_LAUNCH_VARIABLES 16

/* Environment changes for the override; NULL for a value: unset. The strings live with "l". */
size_t davy_launch_environment(const struct davy_launch *l,
			       const struct davy_engine_override *override,
			       struct davy_environment_variable list[DAVY_LAUNCH_VARIABLES]);

/* Removes the workload's cgroup if it is empty. */
void davy_launch_done(struct davy_launch *l);

/*
 * 0: the engine supports the override. Call it before anything is stopped. "ret_why" (NULL: not
 * wanted) has DAVY_ENVIRONMENT_WHY_LEN bytes and is set on an error; it may be "".
 */
int davy_launch_possible(const struct davy_launch *l, const struct davy_engine_override *override,
			 char *ret_why);

/*
 * Starts argv, rewritten for the override. The child gets an empty signal mask, and SIGTERM at the
 * supervisor's death. Returns the -errno of execvp, too.
 */
int davy_launch_start(struct davy_launch *l, const struct davy_engine_override *override,
		      struct davy_launched *ret_child);

/* 1: it has ended, with its wait status; 0: it runs, or there was none. */
int davy_launched_reap(struct davy_launched *child, int *ret_status);

/*
 * Ends the child and the rest of its cgroup: SIGTERM, again after 400 ms (a busy llama-server waits
 * for its clients and ends at the second one), SIGKILL after 1.5 s more. Waits for the end. 0 with
 * the wait status; -ETIMEDOUT: it survived SIGKILL (D state).
 */
int davy_launched_stop(struct davy_launched *child, int *ret_status);

/*
 * The same without waiting; call it repeatedly. "asked_ms": time since the first call. "sent":
 * state between calls, 0 at first.
 */
void davy_launched_end(struct davy_launched *child, uint32_t asked_ms, unsigned int *sent);

#define DAVY_LAUNCHED_STUCK_MS 12000 /* D state: stop waiting */

#endif

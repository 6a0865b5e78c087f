/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel program of 'davylamp trace discovery', loaded and read. While a thread waits for us
 * its probes are put before its step is given to the sink. The sink is called by threads of its
 * own, one at a time, and by davy_follow_read, davy_follow_running and davy_follow_stop.
 */
#ifndef DAVY_FOLLOW_H
#define DAVY_FOLLOW_H

#include <stdbool.h>

#include "trace/start_step.h"

struct davy_follow;

typedef void (*davy_step_sink)(void *arg, const struct davy_start_step *step);

/* What could not be told, and of what kind. */
struct davy_follow_losses {
	uint64_t steps;	   /* found no room in the ring */
	uint64_t children; /* found no room in the table */
	uint64_t late;	   /* ran on before their probes were put */
};

/*
 * "unit": NULL, or the name of a cgroup whose programs are followed from their next exec on.
 * -errno; davy_refusal_text says it in words.
 */
int davy_follow_open(const char *unit, davy_step_sink sink, void *arg,
		     struct davy_follow **ret_follow);

/* Takes every probe away: 0.1 s, on Linux 6.1 to 6.5 some seconds. */
void davy_follow_close(struct davy_follow *f);

/* From now on, with its future children. */
int davy_follow_add(struct davy_follow *f, uint32_t pid);

/* One that runs already: what it has mapped is watched, and told as steps. */
int davy_follow_running(struct davy_follow *f, uint32_t pid);

/* Gives the steps that wait to the sink; who needs to be served at once is, without this call. */
void davy_follow_read(struct davy_follow *f);

/* Keeps the sink from being called, for whoever looks at what it has made. */
void davy_follow_lock(struct davy_follow *f);
void davy_follow_unlock(struct davy_follow *f);

/* Nothing is followed and nobody waits any more; what the ring still holds is read first. */
void davy_follow_stop(struct davy_follow *f);

struct davy_follow_losses davy_follow_lost(const struct davy_follow *f);

#endif

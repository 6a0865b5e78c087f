/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel program of 'davylamp trace discovery', loaded and read. While a thread waits for us
 * its probes are put before its step is given to the sink. The sink is called by threads of its
 * own, one at a time, and by dl_follow_read, dl_follow_running and dl_follow_stop.
 */
#ifndef DL_DISCOVERY_FOLLOW_H
#define DL_DISCOVERY_FOLLOW_H

#include <stdbool.h>

#include "trace/start_step.h"

struct dl_follow;

typedef void (*dl_step_sink)(void *arg, const struct dl_start_step *step);

/* What could not be told, and of what kind. */
struct dl_follow_losses {
	uint64_t steps;	   /* found no room in the ring */
	uint64_t children; /* found no room in the table */
	uint64_t late;	   /* ran on before their probes were put */
};

/*
 * "unit": NULL, or the name of a cgroup whose programs are followed from their next exec on.
 * -errno; dl_refusal_text says it in words.
 */
int dl_follow_open(const char *unit, dl_step_sink sink, void *arg, struct dl_follow **ret_follow);

/* Takes every probe away: 0.1 s, on Linux 6.1 to 6.5 some seconds. */
void dl_follow_close(struct dl_follow *f);

/* From now on, with its future children. */
int dl_follow_add(struct dl_follow *f, uint32_t pid);

/* One that runs already: what it has mapped is watched, and told as steps. */
int dl_follow_running(struct dl_follow *f, uint32_t pid);

/* Gives the steps that wait to the sink; who needs to be served at once is, without this call. */
void dl_follow_read(struct dl_follow *f);

/* Keeps the sink from being called, for whoever looks at what it has made. */
void dl_follow_lock(struct dl_follow *f);
void dl_follow_unlock(struct dl_follow *f);

/* Nothing is followed and nobody waits any more; what the ring still holds is read first. */
void dl_follow_stop(struct dl_follow *f);

struct dl_follow_losses dl_follow_lost(const struct dl_follow *f);

#endif

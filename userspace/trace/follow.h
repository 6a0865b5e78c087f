/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and reads the BPF programs of 'davylamp trace discovery'. While a thread waits, its probes
 * are set before its step goes to the sink. The sink is called by the reader threads, one at a
 * time, and by davy_follow_read, davy_follow_running and davy_follow_stop.
 */
#ifndef DAVY_FOLLOW_H
#define DAVY_FOLLOW_H

#include <stdbool.h>

#include "trace/start_step.h"

struct davy_follow;

typedef void (*davy_step_sink)(void *arg, const struct davy_start_step *step);

/* Losses by cause. */
struct davy_follow_losses {
	uint64_t steps;	   /* the ring was full */
	uint64_t children; /* not followed: the table was full */
	uint64_t late;	   /* continued before their probes were set */
};

/*
 * "unit": NULL, or the name of a cgroup whose programs are followed from their next exec on.
 * -errno; davy_refusal_text() describes it.
 */
int davy_follow_open(const char *unit, davy_step_sink sink, void *arg,
		     struct davy_follow **ret_follow);

/* Removes all probes: 0.1 s, on Linux 6.1 to 6.5 some seconds. */
void davy_follow_close(struct davy_follow *f);

/* Follows a process and its future children. */
int davy_follow_add(struct davy_follow *f, uint32_t pid);

/* The same for a process that already runs: its mappings are probed and emitted as steps. */
int davy_follow_running(struct davy_follow *f, uint32_t pid);

/* Gives pending steps to the sink. Threads that wait are served without this call. */
void davy_follow_read(struct davy_follow *f);

/* Blocks calls of the sink, to read its data. */
void davy_follow_lock(struct davy_follow *f);
void davy_follow_unlock(struct davy_follow *f);

/* Reads the rest of the ring, then ends following; no thread waits from then on. */
void davy_follow_stop(struct davy_follow *f);

struct davy_follow_losses davy_follow_lost(const struct davy_follow *f);

#endif

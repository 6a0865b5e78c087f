/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The usual speed of an engine: tokens per second if the engine reports them, otherwise graphs per
 * second. The median of the latest samples, at most one sample per second.
 */
#ifndef DAVY_PACE_H
#define DAVY_PACE_H

#include "core/event/event.h"

#define DAVY_PACE_SETS	  16
#define DAVY_PACE_WAYS	  4
#define DAVY_PACE_SAMPLES 16

struct davy_pace {
	uint32_t pid;	     /* 0: empty */
	uint32_t slow_count; /* consecutive samples below the threshold */
	uint64_t used_ns;
	uint64_t learned_ns;
	uint64_t reported_ns; /* last DAVY_EV_PROGRESS; 0: the engine reports no progress */
	uint64_t prompt_count;
	uint64_t generated_count;
	uint64_t graph_count;
	uint32_t busy_slots;
	uint32_t count;			    /* samples learned */
	uint32_t sample[DAVY_PACE_SAMPLES]; /* tokens per 1000 s, or graphs per 1000 s */
};

struct davy_paces {
	struct davy_pace pace[DAVY_PACE_SETS][DAVY_PACE_WAYS];
};

/*
 * Takes a DAVY_EV_PROGRESS or DAVY_EV_GRAPH of "pid". "learn": no hazard is active, so the sample
 * may become part of the usual speed. Returns the speed in permille of the usual speed after
 * several consecutive samples below "slow_permille", otherwise UINT32_MAX.
 */
uint32_t davy_pace_take(struct davy_paces *paces, const struct davy_event *ev, bool learn,
			uint32_t slow_permille);

/* Tokens, or graphs, per 1000 s; 0: unknown. */
uint32_t davy_pace_usual(const struct davy_paces *paces, uint32_t pid);

void davy_pace_forget(struct davy_paces *paces, uint32_t pid);

#endif

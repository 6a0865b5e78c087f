/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast an engine usually works: tokens a second where it tells them, else the speed of its
 * graphs. The median of the last samples, one a second at most.
 */
#ifndef DAVY_PACE_H
#define DAVY_PACE_H

#include "core/event/event.h"

#define DAVY_PACE_SETS	  16
#define DAVY_PACE_WAYS	  4
#define DAVY_PACE_SAMPLES 16

struct davy_pace {
	uint32_t pid;	     /* 0: empty */
	uint32_t slow_count; /* samples in a row below half of the usual */
	uint64_t used_ns;
	uint64_t learned_ns;
	uint64_t told_ns; /* the last DAVY_EV_PROGRESS; 0: it tells nothing of itself */
	uint64_t prompt_count;
	uint64_t generated_count;
	uint64_t graph_count;
	uint32_t busy_slots;
	uint32_t count;			    /* samples learned so far */
	uint32_t sample[DAVY_PACE_SAMPLES]; /* tokens in 1000 s, or graphs in 1000 s */
};

struct davy_paces {
	struct davy_pace pace[DAVY_PACE_SETS][DAVY_PACE_WAYS];
};

/*
 * Takes a DAVY_EV_PROGRESS or DAVY_EV_GRAPH of "pid". "learn": whether times are calm, and the
 * sample may become part of what is usual. Returns the pace in permille of the usual, once it has
 * been below "slow_permille" for several samples in a row; else UINT32_MAX.
 */
uint32_t davy_pace_take(struct davy_paces *paces, const struct davy_event *ev, bool learn,
			uint32_t slow_permille);

void davy_pace_forget(struct davy_paces *paces, uint32_t pid);

#endif

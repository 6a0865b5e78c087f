/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast an engine usually works: tokens a second where it tells them, else the speed of its
 * graphs. The median of the last samples, one a second at most.
 */
#ifndef DL_CORE_PACE_H
#define DL_CORE_PACE_H

#include "core/event/event.h"

#define DL_PACE_SETS	16
#define DL_PACE_WAYS	4
#define DL_PACE_SAMPLES 16

struct dl_pace {
	uint32_t pid;	     /* 0: empty */
	uint32_t slow_count; /* samples in a row below half of the usual */
	uint64_t used_ns;
	uint64_t learned_ns;
	uint64_t told_ns; /* the last DL_EV_PROGRESS; 0: it tells nothing of itself */
	uint64_t prompt_count;
	uint64_t generated_count;
	uint64_t graph_count;
	uint32_t busy_slots;
	uint32_t count;			  /* samples learned so far */
	uint32_t sample[DL_PACE_SAMPLES]; /* tokens in 1000 s, or graphs in 1000 s */
};

struct dl_paces {
	struct dl_pace pace[DL_PACE_SETS][DL_PACE_WAYS];
};

/*
 * Takes a DL_EV_PROGRESS or DL_EV_GRAPH of "pid". "learn": whether times are calm, and the sample
 * may become part of what is usual. Returns the pace in permille of the usual, once it has been
 * below "slow_permille" for several samples in a row; else UINT32_MAX.
 */
uint32_t dl_pace_take(struct dl_paces *paces, const struct dl_event *ev, bool learn,
		      uint32_t slow_permille);

void dl_pace_forget(struct dl_paces *paces, uint32_t pid);

#endif

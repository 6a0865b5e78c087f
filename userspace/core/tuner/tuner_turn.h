/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the tuner: tuner_size.c knows the sizes of a knob and which are bad, tuner_down.c what
 * follows trouble, tuner_up.c what follows a soak, tuner.c joins them. Only these include this.
 */
#ifndef DL_CORE_TUNER_TURN_H
#define DL_CORE_TUNER_TURN_H

#include "core/tuner/tuner.h"

#define DL_TUNER_PROBES_BACKEND (DL_TUNER_KNOBS + 1)
#define DL_TUNER_LESSONS	8
#define DL_TUNER_TRIAL		4 /* back-offs for which a failure is the probation's */

/* One answer in the making. */
struct dl_turn {
	struct dl_tuner *t;
	const struct dl_tuner_bounds *bounds;
	struct dl_tuner_backend *b; /* in force */
	struct dl_tuner_reason *reason;
	uint64_t now_s;
};

/* tuner_size.c */
uint32_t dl_tuner_floor(const struct dl_tuner_range *range);

/* A size in force within its range; 0 when the knob is not known. */
uint32_t dl_tuner_in_force(const struct dl_tuner_range *range, uint32_t size);
bool dl_tuner_movable(const struct dl_tuner_range *range);

/* The next one down when none is known to be good. "size" is above the floor. */
uint32_t dl_tuner_lower(const struct dl_tuner_range *range, uint32_t size, uint32_t downs,
			bool at_once);

struct dl_tuner_climb {
	uint64_t until_s; /* not before */
	uint32_t knob;
	uint32_t from;
	uint32_t to;	/* 0: there is none */
	uint32_t depth; /* that a soak must reach before */
	bool again;	/* a size that was bad */
	bool doubtful;
};

/* The next one up. */
struct dl_tuner_climb dl_tuner_higher(const struct dl_turn *u, uint32_t knob);

/* A size failed: for good, or doubtful until then. */
void dl_tuner_mark_bad(const struct dl_turn *u, struct dl_tuner_size *k, uint32_t size);
void dl_tuner_mark_doubtful(const struct dl_turn *u, struct dl_tuner_size *k, uint32_t size);

/* Forgets the smallest bad size. */
void dl_tuner_refute(struct dl_tuner_size *k);

uint64_t dl_tuner_wait(uint32_t first_s, uint32_t most_s, uint32_t times);
uint64_t dl_tuner_backoff(const struct dl_turn *u);

/*
 * tuner_up.c: what a soak on the backend in force must reach, because of failures there or on the
 * one that is to be tried.
 */
uint32_t dl_tuner_needed_depth(const struct dl_turn *u, uint32_t failed_depth);
uint64_t dl_tuner_needed_soak(const struct dl_turn *u);
bool dl_tuner_soaked(const struct dl_turn *u, uint32_t failed_depth);

/* Puts another size into force: its soak begins. */
void dl_tuner_put(struct dl_turn *u, uint32_t knob, uint32_t size);
void dl_tuner_put_backend(struct dl_turn *u, uint8_t backend);
bool dl_tuner_listed(const struct dl_tuner_bounds *bounds, uint8_t backend);

void dl_tuner_down(struct dl_turn *u);
void dl_tuner_up(struct dl_turn *u);

#endif

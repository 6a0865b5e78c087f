/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the tuner: tuner_size.c knows the sizes of a knob and which are bad, tuner_down.c what
 * follows trouble, tuner_up.c what follows a soak, tuner.c joins them. Only these include this.
 */
#ifndef DAVY_TUNER_TURN_H
#define DAVY_TUNER_TURN_H

#include "core/tuner/tuner.h"

#define DAVY_TUNER_PROBES_BACKEND (DAVY_TUNER_KNOBS + 1)
#define DAVY_TUNER_LESSONS	  8
#define DAVY_TUNER_TRIAL	  4 /* back-offs for which a failure is the probation's */

/* One answer in the making. */
struct davy_turn {
	struct davy_tuner *t;
	const struct davy_tuner_bounds *bounds;
	struct davy_tuner_backend *b; /* in force */
	struct davy_tuner_reason *reason;
	uint64_t now_s;
};

/* tuner_size.c */
uint32_t davy_tuner_floor(const struct davy_tuner_range *range);

/* A size in force within its range; 0 when the knob is not known. */
uint32_t davy_tuner_in_force(const struct davy_tuner_range *range, uint32_t size);
bool davy_tuner_movable(const struct davy_tuner_range *range);

/* The next one down when none is known to be good. "size" is above the floor. */
uint32_t davy_tuner_lower(const struct davy_tuner_range *range, uint32_t size, uint32_t downs,
			  bool at_once);

struct davy_tuner_climb {
	uint64_t until_s; /* not before */
	uint32_t knob;
	uint32_t from;
	uint32_t to;	/* 0: there is none */
	uint32_t depth; /* that a soak must reach before */
	bool again;	/* a size that was bad */
	bool doubtful;
};

/* The next one up. */
struct davy_tuner_climb davy_tuner_higher(const struct davy_turn *u, uint32_t knob);

/* A size failed: for good, or doubtful until then. */
void davy_tuner_mark_bad(const struct davy_turn *u, struct davy_tuner_size *k, uint32_t size);
void davy_tuner_mark_doubtful(const struct davy_turn *u, struct davy_tuner_size *k, uint32_t size);

/* Forgets the smallest bad size. */
void davy_tuner_refute(struct davy_tuner_size *k);

uint64_t davy_tuner_wait(uint32_t first_s, uint32_t most_s, uint32_t times);
uint64_t davy_tuner_backoff(const struct davy_turn *u);

/*
 * tuner_up.c: what a soak on the backend in force must reach, because of failures there or on the
 * one that is to be tried.
 */
uint32_t davy_tuner_needed_depth(const struct davy_turn *u, uint32_t failed_depth);
uint64_t davy_tuner_needed_soak(const struct davy_turn *u);
bool davy_tuner_soaked(const struct davy_turn *u, uint32_t failed_depth);

/* Puts another size into force: its soak begins. */
void davy_tuner_put(struct davy_turn *u, uint32_t knob, uint32_t size);
void davy_tuner_put_backend(struct davy_turn *u, uint8_t backend);
bool davy_tuner_listed(const struct davy_tuner_bounds *bounds, uint8_t backend);

void davy_tuner_down(struct davy_turn *u);
void davy_tuner_up(struct davy_turn *u);

#endif

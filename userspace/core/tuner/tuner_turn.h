/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internals of the tuner: tuner_size.c manages sizes, tuner_down.c reacts to trouble, tuner_up.c to
 * a soak; tuner.c calls them. Only these files include this.
 */
#ifndef DAVY_TUNER_TURN_H
#define DAVY_TUNER_TURN_H

#include "core/tuner/tuner.h"

#define DAVY_TUNER_PROBES_BACKEND (DAVY_TUNER_SETTINGS + 1)
#define DAVY_TUNER_LESSONS	  8
#define DAVY_TUNER_TRIAL	  4 /* back-offs in which a failure counts for the probation */

/* One decision in progress. */
struct davy_turn {
	struct davy_tuner *t;
	const struct davy_tuner_bounds *bounds;
	struct davy_tuner_backend *b; /* in force */
	struct davy_tuner_reason *reason;
	uint64_t now_s;
};

/* tuner_size.c */
uint32_t davy_tuner_floor(const struct davy_tuner_range *range);

/* The size in force, limited to the range; 0 if the setting is unknown. */
uint32_t davy_tuner_in_force(const struct davy_tuner_range *range, uint32_t size);
bool davy_tuner_movable(const struct davy_tuner_range *range);

/* The next lower size if no good size is known. "size" is above the floor. */
uint32_t davy_tuner_lower(const struct davy_tuner_range *range, uint32_t size, uint32_t downs,
			  bool at_once);

struct davy_tuner_climb {
	uint64_t until_s; /* earliest time */
	uint32_t setting;
	uint32_t from;
	uint32_t to;	/* 0: none */
	uint32_t depth; /* depth that a soak must reach before */
	bool again;	/* the size failed before */
	bool doubtful;
};

/* The next higher size. */
struct davy_tuner_climb davy_tuner_higher(const struct davy_turn *u, uint32_t setting);

/* Marks a size as failed or as doubtful. */
void davy_tuner_mark_bad(const struct davy_turn *u, struct davy_tuner_size *k, uint32_t size);
void davy_tuner_mark_doubtful(const struct davy_turn *u, struct davy_tuner_size *k, uint32_t size);

/* Deletes the mark of the smallest bad size. */
void davy_tuner_refute(struct davy_tuner_size *k);

uint64_t davy_tuner_wait(uint32_t first_s, uint32_t most_s, uint32_t times);
uint64_t davy_tuner_backoff(const struct davy_turn *u);

/* tuner_up.c: what a soak must reach, because of failures on this or the next backend. */
uint32_t davy_tuner_needed_depth(const struct davy_turn *u, uint32_t failed_depth);
uint64_t davy_tuner_needed_soak(const struct davy_turn *u);
bool davy_tuner_soaked(const struct davy_turn *u, uint32_t failed_depth);

/* Sets another size; its soak begins. */
void davy_tuner_put(struct davy_turn *u, uint32_t setting, uint32_t size);
void davy_tuner_put_backend(struct davy_turn *u, uint8_t backend);
bool davy_tuner_listed(const struct davy_tuner_bounds *bounds, uint8_t backend);

void davy_tuner_down(struct davy_turn *u);
void davy_tuner_up(struct davy_turn *u);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The adopted services and their current settings: rows of the table unit_setting (kept.h describes
 * reading and writing).
 */
#ifndef DAVY_ADOPTED_H
#define DAVY_ADOPTED_H

#include "core/event/plan.h"

#define DAVY_ADOPTED_MAX      32
#define DAVY_ADOPTED_OLD_NAME "units.conf" /* before schema 3 of the database */

struct davy_adopted_unit {
	char unit[DAVY_UNIT_LEN];
	uint32_t version;	      /* of its environment; counts every change */
	bool made_dir;		      /* davylamp created the folder of its drop-ins */
	bool stopped;		      /* by davylamp, not by an operator */
	bool capped;		      /* limits before the first cap: */
	uint64_t memory_high;	      /* UINT64_MAX: no limit */
	uint64_t cpu_quota;	      /* us per second; UINT64_MAX: no limit */
	char derived[DAVY_MODEL_LEN]; /* the model with smaller temporary parameters; "": none */
	enum davy_backend backend;    /* UNKNOWN: the unit's own setting */
	struct davy_start_settings settings;
	enum davy_hazard shrunk_for; /* none: ordered by an operator */
	enum davy_hazard moved_for;
	enum davy_backend moved_from;	 /* previous backend */
	enum davy_backend before_cpu;	 /* backend before the move to the CPU, UNKNOWN: none */
	char moved_off[DAVY_DEVICE_LEN]; /* "": unknown */
	bool unproven;			 /* no token has followed the change; before it: */
	enum davy_backend was_backend;
	struct davy_start_settings was_settings;
};

struct davy_adopted {
	size_t count;
	struct davy_adopted_unit unit[DAVY_ADOPTED_MAX];
};

/* 0, also without a database (an empty list), or an error of kept.h. */
int davy_adopted_load(const char *dir, struct davy_adopted *ret_adopted);
int davy_adopted_save(const char *dir, struct davy_adopted *adopted);

/* The unit has its own limits again. */
int davy_adopted_uncapped(const char *dir, const char *unit);

/* NULL: not in the list. */
struct davy_adopted_unit *davy_adopted_find(struct davy_adopted *adopted, const char *unit);
/* NULL: the list is full. */
struct davy_adopted_unit *davy_adopted_add(struct davy_adopted *adopted, const char *unit);
void davy_adopted_remove(struct davy_adopted *adopted, const char *unit);

#endif

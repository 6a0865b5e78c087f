/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The services that people have put into davylamp's care, and what each is told at present: rows of
 * the table unit_setting (kept.h has when they are read and written).
 */
#ifndef DAVY_ADOPTED_H
#define DAVY_ADOPTED_H

#include "core/event/plan.h"

#define DAVY_ADOPTED_MAX      32
#define DAVY_ADOPTED_OLD_NAME "units.conf" /* before schema 3 of the database */

struct davy_adopted_unit {
	char unit[DAVY_UNIT_LEN];
	uint32_t version;	      /* of its environment, counts every change */
	bool made_dir;		      /* the folder of its drop-ins was not there before */
	bool stopped;		      /* by us: nobody else wanted that */
	bool capped;		      /* and what it had before: */
	uint64_t memory_high;	      /* UINT64_MAX: no limit */
	uint64_t cpu_quota;	      /* us a second, the same */
	char derived[DAVY_MODEL_LEN]; /* the model that runs with smaller parameters; "": none */
	enum davy_backend backend;    /* UNKNOWN: as the unit says */
	struct davy_knobs knobs;
	enum davy_hazard shrunk_for; /* none: by an operator */
	enum davy_hazard moved_for;
	enum davy_backend moved_from;	 /* that it ran on */
	enum davy_backend before_cpu;	 /* that it was told, UNKNOWN: none */
	char moved_off[DAVY_DEVICE_LEN]; /* "": not known */
	bool unproven;			 /* a change that no token followed yet; before it: */
	enum davy_backend was_backend;
	struct davy_knobs was_knobs;
};

struct davy_adopted {
	size_t count;
	struct davy_adopted_unit unit[DAVY_ADOPTED_MAX];
};

/* 0, also when there is no database (none then), or an error of kept.h. */
int davy_adopted_load(const char *dir, struct davy_adopted *ret_adopted);
int davy_adopted_save(const char *dir, struct davy_adopted *adopted);

/* A unit's limits are its own again. */
int davy_adopted_uncapped(const char *dir, const char *unit);

/* NULL: not there. */
struct davy_adopted_unit *davy_adopted_find(struct davy_adopted *adopted, const char *unit);
/* NULL: full. */
struct davy_adopted_unit *davy_adopted_add(struct davy_adopted *adopted, const char *unit);
void davy_adopted_remove(struct davy_adopted *adopted, const char *unit);

#endif

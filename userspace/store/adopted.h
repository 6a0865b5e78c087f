/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The services that people have put into davylamp's care, and what each is told at present: one
 * INI file in the state directory, replaced whole, so that it outlives the agent.
 */
#ifndef DAVY_ADOPTED_H
#define DAVY_ADOPTED_H

#include "core/event/plan.h"

#define DAVY_ADOPTED_MAX  32
#define DAVY_ADOPTED_NAME "units.conf"

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

/*
 * 0, also without a file; -EBADMSG and its line when the file was read whole and is not understood.
 * After any other error the file must stay as it is: its content is not known.
 */
int davy_adopted_load(const char *dir, struct davy_adopted *ret_adopted, int *ret_line);
int davy_adopted_set_aside(const char *dir); /* as units.conf.bad */
int davy_adopted_save(const char *dir, const struct davy_adopted *adopted);

/* NULL: not there. */
struct davy_adopted_unit *davy_adopted_find(struct davy_adopted *adopted, const char *unit);
/* NULL: full. */
struct davy_adopted_unit *davy_adopted_add(struct davy_adopted *adopted, const char *unit);
void davy_adopted_remove(struct davy_adopted *adopted, const char *unit);

#endif

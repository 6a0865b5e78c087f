/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The services that people have put into davylamp's care, and what each is told at present: one
 * INI file in the state directory, replaced whole, so that it outlives the agent.
 */
#ifndef DL_STORE_ADOPTED_H
#define DL_STORE_ADOPTED_H

#include "core/event/plan.h"

#define DL_ADOPTED_MAX	32
#define DL_ADOPTED_NAME "units.conf"

struct dl_adopted_unit {
	char unit[DL_UNIT_LEN];
	uint32_t version;	    /* of its environment, counts every change */
	bool made_dir;		    /* the folder of its drop-ins was not there before */
	bool stopped;		    /* by us: nobody else wanted that */
	bool capped;		    /* and what it had before: */
	uint64_t memory_high;	    /* UINT64_MAX: no limit */
	uint64_t cpu_quota;	    /* us a second, the same */
	char derived[DL_MODEL_LEN]; /* the model that runs with smaller parameters; "": none */
	enum dl_backend backend;    /* UNKNOWN: as the unit says */
	struct dl_knobs knobs;
	enum dl_hazard shrunk_for; /* none: by an operator */
	enum dl_hazard moved_for;
	enum dl_backend moved_from;    /* that it ran on */
	enum dl_backend before_cpu;    /* that it was told, UNKNOWN: none */
	char moved_off[DL_DEVICE_LEN]; /* "": not known */
	bool unproven;		       /* a change that no token followed yet; before it: */
	enum dl_backend was_backend;
	struct dl_knobs was_knobs;
};

struct dl_adopted {
	size_t count;
	struct dl_adopted_unit unit[DL_ADOPTED_MAX];
};

/*
 * 0, also without a file; -EBADMSG and its line when the file was read whole and is not understood.
 * After any other error the file must stay as it is: its content is not known.
 */
int dl_adopted_load(const char *dir, struct dl_adopted *ret_adopted, int *ret_line);
int dl_adopted_set_aside(const char *dir); /* as units.conf.bad */
int dl_adopted_save(const char *dir, const struct dl_adopted *adopted);

/* NULL: not there. */
struct dl_adopted_unit *dl_adopted_find(struct dl_adopted *adopted, const char *unit);
/* NULL: full. */
struct dl_adopted_unit *dl_adopted_add(struct dl_adopted *adopted, const char *unit);
void dl_adopted_remove(struct dl_adopted *adopted, const char *unit);

#endif

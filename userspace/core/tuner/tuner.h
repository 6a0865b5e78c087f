/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The largest setting with which a model lives on a device, found from what happened to it. One
 * tuner for each (device, model); it knows every backend. Pure: no clock, file, heap or float;
 * "now_s" is the wall clock, since knowledge outlives a boot.
 *
 * Down at once: trouble lowers one knob, in the order of enum davy_tuner_knob, by halves, each time
 * further (to 1/2, 1/8, 1/64; to its floor, when the engine died at once, since nobody was served
 * by more). A knob whose floor does not help is no cause and the next one's turn comes; after them
 * the next backend's, the last of which is the CPU. What a size has nothing to do with (a page
 * fault, a crash at the start) moves to another backend without that; a host that crashed, to the
 * last one.
 *
 * Up by probation: after a soak that was long and as deep as the failure (or as the context
 * allows), one knob at a time, the one that gains most, half way to the smallest size known to be
 * bad; when it fails within four back-offs, back to where it was. At most one in a back-off, which
 * doubles with each that fails until one succeeds or four of it have passed; a size known to be
 * bad is tried again only when nothing is left between and its own, longer back-off is over. So is
 * a backend, by turns with the smallest sizes and as told, when sizes may be why it failed.
 *
 * A soak that was followed by a death it should have foretold was too short: the next ones on that
 * backend are twice as long.
 *
 * Doubt: trouble with a setting that had lasted, as deep, is taken for chance: it goes down, and
 * that size is tried again first. In another environment all bad sizes are doubtful.
 */
#ifndef DAVY_TUNER_H
#define DAVY_TUNER_H

#include "core/event/log_kind.h"

/* In the order in which they are lowered. A size is larger where more is asked of the device. */
enum davy_tuner_knob {
	DAVY_TUNER_UBATCH = 0,	   /* tokens computed at once */
	DAVY_TUNER_CONTEXT = 1,	   /* tokens of all slots together */
	DAVY_TUNER_PARALLEL = 2,   /* slots */
	DAVY_TUNER_CACHE_TYPE = 3, /* enum davy_tuner_cache */
	DAVY_TUNER_LAYERS = 4,	   /* on the GPU */
	DAVY_TUNER_KNOBS = 5,
};

enum davy_tuner_cache {
	DAVY_TUNER_CACHE_Q4_0 = 1,
	DAVY_TUNER_CACHE_Q8_0 = 2,
	DAVY_TUNER_CACHE_F16 = 3,
	DAVY_TUNER_CACHE_COUNT = 4,
};

/* "floor" and whole steps above it, up to "ceiling", what the engine would run with untouched. */
struct davy_tuner_range {
	uint32_t floor;	  /* 0: 1 */
	uint32_t ceiling; /* the floor, or below: it is never moved; 0: not known */
	uint32_t step;	  /* 0: 1 */
};

/* Seconds. A soak's are those in which the engine worked. */
struct davy_tuner_times {
	uint32_t soak_s;	/* before anything is raised */
	uint32_t lasted_s;	/* after so long, what happens is taken for chance */
	uint32_t at_once_s;	/* who had no more of a soak has died at once */
	uint32_t backoff_s;	/* between two probations, at first */
	uint32_t backoff_max_s; /* and at most */
	uint32_t bad_s;		/* until a bad size or backend is tried again, at first */
	uint32_t bad_max_s;	/* and at most */
};

extern const struct davy_tuner_times
	davy_tuner_times; /* 1 h, 8 h, 2 min, 6 h to 4 and 4 to 32 days */

struct davy_tuner_bounds {
	struct davy_tuner_range range[DAVY_TUNER_KNOBS];
	struct davy_tuner_times times;
	uint8_t backends[DAVY_BACKEND_COUNT]; /* the preferred first; unknown: the list ends */
};

struct davy_tuner_setting {
	uint32_t size[DAVY_TUNER_KNOBS]; /* 0: as the command says */
	uint32_t backend;		 /* enum davy_backend; unknown: as the command says */
};

enum davy_tuner_why {
	DAVY_TUNER_AS_TOLD = 0, /* nothing is known against what the command says */
	DAVY_TUNER_KEEPS = 1,	/* what it had; "until_s" says when more is tried, if that is all */
	DAVY_TUNER_LOWER = 2,	/* trouble: the knob goes down */
	DAVY_TUNER_BACK = 3,	/* trouble: the knob goes back to what it was before */
	DAVY_TUNER_OTHER = 4,	/* trouble: another backend */
	DAVY_TUNER_NOWHERE = 5, /* trouble, and nothing is left to try */
	DAVY_TUNER_RAISE = 6,	/* a probation: the knob goes up to a size not known to be bad */
	DAVY_TUNER_AGAIN = 7,	/* a probation of a size that was bad */
	DAVY_TUNER_OTHER_AGAIN = 8, /* a probation of a backend that was bad */
	DAVY_TUNER_WHY_COUNT = 9,
};

/* Why the setting is what it is. Of a backend "from" and "to" are enum davy_backend. */
struct davy_tuner_reason {
	uint64_t until_s; /* keeps: 0 unless it only waits; else of the bad size: tried then */
	uint64_t soak_s;  /* of the setting before it */
	uint32_t soak_depth;
	uint32_t needed_depth; /* that a soak must reach before anything is raised */
	uint32_t from;
	uint32_t to;
	uint32_t depth; /* at which it failed, tokens; 0: not known */
	uint8_t why;	/* enum davy_tuner_why */
	uint8_t knob;	/* enum davy_tuner_knob; DAVY_TUNER_KNOBS: of a backend */
	uint8_t class;	/* enum davy_log_class */
	uint8_t chance; /* it had lasted: taken for chance */
};

#define DAVY_TUNER_MARKS 3 /* the smallest sizes that failed; the smallest first */

/* A size that failed. */
struct davy_tuner_mark {
	uint64_t until_s;  /* not tried again before */
	uint32_t size;	   /* 0: none */
	uint32_t depth;	   /* that a soak must reach before it, or more than now, is tried */
	uint32_t doubtful; /* by chance, or in another environment */
	uint32_t pad;
};

struct davy_tuner_size {
	struct davy_tuner_mark bad[DAVY_TUNER_MARKS];
	uint32_t size;	   /* in force; 0: as the command says */
	uint32_t good;	   /* that it was raised from; 0: none */
	uint32_t believed; /* the largest with which a soak was passed */
	uint32_t tried;	   /* of which "times" tells; 0: none */
	uint16_t times;	   /* how often that size, or a larger one, failed */
	uint16_t downs;	   /* in a row, without a soak between */
	uint32_t pad;
};

/* With what a backend is tried again whose sizes may be why it failed. */
enum davy_tuner_turn {
	DAVY_TUNER_TURN_NONE = 0, /* as it was left */
	DAVY_TUNER_TURN_SMALLEST = 1,
	DAVY_TUNER_TURN_TOLD = 2,
	DAVY_TUNER_TURN_COUNT = 3,
};

struct davy_tuner_backend {
	struct davy_tuner_size knob[DAVY_TUNER_KNOBS];
	uint64_t until_s;		   /* not tried again before */
	uint64_t chance_s;		   /* the last time that it was taken for chance */
	uint32_t lasted[DAVY_TUNER_KNOBS]; /* sizes with which it lasted; 0: none did */
	uint32_t lasted_depth;
	uint32_t failed_depth; /* the least of the failures below */
	uint16_t failures;     /* since all was well, but those by chance */
	uint16_t times;	       /* how often it was left for good */
	uint8_t active;	       /* the knob that is searched + 1; 0: none */
	uint8_t turn;	       /* enum davy_tuner_turn */
	uint8_t lessons;       /* how often it died of a size that was believed */
	uint8_t pad[5];
};

/* All zero: nothing is known. Of fixed size, without pointers: may be stored as it is. */
struct davy_tuner {
	uint64_t stamp;	    /* of the environment; 0: not told */
	uint64_t climbed_s; /* the last probation's beginning; 0: none yet */
	uint64_t backoff_s; /* 0: the first one */
	uint64_t set_s;	    /* since when the setting is in force */
	uint64_t soak_s;    /* of it */
	uint64_t failed_s;  /* of the trouble that is not yet answered */
	uint32_t failed_depth;
	uint32_t soak_depth;
	uint32_t probe_depth;		     /* that the probation's soak must reach */
	uint32_t in_force[DAVY_TUNER_KNOBS]; /* the last answer; as the command says: the ceiling */
	uint8_t failed_class;
	uint8_t failed;	  /* there is one */
	uint8_t probing;  /* 0: no probation; knob + 1; DAVY_TUNER_KNOBS + 1: the backend */
	uint8_t backend;  /* in force; unknown: not yet chosen */
	uint8_t previous; /* backend: to which it goes back when its probation fails */
	uint8_t pad[3];
	struct davy_tuner_backend of[DAVY_BACKEND_COUNT];
};

_Static_assert(sizeof(struct davy_tuner) == 3304, "stored format");

/*
 * The engine failed with the setting in force. Several before the next answer are one. "depth" is
 * that of its fullest slot in tokens, 0: not known; "class" is of enum davy_log_class.
 */
void davy_tuner_trouble(struct davy_tuner *t, uint64_t now_s, uint32_t depth, uint32_t class);

/*
 * It has worked for so many seconds more without trouble, as deep as this. More than have passed
 * since the setting came into force are not believed.
 */
void davy_tuner_soak(struct davy_tuner *t, uint64_t now_s, uint64_t seconds, uint32_t depth);

/*
 * What it was found to run with, whoever has set that; of another setting no soak is left, nor
 * trouble if that was more. Its backend is one that is listed.
 */
void davy_tuner_found(struct davy_tuner *t, uint64_t now_s, const struct davy_tuner_bounds *bounds,
		      const struct davy_tuner_setting *found);

/* "stamp" stands for the versions of kernel, firmware, driver and engine; not 0. */
void davy_tuner_environment(struct davy_tuner *t, uint64_t stamp);

/*
 * What the engine is to be started with from now on; to be asked before every start, and whenever
 * it could be started anew. An answer counts as in force. Asked twice at one time it answers the
 * same, and never with what lies outside of the bounds.
 */
void davy_tuner_next(struct davy_tuner *t, uint64_t now_s, const struct davy_tuner_bounds *bounds,
		     struct davy_tuner_setting *ret_setting, struct davy_tuner_reason *ret_reason);

/* What is in force within these bounds, without going on. */
void davy_tuner_setting(const struct davy_tuner *t, const struct davy_tuner_bounds *bounds,
			struct davy_tuner_setting *ret_setting);

/* Whether one that was stored may be used: its numbers in range. */
bool davy_tuner_valid(const struct davy_tuner *t);

/* How many sizes a knob has, 1 when it is never moved. */
uint32_t davy_tuner_steps(const struct davy_tuner_range *range);

/* Whether the size of the knob may be why something of this class happened. */
bool davy_tuner_matters(uint32_t knob, uint32_t class);

const char *davy_tuner_knob_name(uint32_t knob);
const char *davy_tuner_why_name(uint32_t why);

#endif

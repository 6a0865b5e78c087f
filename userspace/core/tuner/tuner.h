/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the largest setting with which a model survives on a device, from experience. One tuner per
 * (device, model) covers all backends. Pure: no clock, file, heap or float. "now_s" is wall clock
 * time, since the knowledge outlives a boot.
 *
 * Down immediately: trouble lowers one setting, in the order of enum davy_start_setting, each time
 * further (to 1/2, 1/8, 1/64). If the engine died at once, the setting goes to its floor, since no
 * request was served with more. If the floor of a setting does not help, the setting is not the
 * cause and the next setting is lowered; after the last setting, the next backend is used. The last
 * backend is the CPU. Failures that do not depend on a size (a page fault, a crash at start) switch
 * the backend directly; a host crash switches to the last one. After a load that was refused for
 * lack of memory, the layers go to the number that fits.
 *
 * Up by probation: a soak must last long enough and reach the depth of the failure (or the depth
 * that the context allows). Then one setting is raised, the one with the largest gain, half way to
 * the smallest size known to be bad. If it fails within four back-offs, it goes back to its
 * previous size. There is at most one probation per back-off. The back-off doubles with each failed
 * probation until one succeeds or four back-offs have passed. A size known to be bad is tried again
 * only if no size is left below it and its own, longer back-off is over. The same applies to a
 * backend; if sizes may have caused its failure, it alternates between the smallest sizes and the
 * command's.
 *
 * A soak was too short if a failure that it should have revealed followed it. Later soaks on that
 * backend are twice as long.
 *
 * Doubt: trouble with a setting that had lasted at the same depth counts as chance. The setting
 * goes down, and that size is tried again first. In another environment, all bad sizes are
 * doubtful.
 */
#ifndef DAVY_TUNER_H
#define DAVY_TUNER_H

#include "core/event/log_kind.h"

/* Lowered in this order. A larger size demands more of the device. */
enum davy_start_setting {
	DAVY_TUNER_UBATCH = 0,	   /* tokens computed at once */
	DAVY_TUNER_CONTEXT = 1,	   /* tokens of all slots together */
	DAVY_TUNER_PARALLEL = 2,   /* slots */
	DAVY_TUNER_CACHE_TYPE = 3, /* enum davy_tuner_cache */
	DAVY_TUNER_LAYERS = 4,	   /* on the GPU */
	DAVY_TUNER_SETTINGS = 5,
};

enum davy_tuner_cache {
	DAVY_TUNER_CACHE_Q4_0 = 1,
	DAVY_TUNER_CACHE_Q8_0 = 2,
	DAVY_TUNER_CACHE_F16 = 3,
	DAVY_TUNER_CACHE_COUNT = 4,
};

/* Sizes: "floor" and whole steps above it, up to "ceiling", the engine's unmodified setting. */
struct davy_tuner_range {
	uint32_t floor;	  /* 0: 1 */
	uint32_t ceiling; /* at or below the floor: never changed; 0: unknown */
	uint32_t step;	  /* 0: 1 */
};

/* Seconds. A soak counts only the time in which the engine works. */
struct davy_tuner_times {
	uint32_t soak_s;	/* needed before anything is raised */
	uint32_t lasted_s;	/* a later failure counts as chance */
	uint32_t at_once_s;	/* a shorter soak means that the engine died at once */
	uint32_t backoff_s;	/* between two probations, initially */
	uint32_t backoff_max_s; /* maximum */
	uint32_t bad_s;		/* until a bad size or backend is tried again, initially */
	uint32_t bad_max_s;	/* maximum */
};

extern const struct davy_tuner_times
	davy_tuner_times; /* 1 h, 8 h, 2 min, 6 h to 4 and 4 to 32 days */

struct davy_tuner_bounds {
	struct davy_tuner_range range[DAVY_TUNER_SETTINGS];
	struct davy_tuner_times times;
	uint8_t backends[DAVY_BACKEND_COUNT]; /* preferred first; unknown: end of the list */
	uint32_t
		layers_fit; /* the load was refused and so many layers have room; 0: no such case */
};

struct davy_tuner_setting {
	uint32_t size[DAVY_TUNER_SETTINGS]; /* 0: as in the command */
	uint32_t backend;		    /* enum davy_backend; unknown: as in the command */
};

enum davy_tuner_why {
	DAVY_TUNER_AS_CONFIGURED = 0, /* no experience against the command's setting */
	DAVY_TUNER_KEEPS = 1,	/* unchanged; "until_s" is the next try, if only time is missing */
	DAVY_TUNER_LOWER = 2,	/* trouble: the setting goes down */
	DAVY_TUNER_BACK = 3,	/* trouble: the setting returns to its previous size */
	DAVY_TUNER_OTHER = 4,	/* trouble: another backend */
	DAVY_TUNER_NOWHERE = 5, /* trouble, but nothing left to try */
	DAVY_TUNER_RAISE = 6,	/* probation: the setting goes up to a size not known to be bad */
	DAVY_TUNER_AGAIN = 7,	/* probation of a size that was bad */
	DAVY_TUNER_OTHER_AGAIN = 8, /* probation of a backend that was bad */
	DAVY_TUNER_WHY_COUNT = 9,
};

/* Reason of a setting. For a backend, "from" and "to" are enum davy_backend. */
struct davy_tuner_reason {
	uint64_t until_s; /* KEEPS: 0 unless only time is missing; AGAIN: retry of the bad size */
	uint64_t soak_s;  /* of the previous setting */
	uint32_t soak_depth;
	uint32_t needed_depth; /* depth that a soak must reach before anything is raised */
	uint32_t from;
	uint32_t to;
	uint32_t depth;	 /* depth of the failure in tokens; 0: unknown */
	uint8_t why;	 /* enum davy_tuner_why */
	uint8_t setting; /* enum davy_start_setting; DAVY_TUNER_SETTINGS: the backend */
	uint8_t class;	 /* enum davy_log_class */
	uint8_t chance;	 /* the setting had lasted: counted as chance */
};

#define DAVY_TUNER_MARKS 3 /* the smallest sizes that failed, in ascending order */

/* A size that failed. */
struct davy_tuner_mark {
	uint64_t until_s;  /* earliest retry */
	uint32_t size;	   /* 0: none */
	uint32_t depth;	   /* depth that a soak must reach before a retry of this size or more */
	uint32_t doubtful; /* failed by chance, or in another environment */
	uint32_t pad;
};

struct davy_tuner_size {
	struct davy_tuner_mark bad[DAVY_TUNER_MARKS];
	uint32_t size;	   /* in force; 0: as in the command */
	uint32_t good;	   /* size before it was raised; 0: none */
	uint32_t believed; /* largest size that passed a soak */
	uint32_t tried;	   /* size that "times" refers to; 0: none */
	uint16_t times;	   /* how often that size or a larger one failed */
	uint16_t downs;	   /* consecutive, without a soak between them */
	uint32_t pad;
};

/* How a backend is tried again if its sizes may have caused the failure. */
enum davy_tuner_turn {
	DAVY_TUNER_TURN_NONE = 0, /* unchanged */
	DAVY_TUNER_TURN_SMALLEST = 1,
	DAVY_TUNER_TURN_CONFIGURED = 2,
	DAVY_TUNER_TURN_COUNT = 3,
};

struct davy_tuner_backend {
	struct davy_tuner_size setting[DAVY_TUNER_SETTINGS];
	uint64_t until_s;		      /* earliest retry */
	uint64_t chance_s;		      /* last failure that counted as chance */
	uint32_t lasted[DAVY_TUNER_SETTINGS]; /* sizes that lasted; 0: none */
	uint32_t lasted_depth;
	uint32_t failed_depth; /* minimum of the failures below */
	uint16_t failures;     /* since the last recovery, except those by chance */
	uint16_t times;	       /* how often it was given up */
	uint8_t active;	       /* setting being searched + 1; 0: none */
	uint8_t turn;	       /* enum davy_tuner_turn */
	uint8_t lessons;       /* how often a believed size failed */
	uint8_t pad[5];
};

/* All zero: no experience. Fixed size without pointers, so it can be stored as it is. */
struct davy_tuner {
	uint64_t stamp;	    /* of the environment; 0: unknown */
	uint64_t climbed_s; /* start of the last probation; 0: none */
	uint64_t backoff_s; /* 0: initial */
	uint64_t set_s;	    /* start of the current setting */
	uint64_t soak_s;    /* of the current setting */
	uint64_t failed_s;  /* time of the pending failure */
	uint32_t failed_depth;
	uint32_t soak_depth;
	uint32_t probe_depth; /* depth that the soak of the probation must reach */
	uint32_t in_force[DAVY_TUNER_SETTINGS]; /* last answer; as in the command: the ceiling */
	uint8_t failed_class;
	uint8_t failed;	  /* a failure is pending */
	uint8_t probing;  /* 0: no probation; setting + 1; DAVY_TUNER_SETTINGS + 1: the backend */
	uint8_t backend;  /* in force; unknown: not yet chosen */
	uint8_t previous; /* backend to return to if the probation fails */
	uint8_t pad[3];
	struct davy_tuner_backend of[DAVY_BACKEND_COUNT];
};

_Static_assert(sizeof(struct davy_tuner) == 3304, "stored format");

/*
 * The engine failed with the current setting. Several failures before the next answer count as one.
 * "depth" is that of its fullest slot in tokens, 0: unknown. "class" is enum davy_log_class.
 */
void davy_tuner_trouble(struct davy_tuner *t, uint64_t now_s, uint32_t depth, uint32_t class);

/*
 * The engine worked for another "seconds" without trouble, at that depth. The sum is limited to the
 * time since the setting came into force.
 */
void davy_tuner_soak(struct davy_tuner *t, uint64_t now_s, uint64_t seconds, uint32_t depth);

/*
 * Tells the setting with which the engine runs, from any origin. If it differs, the soak restarts,
 * and trouble of a larger setting is dropped. The backend must be a listed one.
 */
void davy_tuner_found(struct davy_tuner *t, uint64_t now_s, const struct davy_tuner_bounds *bounds,
		      const struct davy_tuner_setting *found);

/* "stamp" identifies the versions of kernel, firmware, driver and engine; not 0. */
void davy_tuner_environment(struct davy_tuner *t, uint64_t stamp);

/*
 * Returns the setting for the next start. Call it before every start, and whenever a restart is
 * possible. The answer counts as in force. Repeated calls at the same time return the same answer.
 * It is always within the bounds.
 */
void davy_tuner_next(struct davy_tuner *t, uint64_t now_s, const struct davy_tuner_bounds *bounds,
		     struct davy_tuner_setting *ret_setting, struct davy_tuner_reason *ret_reason);

/* The setting in force within these bounds, without a new decision. */
void davy_tuner_setting(const struct davy_tuner *t, const struct davy_tuner_bounds *bounds,
			struct davy_tuner_setting *ret_setting);

/* True if a stored tuner is usable: all numbers are in range. */
bool davy_tuner_valid(const struct davy_tuner *t);

/* Number of sizes of a setting, 1 if it is never changed. */
uint32_t davy_tuner_steps(const struct davy_tuner_range *range);

/* True if the size of the setting may cause failures of this class. */
bool davy_tuner_matters(uint32_t setting, uint32_t class);

const char *davy_tuner_setting_name(uint32_t setting);
const char *davy_tuner_why_name(uint32_t why);

#endif

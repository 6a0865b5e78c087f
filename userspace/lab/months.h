/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Months of a model on a device that never were: sessions of random depth, one fault of a known
 * kind, and the tuner that is to live with it. The same seed gives the same months everywhere.
 * What the setting should be is known here, so it can be said how well the tuner did.
 */
#ifndef DAVY_MONTHS_H
#define DAVY_MONTHS_H

#include "core/tuner/tuner.h"

/* What is wrong. A limit is one of the knob's sizes: above it the engine dies. */
struct davy_month_case {
	const char *name;
	uint8_t knob;	      /* whose limit it is; DAVY_TUNER_KNOBS: none */
	uint8_t class;	      /* enum davy_log_class of what happens */
	uint8_t at_load;      /* it dies before it serves, else from some depth on */
	uint8_t dead;	      /* so many of the GPU's backends, the first, die always */
	uint8_t upgrade;      /* enum davy_month_upgrade, in the middle */
	uint8_t deeper;	      /* the nearer to the limit, the deeper: jobs grow with both */
	uint8_t one_in;	      /* it dies in one of so many sessions only; 0: in each */
	uint16_t chance_days; /* so often, on average, it dies of nothing that a setting can help */
};

enum davy_month_upgrade {
	DAVY_MONTH_AS_IT_WAS = 0, /* no upgrade */
	DAVY_MONTH_MENDS = 1,
	DAVY_MONTH_BREAKS = 2, /* all is well before it */
};

/* How one history went. "Best": the largest setting that is safe, on the first backend that is. */
struct davy_month {
	uint32_t days;
	uint32_t failures;	 /* since the fault, while it was searched for */
	uint32_t allowed;	 /* what a binary search over the same knobs would need at most */
	uint32_t later;		 /* when what was bad was tried again */
	uint32_t chances;	 /* that had nothing to do with any setting */
	uint32_t climbs;	 /* probations */
	uint32_t climbs_at_once; /* the most within one first back-off */
	uint64_t back_s;	 /* from an upgrade that mends until all is as told; 0: never */
	uint64_t whole_s;	 /* since the best setting was in force first */
	uint64_t best_s;	 /* of it, that it was in force */
	uint64_t away_s;	 /* the longest that it was not */
	bool reached;		 /* it was in force at all */
	bool stayed;		 /* and is in the end, or a larger one on probation */
	bool touched;		 /* anything was ever changed */
	bool on_cpu;		 /* in the end */
	bool out_of_bounds;	 /* ever */
};

/* Of many histories of one case. */
struct davy_months {
	uint32_t histories;
	uint32_t stayed; /* that found the best setting and stayed */
	uint32_t over;	 /* whose failures were more than allowed */
	uint32_t failures_median, failures_most;
	uint32_t allowed_median, allowed_most;
	uint32_t later_most;
	uint32_t climbs_at_once;
	uint32_t best_permille;		      /* of whole_s of all together */
	uint32_t back_hours, back_most_hours; /* the median, and the most; 0: no such upgrade */
	uint32_t never_back;		      /* after an upgrade that mends */
	uint32_t away_most_hours;
	uint32_t touched, on_cpu, out_of_bounds;
};

extern const struct davy_month_case davy_month_cases[];
extern const size_t davy_month_case_count;

void davy_month_run(const struct davy_month_case *c, uint64_t seed, struct davy_month *ret_month);

#define DAVY_MONTHS_MOST 1000

/* "histories" of them, at most DAVY_MONTHS_MOST, from seeds that follow on "seed". */
void davy_months_run(const struct davy_month_case *c, uint64_t seed, uint32_t histories,
		     struct davy_months *ret_months);

#endif

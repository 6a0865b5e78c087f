/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates months of a model on a device: sessions of random depth, one fault of a known kind, and
 * the tuner. The same seed gives the same months on all machines. The best setting is known, so the
 * tuner can be judged.
 */
#ifndef DAVY_MONTHS_H
#define DAVY_MONTHS_H

#include "core/tuner/tuner.h"

/* The fault. A limit is a size of the setting above which the engine dies. */
struct davy_month_case {
	const char *name;
	uint8_t setting;      /* the limited setting; DAVY_TUNER_SETTINGS: none */
	uint8_t class;	      /* enum davy_log_class of the failure */
	uint8_t at_load;      /* fails while loading, else from some depth on */
	uint8_t dead;	      /* number of GPU backends that always fail, from the first */
	uint8_t upgrade;      /* enum davy_month_upgrade, half way */
	uint8_t deeper;	      /* the fatal depth depends on the size: jobs grow with both */
	uint8_t one_in;	      /* fails in one of this many sessions; 0: in each */
	uint16_t chance_days; /* mean days between failures unrelated to settings */
};

enum davy_month_upgrade {
	DAVY_MONTH_AS_IT_WAS = 0, /* no upgrade */
	DAVY_MONTH_MENDS = 1,
	DAVY_MONTH_BREAKS = 2, /* no fault before it */
};

/* Result of one history. "Best": the largest safe setting on the first safe backend. */
struct davy_month {
	uint32_t days;
	uint32_t failures;	 /* during the search */
	uint32_t allowed;	 /* most failures of a binary search over these settings */
	uint32_t later;		 /* failures of retries of bad settings */
	uint32_t chances;	 /* failures unrelated to settings */
	uint32_t climbs;	 /* probations */
	uint32_t climbs_at_once; /* most within the first back-off */
	uint64_t back_s;	 /* from a repairing upgrade to the full settings; 0: never */
	uint64_t whole_s;	 /* time since the best setting was first in force */
	uint64_t best_s;	 /* part of it with the best setting */
	uint64_t away_s;	 /* longest time without it */
	bool reached;		 /* it was in force once */
	bool stayed;		 /* in force at the end, or a larger one on probation */
	bool touched;		 /* a setting was changed */
	bool on_cpu;		 /* at the end */
	bool out_of_bounds;	 /* ever */
};

/* Sum of many histories of one case. */
struct davy_months {
	uint32_t histories;
	uint32_t stayed; /* with the best setting at the end */
	uint32_t over;	 /* with more failures than allowed */
	uint32_t failures_median, failures_most;
	uint32_t allowed_median, allowed_most;
	uint32_t later_most;
	uint32_t climbs_at_once;
	uint32_t best_permille;		      /* best_s / whole_s of all */
	uint32_t back_hours, back_most_hours; /* median and maximum; 0: no such upgrade */
	uint32_t never_back;		      /* after a repairing upgrade */
	uint32_t away_most_hours;
	uint32_t touched, on_cpu, out_of_bounds;
};

extern const struct davy_month_case davy_month_cases[];
extern const size_t davy_month_case_count;

void davy_month_run(const struct davy_month_case *c, uint64_t seed, struct davy_month *ret_month);

#define DAVY_MONTHS_MOST 1000

/* Runs "histories" (at most DAVY_MONTHS_MOST) with consecutive seeds from "seed". */
void davy_months_run(const struct davy_month_case *c, uint64_t seed, uint32_t histories,
		     struct davy_months *ret_months);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates a month of one host twice with the same events: a core with the default thresholds,
 * and a core whose thresholds are tuned from its own samples, as an agent in mode enforce does. A
 * sample exists when its failure came, or when its alarm stayed without one. The same seed gives
 * the same month on all machines.
 */
#ifndef DAVY_HOST_MONTH_H
#define DAVY_HOST_MONTH_H

#include "core/core.h"

#define DAVY_HOST_DAYS	   30
#define DAVY_HOST_WEEKS	   5
#define DAVY_HOST_VERSIONS 64

struct davy_host_case {
	const char *name;
	const char *what;
	uint32_t least, most; /* jobs of a batch, in permille of the lockup timeout */
	uint32_t changed_day; /* the next three are valid from this day on; 0: never */
	uint32_t then_most;
	uint32_t killed; /* the firmware resets the device when a job reaches this */
};

extern const struct davy_host_case davy_host_cases[];
extern const size_t davy_host_case_count;

struct davy_host_version {
	uint64_t at_s; /* since the begin of the month */
	uint64_t from;
	uint16_t key;
	struct davy_threshold_verdict verdict;
};

struct davy_host_side {
	uint32_t false_alarms[DAVY_HOST_WEEKS]; /* per week; the last one has two days */
	uint32_t failures, missed;
	uint64_t lead_time_ns; /* median */
};

struct davy_host_month {
	struct davy_host_side by_default, tuned;
	struct davy_host_version version[DAVY_HOST_VERSIONS];
	size_t version_count;
	uint64_t event_count;
};

/* 0 or -ENOMEM. */
int davy_host_month_run(const struct davy_host_case *c, uint64_t seed,
			struct davy_host_month *ret_month);

#endif

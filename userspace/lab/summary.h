/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of scores of many traces under one configuration, by failure class. */
#ifndef DAVY_SUMMARY_H
#define DAVY_SUMMARY_H

#include "lab/cases.h"

struct davy_score_sum {
	uint32_t count;
	uint32_t foreseen;
	uint32_t reported;		  /* before the failure, foreseen or not */
	uint32_t acted;			  /* in time */
	uint32_t named[DAVY_NAMED_COUNT]; /* of the foreseen ones, by the alarm's process */
	uint32_t labelled;		  /* with a known precursor */
	uint32_t ratio_permille;	  /* median of lead time / possible lead time; missed: 0 */
	uint64_t lead_time_ns;		  /* median of foreseen ones */
	uint64_t possible_ns;		  /* median of all with a known precursor */
};

struct davy_summary {
	struct davy_score_sum all;
	struct davy_score_sum of_class[DAVY_CLASS_COUNT];
	uint32_t benign_count;
	uint32_t unknown_count; /* no label and no failure in the events */
	uint64_t benign_ns;
	uint32_t false_benign;
	uint32_t false_failure; /* in traces that end in a failure */
	uint32_t false_acts;	/* in all traces */
	uint32_t false_of[DAVY_JUDGE_HAZARDS];
	uint64_t event_count;
};

/* "scores" has one for each trace, "stride" apart. 0 or -ENOMEM. */
int davy_summary_make(const struct davy_cases *cases, const struct davy_score *scores,
		      size_t stride, struct davy_summary *ret_summary);

/* False alarms per day of benign traces, in thousandths; UINT64_MAX: no benign trace. */
uint64_t davy_false_per_day_milli(const struct davy_summary *summary);

/*
 * Whether "a" is not worse than "b" in any of: foreseen failures and, for equal numbers, median
 * lead time, by class; false alarms; median ratio.
 */
bool davy_summary_not_worse(const struct davy_summary *a, const struct davy_summary *b);

/*
 * Whether "a" is better: more failures foreseen, fewer false alarms, or a lead time that has grown
 * by more than noise. The comparison function sorts the better one first.
 */
bool davy_summary_better(const struct davy_summary *a, const struct davy_summary *b);
int davy_summary_compare(const struct davy_summary *a, const struct davy_summary *b);

#endif

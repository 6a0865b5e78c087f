/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the observed values of alarms with a tunable threshold, and makes a sample of each when
 * its result is known. The agent takes the samples from the core and stores them. Processes of
 * ordinary users give none: any user could tune the thresholds with them.
 */
#ifndef DAVY_SAMPLE_H
#define DAVY_SAMPLE_H

#include "core/score/foresight.h"
#include "core/score/threshold.h"

#define DAVY_SAMPLE_READINGS 32
#define DAVY_SAMPLES_MADE    16
#define DAVY_SAMPLE_STEPS    8 /* of an eighth of the default, from the default on */

/* The least time between a prediction and its failure that is of use: an act takes 0.4 s. */
#define DAVY_SAMPLE_LEAD_NS DAVY_NS_PER_S

struct davy_reading {
	struct davy_prediction of; /* "last_ns" is valid while it is raised, too */
	char model[DAVY_MODEL_LEN];
	uint64_t step_ns[DAVY_SAMPLE_STEPS]; /* first time of each step; 0: not reached */
	uint64_t base;			     /* the default threshold */
	uint64_t most;			     /* largest observed value */
};

struct davy_samples {
	struct davy_reading readings[DAVY_SAMPLE_READINGS];
	struct davy_sample made[DAVY_SAMPLES_MADE]; /* number N is in slot N % DAVY_SAMPLES_MADE */
	uint64_t made_count;
	uint32_t reading_count;
	uint32_t pad;
};

#endif

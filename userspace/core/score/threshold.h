/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proposes the threshold of a hazard for one model (or device, where no model is known), from what
 * its alarms led to on this host. Pure: the agent and the laboratory call it with stored samples.
 *
 * A tunable threshold is the one from which an alarm is a prediction (level 2), and more means
 * worse. Level 1 of the hazard has its own threshold: its alarms show what a raised one missed.
 */
#ifndef DAVY_THRESHOLD_H
#define DAVY_THRESHOLD_H

#include "core/event/config.h"

/* The results of alarms, then the changes of the threshold that were made from them. */
enum davy_sample_result {
	DAVY_SAMPLE_FALSE = 1,	    /* a prediction without a failure; value: its maximum */
	DAVY_SAMPLE_CONFIRMED = 2,  /* a failure followed; value: what was reached in time */
	DAVY_SAMPLE_MISSED = 3,	    /* a failure that only a lower threshold foresees; as above */
	DAVY_SAMPLE_ADOPTED = 4,    /* value: the new threshold */
	DAVY_SAMPLE_TAKEN_BACK = 5, /* value: the default */
	DAVY_SAMPLE_PROPOSED = 6,   /* as adopted, in mode advise */
	DAVY_SAMPLE_RESULT_COUNT = 7,
};

struct davy_sample {
	uint64_t at_s;	/* wall clock */
	uint64_t value; /* in the unit of the key */
	uint16_t key;	/* enum davy_config_key */
	uint8_t result;
	uint8_t pad[5];
	char device[DAVY_DEVICE_LEN];
	char driver[24];
	char model[DAVY_MODEL_LEN]; /* "": unknown */
};

/* "limit": the largest value with which the laboratory's set is not worse than by default. */
struct davy_tunable {
	uint8_t hazard; /* enum davy_hazard */
	uint16_t key;
	uint32_t limit;
};

extern const struct davy_tunable davy_tunables[];	    /* key 0 ends it */
const struct davy_tunable *davy_tunable_of(uint8_t hazard); /* NULL: none */

#define DAVY_THRESHOLD_FALSE  3	    /* false alarms that lead to a proposal */
#define DAVY_THRESHOLD_SPAN_S 86400 /* the least time over which they came */

enum davy_threshold_why {
	DAVY_THRESHOLD_KEEP = 0,
	DAVY_THRESHOLD_FEWER = 1,     /* fewer false alarms, and no confirmed alarm is lost */
	DAVY_THRESHOLD_MISSED = 2,    /* back: a failure was missed that the default foresees */
	DAVY_THRESHOLD_NO_BETTER = 3, /* back: as many false alarms as before */
};

struct davy_threshold_verdict {
	uint64_t to;
	uint32_t why; /* enum davy_threshold_why */
	uint32_t false_count;
	uint32_t removed; /* of these, with the new value */
	uint32_t confirmed, missed;
};

/*
 * "samples" are those of one key and one model (or device), oldest first. False alarms from before
 * the last change are used up: they led to it. After a change was taken back, the next one needs
 * twice as many.
 */
void davy_threshold_judge(const struct davy_config *config, const struct davy_sample *samples,
			  size_t count, uint64_t now_s, struct davy_threshold_verdict *ret_verdict);

#endif

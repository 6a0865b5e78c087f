/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how well the hazards predict failures. Each failure has a class; related failures form
 * one incident. A prediction is an alarm, from some level on, of a hazard that can lead to a class.
 * The first prediction before an incident on the same device or process predicted it. Results are
 * counted per hazard and per class. The core keeps the counts and reports read them.
 */
#ifndef DAVY_FORESIGHT_H
#define DAVY_FORESIGHT_H

#include "core/score/doubt.h"
#include "core/event/plan.h"

struct davy_step;

#define DAVY_FORESIGHT_PREDICTIONS 128
#define DAVY_FORESIGHT_INCIDENTS   16

/* Histogram: slot n counts lead times below DAVY_LEAD_TIME_SLOT_NS << n; the last slot is open. */
#define DAVY_LEAD_TIME_SLOTS   32
#define DAVY_LEAD_TIME_SLOT_NS ((uint64_t)1 << 20) /* 1.05 ms */

struct davy_lead_times {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint32_t slot[DAVY_LEAD_TIME_SLOTS];
};

/* Each prediction gets one result. Without one it is active, or its horizon is not over. */
struct davy_hazard_score {
	uint64_t predictions;
	uint64_t confirmed;    /* followed by a failure that it can lead to */
	uint64_t averted;      /* a successful action on its workload before any failure */
	uint64_t late;	       /* raised after the first failure, with no other failure later */
	uint64_t false_alarms; /* no failure followed */
	struct davy_lead_times lead_time; /* of the failures whose first prediction it was */
};

/*
 * How often a failure followed alarms of level 2 and of level 3. Only predictions with a result
 * count: no averted one, none that came after the failure, none about an ordinary user's process.
 */
struct davy_level_score {
	uint64_t alarms;
	uint64_t confirmed;
};

/* The alarms by stated probability: bin n has those from n * 10 % on. */
#define DAVY_RELIABILITY_BINS 10

struct davy_reliability {
	uint64_t alarms;
	uint64_t stated_permille; /* sum */
	uint64_t confirmed;
};

struct davy_calibration {
	struct davy_level_score of[DAVY_HZ_COUNT][DAVY_SCORED_LEVELS];
	struct davy_reliability bin[DAVY_RELIABILITY_BINS];
	uint64_t error_sum; /* squared errors of the stated probabilities, permille^2 */
};

struct davy_class_score {
	uint64_t failures;
	uint64_t missed; /* no prediction before; "lead_time" has the others */
	struct davy_lead_times lead_time;
};

struct davy_prediction {
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	char comm[DAVY_COMM_LEN];
	uint64_t at_ns;
	uint64_t last_ns; /* last time seen; unused while raised */
	uint32_t pid;
	uint32_t workload;
	uint32_t kind; /* enum davy_event_kind of its evidence */
	uint8_t hazard;
	bool used;
	bool raised;
	bool confirmed;
	bool late;
	bool stranger; /* from an ordinary user's process: counts only if confirmed */
	uint16_t stated_permille[DAVY_SCORED_LEVELS]; /* 0: none stated at that level */
	uint8_t pad[2];
};

struct davy_incident {
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t pid;
	uint32_t kind; /* enum davy_event_kind of the first failure */
	uint8_t class; /* enum davy_log_class */
	bool used;
	bool reported;	/* false: out of memory, but no process died */
	bool resetting; /* a GPU reset has begun and not ended */
	uint8_t pad[4];
};

struct davy_foresight {
	struct davy_hazard_score hazard[DAVY_HZ_COUNT];
	struct davy_class_score class[DAVY_CLASS_COUNT];
	struct davy_calibration calibration;
	struct davy_level_score earlier[DAVY_HZ_COUNT][DAVY_SCORED_LEVELS]; /* starts before */
	struct davy_prediction predictions[DAVY_FORESIGHT_PREDICTIONS];
	struct davy_incident incidents[DAVY_FORESIGHT_INCIDENTS];
	struct davy_doubt doubts[DAVY_DOUBTS];
	uint32_t prediction_count; /* predictions in use */
	uint32_t pad;
};

/*
 * How a hazard relates to failures: the classes of kernel log lines of that hazard (log_kind.c),
 * and the engine's reaction. One of "leads", "fails_as" and "seen_in_events" is set. An alarm
 * counts only for the classes that its row lists. With "forms", only alarms of those forms lead to
 * a failure; the others are a failure, or its consequence.
 */
struct davy_precursor {
	uint16_t leads;	     /* classes it can lead to: bits of enum davy_log_class_bit */
	uint16_t forms;	     /* 1 << enum davy_form; 0: all */
	uint8_t fails_as;    /* the alarm itself is a failure: enum davy_log_class */
	bool seen_in_events; /* a consequence: its event already counts as the failure */
	enum davy_config_key horizon;
};

/*
 * The subject rule of all scores. An alarm is about the subject of a failure if it names the same
 * device, or the same process where no device is known. If the failure of that class is one
 * process's own, and both name a process, only the process counts: it may use several devices. An
 * alarm or a failure without device and process is the host's and fits any.
 */
struct davy_subject {
	const char *device;
	uint32_t pid;
};

/* The classes that an alarm of the row can lead to. */
static inline uint32_t davy_leads_of(const struct davy_precursor *p, uint8_t form)
{
	return p->forms && !(p->forms & 1u << form) ? 0 : p->leads;
}

bool davy_foresight_same_subject(enum davy_log_class class, struct davy_subject alarm,
				 struct davy_subject failure);

/*
 * The probability, in permille, that a failure follows an alarm of that level within the hazard's
 * horizon: from the laboratory's counts and those of this host, earlier starts included. 1 to 999;
 * 0 for a level below DAVY_SCORED_FROM.
 */
uint32_t davy_foresight_probability(const struct davy_step *s, enum davy_hazard hazard,
				    uint32_t level);

/* End of the slot that contains the median, limited to the observed range; 0 without values. */
uint64_t davy_lead_time_median_ns(const struct davy_lead_times *lead_time);

/* Gives each active prediction its result: no failure follows the last event. */
void davy_foresight_end(struct davy_foresight *f);

/* Adds the counts of "from". Predictions, incidents and "earlier" are not copied. */
void davy_foresight_add(struct davy_foresight *to, const struct davy_foresight *from);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the alarms of a trace. An alarm is a note of level 2 or 3, from its rise to its clearing.
 * It foresees the failure if it names the failure's device or process, or the whole host, and comes
 * after the cause and before the failure. Its lead time is counted from the precursor. Any other
 * alarm before the failure is false, including one that came before the cause. Alarms after the
 * failure are not judged.
 */
#ifndef DAVY_ALARM_JUDGE_H
#define DAVY_ALARM_JUDGE_H

#include "core/event/plan.h"
#include "lab/label.h"

#define DAVY_ALARM_LEVEL   2
#define DAVY_ALARMS_MAX	   64			 /* at the same time */
#define DAVY_EARLY_NS	   DAVY_NS_PER_S	 /* allowed time before the cause */
#define DAVY_RECORDED_NS   (600 * DAVY_NS_PER_S) /* before a recorded failure */
#define DAVY_JUDGE_HAZARDS 64

/* A trace and its label. */
struct davy_case {
	char path[4096];
	struct davy_label label;
	bool labelled; /* false: by its events; precursor and false alarms unknown */
	bool failed;
};

struct davy_score {
	uint64_t lead_time_ns; /* 0: missed, or benign */
	uint64_t event_count;
	uint32_t false_count;
	uint8_t hazard; /* hazard of the alarm that foresaw it */
	uint8_t level;
	bool foreseen;
	uint8_t pad;
	uint16_t false_of[DAVY_JUDGE_HAZARDS]; /* by hazard */
};

struct davy_raised_alarm {
	uint32_t pid;
	uint8_t hazard; /* 0: empty */
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
};

struct davy_judge {
	const struct davy_case *of;
	struct davy_raised_alarm raised[DAVY_ALARMS_MAX];
	struct davy_score score;
};

void davy_judge_begin(struct davy_judge *j, const struct davy_case *of);
void davy_judge_plan(struct davy_judge *j, const struct davy_plan *plan);

/* Lead time / possible lead time in permille; 0: missed. Only for labelled failures. */
uint32_t davy_lead_time_permille(const struct davy_case *of, const struct davy_score *score);

#endif

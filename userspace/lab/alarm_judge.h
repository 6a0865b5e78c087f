/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a history's alarms were worth. An alarm is a note of level 2 or 3, from its rise to its
 * clearing. It foresees the failure if it speaks of the failure's device, process or of the host as
 * a whole, and came after the cause and before the failure; its lead is measured from the sign. Any
 * other alarm before the failure is false: also one that came too early and was lucky. What comes
 * after the failure is not judged.
 */
#ifndef DAVY_ALARM_JUDGE_H
#define DAVY_ALARM_JUDGE_H

#include "core/event/plan.h"
#include "lab/label.h"

#define DAVY_ALARM_LEVEL   2
#define DAVY_ALARMS_MAX	   64			 /* that stand at once */
#define DAVY_EARLY_NS	   DAVY_NS_PER_S	 /* an alarm may be so much before its cause */
#define DAVY_RECORDED_NS   (600 * DAVY_NS_PER_S) /* before a recorded failure */
#define DAVY_JUDGE_HAZARDS 64

/* A trace and what is known of it. */
struct davy_case {
	char path[4096];
	struct davy_label label;
	bool labelled; /* false: found by its events; its sign and its false alarms are unknown */
	bool failed;
};

struct davy_score {
	uint64_t lead_ns; /* 0: missed, or benign */
	uint64_t event_count;
	uint32_t false_count;
	uint8_t hazard; /* whose alarm foresaw it */
	uint8_t level;
	bool foreseen;
	uint8_t pad;
	uint16_t false_of[DAVY_JUDGE_HAZARDS]; /* by hazard */
};

struct davy_standing {
	uint32_t pid;
	uint8_t hazard; /* 0: empty */
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
};

struct davy_judge {
	const struct davy_case *of;
	struct davy_standing standing[DAVY_ALARMS_MAX];
	struct davy_score score;
};

void davy_judge_begin(struct davy_judge *j, const struct davy_case *of);
void davy_judge_plan(struct davy_judge *j, const struct davy_plan *plan);

/* Lead to what was possible, in permille; 0: missed. Of a labelled failure only. */
uint32_t davy_lead_permille(const struct davy_case *of, const struct davy_score *score);

#endif

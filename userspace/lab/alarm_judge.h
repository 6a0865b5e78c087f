/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a history's alarms were worth. An alarm is a note of level 2 or 3, from its rise to its
 * clearing. It foresees the failure if it speaks of the failure's device, process or of the host as
 * a whole, and came after the cause and before the failure; its lead is measured from the sign. Any
 * other alarm before the failure is false: also one that came too early and was lucky. What comes
 * after the failure is not judged.
 */
#ifndef DL_TUNE_JUDGE_H
#define DL_TUNE_JUDGE_H

#include "core/event/plan.h"
#include "lab/label.h"

#define DL_ALARM_LEVEL	 2
#define DL_ALARMS_MAX	 64		     /* that stand at once */
#define DL_EARLY_NS	 DL_NS_PER_S	     /* an alarm may be so much before its cause */
#define DL_RECORDED_NS	 (600 * DL_NS_PER_S) /* before a recorded failure */
#define DL_JUDGE_HAZARDS 64

/* A trace and what is known of it. */
struct dl_case {
	char path[4096];
	struct dl_label label;
	bool labelled; /* false: found by its events; its sign and its false alarms are unknown */
	bool failed;
};

struct dl_score {
	uint64_t lead_ns; /* 0: missed, or benign */
	uint64_t event_count;
	uint32_t false_count;
	uint8_t hazard; /* whose alarm foresaw it */
	uint8_t level;
	bool foreseen;
	uint8_t pad;
	uint16_t false_of[DL_JUDGE_HAZARDS]; /* by hazard */
};

struct dl_standing {
	uint32_t pid;
	uint8_t hazard; /* 0: empty */
	char device[DL_DEVICE_LEN];
	char ring[DL_RING_NAME_LEN];
};

struct dl_judge {
	const struct dl_case *of;
	struct dl_standing standing[DL_ALARMS_MAX];
	struct dl_score score;
};

void dl_judge_begin(struct dl_judge *j, const struct dl_case *of);
void dl_judge_plan(struct dl_judge *j, const struct dl_plan *plan);

/* Lead to what was possible, in permille; 0: missed. Of a labelled failure only. */
uint32_t dl_lead_permille(const struct dl_case *of, const struct dl_score *score);

#endif

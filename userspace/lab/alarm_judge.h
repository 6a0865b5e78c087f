/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the alarms of a trace. An alarm is a note of level 2 or 3, from its rise to its clearing.
 * It foresees the failure if all of this holds:
 *   - its hazard's row lists the class of the failure;
 *   - it has the failure's subject (davy_foresight_same_subject);
 *   - it came after the cause, and before the first failure of the incident that the failure is
 *     part of;
 *   - it stood then, or was cleared less than its hazard's horizon before.
 * Its lead time is counted from the precursor to that first failure. An alarm before the cause, or
 * about another device and process (other workers of the failing model excepted), is false. Any
 * other alarm before the failure only reports what has begun: a hang before the driver notices it,
 * the first crash of a loop. Alarms after the failure are not judged.
 *
 * The process: right if one of the alarms that foresee the failure names the label's process, as
 * subject, victim or culprit, or that of the incident's first failure. Else the earliest of them is
 * judged: wrong if it names others only, nobody if it names none although the kernel had named the
 * process since the precursor in an event of a kind that the hazard sees. Not judged: the process
 * did not run yet, or the kernel did not know it.
 *
 * Actions are judged apart (act_replay.h). The agent would have acted in time if a hazard that can
 * lead to the failure led to an action, and the action ends before the first failure by its
 * measured duration. An action in a benign trace, before the cause, or about another device and
 * process is false, with the same exception.
 */
#ifndef DAVY_ALARM_JUDGE_H
#define DAVY_ALARM_JUDGE_H

#include "core/core.h"
#include "lab/label.h"

#define DAVY_ALARM_LEVEL   2
#define DAVY_ALARMS_MAX	   64			 /* at the same time */
#define DAVY_EARLY_NS	   DAVY_NS_PER_S	 /* allowed time before the cause */
#define DAVY_RECORDED_NS   (600 * DAVY_NS_PER_S) /* before a recorded failure */
#define DAVY_JUDGE_HAZARDS 64

/* The process that the alarms named, compared with the one that the label names. */
enum davy_named {
	DAVY_NAMED_UNKNOWN = 0, /* not judged */
	DAVY_NAMED_RIGHT = 1,
	DAVY_NAMED_WRONG = 2,
	DAVY_NAMED_NOBODY = 3,
	DAVY_NAMED_COUNT = 4,
};

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
	bool reported;		  /* before the failure, by any alarm about the failing object */
	uint8_t named;		  /* enum davy_named */
	uint32_t no_credit_count; /* alarms about the failing object that foresaw nothing */
	uint32_t false_act_count;
	bool acted;  /* in time */
	uint8_t act; /* the first such action */
	uint8_t pad[2];
	uint16_t false_of[DAVY_JUDGE_HAZARDS]; /* by hazard */
};

struct davy_raised_alarm {
	uint64_t at_ns;
	uint64_t cleared_ns; /* 0: it stands */
	uint32_t pid;
	uint32_t victim_pid;
	uint32_t culprit_pid;
	uint8_t hazard; /* 0: empty */
	uint8_t level;
	bool may_foresee; /* as far as is known before the failure */
	bool met;	  /* the label's process ran */
	bool knowable;	  /* the kernel had named it */
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
};

struct davy_judge {
	const struct davy_case *of;
	struct davy_raised_alarm raised[DAVY_ALARMS_MAX];
	struct davy_score score;
	uint64_t act_end_ns;	    /* end of the action that ends first; 0: none */
	char model[DAVY_MODEL_LEN]; /* of the label's process; "": not known yet */
	uint64_t named_in; /* DAVY_SEES() of events since the precursor with the label's pid */
	bool met;	   /* the label's process runs */
};

void davy_judge_begin(struct davy_judge *j, const struct davy_case *of);

/* Each event, before the plans that it leads to. */
void davy_judge_event(struct davy_judge *j, const struct davy_event *ev);
void davy_judge_plan(struct davy_judge *j, const struct davy_plan *plan);

/* An action that was advised or refused; "core" has the memory of its process. */
void davy_judge_act(struct davy_judge *j, const struct davy_core *core,
		    const struct davy_plan *plan);

/* After the last event: "core" has the incident that the failure is part of. */
void davy_judge_end(struct davy_judge *j, const struct davy_core *core);

/* Lead time / possible lead time in permille; 0: missed. Only for labelled failures. */
uint32_t davy_lead_time_permille(const struct davy_case *of, const struct davy_score *score);

#endif

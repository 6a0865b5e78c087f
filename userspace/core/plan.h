/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core says: hazards raised and cleared, checks wanted, acts planned or refused, breakers
 * turned, outcomes. A plan names its hazard, what was observed against which threshold, the events
 * it rests on, and why a lesser rung was not enough. Numbers are append-only.
 */
#ifndef DL_CORE_PLAN_H
#define DL_CORE_PLAN_H

#include "config.h"
#include "event.h"

#define DL_PLAN_EVIDENCE 4
#define DL_PLANS_MAX	 32 /* one step never says more; what exceeds it is counted */

enum dl_hazard {
	DL_HZ_NONE = 0,
	DL_HZ_ENGINE_EXCEPTION = 1,
	DL_HZ_ENGINE_WEDGED = 2,
	DL_HZ_RUNNER_CRASH = 3,
	DL_HZ_JOB_STALL = 4,
	DL_HZ_FAULT_STORM = 5,
	DL_HZ_EVICTION_STORM = 6,
	DL_HZ_RESET = 7,
	DL_HZ_ALLOC_FAILURE = 8,
	DL_HZ_COUNT = 9,
};

/* The ladder, least destructive first; rungs between check and restart are not built yet. */
enum dl_rung {
	DL_RUNG_NOTE = 0,	 /* a hazard is raised */
	DL_RUNG_CHECK = 1,	 /* ask the engine for one token */
	DL_RUNG_RESTART = 2,	 /* same backend */
	DL_RUNG_MIGRATE_CPU = 3, /* strictly */
	DL_RUNG_CLEAR = 4,	 /* a hazard has ended */
	DL_RUNG_BREAKER = 5,	 /* the backend policy changes */
	DL_RUNG_OUTCOME = 6,	 /* how an act ended */
	DL_RUNG_COUNT = 7,
};

enum dl_verdict {
	DL_VERDICT_GO = 0,
	DL_VERDICT_ADVISED = 1,
	DL_VERDICT_REFUSED = 2,
	DL_VERDICT_COUNT = 3,
};

enum dl_refusal {
	DL_REFUSED_NOT = 0,
	DL_REFUSED_MODE = 1,
	DL_REFUSED_NOT_ADOPTED = 2,
	DL_REFUSED_BUSY = 3,	/* an act on this workload is under way */
	DL_REFUSED_BACKOFF = 4, /* will be done later */
	DL_REFUSED_BUDGET = 5,
	DL_REFUSED_COUNT = 6,
};

struct dl_evidence {
	uint64_t at_ns;
	uint32_t kind; /* enum dl_event_kind */
	uint32_t count;
};

struct dl_plan {
	uint64_t at_ns;
	uint32_t id; /* 1, 2, ... within one history */
	uint32_t pid;
	uint32_t workload;
	uint8_t rung;
	uint8_t verdict;
	uint8_t refusal;
	uint8_t hazard;
	uint8_t level; /* 1 to 3 */
	uint8_t engine;
	uint8_t backend;
	uint8_t unit; /* of observed and threshold, enum dl_unit */
	uint64_t observed;
	uint64_t threshold;
	uint64_t first_sign_ns; /* the earliest event of this episode; at_ns less this is the delay
				 */
	uint64_t stopped_ns;	/* outcome: old process gone; 0 unknown */
	uint64_t until_ns; /* breaker: opens a probation; refused for back-off: when it is tried */
	uint16_t open_count;
	uint8_t breaker_state;
	uint8_t evidence_count;
	int32_t result;		/* outcome: 0 or -errno */
	uint16_t health_status; /* what the last check saw, HTTP; 0 no answer or no check */
	uint16_t completion_status;
	uint16_t port;
	uint8_t device_class; /* the failure is the device's or its driver's, not a plain bug */
	uint8_t pad;
	uint32_t victim_pid; /* who suffers, where that is another; 0: nobody known */
	uint32_t pad2;
	struct dl_evidence evidence[DL_PLAN_EVIDENCE];
	char comm[DL_COMM_LEN];
	char device[DL_DEVICE_LEN];
	char ring[DL_RING_NAME_LEN];
	char model[DL_MODEL_LEN];
	char detail[DL_DETAIL_LEN];
};

const char *dl_hazard_name(enum dl_hazard hazard);
const char *dl_rung_name(enum dl_rung rung);
const char *dl_verdict_name(enum dl_verdict verdict);
const char *dl_refusal_name(enum dl_refusal refusal);
const char *dl_breaker_state_name(enum dl_breaker_state state);

#endif

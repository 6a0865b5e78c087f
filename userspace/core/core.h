/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decisions of davylamp: facts in, plans out. Pure: no clock, file, heap, global or float. The
 * same history gives the same plans, byte for byte, on any machine; a trace is such a history.
 * Every folder in core/ above core/event may include this: all of them work on this state.
 */
#ifndef DAVY_CORE_H
#define DAVY_CORE_H

#include "core/score/foresight.h"
#include "core/score/sample.h"
#include "core/event/plan.h"
#include "core/action/tuned.h"
#include "core/world/world.h"

#define DAVY_CORE_ALARMS   128
#define DAVY_CORE_BREAKERS 64

/* A hazard that stands: it is not raised again at its level until it has cleared. */
struct davy_alarm {
	uint64_t last_ns;      /* last time its precursor was seen */
	uint64_t strong_ns;    /* last time it was seen at its level */
	uint64_t lasting_ns;   /* since when it was seen at its level without a pause */
	uint64_t ended_ns;     /* the slot is free again, and had this alarm until then; 0: no */
	struct davy_plan note; /* as raised */
	bool used;
	bool acted;		 /* an action was taken at this level */
	bool hurried;		 /* the next action needs no further precursor */
	bool counted;		 /* counted as a failure of its backend */
	uint8_t at;		 /* place in its row: what is before was taken or passed */
	uint8_t reported_action; /* last reported refusal or advice */
	uint8_t reported_refusal;
	bool returned;	 /* raised soon after its end: one state, which comes and goes */
	uint32_t target; /* workload of the action, 0: none */
	uint32_t target_pad;
};

struct davy_breaker {
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t window_ns;
	uint64_t until_ns;
	uint64_t probation_ns; /* 0: no process is on probation */
	uint32_t probation_workload;
	uint32_t pad;
	uint32_t failure_count; /* within the window */
	uint16_t open_count;
	uint8_t backend;
	uint8_t state; /* enum davy_breaker_state */
};

struct davy_core {
	struct davy_config config;
	struct davy_world world;
	struct davy_alarm alarms[DAVY_CORE_ALARMS];
	struct davy_breaker breakers[DAVY_CORE_BREAKERS];
	struct davy_foresight foresight;
	struct davy_tuned tuned[DAVY_TUNED_MAX];
	struct davy_samples samples;
	uint64_t wall_s; /* as last reported, at wall_ns; 0: not reported */
	uint64_t wall_ns;
	uint64_t now_ns;
	uint64_t event_count;
	uint64_t dropped_count; /* plans or alarms without room */
	uint32_t plan_count;
	uint32_t alarm_count; /* in use */
	uint32_t breaker_count;
	uint32_t hour_count; /* acts on all workloads since hour_ns */
	uint64_t hour_ns;
};

void davy_core_init(struct davy_core *core);
/* The memory must be zero: pages that are not written use no memory. */
void davy_core_init_zeroed(struct davy_core *core);

/*
 * Feeds one valid event (davy_event_valid). Fills at most "max" plans, max >= DAVY_PLANS_MAX, and
 * returns their number. Time is ev->at_ns only; an earlier time is replaced by the latest one.
 */
size_t davy_core_step(struct davy_core *core, const struct davy_event *ev, struct davy_plan *plans,
		      size_t max);

/* The tuner's state of the workload; NULL: none. */
const struct davy_tuned *davy_core_tuned(const struct davy_core *core, uint32_t workload);

/* Whether the workload has an act in progress or pending: its supervisor must stay. */
bool davy_core_workload_busy(struct davy_core *core, uint32_t workload);

/* The text of a hazard's observation: the core itself formats nothing. */
struct davy_clause {
	/* Appends, like printf(). */
	void (*say)(struct davy_clause *c, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
	/* A demangled C++ type; valid until the next call. */
	const char *(*type)(struct davy_clause *c, const char *mangled);
	const char *(*signal)(int number); /* without the prefix SIG */
};

/* The reason of a hazard's plan, in one clause: what was observed against which threshold. */
void davy_hazard_reason(const struct davy_plan *plan, struct davy_clause *c);

const struct davy_precursor *davy_precursor(enum davy_hazard hazard);
uint64_t davy_hazard_sees(enum davy_hazard hazard); /* DAVY_SEES() of its event kinds */

#endif

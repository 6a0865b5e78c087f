/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The judgement of davylamp: facts in, plans out. Pure: no clock, file, heap, global or float. The
 * same history gives the same plans, byte for byte, on any machine; a trace is such a history.
 * Every folder inside core/ above core/event may include this: it is the state all of them work on.
 */
#ifndef DAVY_CORE_H
#define DAVY_CORE_H

#include "core/score/foresight.h"
#include "core/event/plan.h"
#include "core/action/tuned.h"
#include "core/world/world.h"

#define DAVY_CORE_ALARMS   128
#define DAVY_CORE_BREAKERS 64

/* A hazard that stands: it is not raised again at its level until it has cleared. */
struct davy_alarm {
	uint64_t last_ns;      /* last time its sign was seen */
	uint64_t strong_ns;    /* last time it was seen as strong as it is told */
	struct davy_plan note; /* as raised */
	bool used;
	bool acted;		 /* an action was taken because of it, at this level */
	bool hurried;		 /* the next action needs no further sign */
	bool counted;		 /* as a failure of its backend */
	uint8_t at;		 /* place in its row: what is before was taken or passed */
	uint8_t reported_action; /* last refusal or advice because of it, told once */
	uint8_t reported_refusal;
	uint8_t pad;
	uint32_t target; /* workload that is acted on, 0: none */
	uint32_t target_pad;
};

struct davy_breaker {
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t window_ns;
	uint64_t until_ns;
	uint64_t probation_ns; /* 0: nobody is on probation */
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
	uint64_t wall_s; /* as told last, at wall_ns; 0: not told */
	uint64_t wall_ns;
	uint64_t now_ns;
	uint64_t event_count;
	uint64_t dropped_count; /* plans or alarms that had no room */
	uint32_t plan_count;
	uint32_t alarm_count; /* in use */
	uint32_t breaker_count;
	uint32_t hour_count; /* acts on all workloads since hour_ns */
	uint64_t hour_ns;
};

void davy_core_init(struct davy_core *core);
/* Of memory that is zero: pages that are not written take no memory. */
void davy_core_init_zeroed(struct davy_core *core);

/*
 * Feeds one valid event (davy_event_valid); fills at most "max" plans, max >= DAVY_PLANS_MAX, and
 * returns how many. Time is ev->at_ns and nothing else; time that goes back is held.
 */
size_t davy_core_step(struct davy_core *core, const struct davy_event *ev, struct davy_plan *plans,
		      size_t max);

/* What is known of its settings; NULL: nothing. */
const struct davy_tuned *davy_core_tuned(const struct davy_core *core, uint32_t workload);

/* Whether the workload has an act under way or waiting: its supervisor should stay. */
bool davy_core_workload_busy(struct davy_core *core, uint32_t workload);

/* What a hazard has observed, in the making: the core itself formats nothing. */
struct davy_clause {
	/* Adds to the text, as printf does. */
	void (*say)(struct davy_clause *c, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
	/* A C++ type as people write it; good until the next. */
	const char *(*type)(struct davy_clause *c, const char *mangled);
	const char *(*signal)(int number); /* without SIG */
};

/* Why a plan of a hazard was made, in one clause: what was observed against which threshold. */
void davy_hazard_reason(const struct davy_plan *plan, struct davy_clause *c);

const struct davy_precursor *davy_precursor(enum davy_hazard hazard);

#endif

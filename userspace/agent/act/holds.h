/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workloads that stand still or run in a duty cycle. The guard holds them; what is kept here is
 * enough to let them go when the guard itself is killed.
 */
#ifndef DAVY_HOLDS_H
#define DAVY_HOLDS_H

#include <systemd/sd-event.h>

#include "act/guard_order.h"
#include "core/event/plan.h"

struct davy_agent;

struct davy_held {
	uint32_t id; /* at the guard; 0: empty */
	uint32_t workload;
	uint32_t plan;	    /* whose end is to be told; 0: nobody's any more */
	uint32_t undo_plan; /* who ordered its end */
	uint32_t pid;
	uint64_t start_ticks;
	int dir_fd; /* of its cgroup; -1: it and its descendants are held by SIGSTOP */
	struct davy_guard_order order;
};

struct davy_holds {
	struct davy_guard guard;
	sd_event_source *answers;
	sd_event_source *death;
	sd_event_source *again; /* a guard that died is followed by another */
	uint32_t id_count;
	uint32_t start_count; /* without an answer in between: the pause before the next grows */
	struct davy_held held[DAVY_GUARD_HOLDS];
};

void davy_agent_holds_open(struct davy_agent *a);
void davy_agent_holds_close(struct davy_agent *a);

/* Pause and throttle; the result comes as DAVY_EV_ACT. */
void davy_agent_hold(struct davy_agent *a, const struct davy_plan *plan);

/* Undo of them. */
void davy_agent_hold_undo(struct davy_agent *a, const struct davy_plan *plan);

/* Before its process is replaced or stopped: SIGTERM waits while it is frozen. */
void davy_agent_hold_drop(struct davy_agent *a, uint32_t workload);

/* holds.c for act_hold.c: the place with that id (0: an empty one), of a workload; or NULL. */
struct davy_held *davy_holds_find(struct davy_agent *a, uint32_t id);
struct davy_held *davy_holds_of(struct davy_agent *a, uint32_t workload);
/* Tells whose plan it was how it ended, and empties the place. */
void davy_holds_end(struct davy_agent *a, struct davy_held *h, enum davy_act_stage stage,
		    int result);
void davy_holds_answer(struct davy_agent *a, const struct davy_guard_answer *said);

/* What holds the workload now, NULL: nothing. */
const struct davy_held *davy_agent_held(const struct davy_agent *a, uint32_t workload);

#endif

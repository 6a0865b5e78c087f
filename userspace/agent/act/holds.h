/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workloads that stand still or run in a duty cycle. The guard holds them; what is kept here is
 * enough to let them go when the guard itself is killed.
 */
#ifndef DL_AGENT_HOLDS_H
#define DL_AGENT_HOLDS_H

#include <systemd/sd-event.h>

#include "act/guard_order.h"
#include "core/event/plan.h"

struct dl_agent;

struct dl_held {
	uint32_t id; /* at the guard; 0: empty */
	uint32_t workload;
	uint32_t plan;	    /* whose end is to be told; 0: nobody's any more */
	uint32_t undo_plan; /* who ordered its end */
	uint32_t pid;
	uint64_t start_ticks;
	int dir_fd; /* of its cgroup; -1: it and its descendants are held by SIGSTOP */
	struct dl_guard_order order;
};

struct dl_holds {
	struct dl_guard guard;
	sd_event_source *answers;
	sd_event_source *death;
	sd_event_source *again; /* a guard that died is followed by another */
	uint32_t id_count;
	uint32_t start_count; /* without an answer in between: the pause before the next grows */
	struct dl_held held[DL_GUARD_HOLDS];
};

void dl_agent_holds_open(struct dl_agent *a);
void dl_agent_holds_close(struct dl_agent *a);

/* Pause and throttle; the result comes as DL_EV_ACT. */
void dl_agent_hold(struct dl_agent *a, const struct dl_plan *plan);

/* Undo of them; false: the plan is about something else. */
bool dl_agent_hold_undo(struct dl_agent *a, const struct dl_plan *plan);

/* Before its process is replaced or stopped: SIGTERM waits while it is frozen. */
void dl_agent_hold_drop(struct dl_agent *a, uint32_t workload);

/* holds.c for act_hold.c: the place with that id (0: an empty one), of a workload; or NULL. */
struct dl_held *dl_holds_find(struct dl_agent *a, uint32_t id);
struct dl_held *dl_holds_of(struct dl_agent *a, uint32_t workload);
/* Tells whose plan it was how it ended, and empties the place. */
void dl_holds_end(struct dl_agent *a, struct dl_held *h, enum dl_act_stage stage, int result);
void dl_holds_answer(struct dl_agent *a, const struct dl_guard_answer *said);

/* What holds the workload now, NULL: nothing. */
const struct dl_held *dl_agent_held(const struct dl_agent *a, uint32_t workload);

#endif

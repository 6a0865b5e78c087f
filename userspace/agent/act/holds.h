/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workloads that are frozen or throttled. The guard freezes them; this table has what the agent
 * needs to thaw them when the guard is killed.
 */
#ifndef DAVY_HOLDS_H
#define DAVY_HOLDS_H

#include <systemd/sd-event.h>

#include "act/guard_order.h"
#include "core/event/plan.h"

struct davy_agent;

struct davy_held {
	uint32_t id; /* in orders to the guard; 0: empty */
	uint32_t workload;
	uint32_t plan;	    /* the plan whose end is reported; 0: none */
	uint32_t undo_plan; /* the plan that ordered its end */
	uint32_t pid;
	uint64_t start_ticks;
	int dir_fd; /* of its cgroup; -1: it and its descendants are stopped with SIGSTOP */
	struct davy_guard_order order;
};

struct davy_holds {
	struct davy_guard guard;
	sd_event_source *answers;
	sd_event_source *death;
	sd_event_source *again; /* starts another guard after one has died */
	uint32_t id_count;
	uint32_t start_count; /* starts without a reply in between; each lengthens the next pause */
	struct davy_held held[DAVY_GUARD_HOLDS];
};

void davy_agent_holds_open(struct davy_agent *a);
void davy_agent_holds_close(struct davy_agent *a);

/* Pause and throttle; the result comes as DAVY_EV_ACT. */
void davy_agent_hold(struct davy_agent *a, const struct davy_plan *plan);

/* Undoes them. */
void davy_agent_hold_undo(struct davy_agent *a, const struct davy_plan *plan);

/*
 * Ends the freeze before the process is replaced or stopped: a frozen process does not receive
 * SIGTERM.
 */
void davy_agent_hold_drop(struct davy_agent *a, uint32_t workload);

/* holds.c for act_hold.c: the entry with that id (0: an empty one), or of a workload; or NULL. */
struct davy_held *davy_holds_find(struct davy_agent *a, uint32_t id);
struct davy_held *davy_holds_of(struct davy_agent *a, uint32_t workload);
/* Reports how the plan ended, and empties the entry. */
void davy_holds_end(struct davy_agent *a, struct davy_held *h, enum davy_act_stage stage,
		    int result);
void davy_holds_answer(struct davy_agent *a, const struct davy_guard_answer *said);

/* The freeze of the workload; NULL: none. */
const struct davy_held *davy_agent_held(const struct davy_agent *a, uint32_t workload);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workloads that are frozen or throttled. The guard freezes them; this table has what the agent
 * needs to thaw them when the guard is killed.
 */
#ifndef DAVY_FREEZES_H
#define DAVY_FREEZES_H

#include <systemd/sd-event.h>

#include "act/guard_order.h"
#include "core/event/plan.h"

struct davy_agent;

struct davy_frozen {
	uint32_t id; /* in orders to the guard; 0: empty */
	uint32_t workload;
	uint32_t plan;	    /* the plan whose end is reported; 0: none */
	uint32_t undo_plan; /* the plan that ordered its end */
	uint32_t pid;
	uint64_t start_ticks;
	int dir_fd; /* of its cgroup; -1: it and its descendants are stopped with SIGSTOP */
	struct davy_guard_order order;
};

struct davy_freezes {
	struct davy_guard guard;
	sd_event_source *answers;
	sd_event_source *death;
	sd_event_source *again; /* starts another guard after one has died */
	uint32_t id_count;
	uint32_t start_count; /* starts without a reply in between; each lengthens the next pause */
	struct davy_frozen frozen[DAVY_GUARD_FREEZES];
};

void davy_agent_freezes_open(struct davy_agent *a);
void davy_agent_freezes_close(struct davy_agent *a);

/* Pause and throttle; the result comes as DAVY_EV_ACT. */
void davy_agent_freeze(struct davy_agent *a, const struct davy_plan *plan);

/* Undoes them. */
void davy_agent_freeze_undo(struct davy_agent *a, const struct davy_plan *plan);

/*
 * Ends the freeze before the process is replaced or stopped: a frozen process does not receive
 * SIGTERM.
 */
void davy_agent_freeze_drop(struct davy_agent *a, uint32_t workload);

/* freezes.c for act_freeze.c: the entry with that id (0: an empty one) or workload; NULL: none. */
struct davy_frozen *davy_freezes_find(struct davy_agent *a, uint32_t id);
struct davy_frozen *davy_freezes_of(struct davy_agent *a, uint32_t workload);
/* Reports how the plan ended, and empties the entry. */
void davy_freezes_end(struct davy_agent *a, struct davy_frozen *h, enum davy_act_stage stage,
		      int result);
void davy_freezes_answer(struct davy_agent *a, const struct davy_guard_answer *said);

/* The freeze of the workload; NULL: none. */
const struct davy_frozen *davy_agent_frozen(const struct davy_agent *a, uint32_t workload);

#endif

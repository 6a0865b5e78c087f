/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executing plans, and the restored effects of an earlier agent. Only agent/ includes this. */
#ifndef DAVY_ACTING_H
#define DAVY_ACTING_H

#include <jansson.h>

#include "core/event/event.h"
#include "core/event/plan.h"

struct davy_agent;
struct davy_link;
struct davy_service;

/* act_table.c: the row of an action. A NULL member is not supported. */
struct davy_act_row {
	/* On a process, its cgroup or its supervisor; the result comes as DAVY_EV_ACT. */
	void (*act)(struct davy_agent *a, const struct davy_plan *plan);
	void (*undo)(struct davy_agent *a, const struct davy_plan *plan);
	/* On an adopted service, tried first. False: use the function above. */
	bool (*act_on_service)(struct davy_service *u, const struct davy_plan *plan);
	bool (*undo_on_service)(struct davy_service *u, const struct davy_plan *plan);
};

/* The action that the plan executes or undoes. */
static inline uint8_t davy_acts_on(const struct davy_plan *plan)
{
	return plan->action == DAVY_ACTION_UNDO ? plan->undone : plan->action;
}

const struct davy_act_row *davy_act_row(const struct davy_plan *plan);

/* acting.c */
void davy_agent_act(struct davy_agent *a, const struct davy_plan *plan);
/* Ends all freezes and takes back all caps; replies to an operator. */
json_t *davy_agent_release_all(struct davy_agent *a);

/* act_check.c: requests a token from an engine. The result ends "plan"; 0: no plan. */
void davy_agent_ask(struct davy_agent *a, uint32_t workload, uint32_t plan, uint16_t port,
		    uint32_t wait_ms, uint32_t timeout_ms);
/* The supervisor's answer to "confirm": 0, or -errno if the engine is not where it was moved. */
void davy_agent_confirmed(struct davy_link *link, int err);

/* act_order.c: orders to a supervisor (davylamp exec), and its reports about them. */
void davy_agent_replace(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_stop(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_stopped(struct davy_link *link);
void davy_agent_started(struct davy_link *link, bool verified, uint32_t token_ms);

/* restored.c: reports the effects that an earlier agent left in force to the core. */
void davy_restored_by_supervisor(struct davy_link *link, const json_t *message);
void davy_restored_in_unit(const struct davy_service *u);

/* orders.c: NULL: the reply goes to the link now or later. Otherwise the reason of the refusal. */
const char *davy_agent_order(struct davy_link *link, const json_t *message);
/* Executes early orders whose service is identified by now, or was not in 20 s. */
void davy_agent_orders_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_ordered(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_order_ended(struct davy_agent *a, const struct davy_ev_act *act);

#endif

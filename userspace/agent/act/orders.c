/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders of an operator ('davylamp act'). An order is an event, so that the core decides on it and
 * a trace contains it. The reply is the resulting plan and, unless it was refused or only advised,
 * the end of the act.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/message.h"
#include "report/plan_text.h"
#include "agent/act/acting.h"
#include "agent/act/units.h"

#define EARLY_NS (20 * DAVY_NS_PER_S)

static bool orders_take_number(const json_t *message, const char *key, uint64_t most,
			       uint64_t *ret_number)
{
	const json_t *value = json_object_get(message, key);
	json_int_t number = json_integer_value(value);

	if (value && (!json_is_integer(value) || number < 0 || (uint64_t)number > most))
		return false;
	*ret_number = (uint64_t)number;
	return true;
}

static bool take_small(const json_t *message, const char *key, uint32_t *ret_number)
{
	uint64_t number;

	if (!orders_take_number(message, key, UINT32_MAX, &number))
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

/* None without the key, -1 for an unknown action. */
static int take_action(const json_t *message, const char *key)
{
	const char *name = davy_message_text(message, key);

	return name[0] ? davy_action_from_name(name) : DAVY_ACTION_NONE;
}

static const char *take_order(const json_t *message, struct davy_ev_order *o)
{
	int action = take_action(message, "rung"), undo = take_action(message, "undo");
	const char *backend = davy_message_text(message, "backend");
	int to_backend = backend[0] ? davy_backend_from_name(backend) : 0;
	uint64_t on_permille, vram;
	uint32_t off;

	if (action <= 0 || undo < 0)
		return "no such act";
	if (to_backend < 0)
		return "no such backend";
	if (!take_small(message, "workload", &o->workload) || !o->workload)
		return "no workload given; use a number from 'davylamp status'";
	if (!orders_take_number(message, "on_permille", 999, &on_permille) ||
	    !orders_take_number(message, "lease_ns", DAVY_ORDER_LEASE_MAX_NS, &o->lease_ns) ||
	    !orders_take_number(message, "cap_bytes", INT64_MAX, &o->cap_bytes) ||
	    !orders_take_number(message, "vram_bytes", INT64_MAX, &vram) ||
	    !take_small(message, "ubatch", &o->settings.ubatch) ||
	    !take_small(message, "context", &o->settings.context) ||
	    !take_small(message, "parallel", &o->settings.parallel) ||
	    !take_small(message, "gpu_layers_off", &off) ||
	    !davy_start_setting_set(&o->settings, DAVY_TUNER_LAYERS, off))
		return "not a number, or too large";
	if (vram && (o->cap_bytes || on_permille))
		return "one limit at a time: --vram, --bytes or --cpu";
	if (vram) {
		o->cap_bytes = vram;
		o->heap = DAVY_OF_VRAM;
	}
	o->on_permille = (uint16_t)on_permille;
	o->action = (uint8_t)action;
	o->undo = (uint8_t)undo;
	o->to_backend = (uint8_t)to_backend;
	return NULL;
}

static json_t *plan_message(const struct davy_plan *plan)
{
	char text[DAVY_PLAN_TEXT_SIZE], *said = davy_plan_json(plan);
	json_t *o = said ? json_loads(said, 0, NULL) : NULL;
	json_t *message;

	free(said);
	davy_plan_text(plan, text, sizeof(text));
	message = json_pack("{s:s, s:s, s:s*}", "op", "ordered", "verdict",
			    davy_verdict_name((enum davy_verdict)plan->verdict), "text", text);
	if (o)
		json_object_set_new(message, "plan", o);
	return message;
}

/* Computes the plan with a copy of the core, without executing it. */
static const char *rehearse(struct davy_link *link, const struct davy_event *ev)
{
	struct davy_plan plans[DAVY_PLANS_MAX];
	struct davy_core *core = malloc(sizeof(*core));
	size_t count;

	if (!core)
		return "out of memory";
	*core = link->agent->core;
	count = davy_core_step(core, ev, plans, DAVY_PLANS_MAX);
	free(core);
	for (size_t i = 0; i < count; i++) {
		if (plans[i].kind != DAVY_PLAN_ACTION || plans[i].action != ev->order.action)
			continue;
		davy_message_send(link->fd, plan_message(&plans[i]));
		return NULL;
	}
	return "the order would have no effect";
}

/* A service was adopted, or systemd has started it anew: the readers inspect its process. */
static bool orders_are_early(struct davy_agent *a, uint32_t workload)
{
	const struct davy_service *u = davy_unit_of_workload(a, workload);

	return u && u->main_pid && !u->met;
}

static const char *orders_execute(struct davy_link *link, const struct davy_event *ev, bool dry_run)
{
	struct davy_agent *a = link->agent;

	if (dry_run)
		return rehearse(link, ev);
	a->orderer = link;
	davy_agent_feed(a, ev);
	a->orderer = NULL;
	return NULL;
}

static const char *orders_take(struct davy_link *link, const json_t *message, bool waits)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_ORDER, 0);
	const char *why = take_order(message, &ev.order);

	if (!why && !davy_event_valid(&ev))
		why = "the order is invalid";
	if (!why && (link->ordered || link->early))
		why = "an order is already pending";
	if (why)
		return why;
	if (!waits || !orders_are_early(link->agent, ev.order.workload))
		return orders_execute(link, &ev, json_is_true(json_object_get(message, "dry_run")));
	link->early = json_deep_copy(message);
	link->early_ns = ev.at_ns;
	return link->early ? NULL : "out of memory";
}

const char *davy_agent_order(struct davy_link *link, const json_t *message)
{
	return orders_take(link, message, true);
}

void davy_agent_orders_tick(struct davy_agent *a, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		struct davy_link *link = &a->links[i];
		json_t *order = link->early;
		const char *why;

		if (!order ||
		    (now_ns - link->early_ns < EARLY_NS &&
		     orders_are_early(a, (uint32_t)davy_message_number(order, "workload", 0))))
			continue;
		link->early = NULL;
		why = orders_take(link, order, false);
		if (why)
			davy_message_send(link->fd,
					  json_pack("{s:s, s:s}", "op", "error", "why", why));
		json_decref(order);
	}
}

static void orders_end(struct davy_link *link, bool failed, int result)
{
	json_object_set_new(link->ordered, "failed", json_boolean(failed));
	json_object_set_new(link->ordered, "result", json_integer(result));
	davy_message_send(link->fd, link->ordered);
	link->ordered = NULL;
}

/* The core ended an act that took too long: no event will. A plan's number has its workload. */
static void orders_timed_out(struct davy_agent *a, const struct davy_plan *outcome)
{
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		struct davy_link *link = &a->links[i];

		if (link->ordered && link->ordered_plan >> 16 == outcome->workload)
			orders_end(link, true, outcome->result);
	}
}

void davy_agent_ordered(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_link *link = a->orderer;

	if (plan->kind == DAVY_PLAN_OUTCOME && plan->result == -ETIMEDOUT)
		orders_timed_out(a, plan);
	if (!link || plan->kind != DAVY_PLAN_ACTION || plan->hazard != DAVY_HZ_NONE ||
	    link->ordered)
		return;
	if (plan->verdict != DAVY_VERDICT_GO) {
		davy_message_send(link->fd, plan_message(plan));
		return;
	}
	link->ordered = plan_message(plan);
	link->ordered_plan = plan->id;
}

static bool is_end(const struct davy_ev_act *act)
{
	return act->stage != DAVY_ACT_STOPPED && act->stage != DAVY_ACT_STARTED;
}

void davy_agent_order_ended(struct davy_agent *a, const struct davy_ev_act *act)
{
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		struct davy_link *link = &a->links[i];

		if (!link->ordered || link->ordered_plan != act->plan || !is_end(act))
			continue;
		orders_end(link, act->stage == DAVY_ACT_FAILED, act->result);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restart, shrink, switch, move to the CPU, stop, quarantine, and the undoing of each: one order to
 * the supervisor of the workload. The supervisor reports when the old engine has exited and when a
 * new one has started. An act has succeeded when both have happened and the new engine serves.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/message.h"
#include "report/plan_text.h"
#include "agent/act/acting.h"

#define VERIFY_TIMEOUT_MS 60000	  /* the first token may follow a cold load */
#define ALIVE_US	  2000000 /* a workload without a port serves if it runs for so long */

static void act_order_ended(struct davy_link *link, enum davy_act_stage stage, int result)
{
	uint32_t plan = link->act_plan;

	link->act_plan = 0;
	link->verifying = false;
	davy_agent_acted(link->agent, plan, link->workload, stage, 0, result);
}

static json_t *act_order_settings_of(struct davy_agent *a, const struct davy_plan *plan)
{
	const struct davy_tuned *tuned = davy_core_tuned(&a->core, plan->workload);
	json_t *o = json_object();

	/* The supervisor cannot always read the model file: another root, a script. */
	if (tuned && tuned->layers_asked)
		json_object_set_new(o, "layers", json_integer(tuned->layers_asked - 1));
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		json_object_set_new(o, davy_start_setting_name(i),
				    json_integer(davy_start_setting_get(&plan->settings, i)));
	return o;
}

/* "before": the backend before the move to the CPU. "command": the one in the user's command. */
static const char *act_order_backend_of(const struct davy_plan *plan)
{
	if (plan->action == DAVY_ACTION_MIGRATE_CPU)
		return "cpu";
	if (plan->action == DAVY_ACTION_SWITCH)
		return davy_backend_name((enum davy_backend)plan->to_backend);
	if (plan->action == DAVY_ACTION_UNDO && plan->undone == DAVY_ACTION_MIGRATE_CPU)
		return "before";
	if (plan->action == DAVY_ACTION_UNDO && plan->undone == DAVY_ACTION_SWITCH)
		return "command";
	return "same";
}

static json_t *order_of(struct davy_agent *a, const struct davy_plan *plan)
{
	char reason[DAVY_PLAN_TEXT_SIZE];
	bool sets = plan->action == DAVY_ACTION_SHRINK ||
		    plan->tuning.why != DAVY_TUNER_AS_CONFIGURED ||
		    (plan->action == DAVY_ACTION_UNDO && plan->undone == DAVY_ACTION_SHRINK);
	bool stops = davy_action_has(plan->action, DAVY_ACTS_ENDS);
	json_t *order;

	davy_reason_text(plan, reason, sizeof(reason));
	order = json_pack(
		"{s:s, s:I, s:i, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:I}", "op",
		stops ? "stop" : "replace", "plan", (json_int_t)plan->id, "pid", (int)plan->pid,
		"hazard",
		plan->hazard ? davy_hazard_name((enum davy_hazard)plan->hazard) : "operator",
		"because", reason, "backend", act_order_backend_of(plan), "from",
		davy_backend_name((enum davy_backend)plan->backend), "device", plan->device,
		"keeps", plan->keeps, "stay", plan->action == DAVY_ACTION_QUARANTINE, "patience_ms",
		(json_int_t)a->core.config.value[DAVY_CFG_ACT_TIMEOUT_MS]);
	if (order && sets)
		json_object_set_new(order, "knobs", act_order_settings_of(a, plan));
	return order;
}

static void give(struct davy_agent *a, const struct davy_plan *plan, bool stops)
{
	struct davy_link *link = davy_link_of_workload(a, plan->workload);
	int err = -ENOTCONN;

	if (link) {
		link->act_plan = plan->id;
		link->verifying = false;
		link->old_gone = false;
		link->stops = stops;
		err = davy_message_send(link->fd, order_of(a, plan));
	}
	if (err)
		davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_FAILED, 0, err);
}

void davy_agent_replace(struct davy_agent *a, const struct davy_plan *plan)
{
	give(a, plan, false);
}

void davy_agent_stop(struct davy_agent *a, const struct davy_plan *plan)
{
	give(a, plan, true);
}

/* The old engine has exited. The new engine of a planned migration may already serve. */
void davy_agent_stopped(struct davy_link *link)
{
	if (!link->act_plan)
		return;
	davy_agent_acted(link->agent, link->act_plan, link->workload, DAVY_ACT_STOPPED, link->pid,
			 0);
	link->old_gone = true;
	if (link->stops)
		act_order_ended(link, DAVY_ACT_IN_FORCE, 0);
	else if (link->verifying && link->verified)
		act_order_ended(link, DAVY_ACT_SERVING, 0);
}

/* A workload without a port cannot be checked: it serves if it still runs after ALIVE_US. */
struct life {
	struct davy_agent *agent;
	uint32_t workload;
	uint32_t plan;
};

static int on_lived(sd_event_source *source, uint64_t usec, void *arg)
{
	struct life *life = arg;
	struct davy_link *link = davy_link_of_workload(life->agent, life->workload);
	bool lives;

	(void)usec;
	if (link && link->act_plan == life->plan) {
		lives = davy_process_start(link->pid) == link->start_ticks;
		act_order_ended(link, lives ? DAVY_ACT_SERVING : DAVY_ACT_FAILED,
				lives ? 0 : -ESRCH);
	}
	sd_event_source_disable_unref(source);
	free(life);
	return 0;
}

static void watch_life(struct davy_link *link)
{
	struct davy_agent *a = link->agent;
	struct life *life = calloc(1, sizeof(*life));
	sd_event_source *timer = NULL;

	if (!life)
		return; /* the core has a timeout for the end of the action */
	*life = (struct life){ a, link->workload, link->act_plan };
	if (sd_event_add_time_relative(a->loop, &timer, CLOCK_MONOTONIC, ALIVE_US, 0, on_lived,
				       life) < 0)
		free(life);
}

static void tell_token(struct davy_link *link, uint32_t token_ms)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_PROBE, 0);

	ev.probe.workload = link->workload;
	ev.probe.health_status = ev.probe.completion_status = 200;
	ev.probe.token_count = 1;
	ev.probe.completion_ms = token_ms;
	davy_agent_feed(link->agent, &ev);
}

/*
 * "verified": the supervisor has already received a token. Another request would evict a
 * conversation from the engine's cache.
 */
void davy_agent_started(struct davy_link *link, bool verified, uint32_t token_ms)
{
	struct davy_agent *a = link->agent;
	uint32_t wait_ms = (uint32_t)a->core.config.value[DAVY_CFG_ACT_TIMEOUT_MS];

	link->verifying = true;
	link->verified = verified;
	if (!verified && link->port) {
		davy_agent_ask(a, link->workload, link->act_plan, link->port, wait_ms,
			       VERIFY_TIMEOUT_MS);
	} else if (!verified) {
		watch_life(link);
	} else {
		tell_token(link, token_ms);
		if (link->old_gone)
			act_order_ended(link, DAVY_ACT_SERVING, 0);
	}
}

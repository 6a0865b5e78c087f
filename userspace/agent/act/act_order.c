/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restart, shrink, switch, move to the CPU, stop, quarantine, and the undoing of each: one order to
 * the supervisor of the workload, who tells when the old engine is gone and when a new one has
 * started. An act has ended well when both have happened and the new one serves.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/message.h"
#include "report/plan_text.h"

#define VERIFY_TIMEOUT_MS 60000	  /* the first token may follow a cold load */
#define ALIVE_US	  2000000 /* who has no port to ask serves when it has lived so long */

static void ended(struct dl_link *link, enum dl_act_stage stage, int result)
{
	uint32_t plan = link->act_plan;

	link->act_plan = 0;
	link->verifying = false;
	dl_agent_acted(link->agent, plan, link->workload, stage, 0, result);
}

static json_t *knobs_of(const struct dl_plan *plan)
{
	json_t *o = json_object();

	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++)
		json_object_set_new(o, dl_knob_name(i), json_integer(dl_knob_get(&plan->knobs, i)));
	return o;
}

/* "before" the move to the CPU; "command": as the user's own command says. */
static const char *backend_of(const struct dl_plan *plan)
{
	if (plan->rung == DL_RUNG_MIGRATE_CPU)
		return "cpu";
	if (plan->rung == DL_RUNG_SWITCH)
		return dl_backend_name((enum dl_backend)plan->to_backend);
	if (plan->rung == DL_RUNG_UNDO && plan->level == DL_RUNG_MIGRATE_CPU)
		return "before";
	if (plan->rung == DL_RUNG_UNDO && plan->level == DL_RUNG_SWITCH)
		return "command";
	return "same";
}

static json_t *order_of(struct dl_agent *a, const struct dl_plan *plan)
{
	char because[DL_PLAN_TEXT_SIZE];
	bool sets = plan->rung == DL_RUNG_SHRINK || plan->tuning.why != DL_TUNER_AS_TOLD ||
		    (plan->rung == DL_RUNG_UNDO && plan->level == DL_RUNG_SHRINK);
	bool stops = plan->rung == DL_RUNG_STOP || plan->rung == DL_RUNG_QUARANTINE;
	json_t *order;

	dl_because_text(plan, because, sizeof(because));
	order = json_pack("{s:s, s:I, s:i, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:I}", "op",
			  stops ? "stop" : "replace", "plan", (json_int_t)plan->id, "pid",
			  (int)plan->pid, "hazard",
			  plan->hazard ? dl_hazard_name((enum dl_hazard)plan->hazard) : "operator",
			  "because", because, "backend", backend_of(plan), "from",
			  dl_backend_name((enum dl_backend)plan->backend), "device", plan->device,
			  "keeps", plan->keeps, "stay", plan->rung == DL_RUNG_QUARANTINE,
			  "patience_ms", (json_int_t)a->core.config.value[DL_CFG_ACT_TIMEOUT_MS]);
	if (order && sets)
		json_object_set_new(order, "knobs", knobs_of(plan));
	return order;
}

static void give(struct dl_agent *a, const struct dl_plan *plan, bool stops)
{
	struct dl_link *link = dl_link_of_workload(a, plan->workload);
	int err = -ENOTCONN;

	if (link) {
		link->act_plan = plan->id;
		link->verifying = false;
		link->old_gone = false;
		link->stops = stops;
		err = dl_message_send(link->fd, order_of(a, plan));
	}
	if (err)
		dl_agent_acted(a, plan->id, plan->workload, DL_ACT_FAILED, 0, err);
}

void dl_agent_replace(struct dl_agent *a, const struct dl_plan *plan)
{
	give(a, plan, false);
}

void dl_agent_stop(struct dl_agent *a, const struct dl_plan *plan)
{
	give(a, plan, true);
}

bool dl_agent_undo_replaced(struct dl_agent *a, const struct dl_plan *plan)
{
	bool ours = plan->level == DL_RUNG_SHRINK || plan->level == DL_RUNG_SWITCH ||
		    plan->level == DL_RUNG_MIGRATE_CPU || plan->level == DL_RUNG_STOP ||
		    plan->level == DL_RUNG_QUARANTINE;

	if (ours)
		give(a, plan, false);
	return ours;
}

/* The old engine is gone. The new one of a planned migration may serve already. */
void dl_agent_stopped(struct dl_link *link)
{
	if (!link->act_plan)
		return;
	dl_agent_acted(link->agent, link->act_plan, link->workload, DL_ACT_STOPPED, link->pid, 0);
	link->old_gone = true;
	if (link->stops)
		ended(link, DL_ACT_HELD, 0);
	else if (link->verifying && link->verified)
		ended(link, DL_ACT_SERVING, 0);
}

/* Whoever has no port cannot be asked: it serves when it still lives. */
struct life {
	struct dl_agent *agent;
	uint32_t workload;
	uint32_t plan;
};

static int on_lived(sd_event_source *source, uint64_t usec, void *arg)
{
	struct life *life = arg;
	struct dl_link *link = dl_link_of_workload(life->agent, life->workload);
	bool lives;

	(void)usec;
	if (link && link->act_plan == life->plan) {
		lives = dl_process_start(link->pid) == link->start_ticks;
		ended(link, lives ? DL_ACT_SERVING : DL_ACT_FAILED, lives ? 0 : -ESRCH);
	}
	sd_event_source_disable_unref(source);
	free(life);
	return 0;
}

static void watch_life(struct dl_link *link)
{
	struct dl_agent *a = link->agent;
	struct life *life = calloc(1, sizeof(*life));
	sd_event_source *timer = NULL;

	if (!life)
		return; /* the core waits for the end only so long */
	*life = (struct life){ a, link->workload, link->act_plan };
	if (sd_event_add_time_relative(a->loop, &timer, CLOCK_MONOTONIC, ALIVE_US, 0, on_lived,
				       life) < 0)
		free(life);
}

static void tell_token(struct dl_link *link, uint32_t token_ms)
{
	struct dl_event ev = dl_agent_event(DL_EV_PROBE, 0);

	ev.probe.workload = link->workload;
	ev.probe.health_status = ev.probe.completion_status = 200;
	ev.probe.token_count = 1;
	ev.probe.completion_ms = token_ms;
	dl_agent_feed(link->agent, &ev);
}

/*
 * "verified": its supervisor has had a token of it, and another one now would cost a conversation
 * its place in the cache.
 */
void dl_agent_started(struct dl_link *link, bool verified, uint32_t token_ms)
{
	struct dl_agent *a = link->agent;
	uint32_t wait_ms = (uint32_t)a->core.config.value[DL_CFG_ACT_TIMEOUT_MS];

	link->verifying = true;
	link->verified = verified;
	if (!verified && link->port) {
		dl_agent_ask(a, link->workload, link->act_plan, link->port, wait_ms,
			     VERIFY_TIMEOUT_MS);
	} else if (!verified) {
		watch_life(link);
	} else {
		tell_token(link, token_ms);
		if (link->old_gone)
			ended(link, DL_ACT_SERVING, 0);
	}
}

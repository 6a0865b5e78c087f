/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans to deeds: who carries out what, checks. Results come back as events. */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "act/check.h"
#include "lib/log.h"
#include "report/plan_text.h"

#define CHECK_TIMEOUT_MS 2000 /* an idle engine gives one token in far less */

void dl_agent_acted(struct dl_agent *a, uint32_t plan, uint32_t workload, enum dl_act_stage stage,
		    uint32_t pid, int result)
{
	struct dl_event ev = dl_agent_event(DL_EV_ACT, pid);

	ev.act.plan = plan;
	ev.act.workload = workload;
	ev.act.stage = (uint8_t)stage;
	ev.act.result = result;
	dl_agent_feed(a, &ev);
}

/* What a check or a verification was about; the link may be gone when the answer comes. */
struct question {
	struct dl_agent *agent;
	uint32_t workload;
	uint32_t plan; /* 0: a mere check */
};

static void on_checked(void *arg, const struct dl_check_result *result)
{
	struct question *q = arg;
	struct dl_agent *a = q->agent;
	struct dl_event ev = dl_agent_event(DL_EV_PROBE, 0);
	struct dl_link *link = dl_link_of_workload(a, q->workload);
	bool serving = result->completion_status == 200 && result->token_count;

	if (result->error)
		dl_log("check of workload %u: davylamp-probe: %s; counts as no answer", q->workload,
		       result->why[0] ? result->why : strerror(-result->error));
	ev.probe.workload = q->workload;
	ev.probe.health_status = result->health_status;
	ev.probe.completion_status = result->completion_status;
	ev.probe.token_count = result->token_count;
	ev.probe.completion_ms = result->completion_ms;
	dl_agent_feed(a, &ev);
	if (q->plan && link && link->act_plan == q->plan) {
		link->act_plan = 0;
		link->verifying = false;
		dl_agent_acted(a, q->plan, q->workload, serving ? DL_ACT_SERVING : DL_ACT_FAILED, 0,
			       serving ? 0 : -EIO);
	}
	free(q);
}

void dl_agent_ask(struct dl_agent *a, uint32_t workload, uint32_t plan, uint16_t port,
		  uint32_t wait_ms, uint32_t timeout_ms)
{
	struct question *q = calloc(1, sizeof(*q));
	const struct dl_service *unit = dl_unit_of_workload(a, workload);
	const struct dl_link *link = dl_link_of_workload(a, workload);
	enum dl_engine engine = unit ? unit->engine : link ? link->engine : DL_ENGINE_NONE;
	struct dl_check_request request = { .port = unit ? unit->port : port,
					    .api = dl_check_api(engine,
								unit ? unit->role : DL_ROLE_SERVER),
					    .model = unit   ? unit->model
						     : link ? link->model
							    : NULL,
					    .wait_ms = wait_ms,
					    .timeout_ms = timeout_ms,
					    .done = on_checked,
					    .arg = q };
	struct dl_check_result none = { 0 };
	int err;

	if (!q)
		return; /* the core waits for an answer only so long */
	q->agent = a;
	q->workload = workload;
	q->plan = plan;
	err = dl_check_start(a->loop, a->probe_path, &request);
	if (!err)
		return;
	none.error = err;
	on_checked(q, &none);
}

/* What replaces, stops or asks an engine finds it frozen otherwise, and SIGTERM pending. */
static bool goes_with_a_hold(const struct dl_plan *plan)
{
	uint8_t rung = plan->rung == DL_RUNG_UNDO ? plan->level : plan->rung;

	return !rung || rung == DL_RUNG_PAUSE || rung == DL_RUNG_THROTTLE || rung == DL_RUNG_CAP ||
	       rung == DL_RUNG_AWAKE;
}

/* A value has an intent for each file; the end of a hold or a cap closes the one it stands by. */
static bool has_own_intents(const struct dl_plan *plan)
{
	if (plan->rung == DL_RUNG_UNDO)
		return !plan->level || plan->level == DL_RUNG_PAUSE ||
		       plan->level == DL_RUNG_THROTTLE || plan->level == DL_RUNG_CAP ||
		       plan->level == DL_RUNG_AWAKE;
	return plan->rung == DL_RUNG_CAP || plan->rung == DL_RUNG_AWAKE;
}

static void carry_out(struct dl_agent *a, const struct dl_plan *plan)
{
	struct dl_service *unit = dl_unit_of_workload(a, plan->workload);

	if (!has_own_intents(plan) && !dl_agent_intend(a, plan))
		return;
	if (!goes_with_a_hold(plan))
		dl_agent_hold_drop(a, plan->workload);
	if (unit && (dl_models_act(unit, plan) || dl_unit_cap(unit, plan)))
		return;
	if (unit && dl_unit_rung(plan)) {
		dl_unit_act(unit, plan);
		return;
	}
	switch (plan->rung) {
	case DL_RUNG_PAUSE:
	case DL_RUNG_THROTTLE:
		dl_agent_hold(a, plan);
		return;
	case DL_RUNG_UNDO:
		if (dl_agent_cap_undo(a, plan) || dl_agent_hold_undo(a, plan) ||
		    dl_agent_undo_replaced(a, plan))
			return;
		break;
	case DL_RUNG_CAP:
		dl_agent_cap(a, plan);
		return;
	case DL_RUNG_AWAKE:
		dl_agent_awake(a, plan);
		return;
	case DL_RUNG_RESTART:
	case DL_RUNG_MIGRATE_CPU:
	case DL_RUNG_SHRINK:
	case DL_RUNG_SWITCH:
		dl_agent_replace(a, plan);
		return;
	case DL_RUNG_STOP:
	case DL_RUNG_QUARANTINE:
		dl_agent_stop(a, plan);
		return;
	default:
		break;
	}
	dl_agent_acted(a, plan->id, plan->workload, DL_ACT_FAILED, 0, -EOPNOTSUPP);
}

void dl_agent_act(struct dl_agent *a, const struct dl_plan *plan)
{
	dl_agent_ordered(a, plan);
	dl_agent_layer_meant(a, plan);
	if (plan->rung == DL_RUNG_BREAKER)
		dl_agent_learn(a, plan);
	else if (plan->rung == DL_RUNG_FAILURE || plan->rung == DL_RUNG_NOTE)
		dl_agent_ledger_failed(a, plan);
	else if (plan->rung == DL_RUNG_OUTCOME)
		dl_agent_layer_tuned(a, plan);
	else if (plan->rung == DL_RUNG_CHECK)
		dl_agent_ask(a, plan->workload, 0, plan->port, 0, CHECK_TIMEOUT_MS);
	else if (plan->verdict == DL_VERDICT_GO && dl_rung_acts(plan->rung))
		carry_out(a, plan);
}

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

/* What a check or a verification was about; the link may be gone when the answer comes. */
struct question {
	struct davy_agent *agent;
	uint32_t workload;
	uint32_t plan; /* 0: a mere check */
};

static void on_checked(void *arg, const struct davy_check_result *result)
{
	struct question *q = arg;
	struct davy_agent *a = q->agent;
	struct davy_event ev = davy_agent_event(DAVY_EV_PROBE, 0);
	struct davy_link *link = davy_link_of_workload(a, q->workload);
	bool serving = result->completion_status == 200 && result->token_count;

	if (result->error)
		davy_log("check of workload %u: davylamp-probe: %s; counts as no answer",
			 q->workload, result->why[0] ? result->why : strerror(-result->error));
	ev.probe.workload = q->workload;
	ev.probe.health_status = result->health_status;
	ev.probe.completion_status = result->completion_status;
	ev.probe.token_count = result->token_count;
	ev.probe.completion_ms = result->completion_ms;
	davy_agent_feed(a, &ev);
	if (q->plan && link && link->act_plan == q->plan) {
		link->act_plan = 0;
		link->verifying = false;
		davy_agent_acted(a, q->plan, q->workload,
				 serving ? DAVY_ACT_SERVING : DAVY_ACT_FAILED, 0,
				 serving ? 0 : -EIO);
	}
	free(q);
}

void davy_agent_ask(struct davy_agent *a, uint32_t workload, uint32_t plan, uint16_t port,
		    uint32_t wait_ms, uint32_t timeout_ms)
{
	struct question *q = calloc(1, sizeof(*q));
	const struct davy_service *unit = davy_unit_of_workload(a, workload);
	const struct davy_link *link = davy_link_of_workload(a, workload);
	enum davy_engine engine = unit ? unit->engine : link ? link->engine : DAVY_ENGINE_NONE;
	struct davy_check_request request = { .port = unit ? unit->port : port,
					      .api = davy_check_api(
						      engine, unit ? unit->role : DAVY_ROLE_SERVER),
					      .model = unit   ? unit->model
						       : link ? link->model
							      : NULL,
					      .wait_ms = wait_ms,
					      .timeout_ms = timeout_ms,
					      .done = on_checked,
					      .arg = q };
	struct davy_check_result none = { 0 };
	int err;

	if (!q)
		return; /* the core waits for an answer only so long */
	q->agent = a;
	q->workload = workload;
	q->plan = plan;
	err = davy_check_start(a->loop, a->probe_path, &request);
	if (!err)
		return;
	none.error = err;
	on_checked(q, &none);
}

/* What replaces, stops or asks an engine finds it frozen otherwise, and SIGTERM pending. */
static bool goes_with_a_hold(const struct davy_plan *plan)
{
	uint8_t rung = plan->rung == DAVY_RUNG_UNDO ? plan->level : plan->rung;

	return !rung || rung == DAVY_RUNG_PAUSE || rung == DAVY_RUNG_THROTTLE ||
	       rung == DAVY_RUNG_CAP || rung == DAVY_RUNG_AWAKE;
}

/* A value has an intent for each file; the end of a hold or a cap closes the one it stands by. */
static bool has_own_intents(const struct davy_plan *plan)
{
	if (plan->rung == DAVY_RUNG_UNDO)
		return !plan->level || plan->level == DAVY_RUNG_PAUSE ||
		       plan->level == DAVY_RUNG_THROTTLE || plan->level == DAVY_RUNG_CAP ||
		       plan->level == DAVY_RUNG_AWAKE;
	return plan->rung == DAVY_RUNG_CAP || plan->rung == DAVY_RUNG_AWAKE;
}

static void carry_out(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_service *unit = davy_unit_of_workload(a, plan->workload);

	if (!has_own_intents(plan) && !davy_agent_intend(a, plan))
		return;
	if (!goes_with_a_hold(plan))
		davy_agent_hold_drop(a, plan->workload);
	if (unit && (davy_models_act(unit, plan) || davy_unit_cap(unit, plan)))
		return;
	if (unit && davy_unit_rung(plan)) {
		davy_unit_act(unit, plan);
		return;
	}
	switch (plan->rung) {
	case DAVY_RUNG_PAUSE:
	case DAVY_RUNG_THROTTLE:
		davy_agent_hold(a, plan);
		return;
	case DAVY_RUNG_UNDO:
		if (davy_agent_cap_undo(a, plan) || davy_agent_hold_undo(a, plan) ||
		    davy_agent_undo_replaced(a, plan))
			return;
		break;
	case DAVY_RUNG_CAP:
		davy_agent_cap(a, plan);
		return;
	case DAVY_RUNG_AWAKE:
		davy_agent_awake(a, plan);
		return;
	case DAVY_RUNG_RESTART:
	case DAVY_RUNG_MIGRATE_CPU:
	case DAVY_RUNG_SHRINK:
	case DAVY_RUNG_SWITCH:
		davy_agent_replace(a, plan);
		return;
	case DAVY_RUNG_STOP:
	case DAVY_RUNG_QUARANTINE:
		davy_agent_stop(a, plan);
		return;
	default:
		break;
	}
	davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_FAILED, 0, -EOPNOTSUPP);
}

void davy_agent_act(struct davy_agent *a, const struct davy_plan *plan)
{
	davy_agent_ordered(a, plan);
	davy_agent_layer_meant(a, plan);
	if (plan->rung == DAVY_RUNG_BREAKER)
		davy_agent_learn(a, plan);
	else if (plan->rung == DAVY_RUNG_FAILURE || plan->rung == DAVY_RUNG_NOTE)
		davy_agent_ledger_failed(a, plan);
	else if (plan->rung == DAVY_RUNG_OUTCOME)
		davy_agent_layer_tuned(a, plan);
	else if (plan->rung == DAVY_RUNG_CHECK)
		davy_agent_ask(a, plan->workload, 0, plan->port, 0, CHECK_TIMEOUT_MS);
	else if (plan->verdict == DAVY_VERDICT_GO && davy_rung_acts(plan->rung))
		carry_out(a, plan);
}

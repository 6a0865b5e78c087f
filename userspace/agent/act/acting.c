/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans to deeds: who carries out what. Results come back as events. */
#include "agent/agent.h"

#include <errno.h>

#include "agent/act/acting.h"
#include "agent/act/units.h"
#include "agent/policy/agent_policy.h"

#define CHECK_TIMEOUT_MS 2000 /* an idle engine gives one token in far less */

/* What replaces, stops or asks an engine finds it frozen otherwise, and SIGTERM pending. */
static bool goes_with_a_hold(const struct davy_plan *plan)
{
	uint8_t action = plan->action == DAVY_ACTION_UNDO ? plan->undone : plan->action;

	return !action || davy_action_has(action, DAVY_ACTS_FREEZES | DAVY_ACTS_LIMITS);
}

/* A value has an intent for each file; the end of a hold or a cap closes the one it stands by. */
static bool has_own_intents(const struct davy_plan *plan)
{
	if (plan->action == DAVY_ACTION_UNDO)
		return !plan->undone ||
		       davy_action_has(plan->undone, DAVY_ACTS_FREEZES | DAVY_ACTS_LIMITS);
	return davy_action_has(plan->action, DAVY_ACTS_LIMITS);
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
	if (unit && davy_unit_acts(plan)) {
		davy_unit_act(unit, plan);
		return;
	}
	switch (plan->action) {
	case DAVY_ACTION_PAUSE:
	case DAVY_ACTION_THROTTLE:
		davy_agent_hold(a, plan);
		return;
	case DAVY_ACTION_UNDO:
		if (davy_agent_cap_undo(a, plan) || davy_agent_hold_undo(a, plan) ||
		    davy_agent_undo_replaced(a, plan))
			return;
		break;
	case DAVY_ACTION_CAP:
		davy_agent_cap(a, plan);
		return;
	case DAVY_ACTION_AWAKE:
		davy_agent_awake(a, plan);
		return;
	case DAVY_ACTION_RESTART:
	case DAVY_ACTION_MIGRATE_CPU:
	case DAVY_ACTION_SHRINK:
	case DAVY_ACTION_SWITCH:
		davy_agent_replace(a, plan);
		return;
	case DAVY_ACTION_STOP:
	case DAVY_ACTION_QUARANTINE:
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
	if (plan->kind == DAVY_PLAN_BREAKER)
		davy_agent_learn(a, plan);
	else if (plan->kind == DAVY_PLAN_FAILURE || plan->kind == DAVY_PLAN_NOTE)
		davy_agent_ledger_failed(a, plan);
	else if (plan->kind == DAVY_PLAN_OUTCOME)
		davy_agent_layer_tuned(a, plan);
	else if (plan->kind == DAVY_PLAN_CHECK)
		davy_agent_ask(a, plan->workload, 0, plan->port, 0, CHECK_TIMEOUT_MS);
	else if (plan->verdict == DAVY_VERDICT_GO && plan->kind == DAVY_PLAN_ACTION)
		carry_out(a, plan);
}

json_t *davy_agent_release_all(struct davy_agent *a)
{
	struct davy_undone undone = davy_agent_caps_drop(a, 0);

	undone.undone += davy_units_uncap(a);
	for (size_t i = 0; i < DAVY_GUARD_HOLDS; i++) {
		if (!a->holds.held[i].id)
			continue;
		davy_agent_hold_drop(a, a->holds.held[i].workload);
		undone.undone++;
	}
	return json_pack("{s:s, s:i, s:i}", "op", "released", "undone", (int)undone.undone,
			 "failed", (int)undone.failed);
}

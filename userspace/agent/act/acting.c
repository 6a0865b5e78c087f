/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes plans, by the rows of act_table.c. Results return as events. */
#include "agent/agent.h"

#include <errno.h>

#include "agent/act/acting.h"
#include "agent/act/units.h"
#include "agent/policy/agent_policy.h"

#define CHECK_TIMEOUT_MS 2000 /* an idle engine needs far less for one token */

static void carry_out(struct davy_agent *a, const struct davy_plan *plan)
{
	const struct davy_act_row *row = davy_act_row(plan);
	struct davy_service *unit = davy_unit_of_workload(a, plan->workload);
	bool undoes = plan->action == DAVY_ACTION_UNDO;
	bool freezes = davy_action_freezes(davy_acts_on(plan));
	bool limits = davy_action_has(davy_acts_on(plan), DAVY_ACTS_LIMITS);
	bool (*on_service)(struct davy_service *, const struct davy_plan *) =
		undoes ? row->undo_on_service : row->act_on_service;
	void (*on_process)(struct davy_agent *, const struct davy_plan *) =
		undoes ? row->undo : row->act;

	/*
	 * A value has an intent for each file. The intent of a freeze closes when the freeze ends.
	 */
	if (!limits && !(freezes && undoes) && !davy_agent_intend(a, plan))
		return;
	/* Otherwise other actions find the engine frozen, and SIGTERM stays pending. */
	if (!freezes && !limits)
		davy_agent_freeze_drop(a, plan->workload);
	if (unit && on_service && on_service(unit, plan))
		return;
	if (on_process)
		on_process(a, plan);
	else
		davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_FAILED, 0, -EOPNOTSUPP);
}

void davy_agent_act(struct davy_agent *a, const struct davy_plan *plan)
{
	davy_agent_ordered(a, plan);
	davy_agent_layer_meant(a, plan);
	switch (plan->kind) {
	case DAVY_PLAN_BREAKER:
		davy_agent_learn(a, plan);
		break;
	case DAVY_PLAN_FAILURE:
	case DAVY_PLAN_NOTE:
		davy_agent_ledger_failed(a, plan);
		break;
	case DAVY_PLAN_OUTCOME:
		davy_agent_layer_tuned(a, plan);
		break;
	case DAVY_PLAN_CHECK:
		davy_agent_ask(a, plan->workload, 0, plan->port, 0, CHECK_TIMEOUT_MS);
		break;
	case DAVY_PLAN_ACTION:
		if (plan->verdict == DAVY_VERDICT_GO)
			carry_out(a, plan);
		break;
	default:
		break;
	}
}

json_t *davy_agent_release_all(struct davy_agent *a)
{
	struct davy_undone undone = davy_agent_caps_drop(a, 0);

	undone.undone += davy_units_uncap(a);
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++) {
		if (!a->freezes.frozen[i].id)
			continue;
		davy_agent_freeze_drop(a, a->freezes.frozen[i].workload);
		undone.undone++;
	}
	return json_pack("{s:s, s:i, s:i}", "op", "released", "undone", (int)undone.undone,
			 "failed", (int)undone.failed);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts an operator's order to a plan of hazard none, with the same admission as any plan. */
#include "core/action/acts.h"

/* There is no such workload: the refusal is a plan too. */
static struct davy_plan plan_for_nobody(struct davy_step *s)
{
	struct davy_plan plan = davy_plan_about(s, DAVY_HZ_NONE, NULL);

	plan.workload = s->ev->order.workload;
	return plan;
}

/* Settings that the order does not name keep the value in force. */
static void order_complete(struct davy_start_settings *k, const struct davy_start_settings *now)
{
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (!davy_start_setting_get(k, i))
			davy_start_setting_set(k, i, davy_start_setting_get(now, i));
}

/* False: it would have no effect. Values of the order take precedence over chosen ones. */
static bool measure(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	const struct davy_ev_order *in = &s->ev->order;
	uint64_t lease_max_ns = davy_action_row(s, plan->action)->lease_max_ns;

	plan->undone = plan->action == DAVY_ACTION_UNDO ? in->undo : DAVY_ACTION_NONE;
	plan->on_permille = in->on_permille;
	plan->lease_ns = in->lease_ns;
	plan->cap_bytes = in->cap_bytes;
	plan->heap = in->heap;
	plan->to_backend = in->to_backend;
	if (lease_max_ns && plan->lease_ns > lease_max_ns)
		plan->lease_ns = lease_max_ns;
	if (!davy_action_has(plan->action, DAVY_ACTS_SETS) ||
	    davy_start_settings_none(&in->settings))
		return davy_measure(s, w, plan);
	plan->settings = in->settings;
	order_complete(&plan->settings, &w->settings);
	plan->keeps = (w->can & DAVY_CAN_KEEP) != 0;
	return true;
}

void davy_decide_order(struct davy_step *s)
{
	const struct davy_ev_order *in = &s->ev->order;
	struct davy_workload *w = davy_world_workload(&s->core->world, in->workload);
	struct davy_plan plan = w ? davy_plan_for(s, w, (enum davy_action)in->action, DAVY_HZ_NONE)
				  : plan_for_nobody(s);

	plan.kind = DAVY_PLAN_ACTION;
	plan.action = in->action;
	plan.first_precursor_ns = s->now_ns;
	if (w && !measure(s, w, &plan) && !davy_admission(s, w, &plan)) {
		plan.verdict = DAVY_VERDICT_REFUSED;
		plan.refusal = DAVY_REFUSED_UNABLE;
		davy_emit(s, &plan);
		return;
	}
	davy_propose(s, w, &plan);
}

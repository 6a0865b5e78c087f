/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operator's order becomes a plan of hazard none, by the same consent as any. */
#include "core/action/acts.h"

#define PAUSE_MOST_NS (60 * DL_NS_PER_S)

/* Nobody is called that: what cannot be found is refused, too. */
static struct dl_plan plan_for_nobody(struct dl_step *s)
{
	struct dl_plan plan = dl_plan_about(s, DL_HZ_NONE, NULL);

	plan.workload = s->ev->order.workload;
	return plan;
}

/* What was not said stays as it is in force. */
static void complete(struct dl_knobs *k, const struct dl_knobs *now)
{
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++)
		if (!dl_knob_get(k, i))
			dl_knob_set(k, i, dl_knob_get(now, i));
}

/* False: it would have no effect. What the order says goes before what would be chosen. */
static bool measure(struct dl_step *s, const struct dl_workload *w, struct dl_plan *plan)
{
	const struct dl_ev_order *in = &s->ev->order;

	plan->level = in->undo;
	plan->on_permille = in->on_permille;
	plan->lease_ns = in->lease_ns;
	plan->cap_bytes = in->cap_bytes;
	plan->to_backend = in->to_backend;
	if (plan->rung == DL_RUNG_PAUSE && plan->lease_ns > PAUSE_MOST_NS)
		plan->lease_ns = PAUSE_MOST_NS;
	if (plan->rung != DL_RUNG_SHRINK || dl_knobs_none(&in->knobs))
		return dl_measure(s, w, plan);
	plan->knobs = in->knobs;
	complete(&plan->knobs, &w->knobs);
	plan->keeps = (w->can & DL_CAN_KEEP) != 0;
	return true;
}

void dl_decide_order(struct dl_step *s)
{
	const struct dl_ev_order *in = &s->ev->order;
	struct dl_workload *w = dl_world_workload(&s->core->world, in->workload);
	struct dl_plan plan =
		w ? dl_plan_for(s, w, (enum dl_rung)in->rung, DL_HZ_NONE) : plan_for_nobody(s);

	plan.rung = in->rung;
	plan.first_sign_ns = s->now_ns;
	if (w && !measure(s, w, &plan) && !dl_consent(s, w, &plan)) {
		plan.verdict = DL_VERDICT_REFUSED;
		plan.refusal = DL_REFUSED_UNABLE;
		dl_emit(s, &plan);
		return;
	}
	dl_propose(s, w, &plan);
}

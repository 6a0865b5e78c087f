/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an action may run now: mode, adoption, pins, other managers, what the workload can do,
 * its price, and budgets. An operator's action (hazard none) and a stop need no budget.
 */
#include "core/action/acts.h"

#define HOUR_NS (3600 * DAVY_NS_PER_S)

static bool is_able(const struct davy_step *s, const struct davy_workload *w,
		    const struct davy_plan *plan)
{
	const struct davy_action_row *row = davy_action_row(s, plan->action);

	return (w->can & row->needs) == row->needs && (!row->able || row->able(w, plan));
}

/* Started by a manager that is not part of the workload: llama-swap, lemonade, a router. */
static bool has_manager(struct davy_step *s, const struct davy_workload *w)
{
	const struct davy_process *p = davy_world_process(&s->core->world, w->pid);
	const struct davy_process *parent = p ? davy_world_process(&s->core->world, p->ppid) : NULL;

	return parent && parent->role == DAVY_ROLE_MANAGER && parent->workload != w->id;
}

/* Refuse if another manager controls the workload: the two would undo each other. */
static bool is_rivals(struct davy_step *s, const struct davy_workload *w,
		      const struct davy_plan *plan)
{
	return davy_action_has(plan->action, DAVY_ACTS_COLLIDES) && (w->rival || has_manager(s, w));
}

static bool has_budget(const struct davy_plan *plan)
{
	bool thaws = plan->action == DAVY_ACTION_UNDO && davy_action_freezes(plan->undone);

	return plan->hazard != DAVY_HZ_NONE && !davy_action_has(plan->action, DAVY_ACTS_FREE) &&
	       !thaws;
}

uint64_t davy_backoff_end_ns(const struct davy_step *s, const struct davy_workload *w)
{
	uint64_t base = davy_config_ns(&s->core->config, DAVY_CFG_RESTART_BACKOFF_MS);
	uint64_t most = davy_config_ns(&s->core->config, DAVY_CFG_RESTART_BACKOFF_MAX_MS);

	for (uint32_t i = 1; i < w->restart_count && base < most; i++)
		base *= 2;
	return w->last_act_ns + (base < most ? base : most);
}

static void turn_hours(struct davy_step *s, struct davy_workload *w)
{
	if (s->now_ns - w->hour_ns >= HOUR_NS) {
		w->hour_ns = s->now_ns;
		w->hour_count = 0;
	}
	if (s->now_ns - s->core->hour_ns >= HOUR_NS) {
		s->core->hour_ns = s->now_ns;
		s->core->hour_count = 0;
	}
}

static enum davy_refusal within_budget(struct davy_step *s, struct davy_workload *w,
				       const struct davy_plan *plan)
{
	const struct davy_config *config = &s->core->config;

	turn_hours(s, w);
	if (w->hour_count >= davy_config_u64(config, DAVY_CFG_ACTS_PER_HOUR))
		return DAVY_REFUSED_BUDGET;
	if (s->core->hour_count >= davy_config_u64(config, DAVY_CFG_HOST_ACTS_PER_HOUR))
		return DAVY_REFUSED_HOST_BUDGET;
	if (w->last_act_ns &&
	    s->now_ns - w->last_act_ns > davy_config_ns(config, DAVY_CFG_RESTART_FORGET_MS))
		w->restart_count = 0;
	if (w->restart_count && davy_action_replaces(plan->action) &&
	    s->now_ns < davy_backoff_end_ns(s, w))
		return DAVY_REFUSED_BACKOFF;
	return DAVY_REFUSED_NOT;
}

enum davy_mode davy_mode_for(const struct davy_step *s, const struct davy_workload *w)
{
	if (w && w->mode)
		return (enum davy_mode)(w->mode - 1);
	return (enum davy_mode)s->core->config.value[DAVY_CFG_MODE];
}

enum davy_refusal davy_admission(struct davy_step *s, struct davy_workload *w,
				 struct davy_plan *plan)
{
	if (davy_mode_for(s, w) == DAVY_MODE_OBSERVE)
		return DAVY_REFUSED_MODE;
	if (!w || !w->adopted)
		return DAVY_REFUSED_NOT_ADOPTED;
	if (w->pinned)
		return DAVY_REFUSED_PINNED;
	if (is_rivals(s, w, plan))
		return DAVY_REFUSED_RIVAL;
	if (!is_able(s, w, plan))
		return DAVY_REFUSED_UNABLE;
	if (!davy_price(s, w, plan))
		return DAVY_REFUSED_PRICE;
	if (w->act_plan)
		return DAVY_REFUSED_BUSY;
	if (!has_budget(plan))
		return DAVY_REFUSED_NOT;
	return within_budget(s, w, plan);
}

/* Renewing a freeze costs nothing. Only a new process lengthens the back-off. */
void davy_spend(struct davy_step *s, struct davy_workload *w, const struct davy_plan *plan)
{
	bool renews = davy_action_freezes(plan->action) && w->freeze_plan &&
		      w->freeze_permille == plan->on_permille;

	if (!has_budget(plan) || renews)
		return;
	turn_hours(s, w);
	w->hour_count++;
	s->core->hour_count++;
	if (davy_action_replaces(plan->action)) {
		w->last_act_ns = s->now_ns;
		w->restart_count++;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an act may be: what people have allowed, what the workload can, and how much of it there
 * was already. An operator's act (hazard none) has no budget; a stop needs none either.
 */
#include "core/action/acts.h"

#define HOUR_NS (3600 * DL_NS_PER_S)

static bool is_able(const struct dl_workload *w, const struct dl_plan *plan)
{
	switch (plan->rung) {
	case DL_RUNG_PAUSE:
	case DL_RUNG_THROTTLE:
		return w->can & DL_CAN_HOLD;
	case DL_RUNG_SHRINK:
		return w->can & DL_CAN_SHRINK;
	case DL_RUNG_CAP:
		return w->can & DL_CAN_CAP;
	case DL_RUNG_UNLOAD:
		return w->can & DL_CAN_UNLOAD;
	case DL_RUNG_SWITCH:
		return w->can & DL_CAN_SWITCH;
	case DL_RUNG_MIGRATE_CPU:
		return w->movable;
	case DL_RUNG_AWAKE:
		return plan->device[0];
	default:
		return true;
	}
}

/* Started by a manager that is not part of the workload: llama-swap, lemonade, a router. */
static bool has_manager(struct dl_step *s, const struct dl_workload *w)
{
	const struct dl_process *p = dl_world_process(&s->core->world, w->pid);
	const struct dl_process *parent = p ? dl_world_process(&s->core->world, p->ppid) : NULL;

	return parent && parent->role == DL_ROLE_MANAGER && parent->workload != w->id;
}

/* Who starts and stops it by his own rules would undo what we do, and we what he does. */
static bool is_rivals(struct dl_step *s, const struct dl_workload *w, const struct dl_plan *plan)
{
	return plan->rung != DL_RUNG_PAUSE && plan->rung != DL_RUNG_THROTTLE &&
	       plan->rung != DL_RUNG_AWAKE && plan->rung != DL_RUNG_UNDO &&
	       (w->rival || has_manager(s, w));
}

static bool is_held(const struct dl_plan *plan)
{
	return plan->rung == DL_RUNG_PAUSE || plan->rung == DL_RUNG_THROTTLE;
}

static bool has_budget(const struct dl_plan *plan)
{
	bool of_hold = plan->rung == DL_RUNG_UNDO &&
		       (plan->level == DL_RUNG_PAUSE || plan->level == DL_RUNG_THROTTLE);

	return plan->hazard != DL_HZ_NONE && plan->rung != DL_RUNG_STOP &&
	       plan->rung != DL_RUNG_QUARANTINE && !of_hold;
}

uint64_t dl_backoff_end_ns(const struct dl_step *s, const struct dl_workload *w)
{
	uint64_t base = dl_config_ns(&s->core->config, DL_CFG_RESTART_BACKOFF_MS);
	uint64_t most = dl_config_ns(&s->core->config, DL_CFG_RESTART_BACKOFF_MAX_MS);

	for (uint32_t i = 1; i < w->restart_count && base < most; i++)
		base *= 2;
	return w->last_act_ns + (base < most ? base : most);
}

static void turn_hours(struct dl_step *s, struct dl_workload *w)
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

static enum dl_refusal within_budget(struct dl_step *s, struct dl_workload *w,
				     const struct dl_plan *plan)
{
	const struct dl_config *config = &s->core->config;

	turn_hours(s, w);
	if (w->hour_count >= dl_config_u64(config, DL_CFG_ACTS_PER_HOUR))
		return DL_REFUSED_BUDGET;
	if (s->core->hour_count >= dl_config_u64(config, DL_CFG_HOST_ACTS_PER_HOUR))
		return DL_REFUSED_HOST_BUDGET;
	if (w->last_act_ns &&
	    s->now_ns - w->last_act_ns > dl_config_ns(config, DL_CFG_RESTART_FORGET_MS))
		w->restart_count = 0;
	if (w->restart_count && dl_replaces(plan->rung) && s->now_ns < dl_backoff_end_ns(s, w))
		return DL_REFUSED_BACKOFF;
	return DL_REFUSED_NOT;
}

enum dl_mode dl_mode_for(const struct dl_step *s, const struct dl_workload *w)
{
	if (w && w->mode)
		return (enum dl_mode)(w->mode - 1);
	return (enum dl_mode)s->core->config.value[DL_CFG_MODE];
}

enum dl_refusal dl_consent(struct dl_step *s, struct dl_workload *w, const struct dl_plan *plan)
{
	if (dl_mode_for(s, w) == DL_MODE_OBSERVE)
		return DL_REFUSED_MODE;
	if (!w || !w->adopted)
		return DL_REFUSED_NOT_ADOPTED;
	if (w->pinned)
		return DL_REFUSED_PINNED;
	if (is_rivals(s, w, plan))
		return DL_REFUSED_RIVAL;
	if (!is_able(w, plan))
		return DL_REFUSED_UNABLE;
	if (w->act_plan)
		return DL_REFUSED_BUSY;
	if (!has_budget(plan))
		return DL_REFUSED_NOT;
	return within_budget(s, w, plan);
}

/* A hold that is renewed is the same hold; only a new process makes the next one wait longer. */
void dl_spend(struct dl_step *s, struct dl_workload *w, const struct dl_plan *plan)
{
	bool renews = is_held(plan) && w->hold_plan && w->hold_permille == plan->on_permille;

	if (!has_budget(plan) || renews)
		return;
	turn_hours(s, w);
	w->hour_count++;
	s->core->hour_count++;
	if (dl_replaces(plan->rung)) {
		w->last_act_ns = s->now_ns;
		w->restart_count++;
	}
}

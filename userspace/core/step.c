/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <string.h>

void davy_core_init(struct davy_core *core)
{
	memset(core, 0, sizeof(*core));
	davy_core_init_zeroed(core);
}

void davy_core_init_zeroed(struct davy_core *core)
{
	davy_config_defaults(&core->config);
}

static void apply_config_for(struct davy_step *s)
{
	const struct davy_ev_config_for *in = &s->ev->config_for;

	if (!davy_config_set_for(&s->core->config, in->scope, in->name, in->config.key,
				 in->config.value))
		s->core->dropped_count++; /* refused when it was read, unless a trace is older */
}

static void apply_config(struct davy_step *s)
{
	/*
	 * An unknown key or a value out of range was refused when it was read; here it is ignored.
	 */
	davy_config_set(&s->core->config, s->ev->config.key, s->ev->config.value);
}

static void step_look(struct davy_step *s)
{
	for (size_t i = DAVY_HZ_NONE + 1; i < DAVY_HZ_COUNT; i++)
		if (s->hazards[i]->sees & DAVY_SEES(s->ev->kind))
			s->hazards[i]->look(s);
}

static void after(struct davy_step *s)
{
	switch (s->ev->kind) {
	case DAVY_EV_TICK:
		davy_alarms_tick(s); /* first: an alarm that is over justifies nothing */
		davy_decide_tick(s);
		davy_escalation_tick(s);
		davy_breakers_tick(s);
		davy_foresight_tick(s);
		davy_samples_tick(s);
		break;
	case DAVY_EV_PROCESS_EXIT:
		davy_decide_exit(s);
		break;
	case DAVY_EV_ACT:
		davy_decide_act(s);
		break;
	case DAVY_EV_ORDER:
		davy_decide_order(s);
		break;
	case DAVY_EV_RESTORED:
		davy_effect_restored(s);
		break;
	case DAVY_EV_CLOCK:
		s->core->wall_s = s->ev->clock.wall_s;
		s->core->wall_ns = s->now_ns;
		break;
	case DAVY_EV_TUNING:
		davy_tuned_restore(s);
		break;
	case DAVY_EV_SCORES:
		davy_scores_restore(s);
		break;
	case DAVY_EV_BREAKER:
		davy_breaker_restore(s);
		break;
	case DAVY_EV_WORKLOAD:
	case DAVY_EV_PROCESS:
		davy_breaker_probation(s);
		break;
	case DAVY_EV_CONFIG:
		apply_config(s);
		break;
	case DAVY_EV_CONFIG_FOR:
		apply_config_for(s);
		break;
	default:
		break;
	}
}

size_t davy_core_step(struct davy_core *core, const struct davy_event *ev, struct davy_plan *plans,
		      size_t max)
{
	struct davy_step s = { .core = core,
			       .ev = ev,
			       .plans = plans,
			       .max = max,
			       .hazards = davy_hazard_rows,
			       .actions = davy_action_rows };
	struct davy_event held;

	assert(max >= DAVY_PLANS_MAX);
	assert(ev->kind > 0 && ev->kind < DAVY_EV_COUNT);
	if (ev->at_ns < core->now_ns) { /* two CPUs' records may cross: time never goes back */
		held = *ev;
		held.at_ns = core->now_ns;
		s.ev = &held;
	}
	core->now_ns = s.now_ns = s.ev->at_ns;
	core->event_count++;
	davy_world_apply(&core->world, s.ev);
	davy_foresight_event(&s);
	step_look(&s);
	after(&s);
	davy_world_settle(&core->world, s.ev);
	return s.count;
}

bool davy_core_workload_busy(struct davy_core *core, uint32_t workload)
{
	struct davy_workload *w = davy_world_workload(&core->world, workload);

	if (!w)
		return false;
	for (size_t i = 0; i < w->effect_count; i++)
		if (w->effects[i].until_ns)
			return true; /* a quarantine ends, and the workload starts again */
	return w->act_plan || w->retry_ns;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <string.h>

static const struct davy_hazard_row rows[] = {
	{ DAVY_HZ_ENGINE_EXCEPTION, DAVY_SEES(DAVY_EV_THROW), davy_look_engine_exception },
	{ DAVY_HZ_ENGINE_WEDGED,
	  DAVY_SEES(DAVY_EV_TICK) | DAVY_SEES(DAVY_EV_GRAPH) | DAVY_SEES(DAVY_EV_PROBE),
	  davy_look_engine_wedged },
	{ DAVY_HZ_RUNNER_CRASH, DAVY_SEES(DAVY_EV_PROCESS_EXIT) | DAVY_SEES(DAVY_EV_FINDING),
	  davy_look_runner_crash },
	{ DAVY_HZ_JOB_STALL, DAVY_SEES(DAVY_EV_RING), davy_look_job_stall },
	{ DAVY_HZ_FAULT_STORM,
	  DAVY_SEES(DAVY_EV_FAULT) | DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_KFD) |
		  DAVY_SEES(DAVY_EV_LOG),
	  davy_look_fault_storm },
	{ DAVY_HZ_EVICTION_STORM, DAVY_SEES(DAVY_EV_BO_MOVED), davy_look_eviction_storm },
	{ DAVY_HZ_RESET,
	  DAVY_SEES(DAVY_EV_JOB_TIMEOUT) | DAVY_SEES(DAVY_EV_RESET) | DAVY_SEES(DAVY_EV_FACT) |
		  DAVY_SEES(DAVY_EV_DEVICE) | DAVY_SEES(DAVY_EV_KFD) | DAVY_SEES(DAVY_EV_LOG),
	  davy_look_reset },
	{ DAVY_HZ_ALLOC_FAILURE, DAVY_SEES(DAVY_EV_ALLOC_FAILED) | DAVY_SEES(DAVY_EV_LOG),
	  davy_look_alloc_failure },
	{ DAVY_HZ_EXHAUSTION,
	  DAVY_SEES(DAVY_EV_MEMORY) | DAVY_SEES(DAVY_EV_DMEM) | DAVY_SEES(DAVY_EV_TICK),
	  davy_look_exhaustion },
	{ DAVY_HZ_SILENT_SPILL,
	  DAVY_SEES(DAVY_EV_MEMORY) | DAVY_SEES(DAVY_EV_CLIENT) | DAVY_SEES(DAVY_EV_FACT) |
		  DAVY_SEES(DAVY_EV_GRAPH) | DAVY_SEES(DAVY_EV_PROGRESS) | DAVY_SEES(DAVY_EV_TICK),
	  davy_look_silent_spill },
	{ DAVY_HZ_HOST_PRESSURE, DAVY_SEES(DAVY_EV_MEMORY) | DAVY_SEES(DAVY_EV_TICK),
	  davy_look_host_pressure },
	{ DAVY_HZ_SILENT_CPU, DAVY_SEES(DAVY_EV_TICK) | DAVY_SEES(DAVY_EV_FACT),
	  davy_look_silent_cpu },
	{ DAVY_HZ_HARDWARE,
	  DAVY_SEES(DAVY_EV_LOG) | DAVY_SEES(DAVY_EV_FAULT) | DAVY_SEES(DAVY_EV_KFD) |
		  DAVY_SEES(DAVY_EV_FACT),
	  davy_look_hardware },
	{ DAVY_HZ_DRIVER_WARNING, DAVY_SEES(DAVY_EV_LOG), davy_look_driver_warning },
	{ DAVY_HZ_JOB_HEADROOM, DAVY_SEES(DAVY_EV_JOB_TIMES) | DAVY_SEES(DAVY_EV_RING),
	  davy_look_job_headroom },
	{ DAVY_HZ_RESTORE_HOG,
	  DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_KFD) | DAVY_SEES(DAVY_EV_LOG),
	  davy_look_restore_hog },
	{ DAVY_HZ_QUEUE_THRASH,
	  DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_KFD) | DAVY_SEES(DAVY_EV_KFD_USE),
	  davy_look_queue_thrash },
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == DAVY_HZ_COUNT - 1, "one row per hazard");
_Static_assert(DAVY_EV_COUNT <= 64, "event kinds fit DAVY_SEES");

void davy_core_init(struct davy_core *core)
{
	memset(core, 0, sizeof(*core));
	davy_config_defaults(&core->config);
}

static void apply_config_for(struct davy_step *s)
{
	const struct davy_ev_config_for *in = &s->ev->config_for;

	if (!davy_config_set_for(&s->core->config, in->scope, in->name, in->config.key,
				 in->config.value))
		s->core->dropped_count++; /* refused where it was read, unless a trace is older */
}

static void apply_config(struct davy_step *s)
{
	/* An unknown key or a value out of range was refused where it was read; here it is ignored.
	 */
	davy_config_set(&s->core->config, s->ev->config.key, s->ev->config.value);
}

static void look(struct davy_step *s)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].sees & DAVY_SEES(s->ev->kind))
			rows[i].look(s);
}

static void after(struct davy_step *s)
{
	switch (s->ev->kind) {
	case DAVY_EV_TICK:
		davy_decide_tick(s);
		davy_ladder_tick(s);
		davy_breakers_tick(s);
		davy_foresight_tick(s);
		davy_alarms_tick(
			s); /* last: what it has no room for waits, the others' turns do not */
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
	case DAVY_EV_LEFT:
		davy_effect_left(s);
		break;
	case DAVY_EV_CLOCK:
		s->core->wall_s = s->ev->clock.wall_s;
		s->core->wall_ns = s->now_ns;
		break;
	case DAVY_EV_TUNING:
		davy_tuned_restore(s);
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
	struct davy_step s = { .core = core, .ev = ev, .plans = plans, .max = max };
	struct davy_event held;

	assert(max >= DAVY_PLANS_MAX);
	assert(ev->kind > 0 && ev->kind < DAVY_EV_COUNT);
	if (ev->at_ns <
	    core->now_ns) { /* two CPUs' records may cross: time is held, never turned */
		held = *ev;
		held.at_ns = core->now_ns;
		s.ev = &held;
	}
	core->now_ns = s.now_ns = s.ev->at_ns;
	core->event_count++;
	davy_world_apply(&core->world, s.ev);
	davy_foresight_event(&s);
	look(&s);
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
			return true; /* a quarantine ends, and it is started again */
	return w->act_plan || w->retry_ns;
}

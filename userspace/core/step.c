/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/action/acts.h"

#include <assert.h>
#include <string.h>

#define IDLE_NS (10 * DL_NS_PER_S)

static const struct dl_hazard_row rows[] = {
	{ DL_HZ_ENGINE_EXCEPTION, DL_SEES(DL_EV_THROW), dl_look_engine_exception },
	{ DL_HZ_ENGINE_WEDGED, DL_SEES(DL_EV_TICK) | DL_SEES(DL_EV_GRAPH) | DL_SEES(DL_EV_PROBE),
	  dl_look_engine_wedged },
	{ DL_HZ_RUNNER_CRASH, DL_SEES(DL_EV_PROCESS_EXIT) | DL_SEES(DL_EV_FINDING),
	  dl_look_runner_crash },
	{ DL_HZ_JOB_STALL, DL_SEES(DL_EV_RING), dl_look_job_stall },
	{ DL_HZ_FAULT_STORM,
	  DL_SEES(DL_EV_FAULT) | DL_SEES(DL_EV_FACT) | DL_SEES(DL_EV_KFD) | DL_SEES(DL_EV_LOG),
	  dl_look_fault_storm },
	{ DL_HZ_EVICTION_STORM, DL_SEES(DL_EV_BO_MOVED), dl_look_eviction_storm },
	{ DL_HZ_RESET,
	  DL_SEES(DL_EV_JOB_TIMEOUT) | DL_SEES(DL_EV_RESET) | DL_SEES(DL_EV_FACT) |
		  DL_SEES(DL_EV_DEVICE) | DL_SEES(DL_EV_KFD) | DL_SEES(DL_EV_LOG),
	  dl_look_reset },
	{ DL_HZ_ALLOC_FAILURE, DL_SEES(DL_EV_ALLOC_FAILED) | DL_SEES(DL_EV_LOG),
	  dl_look_alloc_failure },
	{ DL_HZ_EXHAUSTION, DL_SEES(DL_EV_MEMORY) | DL_SEES(DL_EV_DMEM) | DL_SEES(DL_EV_TICK),
	  dl_look_exhaustion },
	{ DL_HZ_SILENT_SPILL,
	  DL_SEES(DL_EV_MEMORY) | DL_SEES(DL_EV_CLIENT) | DL_SEES(DL_EV_FACT) |
		  DL_SEES(DL_EV_GRAPH) | DL_SEES(DL_EV_PROGRESS) | DL_SEES(DL_EV_TICK),
	  dl_look_silent_spill },
	{ DL_HZ_HOST_PRESSURE, DL_SEES(DL_EV_MEMORY) | DL_SEES(DL_EV_TICK), dl_look_host_pressure },
	{ DL_HZ_SILENT_CPU, DL_SEES(DL_EV_TICK) | DL_SEES(DL_EV_FACT), dl_look_silent_cpu },
	{ DL_HZ_HARDWARE,
	  DL_SEES(DL_EV_LOG) | DL_SEES(DL_EV_FAULT) | DL_SEES(DL_EV_KFD) | DL_SEES(DL_EV_FACT),
	  dl_look_hardware },
	{ DL_HZ_DRIVER_WARNING, DL_SEES(DL_EV_LOG), dl_look_driver_warning },
	{ DL_HZ_JOB_HEADROOM, DL_SEES(DL_EV_JOB_TIMES) | DL_SEES(DL_EV_RING),
	  dl_look_job_headroom },
	{ DL_HZ_RESTORE_HOG, DL_SEES(DL_EV_FACT) | DL_SEES(DL_EV_KFD) | DL_SEES(DL_EV_LOG),
	  dl_look_restore_hog },
	{ DL_HZ_QUEUE_THRASH, DL_SEES(DL_EV_FACT) | DL_SEES(DL_EV_KFD) | DL_SEES(DL_EV_KFD_USE),
	  dl_look_queue_thrash },
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == DL_HZ_COUNT - 1, "one row per hazard");
_Static_assert(DL_EV_COUNT <= 64, "event kinds fit DL_SEES");

void dl_core_init(struct dl_core *core)
{
	memset(core, 0, sizeof(*core));
	dl_config_defaults(&core->config);
}

struct dl_plan dl_plan_about(const struct dl_step *s, enum dl_hazard hazard,
			     const struct dl_process *p)
{
	struct dl_plan plan;

	memset(&plan, 0, sizeof(plan));
	plan.at_ns = s->now_ns;
	plan.first_sign_ns = s->now_ns;
	plan.hazard = (uint8_t)hazard;
	plan.rung = DL_RUNG_NOTE;
	plan.pid = s->ev->pid;
	dl_plan_evidence(&plan, s->now_ns, s->ev->kind, 1);
	if (!p)
		return plan;
	plan.pid = p->pid;
	plan.workload = p->workload;
	plan.engine = p->engine;
	plan.backend = p->backend;
	plan.port = p->port;
	memcpy(plan.comm, p->comm, sizeof(plan.comm));
	memcpy(plan.device, p->device, sizeof(plan.device));
	memcpy(plan.model, p->model, sizeof(plan.model));
	return plan;
}

void dl_plan_evidence(struct dl_plan *plan, uint64_t at_ns, uint32_t kind, uint32_t count)
{
	struct dl_evidence *e;

	assert(kind < DL_EV_COUNT);
	if (plan->evidence_count == DL_PLAN_EVIDENCE)
		return;
	e = &plan->evidence[plan->evidence_count++];
	e->at_ns = at_ns;
	e->kind = kind;
	e->count = count;
	if (at_ns < plan->first_sign_ns)
		plan->first_sign_ns = at_ns;
}

bool dl_is_idle(const struct dl_step *s, uint32_t pid)
{
	const struct dl_process *p = dl_world_process(&s->core->world, pid);
	uint64_t last_ns;

	if (!p)
		return false;
	last_ns = p->worked_ns > p->life.busy_ns ? p->worked_ns : p->life.busy_ns;
	if (p->life.done_ns > last_ns)
		last_ns = p->life.done_ns;
	return !last_ns || s->now_ns - last_ns > IDLE_NS;
}

void dl_emit_as(struct dl_step *s, struct dl_plan *plan, uint32_t id)
{
	assert(plan->rung < DL_RUNG_COUNT);
	assert(plan->hazard < DL_HZ_COUNT);
	plan->id = id;
	if (s->count == s->max)
		s->core->dropped_count++;
	else
		s->plans[s->count++] = *plan;
}

void dl_emit(struct dl_step *s, struct dl_plan *plan)
{
	dl_emit_as(s, plan, ++s->core->plan_count);
}

int64_t dl_threshold_for(const struct dl_step *s, enum dl_config_key key, const char *device,
			 const struct dl_process *p)
{
	const char *name = device && device[0] ? device : p ? p->device : "";
	const struct dl_device_state *d = dl_world_device(&s->core->world, name);

	return dl_config_value_for(&s->core->config, key, d ? d->driver : "", name,
				   p ? p->model : "");
}

static void apply_config_for(struct dl_step *s)
{
	const struct dl_ev_config_for *in = &s->ev->config_for;

	if (!dl_config_set_for(&s->core->config, in->scope, in->name, in->config.key,
			       in->config.value))
		s->core->dropped_count++; /* refused where it was read, unless a trace is older */
}

static void apply_config(struct dl_step *s)
{
	/* An unknown key or a value out of range was refused where it was read; here it is ignored.
	 */
	dl_config_set(&s->core->config, s->ev->config.key, s->ev->config.value);
}

static void look(struct dl_step *s)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].sees & DL_SEES(s->ev->kind))
			rows[i].look(s);
}

static void after(struct dl_step *s)
{
	switch (s->ev->kind) {
	case DL_EV_TICK:
		dl_decide_tick(s);
		dl_ladder_tick(s);
		dl_breakers_tick(s);
		dl_foresight_tick(s);
		dl_alarms_tick(
			s); /* last: what it has no room for waits, the others' turns do not */
		break;
	case DL_EV_PROCESS_EXIT:
		dl_decide_exit(s);
		break;
	case DL_EV_ACT:
		dl_decide_act(s);
		break;
	case DL_EV_ORDER:
		dl_decide_order(s);
		break;
	case DL_EV_LEFT:
		dl_effect_left(s);
		break;
	case DL_EV_CLOCK:
		s->core->wall_s = s->ev->clock.wall_s;
		s->core->wall_ns = s->now_ns;
		break;
	case DL_EV_TUNING:
		dl_tuned_restore(s);
		break;
	case DL_EV_BREAKER:
		dl_breaker_restore(s);
		break;
	case DL_EV_WORKLOAD:
	case DL_EV_PROCESS:
		dl_breaker_probation(s);
		break;
	case DL_EV_CONFIG:
		apply_config(s);
		break;
	case DL_EV_CONFIG_FOR:
		apply_config_for(s);
		break;
	default:
		break;
	}
}

size_t dl_core_step(struct dl_core *core, const struct dl_event *ev, struct dl_plan *plans,
		    size_t max)
{
	struct dl_step s = { .core = core, .ev = ev, .plans = plans, .max = max };
	struct dl_event held;

	assert(max >= DL_PLANS_MAX);
	assert(ev->kind > 0 && ev->kind < DL_EV_COUNT);
	if (ev->at_ns <
	    core->now_ns) { /* two CPUs' records may cross: time is held, never turned */
		held = *ev;
		held.at_ns = core->now_ns;
		s.ev = &held;
	}
	core->now_ns = s.now_ns = s.ev->at_ns;
	core->event_count++;
	dl_world_apply(&core->world, s.ev);
	dl_foresight_event(&s);
	look(&s);
	after(&s);
	dl_world_settle(&core->world, s.ev);
	return s.count;
}

bool dl_core_workload_busy(struct dl_core *core, uint32_t workload)
{
	struct dl_workload *w = dl_world_workload(&core->world, workload);

	if (!w)
		return false;
	for (size_t i = 0; i < w->effect_count; i++)
		if (w->effects[i].until_ns)
			return true; /* a quarantine ends, and it is started again */
	return w->act_plan || w->retry_ns;
}

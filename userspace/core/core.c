/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hazards.h"

#include <assert.h>
#include <string.h>

static const struct dl_hazard_row rows[] = {
	{ DL_HZ_ENGINE_EXCEPTION, DL_SEES(DL_EV_THROW), dl_look_engine_exception },
	{ DL_HZ_ENGINE_WEDGED, DL_SEES(DL_EV_TICK) | DL_SEES(DL_EV_GRAPH) | DL_SEES(DL_EV_PROBE),
	  dl_look_engine_wedged },
	{ DL_HZ_RUNNER_CRASH, DL_SEES(DL_EV_PROCESS_EXIT), dl_look_runner_crash },
	{ DL_HZ_JOB_STALL, DL_SEES(DL_EV_RING), dl_look_job_stall },
	{ DL_HZ_FAULT_STORM, DL_SEES(DL_EV_FAULT), dl_look_fault_storm },
	{ DL_HZ_EVICTION_STORM, DL_SEES(DL_EV_BO_MOVED), dl_look_eviction_storm },
	{ DL_HZ_RESET, DL_SEES(DL_EV_JOB_TIMEOUT) | DL_SEES(DL_EV_RESET), dl_look_reset },
	{ DL_HZ_ALLOC_FAILURE, DL_SEES(DL_EV_ALLOC_FAILED), dl_look_alloc_failure },
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == DL_HZ_COUNT - 1, "one row per hazard");
_Static_assert(DL_EV_COUNT <= 32, "event kinds fit DL_SEES");

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

uint32_t dl_emit(struct dl_step *s, struct dl_plan *plan)
{
	assert(plan->rung < DL_RUNG_COUNT);
	assert(plan->hazard < DL_HZ_COUNT);
	plan->id = ++s->core->plan_count;
	if (s->count == s->max) {
		s->core->dropped_count++;
		return plan->id;
	}
	s->plans[s->count++] = *plan;
	return plan->id;
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
		dl_breakers_tick(s);
		dl_alarms_tick(
			s); /* last: what it has no room for waits, the others' turns do not */
		break;
	case DL_EV_PROCESS_EXIT:
		dl_decide_exit(s);
		break;
	case DL_EV_ACT:
		dl_decide_act(s);
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
	look(&s);
	after(&s);
	dl_world_settle(&core->world, s.ev);
	return s.count;
}

bool dl_core_workload_busy(struct dl_core *core, uint32_t workload)
{
	struct dl_workload *w = dl_world_workload(&core->world, workload);

	return w && (w->act_plan || w->retry_ns);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/emit.h"

#include <assert.h>
#include <string.h>

#define IDLE_NS	   (10 * DAVY_NS_PER_S)
#define RUNS_NS	   (300 * DAVY_NS_PER_S) /* start, load and first graphs are over */
#define REFUSED_NS (10 * DAVY_NS_PER_S)	 /* from a refused allocation to the end of a load */

struct davy_plan davy_plan_about(const struct davy_step *s, enum davy_hazard hazard,
				 const struct davy_process *p)
{
	struct davy_plan plan;

	memset(&plan, 0, sizeof(plan));
	plan.at_ns = s->now_ns;
	plan.first_precursor_ns = s->now_ns;
	plan.hazard = (uint8_t)hazard;
	plan.kind = DAVY_PLAN_NOTE;
	plan.pid = s->ev->pid;
	davy_plan_evidence(&plan, s->now_ns, s->ev->kind, 1);
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

void davy_plan_evidence(struct davy_plan *plan, uint64_t at_ns, uint32_t kind, uint32_t count)
{
	struct davy_evidence *e;

	assert(kind < DAVY_EV_COUNT);
	if (plan->evidence_count == DAVY_PLAN_EVIDENCE)
		return;
	e = &plan->evidence[plan->evidence_count++];
	e->at_ns = at_ns;
	e->kind = kind;
	e->count = count;
	if (at_ns < plan->first_precursor_ns)
		plan->first_precursor_ns = at_ns;
}

uint64_t davy_worked_ns(const struct davy_step *s, uint32_t pid)
{
	const struct davy_process *p = davy_world_process(&s->core->world, pid);

	return p ? davy_process_worked_ns(p) : 0;
}

uint64_t davy_process_worked_ns(const struct davy_process *p)
{
	uint64_t last_ns = p->worked_ns > p->life.busy_ns ? p->worked_ns : p->life.busy_ns;

	return p->life.done_ns > last_ns ? p->life.done_ns : last_ns;
}

bool davy_is_idle(const struct davy_step *s, uint32_t pid)
{
	uint64_t last_ns = davy_worked_ns(s, pid);

	if (!davy_world_process(&s->core->world, pid))
		return false;
	return !last_ns || s->now_ns - last_ns > IDLE_NS;
}

bool davy_load_refused(const struct davy_step *s, const struct davy_process *p)
{
	uint64_t refused_ns = p->vram_refused_ns;

	if (refused_ns < p->out_of_memory_ns)
		refused_ns = p->out_of_memory_ns;
	return refused_ns && !p->worked_ns && s->now_ns - refused_ns < REFUSED_NS;
}

bool davy_engine_computes(const struct davy_step *s, const char *device, uint64_t within_ns)
{
	const struct davy_process *p;
	size_t at = 0;

	while ((p = davy_world_process_next(&s->core->world, &at)))
		if (p->engine != DAVY_ENGINE_NONE && s->now_ns - p->met_ns > RUNS_NS &&
		    (!device[0] || davy_same_name(p->device, device)) &&
		    s->now_ns - davy_process_worked_ns(p) < within_ns)
			return true;
	return false;
}

void davy_emit_as(struct davy_step *s, struct davy_plan *plan, uint32_t id)
{
	assert(plan->action < DAVY_ACTION_COUNT);
	assert(plan->hazard < DAVY_HZ_COUNT);
	plan->id = id;
	if (s->count == s->max)
		s->core->dropped_count++;
	else
		s->plans[s->count++] = *plan;
}

void davy_emit(struct davy_step *s, struct davy_plan *plan)
{
	davy_emit_as(s, plan, ++s->core->plan_count);
}

int64_t davy_threshold_for(const struct davy_step *s, enum davy_config_key key, const char *device,
			   const struct davy_process *p)
{
	const char *name = device && device[0] ? device : p ? p->device : "";
	const struct davy_device_state *d = davy_world_device(&s->core->world, name);

	return davy_config_value_for(&s->core->config, key, d ? d->driver : "", name,
				     p ? p->model : "");
}

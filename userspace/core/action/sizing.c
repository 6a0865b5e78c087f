/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of an action is done to a workload: the duty cycle, the size of the batch, the backend.
 */
#include "core/action/acts.h"

#include <assert.h>
#include <string.h>

/* The value in force: what the agent has set, else what the command line sets. */
static uint32_t sizing_in_force(uint32_t set, uint32_t configured)
{
	return set ? set : configured;
}

static uint32_t half_power(uint32_t value)
{
	uint32_t power = 1;

	while (power < value - power)
		power *= 2;
	return power; /* the largest power of two below the value */
}

/* An administrator has pinned the setting. */
static bool is_fixed(const struct davy_workload *w, enum davy_start_setting setting)
{
	return w->fixed & 1u << setting;
}

/* False: it is at its minimum, or its size is unknown. */
static bool smaller_ubatch(struct davy_step *s, const struct davy_workload *w,
			   const struct davy_process *p, struct davy_plan *plan)
{
	uint32_t now = sizing_in_force(w->settings.ubatch, p ? p->ubatch : 0), next;
	uint32_t least = davy_ubatch_floor(s, w);

	if (now < 2 || is_fixed(w, DAVY_TUNER_UBATCH))
		return false;
	next = half_power(now);
	if (plan->fitting_ubatch && plan->fitting_ubatch < next)
		next = plan->fitting_ubatch;
	plan->settings.ubatch = next;
	return next >= least;
}

static bool smaller_context(struct davy_step *s, const struct davy_workload *w,
			    const struct davy_process *p, struct davy_plan *plan)
{
	uint32_t slots = sizing_in_force(w->settings.parallel, p ? p->parallel : 0);
	uint32_t now = sizing_in_force(w->settings.context, p ? p->context_size : 0);
	uint64_t least = davy_config_u64(&s->core->config, DAVY_CFG_CONTEXT_FLOOR);

	plan->settings = w->settings;
	if (now / 2 >= least && !is_fixed(w, DAVY_TUNER_CONTEXT)) {
		plan->settings.context = now / 2;
		return true;
	}
	plan->settings.parallel = slots / 2;
	return slots > 1 && !is_fixed(w, DAVY_TUNER_PARALLEL);
}

/* A standing hazard of the same process has found a value that fits. */
static uint32_t sizing_fitting_ubatch(const struct davy_step *s, const struct davy_process *p)
{
	for (size_t i = 0; s->core->alarm_count && i < DAVY_CORE_ALARMS; i++) {
		const struct davy_alarm *a = &s->core->alarms[i];

		if (a->used && s->hazards[a->note.hazard]->finds_ubatch && a->note.pid == p->pid)
			return a->note.fitting_ubatch;
	}
	return 0;
}

/*
 * For jobs that take too long, reduce the ubatch; for memory that runs out, the context. Just
 * before a timeout, only a ubatch that is known to fit is worth a restart.
 */
bool davy_size_shrink(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	const struct davy_process *p = davy_world_process(&s->core->world, w->pid);
	bool of_time = s->hazards[plan->hazard]->of_long_jobs;

	plan->settings = w->settings;
	if (!of_time && plan->hazard != DAVY_HZ_NONE)
		return smaller_context(s, w, p, plan);
	if (of_time)
		plan->fitting_ubatch = p ? sizing_fitting_ubatch(s, p) : 0;
	if (of_time && plan->level > 2 && !plan->fitting_ubatch)
		return false;
	return smaller_ubatch(s, w, p, plan);
}

bool davy_size_throttle(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	uint16_t on = (uint16_t)s->core->config.value[DAVY_CFG_THROTTLE_ON];
	uint16_t least = (uint16_t)s->core->config.value[DAVY_CFG_THROTTLE_ON_LEAST];
	bool throttled = w->freeze_plan && w->freeze_action == DAVY_ACTION_THROTTLE;

	if (!plan->lease_ns)
		plan->lease_ns = davy_config_ns(&s->core->config, DAVY_CFG_THROTTLE_LEASE_MS);
	if (plan->on_permille)
		return true;
	plan->on_permille = throttled ? least : on;
	return !throttled || w->freeze_permille > least;
}

bool davy_size_pause(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	if (!plan->lease_ns)
		plan->lease_ns = davy_config_ns(&s->core->config, DAVY_CFG_PAUSE_LEASE_MS);
	return !w->freeze_plan || w->freeze_action != DAVY_ACTION_PAUSE;
}

/* The cap is the workload's current use. */
bool davy_size_cap(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	(void)s;
	for (size_t i = 0; i < w->effect_count; i++)
		if (w->effects[i].action == DAVY_ACTION_CAP && plan->hazard != DAVY_HZ_NONE)
			return false;
	for (size_t i = 0; !plan->cap_bytes && i < plan->usage_count; i++)
		if (plan->usages[i].pid == w->pid)
			plan->cap_bytes = plan->usages[i].memory_bytes;
	return plan->cap_bytes;
}

/* Another backend of this driver's GPUs; all have Vulkan. */
static uint8_t sizing_other_backend(const struct davy_core *core, const struct davy_workload *w,
				    const char *device)
{
	const struct davy_device_state *d = davy_world_device(&core->world, device);
	const char *driver = d ? d->driver : "";

	if (w->backend == DAVY_BACKEND_CPU || w->backend == DAVY_BACKEND_UNKNOWN)
		return DAVY_BACKEND_UNKNOWN;
	if (w->backend != DAVY_BACKEND_VULKAN)
		return DAVY_BACKEND_VULKAN;
	if (davy_same_name(driver, "amdgpu"))
		return DAVY_BACKEND_ROCM;
	if (davy_same_name(driver, "nvidia"))
		return DAVY_BACKEND_CUDA;
	return davy_same_name(driver, "xe") || davy_same_name(driver, "i915")
		       ? DAVY_BACKEND_SYCL
		       : DAVY_BACKEND_UNKNOWN;
}

/* A standing hazard shows that the device, or the workload's own engine, fails. */
static bool sizing_device_fails(struct davy_step *s, const struct davy_workload *w,
				const char *device)
{
	uint64_t clear_ns = davy_config_ns(&s->core->config, DAVY_CFG_CLEAR_MS);
	const struct davy_core *core = s->core;

	for (size_t i = 0; core->alarm_count && i < DAVY_CORE_ALARMS; i++) {
		const struct davy_plan *n = &core->alarms[i].note;
		const struct davy_hazard_row *row = s->hazards[n->hazard];
		bool seen = s->now_ns - core->alarms[i].last_ns < clear_ns;

		if (!core->alarms[i].used)
			continue;
		if (row->device_fails && seen && n->level >= row->device_fails &&
		    davy_same_name(n->device, device))
			return true;
		if (row->engine_fails && n->level >= row->engine_fails && n->workload == w->id)
			return true;
	}
	return false;
}

/* After a reset the device may fail for the other backend too: not during a reset. */
bool davy_size_switch(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	const struct davy_device_state *d = davy_world_device(&s->core->world, plan->device);

	if (!plan->to_backend)
		plan->to_backend = sizing_other_backend(s->core, w, plan->device);
	if (!plan->to_backend || plan->to_backend == w->backend || (d && d->resetting_ns))
		return false;
	return plan->hazard == DAVY_HZ_NONE ||
	       !davy_breaker_is_open(s->core, plan->device, plan->to_backend, w->model);
}

bool davy_size_restart(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	return !s->hazards[plan->hazard]->outlives_restart || !w->replaced_ns ||
	       s->now_ns - w->replaced_ns > davy_config_ns(&s->core->config, DAVY_CFG_CLEAN_MS);
}

bool davy_size_migrate_cpu(struct davy_step *s, const struct davy_workload *w,
			   struct davy_plan *plan)
{
	(void)s;
	(void)plan;
	return w->backend != DAVY_BACKEND_CPU;
}

bool davy_measure(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	const struct davy_action_row *row = davy_action_row(s, plan->action);
	bool can = !row->size || row->size(s, w, plan);

	assert(davy_action_known(plan->action));
	if (davy_action_replaces(plan->action) || davy_action_replaces(plan->undone))
		plan->keeps = (w->can & DAVY_CAN_KEEP) && !sizing_device_fails(s, w, plan->device);
	return can;
}

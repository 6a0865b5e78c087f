/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of an action is done to a workload: which duty, how small a batch, which backend. */
#include "core/action/acts.h"

#include <string.h>

/* As it runs: what we have set, else what its command says. */
static uint32_t sizing_in_force(uint32_t set, uint32_t told)
{
	return set ? set : told;
}

static uint32_t half_power(uint32_t value)
{
	uint32_t power = 1;

	while (power < value - power)
		power *= 2;
	return power; /* the largest power of two below the value */
}

/* People have pinned it. */
static bool is_fixed(const struct davy_workload *w, enum davy_tuner_knob knob)
{
	return w->fixed & 1u << knob;
}

/* False: it is as small as it may be, or nobody knows how large it is. */
static bool smaller_ubatch(struct davy_step *s, const struct davy_workload *w,
			   const struct davy_process *p, struct davy_plan *plan)
{
	uint32_t now = sizing_in_force(w->knobs.ubatch, p ? p->ubatch : 0), next;
	uint32_t least = davy_ubatch_floor(s, w);

	if (now < 2 || is_fixed(w, DAVY_TUNER_UBATCH))
		return false;
	next = half_power(now);
	if (plan->fitting_ubatch && plan->fitting_ubatch < next)
		next = plan->fitting_ubatch;
	plan->knobs.ubatch = next;
	return next >= least;
}

static bool smaller_context(struct davy_step *s, const struct davy_workload *w,
			    const struct davy_process *p, struct davy_plan *plan)
{
	uint32_t slots = sizing_in_force(w->knobs.parallel, p ? p->parallel : 0);
	uint32_t now = sizing_in_force(w->knobs.context, p ? p->context_size : 0);
	uint64_t least = davy_config_u64(&s->core->config, DAVY_CFG_CONTEXT_FLOOR);

	plan->knobs = w->knobs;
	if (now / 2 >= least && !is_fixed(w, DAVY_TUNER_CONTEXT)) {
		plan->knobs.context = now / 2;
		return true;
	}
	plan->knobs.parallel = slots / 2;
	return slots > 1 && !is_fixed(w, DAVY_TUNER_PARALLEL);
}

/* A headroom that stands for the same process has found out which one fits. */
static uint32_t fitting_by_headroom(const struct davy_core *core, const struct davy_process *p)
{
	for (size_t i = 0; core->alarm_count && i < DAVY_CORE_ALARMS; i++) {
		const struct davy_alarm *a = &core->alarms[i];

		if (a->used && a->note.hazard == DAVY_HZ_JOB_HEADROOM && a->note.pid == p->pid)
			return a->note.fitting_ubatch;
	}
	return 0;
}

/*
 * Jobs that take too long get shorter with the ubatch, memory that runs out is that of the context.
 * Just before a timeout only a ubatch that is known to fit is worth the time to start again.
 */
static bool shrink(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	const struct davy_process *p = davy_world_process(&s->core->world, w->pid);
	bool of_time = s->hazards[plan->hazard]->of_long_jobs;

	plan->knobs = w->knobs;
	if (!of_time && plan->hazard != DAVY_HZ_NONE)
		return smaller_context(s, w, p, plan);
	if (of_time)
		plan->fitting_ubatch = p ? fitting_by_headroom(s->core, p) : 0;
	if (of_time && plan->level > 2 && !plan->fitting_ubatch)
		return false;
	return smaller_ubatch(s, w, p, plan);
}

static bool throttle(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	uint16_t on = (uint16_t)s->core->config.value[DAVY_CFG_THROTTLE_ON];
	uint16_t least = (uint16_t)s->core->config.value[DAVY_CFG_THROTTLE_ON_LEAST];
	bool throttled = w->hold_plan && w->hold_action == DAVY_ACTION_THROTTLE;

	if (!plan->lease_ns)
		plan->lease_ns = davy_config_ns(&s->core->config, DAVY_CFG_THROTTLE_LEASE_MS);
	if (plan->on_permille)
		return true;
	plan->on_permille = throttled ? least : on;
	return !throttled || w->hold_permille > least;
}

static bool sizing_pause(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	if (!plan->lease_ns)
		plan->lease_ns = davy_config_ns(&s->core->config, DAVY_CFG_PAUSE_LEASE_MS);
	return !w->hold_plan || w->hold_action != DAVY_ACTION_PAUSE;
}

/* It may keep what it has and get no more. */
static bool cap(const struct davy_workload *w, struct davy_plan *plan)
{
	for (size_t i = 0; i < w->effect_count; i++)
		if (w->effects[i].action == DAVY_ACTION_CAP && plan->hazard != DAVY_HZ_NONE)
			return false;
	for (size_t i = 0; !plan->cap_bytes && i < plan->share_count; i++)
		if (plan->shares[i].pid == w->pid)
			plan->cap_bytes = plan->shares[i].memory_bytes;
	return plan->cap_bytes;
}

/* Another one that this driver's GPUs have; Vulkan is there for all of them. */
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

/* A reset under way or failed, faults, a device that its engine has lost. */
static bool device_fails(struct davy_step *s, const struct davy_workload *w, const char *device)
{
	const struct davy_core *core = s->core;

	for (size_t i = 0; core->alarm_count && i < DAVY_CORE_ALARMS; i++) {
		const struct davy_plan *n = &core->alarms[i].note;
		bool same = davy_same_name(n->device, device);

		if (!core->alarms[i].used)
			continue;
		if (n->hazard == DAVY_HZ_RESET && n->level > 1 && same)
			return true;
		if (n->hazard == DAVY_HZ_FAULT_STORM && n->level > 2 && same)
			return true;
		if ((n->hazard == DAVY_HZ_ENGINE_EXCEPTION || n->hazard == DAVY_HZ_ENGINE_WEDGED) &&
		    n->level > 2 && n->workload == w->id)
			return true;
	}
	return false;
}

/* After a reset the other backend may find a device that is no better: only one that answers. */
static bool switch_backend(struct davy_step *s, const struct davy_workload *w,
			   struct davy_plan *plan)
{
	const struct davy_device_state *d = davy_world_device(&s->core->world, plan->device);

	if (!plan->to_backend)
		plan->to_backend = sizing_other_backend(s->core, w, plan->device);
	if (!plan->to_backend || plan->to_backend == w->backend || (d && d->resetting_ns))
		return false;
	return plan->hazard == DAVY_HZ_NONE ||
	       !davy_breaker_is_open(s->core, plan->device, plan->to_backend, w->model);
}

/* A new process begins with little; when it has filled the host's memory soon, so will the next. */
static bool worth_a_restart(struct davy_step *s, const struct davy_workload *w,
			    const struct davy_plan *plan)
{
	return plan->hazard != DAVY_HZ_HOST_PRESSURE || !w->replaced_ns ||
	       s->now_ns - w->replaced_ns > davy_config_ns(&s->core->config, DAVY_CFG_CLEAN_MS);
}

bool davy_measure(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	uint8_t undone = plan->action == DAVY_ACTION_UNDO ? plan->undone : DAVY_ACTION_NONE;
	bool can = true;

	if (plan->action == DAVY_ACTION_PAUSE)
		return sizing_pause(s, w, plan);
	if (plan->action == DAVY_ACTION_THROTTLE)
		return throttle(s, w, plan);
	if (plan->action == DAVY_ACTION_CAP)
		return cap(w, plan);
	if (plan->action == DAVY_ACTION_UNDO)
		can = davy_effect_measure_undo(s, w, plan);
	else if (plan->action == DAVY_ACTION_SHRINK)
		can = shrink(s, w, plan);
	else if (plan->action == DAVY_ACTION_SWITCH)
		can = switch_backend(s, w, plan);
	else if (plan->action == DAVY_ACTION_RESTART)
		can = worth_a_restart(s, w, plan);
	else if (plan->action == DAVY_ACTION_MIGRATE_CPU)
		can = w->backend != DAVY_BACKEND_CPU;
	if (davy_action_replaces(plan->action) || davy_action_replaces(undone))
		plan->keeps = (w->can & DAVY_CAN_KEEP) && !device_fails(s, w, plan->device);
	return can;
}

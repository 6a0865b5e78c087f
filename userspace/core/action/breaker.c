/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A circuit breaker per (device, backend, model): closed, open, half-open with one probation start.
 * A failure of the device's class opens it at once, plain crashes after "failures" within "window".
 * Each opening doubles the back-off. Every change is a plan, from which learned.conf is written.
 */
#include "core/action/acts.h"

#include <assert.h>
#include <string.h>

/* An unknown device ("") matches any: before an engine runs, its device is unknown. */
static bool covers(const struct davy_breaker *b, const char *device, uint8_t backend,
		   const char *model)
{
	return b->used_ns && b->backend == backend && davy_same_name(b->model, model) &&
	       (!b->device[0] || !device[0] || davy_same_name(b->device, device));
}

static struct davy_breaker *breaker_find(struct davy_core *core, const char *device,
					 uint8_t backend, const char *model)
{
	for (size_t i = 0; i < DAVY_CORE_BREAKERS; i++)
		if (covers(&core->breakers[i], device, backend, model))
			return &core->breakers[i];
	return NULL;
}

static struct davy_breaker *breaker_get(struct davy_step *s, const char *device, uint8_t backend,
					const char *model)
{
	struct davy_breaker *b = breaker_find(s->core, device, backend, model);
	struct davy_breaker *victim = &s->core->breakers[0];

	if (b) {
		b->used_ns = s->now_ns ? s->now_ns : 1;
		return b;
	}
	for (size_t i = 0; i < DAVY_CORE_BREAKERS; i++)
		if (s->core->breakers[i].used_ns < victim->used_ns)
			victim = &s->core->breakers[i];
	s->core->dropped_count += victim->used_ns != 0;
	s->core->breaker_count += victim->used_ns == 0;
	memset(victim, 0, sizeof(*victim));
	davy_copy_name(victim->device, sizeof(victim->device), device);
	davy_copy_name(victim->model, sizeof(victim->model), model);
	victim->backend = backend;
	victim->used_ns = s->now_ns ? s->now_ns : 1;
	victim->window_ns = s->now_ns;
	return victim;
}

static void breaker_say(struct davy_step *s, const struct davy_breaker *b,
			const struct davy_plan *note)
{
	struct davy_plan plan;

	if (note) {
		plan = *note;
	} else {
		plan = davy_plan_about(s, DAVY_HZ_NONE, NULL);
		plan.pid = 0;
	}
	plan.at_ns = s->now_ns;
	plan.kind = DAVY_PLAN_BREAKER;
	plan.backend = b->backend;
	plan.breaker_state = b->state;
	plan.open_count = b->open_count;
	plan.until_ns = b->until_ns;
	memcpy(plan.device, b->device, sizeof(plan.device));
	memcpy(plan.model, b->model, sizeof(plan.model));
	davy_emit(s, &plan);
}

static void open_breaker(struct davy_step *s, struct davy_breaker *b, const struct davy_plan *note)
{
	uint64_t wait = davy_config_ns(&s->core->config, DAVY_CFG_BREAKER_BACKOFF_MS);
	uint64_t most = davy_config_ns(&s->core->config, DAVY_CFG_BREAKER_BACKOFF_MAX_MS);

	for (uint32_t i = 0; i < b->open_count && wait < most; i++)
		wait *= 2;
	b->until_ns = s->now_ns + (wait < most ? wait : most);
	b->state = DAVY_BREAKER_OPEN;
	b->probation_ns = 0;
	if (b->open_count < UINT16_MAX)
		b->open_count++;
	breaker_say(s, b, note);
}

/*
 * Only adopted workloads count, and only if the mode permits more than observing: any user can name
 * a program llama-server and a file like another user's model.
 */
static bool learns(struct davy_step *s, const struct davy_process *p)
{
	const struct davy_workload *w = davy_world_workload(&s->core->world, p->workload);

	return w && w->adopted && davy_mode_for(s, w) != DAVY_MODE_OBSERVE;
}

bool davy_breaker_failure(struct davy_step *s, const struct davy_process *p,
			  const struct davy_plan *note)
{
	const struct davy_config *config = &s->core->config;
	struct davy_breaker *b;

	if (p->backend == DAVY_BACKEND_CPU || p->backend == DAVY_BACKEND_UNKNOWN || !p->model[0])
		return note->device_class && p->backend != DAVY_BACKEND_CPU;
	if (!learns(s, p))
		return note->device_class;
	b = breaker_get(s, p->device, p->backend, p->model);
	if (s->now_ns - b->window_ns > davy_config_ns(config, DAVY_CFG_BREAKER_WINDOW_MS)) {
		b->window_ns = s->now_ns;
		b->failure_count = 0;
	}
	b->failure_count++;
	if (b->state == DAVY_BREAKER_OPEN)
		return true;
	if (!note->device_class && b->state == DAVY_BREAKER_CLOSED &&
	    b->failure_count < davy_config_u64(config, DAVY_CFG_BREAKER_FAILURES))
		return false;
	open_breaker(s, b, note);
	return true;
}

void davy_breaker_found(struct davy_step *s, const struct davy_plan *note)
{
	struct davy_breaker *b;

	if (note->backend == DAVY_BACKEND_CPU || note->backend == DAVY_BACKEND_UNKNOWN ||
	    !note->model[0] || davy_mode_for(s, NULL) == DAVY_MODE_OBSERVE)
		return;
	b = breaker_get(s, note->device, note->backend, note->model);
	if (b->state != DAVY_BREAKER_OPEN)
		open_breaker(s, b, note);
}

bool davy_breaker_is_open(struct davy_core *core, const char *device, uint8_t backend,
			  const char *model)
{
	const struct davy_breaker *b = breaker_find(core, device, backend, model);

	return b && b->state == DAVY_BREAKER_OPEN;
}

uint32_t davy_breaker_openings(struct davy_core *core, const struct davy_process *p,
			       uint64_t *ret_until_ns)
{
	const struct davy_breaker *b = breaker_find(core, p->device, p->backend, p->model);

	*ret_until_ns = b ? b->until_ns : 0;
	return b ? b->open_count : 0;
}

void davy_breaker_restore(struct davy_step *s)
{
	const struct davy_ev_breaker *in = &s->ev->breaker;
	struct davy_breaker *b = breaker_get(s, in->device, in->backend, in->model);

	b->state = in->state;
	b->open_count = in->open_count;
	b->until_ns = s->now_ns + in->remaining_ns;
	if (b->until_ns < s->now_ns)
		b->until_ns = UINT64_MAX;
}

/*
 * An adopted engine on the backend begins the probation. If it ends, the probation ends unproven.
 */
void davy_breaker_probation(struct davy_step *s)
{
	const struct davy_process *p = davy_world_process(&s->core->world, s->ev->pid);
	struct davy_breaker *b;

	if (s->ev->kind == DAVY_EV_WORKLOAD) {
		for (size_t i = 0;
		     s->ev->workload.op == DAVY_WORKLOAD_GONE && i < DAVY_CORE_BREAKERS; i++)
			if (s->core->breakers[i].probation_workload == s->ev->workload.workload)
				s->core->breakers[i].probation_ns = 0;
		return;
	}
	if (!p || !p->workload || p->backend == DAVY_BACKEND_UNKNOWN)
		return;
	b = breaker_find(s->core, p->device, p->backend, p->model);
	if (!b || b->state != DAVY_BREAKER_HALF_OPEN || b->probation_ns)
		return;
	b->probation_ns = s->now_ns;
	b->probation_workload = p->workload;
}

void davy_breakers_tick(struct davy_step *s)
{
	uint64_t soak_ns = davy_config_ns(&s->core->config, DAVY_CFG_BREAKER_SOAK_MS);

	if (!s->core->breaker_count)
		return;
	for (size_t i = 0; i < DAVY_CORE_BREAKERS && s->count + DAVY_PLANS_SPARE <= s->max; i++) {
		struct davy_breaker *b = &s->core->breakers[i];

		assert(b->state < DAVY_BREAKER_STATE_COUNT);
		if (b->state == DAVY_BREAKER_OPEN && s->now_ns >= b->until_ns) {
			b->state = DAVY_BREAKER_HALF_OPEN;
			breaker_say(s, b, NULL);
		} else if (b->state == DAVY_BREAKER_HALF_OPEN && b->probation_ns &&
			   s->now_ns - b->probation_ns >= soak_ns) {
			b->state = DAVY_BREAKER_CLOSED;
			b->open_count = 0;
			b->failure_count = 0;
			breaker_say(s, b, NULL);
		}
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A precursor before the fatal event: a ring reset that succeeded (amd-vk-002: 8 min 20 s,
 * amd-vk-004: 3 s), a fence fallback timer (amd-vk-002: 7 min), an i915 fence that expires
 * (int-i915-001: 8 s), an engine reset of xe (int-xe-001: 63 s from ccs to bcs).
 */
#include <string.h>

#include "lab/scenarios.h"

/* Its job hangs now; its timeout is fatal. */
static void stick_for_good(struct davy_sim *s, struct davy_sim_load *l)
{
	l->stick = true;
	l->timed_out = davy_synth_lost_by_timeout;
	davy_sim_ask(s, l);
}

static uint64_t stick_later(struct davy_sim *s, struct davy_sim_actor *a)
{
	stick_for_good(s, a->of);
	return 0;
}

/* The other engine of the device dies next. */
static void first_reset(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;
	struct davy_sim_load *heir = &s->load[s->load_count - 1];
	uint64_t gap_ns = davy_sim_around(s, l->gap_ns);

	davy_sim_job_timeout(s, p, p->ring->timeout_ns);
	davy_sim_precursor(s, s->now_ns);
	davy_sim_ring_reset(s, p, 0);
	p->ring->began_ns = p->graph.entered_ns = 0;
	davy_sim_throw(s, p, DAVY_LOST);
	davy_synth_end_later(s, p, 40 * DAVY_MS, DAVY_STATUS_ABORT);
	if (gap_ns < heir->p->ring->timeout_ns + 100 * DAVY_MS)
		gap_ns = heir->p->ring->timeout_ns + 100 * DAVY_MS;
	davy_sim_add_actor(s, stick_later, heir, s->now_ns + gap_ns - heir->p->ring->timeout_ns);
}

static uint64_t stick_first(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	davy_sim_cause(s);
	l->stick = true;
	l->timed_out = first_reset;
	davy_sim_ask(s, l);
	return 0;
}

/* Argument: ms between the two resets. */
void davy_synth_second_reset(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 2 * DAVY_S);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 400);
	struct davy_sim_load *first = davy_synth_chat(s, p);

	first->gap_ns = arg * DAVY_MS;
	p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 300);
	davy_synth_chat(s, p); /* the last load: first_reset takes it */
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, stick_first, first, davy_synth_when(s));
}

static uint64_t fall_back(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_event ev = davy_sim_log_of(s, DAVY_LOG_FENCE_FALLBACK, l->p->device, NULL);
	uint64_t end_ns;

	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), l->p->ring->name);
	davy_sim_precursor(s, s->now_ns);
	davy_sim_log_event(s, &ev);
	if (a->stage++)
		return s->now_ns < a->n[0] ? s->now_ns + davy_sim_around(s, 90 * DAVY_S) : 0;
	end_ns = s->now_ns + davy_sim_around(s, 7 * DAVY_MIN);
	a->n[0] = end_ns - DAVY_MIN;
	davy_sim_add_actor(s, stick_later, l, end_ns - l->p->ring->timeout_ns);
	return s->now_ns + davy_sim_around(s, 90 * DAVY_S);
}

void davy_synth_fence_fallback(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, arg * DAVY_S);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 500);

	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, fall_back, davy_synth_chat(s, p), davy_synth_when(s));
}

static uint64_t expire(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;
	struct davy_event ev;

	if (!a->stage++) { /* not reported before CONFIG_DRM_I915_FENCE_TIMEOUT, 10 s */
		davy_sim_cause(s);
		l->stick = true;
		davy_sim_ask(s, l);
		a->n[0] = s->now_ns + 10 * DAVY_S + davy_sim_around(s, 8 * DAVY_S);
		return s->now_ns + 10 * DAVY_S;
	}
	if (s->now_ns < a->n[0]) {
		davy_sim_precursor(s, s->now_ns);
		davy_sim_log(s, DAVY_LOG_I915_FENCE_EXPIRED, p->device, p, 0);
		ev.at_ns = s->now_ns + davy_sim_around(s, 1300 * DAVY_MS);
		return ev.at_ns < a->n[0] ? ev.at_ns : a->n[0];
	}
	davy_sim_log(s, DAVY_LOG_I915_HANG, p->device, p, 0);
	davy_sim_failed(s);
	ev = davy_sim_fact(s, DAVY_FACT_GT_ERROR, p->device, NULL);
	ev.fact.detail = 1;
	davy_sim_tell(s, &ev);
	ev = davy_sim_fact(s, DAVY_FACT_ENGINE_RESET, p->device, NULL);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "rcs0");
	davy_sim_tell(s, &ev);
	davy_sim_throw(s, p, DAVY_LOST);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

void davy_synth_i915_fence(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 250);

	(void)arg;
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, expire, davy_synth_chat(s, p), davy_synth_when(s));
}

static void engine_reset(struct davy_sim *s, const struct davy_sim_process *p, const char *engine)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_XE_QUEUE_RESET, p->device, p);

	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), engine);
	davy_sim_tell(s, &ev);
	ev = davy_sim_log_of(s, DAVY_LOG_XE_ENGINE_RESET, p->device, p);
	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), engine);
	davy_sim_log_event(s, &ev);
}

static uint64_t engines_die(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	engine_reset(s, p, "bcs");
	davy_sim_log(s, DAVY_LOG_XE_ENGINES_DEAD, p->device, NULL, 0);
	davy_sim_failed(s);
	return 0;
}

/* The queue continues with the next job. */
static void ccs_reset(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;

	davy_sim_job_timeout(s, p, p->ring->timeout_ns);
	davy_sim_precursor(s, s->now_ns);
	engine_reset(s, p, "ccs");
	p->ring->began_ns = p->graph.entered_ns = 0;
	l->stopped = l->stick = false;
	l->actor->next_ns = s->now_ns + 50 * DAVY_MS;
	davy_sim_add_actor(s, engines_die, p, s->now_ns + davy_sim_around(s, 63 * DAVY_S));
}

static uint64_t stick_ccs(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	davy_sim_cause(s);
	l->stick = true;
	l->timed_out = ccs_reset;
	davy_sim_ask(s, l);
	return 0;
}

void davy_synth_xe_engines(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_SYCL, 600);

	(void)arg;
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, stick_ccs, davy_synth_chat(s, p), davy_synth_when(s));
}

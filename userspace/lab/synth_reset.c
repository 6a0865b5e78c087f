/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A first sign, and the fatal one later: a ring reset that succeeded (amd-vk-002: 8 min 20 s,
 * amd-vk-004: 3 s), a fence fallback timer (amd-vk-002: 7 min), an i915 fence that expires (int-
 * i915-001: 8 s), an engine reset of xe (int-xe-001: 63 s from ccs to bcs).
 */
#include <string.h>

#include "lab/scenarios.h"

/* Its job sticks now, and is fatal at its timeout. */
static void stick_for_good(struct dl_sim *s, struct dl_sim_load *l)
{
	l->stick = true;
	l->timed_out = dl_synth_lost_by_timeout;
	dl_sim_ask(s, l);
}

static uint64_t stick_later(struct dl_sim *s, struct dl_sim_actor *a)
{
	stick_for_good(s, a->of);
	return 0;
}

/* The next one to die is the other engine of the device. */
static void first_reset(struct dl_sim *s, struct dl_sim_load *l)
{
	struct dl_sim_process *p = l->p;
	struct dl_sim_load *heir = &s->load[s->load_count - 1];
	uint64_t gap_ns = dl_sim_around(s, l->gap_ns);

	dl_sim_job_timeout(s, p, p->ring->timeout_ns);
	dl_sim_sign(s, s->now_ns);
	dl_sim_ring_reset(s, p, 0);
	p->ring->began_ns = p->graph.entered_ns = 0;
	dl_sim_throw(s, p, DL_LOST);
	dl_synth_end_later(s, p, 40 * DL_MS, DL_STATUS_ABORT);
	if (gap_ns < heir->p->ring->timeout_ns + 100 * DL_MS)
		gap_ns = heir->p->ring->timeout_ns + 100 * DL_MS;
	dl_sim_add_actor(s, stick_later, heir, s->now_ns + gap_ns - heir->p->ring->timeout_ns);
}

static uint64_t stick_first(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;

	dl_sim_cause(s);
	l->stick = true;
	l->timed_out = first_reset;
	dl_sim_ask(s, l);
	return 0;
}

/* Argument: ms between the two. */
void dl_synth_second_reset(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 2 * DL_S);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 400);
	struct dl_sim_load *first = dl_synth_chat(s, p);

	first->gap_ns = arg * DL_MS;
	p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 300);
	dl_synth_chat(s, p); /* the last load: first_reset takes it */
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, stick_first, first, dl_synth_when(s));
}

static uint64_t fall_back(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;
	struct dl_event ev = dl_sim_log_of(s, DL_LOG_FENCE_FALLBACK, l->p->device, NULL);
	uint64_t end_ns;

	dl_copy_name(ev.log.ring, sizeof(ev.log.ring), l->p->ring->name);
	dl_sim_sign(s, s->now_ns);
	dl_sim_log_event(s, &ev);
	if (a->stage++)
		return s->now_ns < a->n[0] ? s->now_ns + dl_sim_around(s, 90 * DL_S) : 0;
	end_ns = s->now_ns + dl_sim_around(s, 7 * DL_MIN);
	a->n[0] = end_ns - DL_MIN;
	dl_sim_add_actor(s, stick_later, l, end_ns - l->p->ring->timeout_ns);
	return s->now_ns + dl_sim_around(s, 90 * DL_S);
}

void dl_synth_fence_fallback(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, arg * DL_S);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 500);

	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, fall_back, dl_synth_chat(s, p), dl_synth_when(s));
}

static uint64_t expire(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;
	struct dl_sim_process *p = l->p;
	struct dl_event ev;

	if (!a->stage++) { /* nothing is told of it for CONFIG_DRM_I915_FENCE_TIMEOUT, 10 s */
		dl_sim_cause(s);
		l->stick = true;
		dl_sim_ask(s, l);
		a->n[0] = s->now_ns + 10 * DL_S + dl_sim_around(s, 8 * DL_S);
		return s->now_ns + 10 * DL_S;
	}
	if (s->now_ns < a->n[0]) {
		dl_sim_sign(s, s->now_ns);
		dl_sim_log(s, DL_LOG_I915_FENCE_EXPIRED, p->device, p, 0);
		ev.at_ns = s->now_ns + dl_sim_around(s, 1300 * DL_MS);
		return ev.at_ns < a->n[0] ? ev.at_ns : a->n[0];
	}
	dl_sim_log(s, DL_LOG_I915_HANG, p->device, p, 0);
	dl_sim_failed(s);
	ev = dl_sim_fact(s, DL_FACT_GT_ERROR, p->device, NULL);
	ev.fact.detail = 1;
	dl_sim_tell(s, &ev);
	ev = dl_sim_fact(s, DL_FACT_ENGINE_RESET, p->device, NULL);
	dl_copy_name(ev.fact.name, sizeof(ev.fact.name), "rcs0");
	dl_sim_tell(s, &ev);
	dl_sim_throw(s, p, DL_LOST);
	dl_sim_exit(s, p, DL_STATUS_ABORT);
	return 0;
}

void dl_synth_i915_fence(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_intel(s, false);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 250);

	(void)arg;
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, expire, dl_synth_chat(s, p), dl_synth_when(s));
}

static void engine_reset(struct dl_sim *s, const struct dl_sim_process *p, const char *engine)
{
	struct dl_event ev = dl_sim_fact(s, DL_FACT_XE_QUEUE_RESET, p->device, p);

	dl_copy_name(ev.fact.name, sizeof(ev.fact.name), engine);
	dl_sim_tell(s, &ev);
	ev = dl_sim_log_of(s, DL_LOG_XE_ENGINE_RESET, p->device, p);
	dl_copy_name(ev.log.ring, sizeof(ev.log.ring), engine);
	dl_sim_log_event(s, &ev);
}

static uint64_t engines_die(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	engine_reset(s, p, "bcs");
	dl_sim_log(s, DL_LOG_XE_ENGINES_DEAD, p->device, NULL, 0);
	dl_sim_failed(s);
	return 0;
}

/* The queue goes on with the next job. */
static void ccs_reset(struct dl_sim *s, struct dl_sim_load *l)
{
	struct dl_sim_process *p = l->p;

	dl_sim_job_timeout(s, p, p->ring->timeout_ns);
	dl_sim_sign(s, s->now_ns);
	engine_reset(s, p, "ccs");
	p->ring->began_ns = p->graph.entered_ns = 0;
	l->stopped = l->stick = false;
	l->actor->next_ns = s->now_ns + 50 * DL_MS;
	dl_sim_add_actor(s, engines_die, p, s->now_ns + dl_sim_around(s, 63 * DL_S));
}

static uint64_t stick_ccs(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;

	dl_sim_cause(s);
	l->stick = true;
	l->timed_out = ccs_reset;
	dl_sim_ask(s, l);
	return 0;
}

void dl_synth_xe_engines(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_intel(s, true);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_SYCL, 600);

	(void)arg;
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, stick_ccs, dl_synth_chat(s, p), dl_synth_when(s));
}

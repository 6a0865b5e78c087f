/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second held-out set: jobs that run too long, by Vulkan, SYCL, and of the kernel itself. */
#include <errno.h>

#include "lab/check2_parts.h"

/*
 * amd-vk-006, amd-vk-008: Strix Halo, Linux 7.x (all queues 2 s), ubatch 512. One document of
 * 120,000 tokens as a single prompt: each ubatch takes longer than the last one, until one takes 2
 * s. The ring is reset; the runner stays, its /api/tags says 200, and it computes nothing more.
 */
void davy_check2_rag_prompt(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("qwen3-coder-30b", 18 * DAVY_GIB, 131072);
	struct davy_sim_device *d = davy_synth_apu(s, 2 * DAVY_S);
	uint64_t depth = davy_sim_between(s, 60, 118); /* rounds of 1024 tokens */
	struct davy_sim_habit habit = davy_synth_chats;
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 90, 240) * DAVY_MS,
		.token_ns = davy_sim_between(s, 14, 30) * DAVY_MS,
		.noise_permille = 25,
	};
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	davy_check2_host(s, d, 112);
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check_engine(s, d, &e, 26 * DAVY_GIB);
	pace.prompt_slope_ns = (2000 * DAVY_MS - pace.prompt_ns) / depth;
	pace.token_slope_ns = pace.token_ns / 60;
	habit.prompt_max = 1500;
	habit.keep_permille = 300;
	l = davy_sim_add_load(s, p, &pace, &habit);
	l->timed_out = davy_check2_zombie;
	davy_check2_ask_for(s, l, (uint32_t)davy_sim_between(s, 119000, 126000), false);
	davy_sim_subject(s, d, p);
}

static void check2_xe_lost(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_check2_xe_timeout(s, l->p);
	davy_sim_failed(s);
	l->p->graph.failed_count++;
	davy_sim_throw(s, l->p, DAVY_LOST);
	if (davy_random_chance(&s->random, 500))
		davy_synth_end_later(s, l->p, davy_sim_between(s, 10, 90) * DAVY_MS,
				     DAVY_STATUS_ABORT);
}

/*
 * int-xe-002: Arc B580, Vulkan. Prompts of some tens of tokens are fine; one of 1,900 tokens or
 * more hangs a shader of its first ubatch. Nothing grows before: the job ends at job_timeout_ms, 5
 * s.
 */
void davy_check2_xe_shader(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("gemma-4-12b", 7 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_sim_habit habit = davy_synth_chats;
	struct davy_sim_pace pace;
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	e.ring = 0;
	p = davy_check_engine(s, d, &e, davy_sim_between(s, 78, 96) * DAVY_GIB / 10);
	pace = davy_synth_pace(s, p);
	habit.prompt_min = 12;
	habit.prompt_max = 300;
	habit.keep_permille = 0;
	l = davy_sim_add_load(s, p, &pace, &habit);
	l->timed_out = check2_xe_lost;
	davy_check2_ask_for(s, l, (uint32_t)davy_sim_between(s, 1900, 3900), true);
	davy_sim_subject(s, d, p);
}

static uint64_t check2_i915_hangs(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_GT_ERROR, l->p->device, NULL);

	if (!a->stage++) {
		davy_check_stuck(s, l);
		return s->now_ns + davy_sim_between(s, 5000, 12000) * DAVY_MS;
	}
	ev.fact.detail = 1;
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_I915_HANG, l->p->device, l->p, 0);
	davy_sim_log(s, DAVY_LOG_I915_CONTEXT_RESET, l->p->device, l->p, 0);
	davy_sim_failed(s);
	davy_sim_throw(s, l->p, DAVY_LOST);
	davy_synth_end_later(s, l->p, 40 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * int-i915-003: llama-cli on an Intel iGPU hangs in the same shader with another model. No fence
 * expires in the log; the call of the graph does not return until the heartbeats (2.5 s each, i915
 * of 6.12) have given up.
 */
void davy_check2_i915_ecode(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Llama-3.2-3B", 2 * DAVY_GIB, 8192);
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_sim_process *p;

	(void)arg;
	e.comm = "llama-cli";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	e.ring = DAVY_CHECK_NO_RING;
	p = davy_check_engine(s, d, &e, 27 * DAVY_GIB / 10);
	davy_check2_then(s, check2_i915_hangs, davy_check_chat(s, p, 8 * DAVY_S));
	davy_sim_subject(s, d, p);
}

/* The copy engine's job of page tables; KFD's preemption fails 9 s later, the KIQ after 10 s. */
static uint64_t check2_sdma_stops(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;
	struct davy_sim_ring *r = &d->ring[d->ring_count - 1];

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		r->began_ns = s->now_ns;
		r->seqno++;
		r->pid = 0;
		davy_sim_precursor(s, s->now_ns + r->timeout_ns / 8);
		return s->now_ns + r->timeout_ns;
	case 1:
		davy_check2_ring_timeout(s, d, r, NULL);
		davy_sim_failed(s);
		return s->now_ns + davy_sim_between(s, 8600, 9200) * DAVY_MS;
	default:
		davy_check2_lines(s, DAVY_LOG_HWS_HANG, d, NULL, 2);
		davy_check2_lines(s, DAVY_LOG_QUEUE_EVICT_FAILED, d, NULL, 1);
		return 0;
	}
}

/*
 * amd-sdma-001: ROCm work, a hang begins in sdma0: the kernel's own job of page tables has no
 * process. Its timeout is the first line.
 */
void davy_check2_sdma_first(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-14B", 9 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);
	davy_check_frames(s, davy_synth_desktop(s, d), 3 * DAVY_MS, 60);
	davy_check_chat(s, p, 6 * DAVY_S);
	davy_check2_then(s, check2_sdma_stops, p);
	davy_sim_subject(s, d, NULL);
}

static uint64_t check2_editor_hangs(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_ring *r = p->ring;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		r->began_ns = s->now_ns;
		r->seqno++;
		r->pid = p->pid;
		davy_sim_precursor(s, s->now_ns + r->timeout_ns / 8);
		return s->now_ns + r->timeout_ns;
	case 1:
		davy_check2_ring_timeout(s, p->device, r, p);
		return s->now_ns + 2213 * DAVY_MS;
	case 2:
		davy_sim_ring_reset(s, p, -ETIME);
		davy_synth_reset_device(s, p->device, davy_sim_between(s, 2500, 5000) * DAVY_MS, 0);
		davy_sim_failed(s);
		r->began_ns = 0;
		return s->now_ns + 2071 * DAVY_MS;
	default:
		davy_sim_log(s, DAVY_LOG_MES_FAILED, p->device, NULL, 0);
		return 0;
	}
}

/*
 * amd-gr-003: Radeon 780M, a model by ROCm works beside a desktop. The graphics ring's job of an
 * editor times out, the ring's reset fails after 2.2 s, the whole GPU is reset.
 */
void davy_check2_editor_victim(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-8B", 5 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p, *code;

	(void)arg;
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check_engine(s, d, &e, 7 * DAVY_GIB);
	davy_check_frames(s, davy_synth_desktop(s, d), 4 * DAVY_MS, 60);
	code = davy_check_app(s, d, "code", 300 * DAVY_MIB);
	davy_check_frames(s, code, 5 * DAVY_MS, 30);
	davy_check_wander(s, &code->client.gtt, 220 * DAVY_MIB, 420 * DAVY_MIB, 40 * DAVY_S);
	davy_check_chat(s, p, 4 * DAVY_S);
	davy_check2_then(s, check2_editor_hangs, code);
	davy_sim_subject(s, d, code);
}

static uint64_t check2_arc_goes_on(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (!a->stage++) {
		davy_check_go_on(s, l);
		return s->now_ns + davy_sim_around(s, 45 * DAVY_MIN);
	}
	l->stick = true;
	return 0;
}

/* gap_ns: number of resets that the server survives with a failed request; then it hangs */
static void check2_arc_reset(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_check2_xe_timeout(s, l->p);
	if (!l->gap_ns) {
		l->p->graph.entered_ns = s->now_ns;
		davy_sim_failed(s);
		return;
	}
	l->gap_ns--;
	l->p->graph.failed_count++;
	l->p->progress.busy_slots = 0;
	davy_sim_add_actor(s, check2_arc_goes_on, l,
			   s->now_ns + davy_sim_between(s, 200, 9000) * DAVY_MS);
}

static uint64_t check2_arc_begins(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	davy_sim_cause(s);
	l->stick = l->fatal = true;
	return 0;
}

/*
 * int-xe-005: Arc B70, SYCL. Three job timeouts and five engine resets in one boot of 3.5 days, at
 * 59 W and 50 C; then it is wedged until kill -9. The report does not say how it survived the
 * earlier ones: here each costs a request.
 */
void davy_check2_arc_wedge(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3-30B-A3B", 17 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	davy_check2_vram(d, 32768, 300);
	e.ring = 0;
	p = davy_check_engine(s, d, &e, 21 * DAVY_GIB);
	l = davy_check_chat(s, p, 3 * DAVY_S);
	l->timed_out = check2_arc_reset;
	l->gap_ns = davy_sim_between(s, 2, 4);
	davy_check2_then(s, check2_arc_begins, l);
	davy_sim_subject(s, d, p);
}

static uint64_t check2_prefill_stops(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	switch (a->stage) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE)
			return s->now_ns + DAVY_S;
		davy_sim_cause(s);
		l->want_prompt = 24000;
		davy_sim_ask(s, l);
		a->stage = 1;
		return s->now_ns + DAVY_S;
	case 1: /* always at the same position of the prompt */
		if (l->depth < a->n[0])
			return s->now_ns + DAVY_S;
		l->stick = true;
		a->stage = 2;
		return s->now_ns + 10 * DAVY_S; /* i915's fence timeout */
	case 2:
		davy_sim_precursor(s, s->now_ns);
		davy_check2_lines(s, DAVY_LOG_I915_FENCE_EXPIRED, l->p->device, l->p,
				  (uint32_t)davy_sim_between(s, 1, 7));
		a->stage = 3;
		return s->now_ns + davy_sim_around(s, 75 * DAVY_S);
	default:
		davy_sim_failed(s); /* its client gives up */
		return 0;
	}
}

/*
 * int-sycl-001: an Intel iGPU computes a long prompt at 11.0 to 10.2 tokens a second and stops at
 * the same position each time, some 1,300 s after its begin. i915's fences expire (10 s, Kconfig).
 */
void davy_check2_sycl_prefill(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Mistral-Nemo-12B", 7 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_sim_pace pace = { .token_ns = 210 * DAVY_MS, .noise_permille = 20 };
	struct davy_sim_habit habit = {
		.prompt_min = 20,
		.prompt_max = 260,
		.answer_min = 20,
		.answer_max = 160,
		.keep_permille = 400,
		.think_ns = 20 * DAVY_S,
	};
	struct davy_sim_process *p;

	(void)arg;
	e.ubatch = 64; /* 5.8 s each */
	p = davy_check_engine(s, d, &e, 9 * DAVY_GIB);
	pace.prompt_ns = 64 * DAVY_S / 11;
	pace.prompt_slope_ns = pace.prompt_ns / 180;
	davy_check2_then(s, check2_prefill_stops, davy_sim_add_load(s, p, &pace, &habit))->n[0] =
		davy_sim_between(s, 9000, 18000);
	davy_sim_subject(s, d, p);
}

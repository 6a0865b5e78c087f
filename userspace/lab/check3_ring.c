/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that exceed their timeout, and Vulkan devices that are lost. */
#include <errno.h>

#include "lab/check3_parts.h"

static uint64_t ring_fallback(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (!a->stage++) {
		davy_check3_ring_line(s, DAVY_LOG_FENCE_FALLBACK, l->p->device,
				      &l->p->device->ring[3]);
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_around(s, 262 * DAVY_S);
	}
	davy_check3_stick(s, l);
	return 0;
}

/*
 * ROCm/legacy-rocm-build#6165, Strix Halo, 7.0, llama.cpp by Vulkan with -ub 4096: a fence of
 * comp_1.2.0 is found by the fallback timer, 4 min 22 s later a job of comp_1.1.0 times out.
 */
void davy_check3_ub_4096(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 128);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-35B-A3B-UD-Q4_K_M.gguf", 21200 * DAVY_MIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	e.ubatch = 4096;
	e.ring = 2;
	l = davy_check3_serve(s, d, &e, 310, 8 * DAVY_S);
	l->habit.prompt_max = 16000;
	l->pace.prompt_ns = 2400 * DAVY_MS;
	l->timed_out = davy_synth_lost_by_timeout;
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, ring_fallback, l);
}

static void ring_i915_hang(struct davy_sim *s, const struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_ENGINE_RESET, p->device, NULL);

	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "rcs0");
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_I915_ENGINE_RESET, p->device, NULL, 0);
	davy_sim_log(s, DAVY_LOG_I915_CONTEXT_RESET, p->device, p, 0);
	davy_sim_log(s, DAVY_LOG_I915_HANG, p->device, p, 0);
}

/* n: lines left */
static uint64_t ring_uhd(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (!a->stage++) {
		a->n[0] = davy_sim_between(s, 3, 9);
		davy_sim_cause(s);
		l->slow_permille = 2600; /* batches exceed the fence watchdog, some of them */
		l->habit.think_ns = DAVY_S;
		return s->now_ns + davy_sim_around(s, 40 * DAVY_S);
	}
	if (a->n[0]) {
		a->n[0]--;
		davy_sim_log(s, DAVY_LOG_I915_FENCE_EXPIRED, l->p->device, l->p, 0);
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_between(s, 1, 12) * DAVY_S;
	}
	ring_i915_hang(s, l->p);
	davy_sim_failed(s);
	davy_sim_throw(s, l->p, DAVY_LOST);
	davy_sim_exit(s, l->p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * ggml-org/llama.cpp#29054, UHD 630, i915 of 7.2, q8_0 KV cache: repeated "Fence expiration time
 * out", then rcs0 is reset for preemption time out and the context is banned.
 */
void davy_check3_uhd_preempt(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.8-2B-Q4_K_M.gguf", 1400 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 90, 20 * DAVY_S);
	l->pace.prompt_ns = 2200 * DAVY_MS;
	l->pace.token_ns = 110 * DAVY_MS;
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, ring_uhd, l);
}

static uint64_t ring_next_ubatch(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (!a->stage++) {
		davy_sim_exit(s, p, 0);
		return s->now_ns + davy_sim_around(s, 4 * DAVY_S);
	}
	davy_sim_cause(s);
	p->info.ubatch = 512;
	l->pace.prompt_ns = 1500 * DAVY_MS; /* a third more tokens, and slower ones */
	l->pace.prompt_slope_ns = 60 * DAVY_MS;
	l->habit.prompt_min = l->habit.prompt_max = 24576;
	l->fatal = true;
	davy_check3_load(s, p, 5000 * DAVY_MIB, 2 * DAVY_MIB);
	davy_sim_subject(s, p->device, p);
	return 0;
}

/*
 * amd-vk-009, RX 5600 XT beside an RX 7900 XTX, llama-bench over RPC: -ub 128 to 384 pass, with
 * 512 jobs on the weak card grow over 2 s with the depth. The other card is unaffected.
 */
void davy_check3_weak_card(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *strong = davy_check3_card(s, 2 * DAVY_S, 24560);
	struct davy_sim_device *weak = davy_check3_second(s, 2 * DAVY_S, 6128);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.8-27B-UD-Q4_K_M.gguf", 16800 * DAVY_MIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	davy_check3_serve(s, strong, &e, 560, 5 * DAVY_S);
	e.comm = "rpc-server";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.ring = 0;
	e.ubatch = 384;
	l = davy_check3_serve(s, weak, &e, 810, 5 * DAVY_S);
	l->habit.prompt_min = 384;
	l->habit.prompt_max = 12288;
	l->pace.prompt_ns = 640 * DAVY_MS;
	l->pace.prompt_slope_ns = 18 * DAVY_MS;
	l->timed_out = davy_synth_lost_by_timeout;
	davy_check2_then(s, ring_next_ubatch, l);
}

static void ring_xe_lost(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_check2_xe_timeout(s, l->p);
	davy_sim_failed(s);
	davy_synth_end_later(s, l->p, davy_sim_between(s, 20, 900) * DAVY_MS, DAVY_STATUS_ABORT);
}

/*
 * PrismML-Eng/llama.cpp#192 (a comment), Arc B-series, xe with job_timeout_ms at its maximum of
 * 10 s: attention over 250,000 tokens exceeds it. The server's job times grow with the depth.
 */
void davy_check3_xe_250k(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_event ev = davy_sim_event(s, DAVY_EV_LOCKUP, 0);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.8-27B-Q4_K_M.gguf", 16800 * DAVY_MIB, 262144);
	struct davy_sim_load *l;

	(void)arg;
	davy_check2_vram(d, 32600, 300);
	davy_copy_name(ev.lockup.device, sizeof(ev.lockup.device), d->name);
	davy_copy_name(ev.lockup.queue, sizeof(ev.lockup.queue), "ccs");
	ev.lockup.timeout_ns = 10 * DAVY_S;
	ev.lockup.origin = DAVY_LOCKUP_SYSFS;
	davy_sim_tell(s, &ev);
	d->ring[0].timeout_ns = d->ring[1].timeout_ns = 10 * DAVY_S;
	e.ring = 0;
	e.ubatch = 2048;
	l = davy_check3_serve(s, d, &e, 880, 20 * DAVY_S);
	l->pace.prompt_ns = 350 * DAVY_MS;
	l->pace.prompt_slope_ns = 41 * DAVY_MS;
	l->pace.token_slope_ns = DAVY_MS / 2;
	l->habit.prompt_max = 9000;
	l->timed_out = ring_xe_lost;
	davy_sim_subject(s, d, l->p);
	davy_check2_ask_for(s, l, 260000, false);
}

static uint64_t ring_throws(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_failed(s);
	davy_sim_throw(s, p, DAVY_LOST);
	p->graph.failed_count++;
	p->graph.failing++;
	return s->now_ns + davy_sim_between(s, 400, 2500) * DAVY_MS;
}

static void ring_decode_lost(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;

	davy_check2_ring_timeout(s, p->device, p->ring, p);
	p->ring->began_ns = p->graph.entered_ns = 0;
	davy_sim_ring_reset(s, p, 0);
	davy_sim_log(s, DAVY_LOG_RECOVERED, p->device, NULL, 0);
	p->progress.busy_slots = 0;
	davy_sim_add_actor(s, ring_throws, p, s->now_ns + davy_sim_between(s, 3, 400) * DAVY_MS);
}

static uint64_t ring_decode_sticks(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->phase != DAVY_SIM_ANSWER || !l->began_ns)
		return s->now_ns + 3 * DAVY_MS;
	l->fatal = true;
	davy_check3_stick(s, l);
	return 0;
}

/*
 * amd-vk-014: one timeout of a compute ring while a token is computed; the ring is reset, /health
 * stays 200, and every later decode fails for ever.
 */
void davy_check3_decode_lost(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16368);
	struct davy_check_engine e =
		davy_check_by_vulkan("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 640, 10 * DAVY_S);
	l->timed_out = ring_decode_lost;
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, ring_decode_sticks, l);
}

/* n: bytes that the model still needs */
static uint64_t ring_offload(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t step = 192 * DAVY_MIB;

	if (!a->stage++) {
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
		a->n[0] = 11200 * DAVY_MIB;
		return s->now_ns + 2 * DAVY_S;
	}
	if (a->n[0] > step) {
		a->n[0] -= step;
		davy_check_allocate(s, p, step);
		if (p->client.gtt)
			davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_between(s, 80, 350) * DAVY_MS;
	}
	davy_sim_failed(s);
	davy_sim_throw(s, p, DAVY_LOST);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * amd-vk-010, RX 5700 XT 8 GB: a model larger than VRAM, a part of its layers on the card; the rest
 * of the buffers spills, and the first submission after the load loses the device. The precursor is
 * VRAM that is full.
 */
void davy_check3_partial_offload(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 8176);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-Coder-30B-Q4_K_M.gguf", 18600 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	davy_check_wander(s, &desktop->client.gtt, 30 * DAVY_MIB, 120 * DAVY_MIB, 10 * DAVY_S);
	davy_check2_then(s, ring_offload, davy_check3_later(s, d, &e));
}

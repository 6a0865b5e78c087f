/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Held-out failures of memory: VRAM, GTT and the host's. */
#include <errno.h>

#include "lab/check_parts.h"

static void check_vram(struct davy_sim_device *d, uint64_t mib)
{
	d->memory.vram_total = d->memory.visible_total = mib * DAVY_MIB;
}

static uint64_t check_leak(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;
	uint64_t left = d->memory.vram_total - davy_sim_vram_used(s, d);
	uint64_t lost = davy_sim_between(s, 60, 240) * DAVY_MIB;

	if (a->stage == 0 && left > lost + 64 * DAVY_MIB) {
		davy_sim_log(s, DAVY_LOG_VM_LEAK, d, NULL, 0);
		davy_sim_precursor(s, s->now_ns);
		d->vram_other += lost;
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
	if (a->stage++ < a->n[1]) {
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -ENOSPC, 8 * DAVY_MIB, 3);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_VALIDATE, -ENOMEM, 8 * DAVY_MIB, 1);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, 8 * DAVY_MIB, 1);
		davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, d, NULL, 0);
		return s->now_ns + davy_sim_between(s, 50, 1200) * DAVY_MS;
	}
	davy_sim_failed(s);
	davy_sim_throw(s, p, DAVY_NO_MEMORY);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * amd-ttm-001: RX 9070 XT, 25 h of uptime in each case. "VM memory stats for proc X is non-zero
 * when fini" with each client that ends (its memory stays), then a flood of "Not enough memory for
 * command submission!", about 40 s (amd-oom-001) before the end. Here the rest of such a day.
 */
void davy_check_fini_leak(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p, *browser;
	struct davy_sim_actor *a;

	(void)arg;
	check_vram(d, 16304);
	browser = davy_check_app(s, d, "firefox", 500 * DAVY_MIB);
	davy_check_frames(s, browser, 4 * DAVY_MS, 20);
	p = davy_check_engine(s, d, &e, 9100 * DAVY_MIB);
	davy_check_chat(s, p, 90 * DAVY_S);
	a = davy_sim_add_actor(s, check_leak, p, davy_synth_when(s));
	a->n[0] = davy_sim_between(s, 4, 8) * DAVY_MIN;
	a->n[1] = davy_sim_between(s, 30, 110);
	davy_sim_subject(s, d, p);
}

/*
 * PyTorch by ROCm (KERNEL 15: reserve_mem_limit, -ENOMEM, no eviction is tried). An image server
 * whose batches get larger: each peak some percent above the last one, and back to the weights
 * after each batch. The process ends with a Python traceback: status 1.
 */
void davy_check_sawtooth(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("sdxl", 6 * DAVY_GIB, 0);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_check_peaks peaks = {
		.base = davy_sim_between(s, 6200, 7200) * DAVY_MIB,
		.peak = davy_sim_between(s, 9000, 10500) * DAVY_MIB,
		.period_ns = davy_sim_between(s, 15, 45) * DAVY_S,
		.growth_permille = davy_sim_between(s, 15, 60),
	};
	struct davy_sim_process *p;

	(void)arg;
	check_vram(d, 16304);
	e.comm = "python3";
	e.engine = DAVY_ENGINE_GENERIC;
	p = davy_check_engine(s, d, &e, peaks.base);
	davy_check_peaks(s, p, &peaks);
	davy_sim_subject(s, d, p);
}

static uint64_t check_second_loads(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	if (!a->stage++) {
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		davy_sim_subject(s, d, p);
	}
	if (davy_sim_vram_used(s, d) + 128 * DAVY_MIB > d->memory.vram_total)
		davy_sim_precursor(s, s->now_ns);
	if (davy_check_allocate(s, p, 128 * DAVY_MIB)) {
		davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, d, NULL, 0);
		davy_sim_failed(s);
		davy_sim_throw(s, p, DAVY_NO_MEMORY);
		davy_synth_end_later(s, p, davy_sim_between(s, 20, 400) * DAVY_MS,
				     DAVY_STATUS_EXIT1);
		return 0;
	}
	return s->now_ns + davy_random_near(&s->random, a->n[0], 400);
}

/*
 * amd-ev-005 and KERNEL 15 (VRAM exhaustion, TTM): a server holds three quarters of 16 GB; someone
 * starts a second one with a model (70B Q3, 33 GB) that fits neither. It loads at 1 to 3 GB/s: VRAM
 * is full, the first one's memory moves to GTT, GTT is full (32 GB of RAM: 15.6 GB), -ENOMEM.
 */
void davy_check_second_process(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;
	struct davy_sim_actor *a;

	(void)arg;
	s->host_total = 32 * DAVY_GIB;
	d->memory.gtt_total = 16000 * DAVY_MIB;
	check_vram(d, 16368);
	davy_check_app(s, d, "gnome-shell", davy_sim_between(s, 200, 600) * DAVY_MIB);
	p = davy_check_engine(s, d, &e, davy_sim_between(s, 12000, 13000) * DAVY_MIB);
	davy_check_chat(s, p, 20 * DAVY_S);
	e.model = "Llama-3.3-70B-Q3_K_M.gguf";
	e.model_bytes = 33 * DAVY_GIB;
	e.ring = 2;
	p = davy_check_engine(s, d, &e, 0);
	davy_sim_exit(s, p, DAVY_STATUS_TERM);
	a = davy_sim_add_actor(s, check_second_loads, p, davy_synth_when(s));
	a->n[0] = 128 * DAVY_S / davy_sim_between(s, 1000, 3000);
}

/* The KV cache follows the depth; a block of the allocator is 2 MiB. */
static uint64_t check_cache_grows(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	uint64_t want = a->n[0] + l->depth * a->n[1];

	if (s->now_ns >= davy_synth_when(s) && !a->stage++) {
		davy_sim_cause(s);
		l->habit.keep_permille = 1000;
		l->habit.prompt_min = 800;
		l->habit.prompt_max = 4000;
	}
	if (want > l->p->client.vram) {
		if (a->stage)
			davy_sim_precursor(s, s->now_ns);
		if (davy_check_hip_allocate(s, l->p, want - l->p->client.vram)) {
			davy_sim_failed(s);
			davy_synth_end_later(s, l->p, 150 * DAVY_MS, DAVY_STATUS_EXIT1);
			return 0;
		}
	} else {
		l->p->client.vram = want;
	}
	return s->now_ns + 250 * DAVY_MS;
}

/*
 * A transformers server (dynamic KV cache): memory grows with the depth of the conversation, 0.16
 * MiB a token for an 8B model and more for the attention's buffers, until hipMalloc fails (win-008:
 * "larger prompt"). Short conversations before gave it all back.
 */
void davy_check_context_growth(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-8B", 16 * DAVY_GIB, 131072);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;
	struct davy_sim_actor *a;
	struct davy_sim_load *l;

	(void)arg;
	check_vram(d, 24560);
	e.comm = "python3";
	e.engine = DAVY_ENGINE_GENERIC;
	p = davy_check_engine(s, d, &e, 16600 * DAVY_MIB);
	l = davy_check_chat(s, p, 10 * DAVY_S);
	a = davy_sim_add_actor(s, check_cache_grows, l, s->begin_ns + DAVY_S);
	a->n[0] = davy_sim_between(s, 16600, 17600) * DAVY_MIB;
	a->n[1] = davy_sim_between(s, 160, 330) * 1024;
	davy_sim_subject(s, d, p);
}

static uint64_t check_rebinds(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;
	uint64_t rate = 2 + (uint64_t)a->stage * a->stage / a->n[0], bytes = rate * 3 * DAVY_MIB;
	struct davy_event ev;

	a->stage++;
	davy_sim_precursor(s, s->now_ns);
	p->device->vram_other += davy_sim_between(s, 10, 60) * DAVY_MIB;
	if (p->client.vram > bytes / 4) {
		p->device->vram_other += bytes / 4; /* the game gets it */
		p->client.vram -= bytes / 4;
		p->client.system += bytes / 4;
	}
	davy_sim_hot_fact(s, DAVY_FACT_XE_REBIND_RETRY, p, 0, (uint32_t)rate);
	davy_sim_hot_fact(s, DAVY_FACT_XE_VMA_EVICT, p, bytes, (uint32_t)rate);
	l->slow_permille = 1000 + (uint32_t)rate * 25;
	if (rate < 220)
		return s->now_ns + davy_random_near(&s->random, DAVY_S, 300);
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_VALIDATE, -ENOSPC, bytes, 1);
	ev = davy_sim_log_of(s, DAVY_LOG_XE_VM_ERROR, p->device, NULL);
	ev.log.error = -ENOSPC;
	davy_sim_log_event(s, &ev);
	ev = davy_sim_fact(s, DAVY_FACT_XE_VM_KILLED, p->device, p);
	ev.fact.detail = 3; /* asid */
	davy_sim_tell(s, &ev);
	davy_sim_failed(s);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * xe of 6.12 and 7.2 (xe_vm.c, preempt_rebind_work_func; KERNEL 9): bursts of xe_vm_rebind_worker_-
 * retry are a compute VM's thrash; xe_vm_kill after -ENOSPC ends it. Arc B580 (12 GB) with a 9 GB
 * model (int-xe-006, int-xe-008: overcommitted), while a game takes the rest of VRAM.
 */
void davy_check_xe_rebind(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-14B-Q4_K_M.gguf", 8900 * DAVY_MIB, 16384);
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_sim_process *p;
	struct davy_sim_actor *a;

	(void)arg;
	e.backend = DAVY_BACKEND_SYCL;
	e.ring = 0;
	p = davy_check_engine(s, d, &e, davy_sim_between(s, 9600, 10300) * DAVY_MIB);
	a = davy_sim_add_actor(s, check_rebinds, davy_check_chat(s, p, 8 * DAVY_S),
			       davy_synth_when(s));
	a->n[0] = davy_sim_between(s, 15, 120);
	davy_sim_subject(s, d, p);
}

static uint64_t check_creeps(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;
	uint64_t bytes = davy_sim_between(s, 8, 2 * a->n[0]) * DAVY_MIB;

	davy_sim_precursor(s, s->now_ns);
	if (davy_random_chance(&s->random, 500))
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -ENOSPC, bytes, 4);
	davy_sim_move_out(s, p->pid, p, bytes);
	p->client.vram += bytes; /* new buffers: VRAM stays full */
	l->slow_permille = 1000 + (uint32_t)(p->client.evicted / DAVY_MIB / 8);
	if (l->slow_permille >= 2000)
		davy_sim_failed(s);
	return s->now_ns + davy_sim_around(s, 6 * DAVY_S);
}

/*
 * amd-ev-003: RX 7900 XT, 19.95 of 20.46 GB after the load, then GTT grows by 14.6 GB and decode
 * falls from 42 to 18 tokens/s, without an error; amd-ev-004: from 27 to 9; amd-ev-005: what left
 * VRAM never comes back. Here in small pieces, within half an hour. The failure is half the speed.
 */
void davy_check_gtt_creep(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-IQ4_XS.gguf", 14400 * DAVY_MIB, 131072);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p, *browser;
	struct davy_sim_actor *a;

	(void)arg;
	check_vram(d, 20464);
	browser = davy_check_app(s, d, "chrome", 600 * DAVY_MIB);
	davy_check_frames(s, browser, 6 * DAVY_MS, 60);
	p = davy_check_engine(s, d, &e, davy_sim_between(s, 19100, 19500) * DAVY_MIB);
	a = davy_sim_add_actor(s, check_creeps, davy_check_chat(s, p, 10 * DAVY_S),
			       davy_synth_when(s));
	a->n[0] = davy_sim_between(s, 20, 60);
	davy_sim_subject(s, d, p);
}

static uint64_t check_caches(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t left = davy_sim_host_available(s);

	davy_sim_precursor(s, s->now_ns);
	s->pressure_permille = left > 6 * DAVY_GIB ? 0 : (uint32_t)davy_sim_between(s, 20, 350);
	if (left > DAVY_GIB && !a->stage) {
		uint64_t more = davy_sim_between(s, a->n[0] / 2, a->n[0] * 2) * DAVY_MIB;

		p->client.system += more < left - 500 * DAVY_MIB ? more : left - 500 * DAVY_MIB;
		return s->now_ns + davy_sim_around(s, 25 * DAVY_S);
	}
	if (a->stage++ < 2) {
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_POPULATE, -ENOMEM, 64 * DAVY_MIB, 1);
		davy_sim_log(s, a->stage == 1 ? DAVY_LOG_PAGE_ALLOC_FAILED : DAVY_LOG_MEMORY_REPORT,
			     NULL, NULL, 0);
		return s->now_ns + davy_sim_between(s, 300, 5000) * DAVY_MS;
	}
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, 0, 1);
	davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, p->device, NULL, 0);
	davy_sim_failed(s);
	davy_sim_throw(s, p, DAVY_LOST);
	davy_synth_end_later(s, p, 40 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * amd-vk-015: Strix Halo, 128 GB, Gemma-4-31B: 69 GB of GTT all the time, but the server's prompt
 * cache and checkpoints take the same memory, until 530 MB of 128 GB are free and the CS ioctl's
 * -ENOMEM becomes DeviceLost. INCIDENTS B3: --cache-ram 0 helps.
 */
void davy_check_prompt_cache(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-31B-it-Q8_0.gguf", 33 * DAVY_GIB, 262144);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p;
	struct davy_sim_actor *a;

	(void)arg;
	s->host_total = 128 * DAVY_GIB;
	s->host_other = davy_sim_between(s, 9, 20) * DAVY_GIB;
	d->memory.gtt_total = 120 * DAVY_GIB;
	p = davy_check_engine(s, d, &e, 69 * DAVY_GIB);
	davy_check_wander(s, &d->gtt_other, 40 * DAVY_MIB, 90 * DAVY_MIB, 5 * DAVY_S);
	davy_check_chat(s, p, 12 * DAVY_S);
	a = davy_sim_add_actor(s, check_caches, p, davy_synth_when(s));
	a->n[0] = davy_sim_between(s, 250, 700);
	davy_sim_subject(s, d, p);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Held-out work of PyTorch and of others whose memory looks alarming: benign. */
#include <errno.h>

#include "lab/check_parts.h"

static uint64_t check_peak_ends(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (s->label.class != DAVY_CLASS_NONE && a->n[3] && s->now_ns >= davy_synth_when(s)) {
		davy_sim_precursor(s, s->now_ns);
		a->n[1] += a->n[1] * davy_sim_between(s, 0, 2 * a->n[3]) / 1000;
	}
	p->client.vram = a->n[0] + davy_sim_between(s, 0, a->n[4]);
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, a->n[2]);
}

static uint64_t check_peak(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t chunk = (a->n[1] - a->n[0]) / 24 + DAVY_MIB;

	if (!p->alive)
		return 0;
	if (a->stage)
		return check_peak_ends(s, a);
	if (p->client.vram + chunk > a->n[1]) {
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 300, 4000) * DAVY_MS;
	}
	if (!davy_check_hip_allocate(s, p, chunk))
		return s->now_ns + davy_sim_between(s, 30, 120) * DAVY_MS;
	if (a->n[4]) {
		/* the caching allocator: release_cached_blocks(), then again */
		p->client.vram -= a->n[4];
		davy_check_hip_allocate(s, p, chunk);
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 300, 4000) * DAVY_MS;
	}
	davy_sim_failed(s);
	davy_synth_end_later(s, p, 200 * DAVY_MS, DAVY_STATUS_EXIT1);
	return 0;
}

void davy_check_peaks(struct davy_sim *s, struct davy_sim_process *p,
		      const struct davy_check_peaks *peaks)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check_peak, p, s->begin_ns + 10 * DAVY_S);

	a->n[0] = peaks->base;
	a->n[1] = peaks->peak;
	a->n[2] = peaks->period_ns;
	a->n[3] = peaks->growth_permille;
	a->n[4] = peaks->cache;
}

static struct davy_sim_process *check_torch(struct davy_sim *s, enum davy_engine engine,
					    uint64_t base)
{
	struct davy_check_engine e = davy_check_by_rocm("sdxl", 6 * DAVY_GIB, 0);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *desktop;

	d->memory.vram_total = d->memory.visible_total = 16304 * DAVY_MIB;
	desktop = davy_check_app(s, d, "gnome-shell", 350 * DAVY_MIB);
	davy_check_frames(s, desktop, 3 * DAVY_MS, 15);
	e.comm = "python3";
	e.engine = engine;
	return davy_check_engine(s, d, &e, base);
}

/*
 * PyTorch's c10 caching allocator (CUDACachingAllocator.cpp, alloc_block): hipMalloc fails, it
 * releases its cached blocks, hipMalloc works. Each batch of a training of 12 h ends like that: the
 * user sees nothing. 2 to 5 GB of cache; the peak needs a little more than is left.
 */
void davy_check_torch_retries(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_peaks peaks = {
		.base = 7 * DAVY_GIB,
		.peak = 16600 * DAVY_MIB,
		.period_ns = 70 * DAVY_S,
		.cache = davy_sim_between(s, 2000, 5000) * DAVY_MIB,
	};

	(void)arg;
	davy_check_peaks(s, check_torch(s, DAVY_ENGINE_GENERIC, peaks.base), &peaks);
}

static uint64_t check_some_refused(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -ENOSPC, 64 * DAVY_MIB,
			      (uint32_t)davy_sim_between(s, 1, 6));
	if (davy_random_chance(&s->random, 30))
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_VALIDATE, -ENOMEM, 64 * DAVY_MIB, 1);
	return s->now_ns + davy_sim_around(s, 8 * DAVY_MIN);
}

/*
 * amd-ttm-002: ComfyUI --lowvram on 16 GB pages its layers; a ten thousandth of its submissions
 * gets -ENOMEM and is repeated. amd-svm-007: one line "hogged CPU" is hours from anything. 12 h of
 * prompts, 40 % to 92 % of VRAM.
 */
void davy_check_comfy_day(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_peaks peaks = {
		.base = 6500 * DAVY_MIB,
		.peak = davy_sim_between(s, 14300, 15000) * DAVY_MIB,
		.period_ns = 3 * DAVY_MIN,
		.cache = 1200 * DAVY_MIB,
	};
	struct davy_sim_process *p = check_torch(s, DAVY_ENGINE_COMFYUI, peaks.base);

	(void)arg;
	davy_check_peaks(s, p, &peaks);
	davy_sim_add_actor(s, check_some_refused, p, s->begin_ns + DAVY_MIN);
	davy_check_line_each(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, 4 * DAVY_H, 1);
}

/* The counterpart of check_sawtooth: peaks of 95 % to 97 %, all of them alike, for 12 h. */
void davy_check_even_peaks(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_peaks peaks = {
		.base = 6500 * DAVY_MIB,
		.peak = davy_sim_between(s, 15000, 15350) * DAVY_MIB,
		.period_ns = 40 * DAVY_S,
	};

	(void)arg;
	davy_check_peaks(s, check_torch(s, DAVY_ENGINE_GENERIC, peaks.base), &peaks);
}

static uint64_t check_migrates(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint32_t count = (uint32_t)davy_sim_between(s, 20, a->n[0]);

	if (davy_check_load_of(s, p)->phase == DAVY_SIM_IDLE)
		return s->now_ns + 2 * DAVY_S;
	davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY, 0x7f0000000000, count);
	davy_sim_hot_fact(s, DAVY_FACT_KFD_PAGE_FAULT, p, 0, count / 3);
	p->kfd.fault_count += count / 3;
	p->kfd.pages_in += (uint64_t)count * 512;
	p->kfd.pages_out += (uint64_t)count * 500;
	return s->now_ns + davy_sim_around(s, 4 * DAVY_S);
}

/*
 * HSA_XNACK=1 on an MI card: managed memory (GGML_CUDA_ENABLE_UNIFIED_MEMORY) migrates by retry
 * faults, thousands in a second while it computes (KERNEL 4.2: recoverable, normal). 12 h.
 */
void davy_check_xnack_retries(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_rocm("Llama-3.3-70B-Q4_K_M.gguf", 40 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p;

	(void)arg;
	s->host_total = 256 * DAVY_GIB;
	d->memory.vram_total = d->memory.visible_total = 65520 * DAVY_MIB;
	p = davy_check_engine(s, d, &e, 46 * DAVY_GIB);
	davy_check_chat(s, p, 90 * DAVY_S);
	davy_sim_add_actor(s, check_migrates, p, s->begin_ns + 5 * DAVY_S)->n[0] =
		davy_sim_between(s, 400, 6000);
}

/*
 * The counterpart of check_gtt_creep: a model that is 2 to 4 GB too large, spilled into GTT at its
 * load (KERNEL 4.1: the kernel silently retries VRAM|GTT). Slow from the first token, and constant.
 */
void davy_check_steady_spill(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-Q4_K_M.gguf", 16500 * DAVY_MIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	d->memory.vram_total = d->memory.visible_total = 16368 * DAVY_MIB;
	p = davy_check_engine(s, d, &e, 15400 * DAVY_MIB);
	davy_check_allocate(s, p, davy_sim_between(s, 2500, 4500) * DAVY_MIB);
	davy_check_chat(s, p, 80 * DAVY_S)->slow_permille = 1800;
}

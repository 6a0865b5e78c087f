/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second held-out set, benign: engines at their usual limits. */
#include <errno.h>

#include "lab/check2_parts.h"

/*
 * amd-gr-005 and INCIDENTS.md B2 (look-alikes): "Failed to get user pages: -1" in bursts at each
 * load by ROCm, "Freeing queue vital buffer" at each end of a runner.
 */
void davy_check2_rocm_reloads(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("gpt-oss-20b", 11 * DAVY_GIB, 16384);
	struct davy_check2_rounds rounds = {
		.count = 2,
		.status = DAVY_STATUS_KILL,
		.rate = davy_sim_between(s, 900, 3500) * 1000,
		.serve_ns = 6 * DAVY_MIN,
		.gap_ns = 2 * DAVY_S,
	};
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *first;

	(void)arg;
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	first = davy_check_engine(s, d, &e, 11 * DAVY_GIB);
	davy_check_chat(s, first, 8 * DAVY_S);
	e.model = "Qwen3-8B";
	e.model_bytes = 5 * DAVY_GIB;
	davy_check_chat(s, davy_check_engine(s, d, &e, 0), 8 * DAVY_S);
	davy_check2_rounds(s, first, &rounds);
	davy_check_line_each(s, DAVY_LOG_USER_PAGES_FAILED, d, 5 * DAVY_MIN, 40);
	davy_check_line_each(s, DAVY_LOG_QUEUE_BUFFER_FREED, d, 6 * DAVY_MIN, 4);
}

/*
 * amd-vk-008 after its fix (ollama#17870): num_batch 128 computes a prompt of 120,000 tokens
 * without a reset, its jobs below half of 2 s, where 512 did not.
 */
void davy_check2_small_ubatch(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("qwen3-coder-30b", 18 * DAVY_GIB, 131072);
	struct davy_sim_device *d = davy_synth_apu(s, 2 * DAVY_S);
	struct davy_sim_habit habit = {
		.prompt_min = 15000,
		.prompt_max = 120000,
		.answer_min = 60,
		.answer_max = 900,
		.keep_permille = 250,
		.think_ns = 40 * DAVY_S,
	};
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 50, 90) * DAVY_MS,
		.prompt_slope_ns = davy_sim_between(s, 3500, 6500) * 1000,
		.token_ns = 22 * DAVY_MS,
		.token_slope_ns = 200000,
		.noise_permille = 50,
	};

	(void)arg;
	davy_check2_host(s, d, 112);
	e.ubatch = 128;
	davy_sim_add_load(s, davy_check_engine(s, d, &e, 27 * DAVY_GIB), &pace, &habit);
	davy_check_frames(s, davy_synth_desktop(s, d), 4 * DAVY_MS, 60);
}

/* Agents call three models in turn, a swap each minute, on a card where nothing else runs. */
void davy_check2_swap_often(struct davy_sim *s, uint64_t arg)
{
	static const uint64_t gib[] = { 5, 9, 13 };
	struct davy_check2_rounds rounds = {
		.count = 3,
		.rate = davy_sim_between(s, 2000, 5000) * 1000,
		.serve_ns = 55 * DAVY_S,
		.gap_ns = 700 * DAVY_MS,
	};
	struct davy_sim_device *d = davy_synth_dgpu(s, 2 * DAVY_S);
	struct davy_sim_process *first = NULL, *p;

	(void)arg;
	davy_check2_vram(d, 16368, 150);
	for (size_t i = 0; i < 3; i++) {
		struct davy_check_engine e =
			davy_check_by_vulkan("agent", gib[i] * DAVY_GIB, 16384);

		p = davy_check_engine(s, d, &e, gib[i] * DAVY_GIB / 100 * 108);
		first = first ? first : p;
		davy_check_chat(s, p, 3 * DAVY_S);
	}
	davy_check2_rounds(s, first, &rounds);
}

/*
 * int-xe-003 with f16 KV: 30 minutes of many clients in each run without a reset. Two servers on
 * one Arc, prompts without a pause, jobs of 1 to 2 of 5 s.
 */
void davy_check2_arc_soak(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Qwen3-8B", 5 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_sim_habit habit = davy_synth_chats;

	(void)arg;
	habit.think_ns = 300 * DAVY_MS;
	habit.prompt_max = 8000;
	for (uint32_t i = 0; i < 2; i++) {
		struct davy_sim_pace pace = {
			.prompt_ns = davy_sim_between(s, 900, 1500) * DAVY_MS,
			.prompt_slope_ns = 25 * DAVY_MS,
			.token_ns = 30 * DAVY_MS,
			.noise_permille = 150,
		};
		struct davy_sim_process *p;

		e.ring = i;
		p = davy_check_engine(s, d, &e, 57 * DAVY_GIB / 10);
		davy_sim_add_load(s, p, &pace, &habit);
		davy_check_wander(s, &p->client.vram, 5500 * DAVY_MIB, 5880 * DAVY_MIB, DAVY_MIN);
	}
}

/* n: awake bytes of VRAM, asleep ones, bytes of a step, sleeping bytes of the host */
static uint64_t check2_sleeper(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE)
			return s->now_ns + 100 * DAVY_MS;
		l->stopped = true;
		a->stage = 1;
		return s->now_ns + 100 * DAVY_MS;
	case 1:
		if (p->client.vram > a->n[1] + a->n[2]) {
			p->client.vram -= a->n[2];
			if (p->client.system < a->n[3])
				p->client.system += a->n[2];
			return s->now_ns + 100 * DAVY_MS;
		}
		a->stage = 2;
		return s->now_ns + davy_sim_around(s, 22 * DAVY_MIN);
	default:
		if (p->client.vram + a->n[2] < a->n[0]) {
			p->client.vram += a->n[2];
			p->client.system -= p->client.system > a->n[2] ? a->n[2] : p->client.system;
			return s->now_ns + 100 * DAVY_MS;
		}
		p->client.vram = a->n[0];
		p->client.system = 0;
		davy_check_go_on(s, l);
		a->stage = 0;
		return s->now_ns + davy_sim_around(s, 35 * DAVY_MIN);
	}
}

/*
 * ENGINES.md A2.1, vLLM's documentation of its sleep mode: at level 1 the weights go to the host,
 * the cache is dropped; a request wakes it up. 93 % of VRAM to 6 % and back, at some GB/s.
 */
void davy_check2_vllm_sleeps(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-14B", 15 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;
	struct davy_sim_actor *a;

	(void)arg;
	davy_check2_vram(d, 24560, 90);
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	p = davy_check_engine(s, d, &e, d->memory.vram_total / 1000 * 930);
	a = davy_sim_add_actor(s, check2_sleeper, davy_check_chat(s, p, 5 * DAVY_S),
			       s->begin_ns + davy_sim_around(s, 15 * DAVY_MIN));
	a->n[0] = p->client.vram;
	a->n[1] = 1400 * DAVY_MIB;
	a->n[2] = davy_sim_between(s, 200, 600) * DAVY_MIB;
	a->n[3] = 15 * DAVY_GIB;
}

/*
 * amd-vk-001 on an older kernel (60 s for compute): stable-diffusion.cpp draws all day, each job 8
 * to 25 s; the decoder of each picture takes VRAM to 96 % and gives it back.
 */
void davy_check2_picture_batches(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("sd3.5_large", 9 * DAVY_GIB, 4096);
	struct davy_sim_device *d = davy_synth_dgpu(s, 60 * DAVY_S);
	struct davy_sim_habit habit = {
		.prompt_min = 512,
		.prompt_max = 3000,
		.answer_min = 1,
		.answer_max = 2,
		.think_ns = 5 * DAVY_S,
	};
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 8, 22) * DAVY_S,
		.token_ns = 4 * DAVY_S,
		.noise_permille = 120,
	};
	struct davy_check2_tide decoder = {
		.low = 10500 * DAVY_MIB,
		.high = 15500 * DAVY_MIB,
		.rate = 4 * DAVY_MIB,
		.high_ns = 6 * DAVY_S,
		.low_ns = 80 * DAVY_S,
		.exact = true,
	};
	struct davy_sim_process *p;

	(void)arg;
	davy_check2_vram(d, 16368, 200);
	e.comm = "sd-server";
	e.engine = DAVY_ENGINE_SD_CPP;
	p = davy_check_engine(s, d, &e, decoder.low);
	davy_sim_add_load(s, p, &pace, &habit);
	davy_check2_tide(s, &p->client.vram, &decoder);
}

/* n: bytes that are out */
static uint64_t check2_seldom_evicted(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *firefox = p + 1;
	uint64_t bytes = davy_sim_between(s, 60, 400) * DAVY_MIB;

	if (!a->stage) {
		davy_sim_alloc_failed(s, firefox, DAVY_ALLOC_RESOURCE, -ENOSPC, bytes, 2);
		davy_check_evict_queues(s, p, 2);
		davy_sim_move_out(s, firefox->pid, p, bytes);
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 101, 130) * DAVY_MS;
	}
	davy_sim_move_in(s, p->pid, p, p->client.evicted);
	davy_check_restore_queues(s, p, 110 * DAVY_MS, false);
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, 5 * DAVY_MIN);
}

/*
 * KERNEL.md section 5.1: one cycle of KFD's eviction costs 100 ms. A browser beside a model that
 * fills 96 % of VRAM causes one now and then; each is restored at the first try.
 */
void davy_check2_active_evicted(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-14B", 11 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p, *firefox;

	(void)arg;
	davy_check2_vram(d, 16304, 200);
	p = davy_check_engine(s, d, &e, 15150 * DAVY_MIB);
	firefox = davy_check_app(s, d, "firefox", 500 * DAVY_MIB);
	davy_check_frames(s, firefox, 5 * DAVY_MS, 60);
	davy_check_wander(s, &firefox->client.vram, 350 * DAVY_MIB, 700 * DAVY_MIB, DAVY_MIN);
	davy_check_chat(s, p, 4 * DAVY_S);
	davy_sim_add_actor(s, check2_seldom_evicted, p, s->begin_ns + 2 * DAVY_MIN);
}

static uint64_t check2_invalidated(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage) {
		davy_check_evict_queues(s, p, 1); /* USERPTR */
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 1, 6) * DAVY_MS;
	}
	davy_check_restore_queues(s, p, 3 * DAVY_MS, false);
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, 5 * DAVY_S);
}

/*
 * KERNEL.md section 5.1 (userptr: the restore worker runs after 1 ms), the kernel's documentation
 * of numa_balancing: pages of user pointers are unmapped all the time, the queues rest some ms.
 */
void davy_check2_userptr_churn(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-32B", 19 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_check2_vram(d, 24560, 120);
	p = davy_check_engine(s, d, &e, 21 * DAVY_GIB);
	davy_check_chat(s, p, 3 * DAVY_S);
	davy_sim_add_actor(s, check2_invalidated, p, s->begin_ns + 10 * DAVY_S);
}

/* ENGINES.md (-ot exps=CPU): a mixture of experts; VRAM at 96 %, 20 GiB in GTT, both constant. */
void davy_check2_experts_on_cpu(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("gpt-oss-120b", 60 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p;
	uint64_t brim = d->memory.vram_total / 1000 * 955;

	(void)arg;
	p = davy_check_engine(s, d, &e, brim - d->vram_other);
	p->client.gtt = 20 * DAVY_GIB;
	davy_check_chat(s, p, 9 * DAVY_S);
	davy_check_wander(s, &p->client.vram, p->client.vram - 40 * DAVY_MIB,
			  p->client.vram + 30 * DAVY_MIB, 20 * DAVY_S);
	davy_check_wander(s, &s->host_other, 12 * DAVY_GIB, 26 * DAVY_GIB, 5 * DAVY_MIN);
}

/* A model over two cards by --tensor-split: one at 98 %, the other at 70 %, for a day's work. */
void davy_check2_split_layers(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Llama-3.3-70B", 40 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_device *second =
		davy_sim_add_device(s, "0000:43:00.0", "amdgpu", 24 * DAVY_GIB, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_check2_vram(d, 24560, 80);
	p = davy_check_engine(s, d, &e, 24560 * DAVY_MIB / 1000 * 978 - d->vram_other);
	davy_copy_name(p->info.more_devices[0], sizeof(p->info.more_devices[0]), second->name);
	davy_check_chat(s, p, 7 * DAVY_S);
	davy_check_wander(s, &p->client.vram, p->client.vram - 60 * DAVY_MIB,
			  p->client.vram + 50 * DAVY_MIB, 15 * DAVY_S);
	davy_check_wander(s, &second->vram_other, 16800 * DAVY_MIB, 17100 * DAVY_MIB, 15 * DAVY_S);
}

/*
 * FIELD.md section 4, 8: 20 of 80 layers on the GPU. A graph takes 3 to 8 s, nearly all of it on
 * the CPU; the GPU's jobs are short.
 */
void davy_check2_half_on_cpu(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Llama-3.3-70B", 40 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 2 * DAVY_S);
	struct davy_sim_habit habit = davy_synth_chats;
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 3000, 7000) * DAVY_MS,
		.prompt_slope_ns = 60 * DAVY_MS,
		.token_ns = 450 * DAVY_MS,
		.token_slope_ns = 4 * DAVY_MS,
		.noise_permille = 120,
	};
	struct davy_sim_process *p;

	(void)arg;
	e.ring = DAVY_CHECK_NO_RING;
	p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);
	p->info.gpu_layers = 20;
	davy_sim_add_load(s, p, &pace, &habit);
	davy_check_wander(s, &p->client.vram, 10000 * DAVY_MIB, 10250 * DAVY_MIB, DAVY_MIN);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Held-out days of servers: benign. */
#include <errno.h>

#include "lab/check_parts.h"

#define MIB_A_S (DAVY_MIB / 1000) /* bytes in a ms */

static struct davy_sim_device *check_card(struct davy_sim *s, uint64_t mib, uint64_t timeout_ns)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, timeout_ns);

	d->memory.vram_total = d->memory.visible_total = mib * DAVY_MIB;
	return d;
}

/* A model whose load ends at "permille" of the device. */
static uint64_t check_fits_to(const struct davy_sim_device *d, uint64_t permille)
{
	return (d->memory.vram_total / 1000 * permille - d->vram_other) / 109 * 100;
}

/*
 * llama-swap: one model of 93 % to 97 % of 24 GB, read at 2 to 4 GB/s from NVMe, unloaded after its
 * time to live and loaded again, a dozen times in 12 h. Nothing is refused.
 */
void davy_check_brim_loads(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = check_card(s, 24560, 0);
	uint64_t bytes = check_fits_to(d, davy_sim_between(s, 935, 970));
	struct davy_check_engine e = davy_check_by_vulkan("Qwen3-32B-Q4_K_M.gguf", bytes, 16384);
	struct davy_sim_process *p;

	(void)arg;
	p = davy_check_engine(s, d, &e, bytes / 100 * 109);
	davy_check_chat(s, p, DAVY_MIN);
	davy_check_turns(s, p, 1, davy_sim_between(s, 2000, 4000) * MIB_A_S, 40 * DAVY_MIN);
}

/*
 * Ollama with OLLAMA_MAX_LOADED_MODELS=1 and two clients (amd-svm-004 swaps each 45 s, here without
 * a fault): 14 GB and 11 GB of 16 GB take turns of one to six minutes for 12 h, each a new process.
 */
void davy_check_two_models(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-3-27b-it-IQ3_M.gguf", 12800 * DAVY_MIB, 16384);
	struct davy_sim_device *d = check_card(s, 16368, 0);
	struct davy_sim_process *first, *second;

	(void)arg;
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	first = davy_check_engine(s, d, &e, 12800 * DAVY_MIB / 100 * 109);
	e.model = "Mistral-Nemo-12B-Q6_K.gguf";
	e.model_bytes = 10 * DAVY_GIB;
	second = davy_check_engine(s, d, &e, 0);
	davy_check_chat(s, first, 15 * DAVY_S);
	davy_check_chat(s, second, 15 * DAVY_S);
	davy_check_turns(s, first, 2, davy_sim_between(s, 1800, 3500) * MIB_A_S, 3 * DAVY_MIN);
}

/*
 * llama-bench at 96 % to 97.5 % of 20 GB: prompts of 512 to 32,768 tokens without a pause, the
 * longest job at a third of its timeout; each run is a process of ten minutes. 12 h.
 */
void davy_check_brim_bench(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = check_card(s, 20464, 0);
	uint64_t bytes = check_fits_to(d, davy_sim_between(s, 960, 975));
	struct davy_check_engine e = davy_check_by_vulkan("Qwen3.6-27B-IQ4_XS.gguf", bytes, 40960);
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "llama-bench";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	p = davy_check_engine(s, d, &e, bytes / 100 * 109);
	l = davy_check_chat(s, p, 500 * DAVY_MS);
	l->habit.prompt_min = 512;
	l->habit.prompt_max = 32768;
	l->habit.answer_min = l->habit.answer_max = 128;
	l->habit.keep_permille = 0;
	davy_check_turns(s, p, 1, 3000 * MIB_A_S, 10 * DAVY_MIN);
}

/*
 * sd-server by Vulkan on a kernel with 10 s (6.12: 60 s for compute): each step of an image is one
 * job of 5 to 7.6 s, all of them alike, for 12 h. Long is not late.
 */
void davy_check_long_jobs(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("flux-2-klein-4b-Q4_0", 4 * DAVY_GIB, 2048);
	struct davy_sim_device *d = check_card(s, 12272, 10 * DAVY_S);
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 5300, 7200) * DAVY_MS,
		.token_ns = 40 * DAVY_MS,
		.noise_permille = 50,
	};
	const struct davy_sim_habit habit = {
		.prompt_min = 512,
		.prompt_max = 512,
		.answer_min = 1,
		.answer_max = 3,
		.think_ns = 9 * DAVY_S,
	};

	(void)arg;
	e.comm = "sd-server";
	e.engine = DAVY_ENGINE_SD_CPP;
	davy_sim_add_load(s, davy_check_engine(s, d, &e, 7600 * DAVY_MIB), &pace, &habit);
}

/*
 * The counterpart of check_vega_depth: an agent that writes code, 100,000 tokens deep, with ubatch
 * 128 (ollama#17870: clean at 120,094 tokens). The longest job takes 40 % to 45 % of 2 s. 12 h.
 */
void davy_check_deep_below(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.8-27B-Q4_K_M.gguf", 17 * DAVY_GIB, 104448);
	struct davy_sim_device *d = davy_synth_apu(s, 2 * DAVY_S);
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 90, 140) * DAVY_MS,
		.prompt_slope_ns = davy_sim_between(s, 6900, 7300) * 1000,
		.token_ns = 60 * DAVY_MS,
		.token_slope_ns = 600000,
		.noise_permille = 30,
	};
	struct davy_sim_habit habit = davy_synth_chats;

	(void)arg;
	s->host_total = 128 * DAVY_GIB;
	d->memory.gtt_total = 110 * DAVY_GIB;
	e.ubatch = 128;
	habit.keep_permille = 990;
	habit.prompt_max = 4000;
	habit.think_ns = 50 * DAVY_S;
	davy_sim_add_load(s, davy_check_engine(s, d, &e, 26 * DAVY_GIB), &pace, &habit);
}

/* A house's voice for 24 h: whisper.cpp, a model of 4B, speech; 8 GB, jobs of 10 to 200 ms. */
void davy_check_home_voices(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);
	struct davy_sim_device *d = check_card(s, 8176, 0);

	(void)arg;
	davy_check_chat(s, davy_check_engine(s, d, &e, 3300 * DAVY_MIB), 3 * DAVY_MIN);
	e.comm = "whisper-server";
	e.model = "ggml-large-v3-turbo.bin";
	e.engine = DAVY_ENGINE_WHISPER_CPP;
	e.context = 2048;
	e.ring = 2;
	davy_check_chat(s, davy_check_engine(s, d, &e, 2100 * DAVY_MIB), 2 * DAVY_MIN);
	e.comm = "python3";
	e.model = "kokoro-82m";
	e.engine = DAVY_ENGINE_GENERIC;
	e.ring = 3;
	davy_check_chat(s, davy_check_engine(s, d, &e, 900 * DAVY_MIB), 3 * DAVY_MIN);
}

/* An archive is embedded: 100 % busy for 12 h, prompts of 200 to 512 tokens, no pause. */
void davy_check_indexing(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-Embedding-8B-Q8_0.gguf", 8 * DAVY_GIB, 8192);
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check_chat(s, davy_check_engine(s, d, &e, 9 * DAVY_GIB), 30 * DAVY_MS);
	l->habit.prompt_min = 200;
	l->habit.prompt_max = 512;
	l->habit.answer_min = l->habit.answer_max = 1;
	l->habit.keep_permille = 0;
}

/* vLLM takes 92 % of 192 GB at its start (gpu_memory_utilization) and keeps it for 24 h. */
void davy_check_vllm_full(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Llama-3.3-70B", 140 * DAVY_GIB, 131072);
	struct davy_sim_device *d = check_card(s, 196592, 10 * DAVY_S);
	struct davy_sim_process *p;

	(void)arg;
	s->host_total = 768 * DAVY_GIB;
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	p = davy_check_engine(s, d, &e, 4 * DAVY_GIB);
	davy_check_ramp(s, &p->client.vram, 180800 * DAVY_MIB, s->begin_ns + 20 * DAVY_S,
			davy_sim_between(s, 60, 140) * DAVY_S);
	davy_check_chat(s, p, 100 * DAVY_S);
}

/*
 * amd-ev-006: EVO-X2, the carve-out of 2 GB is 98.9 % full at rest with 85 GB of GTT free; a
 * monitor that looked at it evicted healthy models. 24 h of chats.
 */
void davy_check_carve_out(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 12 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_apu(s, 0);

	(void)arg;
	s->host_total = 128 * DAVY_GIB;
	d->memory.gtt_total = 100 * DAVY_GIB;
	d->memory.vram_total = d->memory.visible_total = 2 * DAVY_GIB;
	d->vram_other = 2 * DAVY_GIB / 1000 * 989;
	davy_check_wander(s, &d->vram_other, 2 * DAVY_GIB / 1000 * 984, 2 * DAVY_GIB / 1000 * 993,
			  DAVY_MIN);
	davy_check_chat(s, davy_check_engine(s, d, &e, 14 * DAVY_GIB), 2 * DAVY_MIN);
}

static uint64_t check_shrinks(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_hot_fact(s, DAVY_FACT_I915_SHRINK, p, davy_sim_between(s, 1, 60) * DAVY_MIB,
			  (uint32_t)davy_sim_between(s, 1, 40));
	davy_sim_hot_fact(s, DAVY_FACT_I915_EVICT, p, davy_sim_between(s, 1, 9) * DAVY_MIB, 1);
	return s->now_ns + davy_sim_around(s, 7 * DAVY_S);
}

/*
 * An i915 laptop with 32 GB (KERNEL 8): the shrinker unbinds idle objects whenever something reads
 * many files; GGTT evictions are about addresses, not memory. 12 h.
 */
void davy_check_i915_shrinks(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-4B-Q4_K_M.gguf", 2500 * DAVY_MIB, 8192);
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_sim_process *desktop = davy_check_app(s, d, "gnome-shell", 200 * DAVY_MIB);

	(void)arg;
	davy_check_wander(s, &s->host_other, 6 * DAVY_GIB, 24 * DAVY_GIB, 2 * DAVY_MIN);
	davy_check_chat(s, davy_check_engine(s, d, &e, 3 * DAVY_GIB), 2 * DAVY_MIN);
	davy_sim_add_actor(s, check_shrinks, desktop, s->begin_ns + DAVY_MIN);
}

static uint64_t check_xe_moves(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!p->alive)
		return s->now_ns + DAVY_S;
	davy_sim_hot_fact(s, DAVY_FACT_XE_PAGE_FAULT, p, 0, (uint32_t)davy_sim_between(s, 1, 200));
	if (davy_random_chance(&s->random, 300)) {
		davy_sim_hot_fact(s, DAVY_FACT_XE_REBIND_RETRY, p, 0, 1);
		davy_sim_hot_fact(s, DAVY_FACT_XE_VMA_EVICT, p, 16 * DAVY_MIB, 2);
	}
	return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
}

/*
 * Arc B580 (12 GB): a server of 10.5 GB that is reloaded each half hour, and some faults, evicted
 * VMAs and retried rebinds in a minute when a browser is used (KERNEL 9). 12 h.
 */
void davy_check_arc_day(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-14B-Q4_K_M.gguf", 9600 * DAVY_MIB, 16384);
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_sim_process *browser, *p;

	(void)arg;
	e.ring = 0;
	p = davy_check_engine(s, d, &e, 9600 * DAVY_MIB / 100 * 109);
	davy_check_chat(s, p, DAVY_MIN);
	davy_check_turns(s, p, 1, 2500 * MIB_A_S, 30 * DAVY_MIN);
	browser = davy_check_app(s, d, "chrome", 500 * DAVY_MIB);
	davy_check_wander(s, &browser->client.vram, 200 * DAVY_MIB, 900 * DAVY_MIB, DAVY_MIN);
	davy_sim_add_actor(s, check_xe_moves, browser, s->begin_ns + 30 * DAVY_S);
}

static uint64_t check_loses(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *app = &s->process[a->n[0]];
	uint64_t bytes = davy_sim_between(s, 20, 400) * DAVY_MIB;

	s->lossy_permille = (uint32_t)davy_sim_between(s, 100, 600);
	davy_sim_alloc_failed(s, app, DAVY_ALLOC_RESOURCE, -ENOSPC, bytes, 5);
	davy_sim_move_out(s, app->pid, p, bytes);
	davy_sim_move_in(s, p->pid, p, p->client.evicted);
	davy_sim_tell_lost(s, "ring buffer");
	return s->now_ns + davy_sim_around(s, 2 * DAVY_MIN);
}

/*
 * The host is so busy that the ring buffer loses 10 % to 60 % of what the kernel programs say: some
 * moves out are seen without their way back. Nothing else happens. 12 h.
 */
void davy_check_lossy(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 16384);
	struct davy_sim_device *d = check_card(s, 12272, 0);
	struct davy_sim_process *app = davy_check_app(s, d, "firefox", 900 * DAVY_MIB), *p;
	struct davy_sim_actor *a;

	(void)arg;
	p = davy_check_engine(s, d, &e, 10400 * DAVY_MIB);
	davy_check_chat(s, p, 90 * DAVY_S);
	a = davy_sim_add_actor(s, check_loses, p, s->begin_ns + DAVY_MIN);
	a->n[0] = (uint64_t)(app - s->process);
}

/*
 * The agent is started on a host that has worked for days: 94 % to 96 % of VRAM and a full GTT from
 * the first sample, counters of hundreds of thousands, a deep conversation in progress. 12 h.
 */
void davy_check_late_agent(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-IQ4_XS.gguf", 14400 * DAVY_MIB, 65536);
	struct davy_sim_device *d = check_card(s, 20464, 0);
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	e.found = true;
	d->gtt_other = 9 * DAVY_GIB;
	d->memory.vram_lost_count = davy_sim_between(s, 0, 2);
	p = davy_check_engine(s, d, &e, davy_sim_between(s, 18900, 19300) * DAVY_MIB);
	p->client.gtt = davy_sim_between(s, 1200, 2800) * DAVY_MIB;
	p->client.evicted = davy_sim_between(s, 100, 900) * DAVY_MIB;
	l = davy_check_chat(s, p, DAVY_MIN);
	l->habit.keep_permille = 970;
	l->depth = p->progress.depth = (uint32_t)davy_sim_between(s, 20000, 50000);
}

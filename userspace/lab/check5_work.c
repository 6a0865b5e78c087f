/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hard work that ends well. */
#include "lab/check5_parts.h"

/* Speculative decoding: a target and its draft model, jobs of very different length. */
void davy_check5_spec_draft(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-Q4_K_M.gguf", 16200 * DAVY_MIB, 32768);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 880, 3 * DAVY_S);

	(void)arg;
	l->habit.answer_max = 1500;
	davy_check5_unsteady(s, l, 300, 1700, 400 * DAVY_MS);
	e.model = "Qwen3.5-0.8B-Q8_0.gguf";
	e.model_bytes = 830 * DAVY_MIB;
	e.ring = 2;
	l = davy_check3_serve(s, d, &e, 50, 3 * DAVY_S);
	l->pace.token_ns = 3 * DAVY_MS;
	l->pace.prompt_ns = 30 * DAVY_MS;
	l->habit.answer_max = 1500;
}

/* Pictures are described: encodings of 1.2 to 1.7 s under a timeout of 10 s, buffers that swell. */
void davy_check5_vision_queue(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-VL-8B-Instruct-Q6_K.gguf", 6700 * DAVY_MIB, 16384);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 620, 2 * DAVY_S);

	(void)arg;
	l->pace.prompt_ns = davy_sim_between(s, 1200, 1500) * DAVY_MS;
	l->habit.prompt_min = 700;
	l->habit.prompt_max = 3200;
	l->habit.keep_permille = 0;
	davy_check2_tide(s, &l->p->client.vram,
			 &(struct davy_check2_tide){ .low = 10100 * DAVY_MIB,
						     .high = 14900 * DAVY_MIB,
						     .rate = 8 * DAVY_MIB,
						     .high_ns = 4 * DAVY_S,
						     .low_ns = 7 * DAVY_S });
}

/* An index of a wiki: embeddings in ubatches of 8192 without a pause, timeout 2 s. */
void davy_check5_embed_flood(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 2 * DAVY_S, 8176);
	struct davy_check_engine e =
		davy_check_by_vulkan("jina-embeddings-v4-Q8_0.gguf", 3300 * DAVY_MIB, 8192);
	struct davy_sim_load *l;

	(void)arg;
	e.ubatch = 8192;
	l = davy_check3_serve(s, d, &e, 790, 40 * DAVY_MS);
	l->pace.prompt_ns = davy_sim_between(s, 420, 640) * DAVY_MS;
	l->pace.prompt_slope_ns = 0;
	l->habit.prompt_min = 2000;
	l->habit.prompt_max = 8191;
	l->habit.answer_min = l->habit.answer_max = 0;
	l->habit.keep_permille = 0;
}

/* Contexts of 200,000 tokens: jobs of 11 s under 60 s, slow, but every answer comes. */
void davy_check5_slow_200k(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 32624);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-Q5_K_M.gguf", 18800 * DAVY_MIB, 262144);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 950, 40 * DAVY_S);

	(void)arg;
	l->pace.prompt_ns = 480 * DAVY_MS;
	l->pace.prompt_slope_ns = davy_sim_between(s, 36, 46) * DAVY_MS;
	l->pace.token_ns = 60 * DAVY_MS;
	l->pace.token_slope_ns = DAVY_MS / 2;
	l->habit.prompt_min = 8000;
	l->habit.prompt_max = 60000;
	l->habit.keep_permille = 850;
	l->habit.answer_max = 900;
}

/* of: the process; PyTorch asks for too much, frees its cache and goes on */
static uint64_t work_too_much(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_check_hip_allocate(s, p, p->device->memory.vram_total);
	return s->now_ns + davy_sim_around(s, 9 * DAVY_MIN);
}

/* ComfyUI with a video model: 25 to 97 % of 20 GiB each half minute, a refused block at times. */
void davy_check5_comfy_brim(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 20464);
	struct davy_check_engine e =
		davy_check_by_rocm("wan2.2_t2v_14B_fp8", 14300 * DAVY_MIB, 4096);
	struct davy_sim_process *p;

	(void)arg;
	e.comm = "python3";
	e.engine = DAVY_ENGINE_COMFYUI;
	p = davy_check_engine(s, d, &e, 5 * DAVY_GIB);
	davy_check2_tide(s, &p->client.vram,
			 &(struct davy_check2_tide){ .low = 5 * DAVY_GIB,
						     .high = 19600 * DAVY_MIB,
						     .rate = 5 * DAVY_MIB,
						     .high_ns = 24 * DAVY_S,
						     .low_ns = 6 * DAVY_S });
	davy_check_wander(s, &p->client.system, 9 * DAVY_GIB, 16 * DAVY_GIB, 20 * DAVY_S);
	davy_sim_add_actor(s, work_too_much, p, s->begin_ns + 8 * DAVY_MIN);
}

/* A LoRA on two cards to 96 %, optimizer states on the host. */
void davy_check5_lora_night(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d[2] = { davy_check3_card(s, 0, 24560), NULL };

	(void)arg;
	d[1] = davy_check3_second(s, 10 * DAVY_S, 24560);
	for (size_t i = 0; i < 2; i++) {
		struct davy_sim_process *p = davy_check_app(s, d[i], "pt_main_thread", 0);

		p->ring = NULL;
		p->by_kfd = true;
		p->kfd.queue_count = 8;
		p->client.vram = 20 * DAVY_GIB;
		davy_check_wander(s, &p->client.vram, 17 * DAVY_GIB, 23400 * DAVY_MIB, 2 * DAVY_S);
		davy_check2_tide(s, &p->client.system,
				 &(struct davy_check2_tide){ .low = 6 * DAVY_GIB,
							     .high = 17 * DAVY_GIB,
							     .rate = 6 * DAVY_MIB,
							     .high_ns = 50 * DAVY_S,
							     .low_ns = 6 * DAVY_MIN });
	}
}

/* vLLM with XNACK on an APU: thousands of served faults a second, pages that migrate. */
void davy_check5_xnack_apu_sweeps(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 128);
	struct davy_check_engine e = davy_check_by_rocm("gpt-oss-120b", 60 * DAVY_GIB, 65536);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	l = davy_check3_serve(s, d, &e, 800, 6 * DAVY_S);
	davy_check5_served_faults(s, l->p, 3500);
	davy_check_wander(s, &s->host_other, 7 * DAVY_GIB, 19 * DAVY_GIB, 40 * DAVY_S);
}

/* of: the worker */
static uint64_t work_rebinds(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint32_t count = (uint32_t)davy_sim_between(s, 1, 6);

	davy_sim_hot_fact(s, DAVY_FACT_XE_VMA_EVICT, p, count * 16 * DAVY_MIB, count);
	if (davy_random_chance(&s->random, 300))
		davy_sim_hot_fact(s, DAVY_FACT_XE_REBIND_RETRY, p, 0, 1);
	return s->now_ns + davy_sim_around(s, 7 * DAVY_S);
}

/* xe: two cards serve one model at 94 %; some memory is bound again each few seconds. */
void davy_check5_arc_pair(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d[2] = { davy_check4_xe(s, 24480), NULL };
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3-32B-AWQ", 19 * DAVY_GIB, 32768);

	(void)arg;
	d[1] = davy_check4_second_xe(s, 24480);
	e.comm = "VLLM::Worker_TP";
	e.engine = DAVY_ENGINE_VLLM;
	e.ring = 0;
	for (size_t i = 0; i < 2; i++) {
		struct davy_sim_process *p = davy_check3_serve(s, d[i], &e, 920, 3 * DAVY_S)->p;

		davy_check_wander(s, &p->client.vram, 22400 * DAVY_MIB, 23000 * DAVY_MIB, DAVY_S);
		davy_sim_add_actor(s, work_rebinds, p, s->begin_ns + 20 * DAVY_S);
	}
}

/* llama-imatrix for hours at 98 %: one ubatch after another. */
void davy_check5_imatrix_run(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-3-27b-it-BF16-cut.gguf", 22600 * DAVY_MIB, 4096);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "llama-imatrix";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	l = davy_check3_serve(s, d, &e, 975, DAVY_MS);
	l->pace.prompt_ns = davy_sim_between(s, 240, 420) * DAVY_MS;
	l->habit.prompt_min = l->habit.prompt_max = 512;
	l->habit.answer_min = l->habit.answer_max = 0;
	l->habit.keep_permille = 0;
	davy_check_wander(s, &l->p->client.vram, 23700 * DAVY_MIB, 24080 * DAVY_MIB, 3 * DAVY_S);
}

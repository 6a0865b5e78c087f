/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hours of heavy but ordinary work. */
#include <errno.h>

#include "lab/check4_parts.h"

static struct davy_sim_process *work_comfy(struct davy_sim *s, struct davy_sim_device *d,
					   const char *model, uint64_t bytes)
{
	struct davy_check_engine e = davy_check_by_rocm(model, bytes, 0);

	e.comm = "python3";
	e.engine = DAVY_ENGINE_COMFYUI;
	return davy_check_engine(s, d, &e, bytes);
}

/* of: ComfyUI */
static uint64_t work_evicted(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_check_evict_queues(s, p, 2);
	davy_check_restore_queues(s, p, davy_sim_between(s, 100, 160) * DAVY_MS, false);
	return s->now_ns + davy_sim_around(s, 5 * DAVY_MIN);
}

/* Videos: 97 % of 16 GiB for six minutes each; a desktop evicts its queues at times. */
void davy_check4_video_frames(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d), *p;

	(void)arg;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	p = work_comfy(s, d, "wan2.2_ti2v_5B_fp16.safetensors", 9 * DAVY_GIB);
	davy_check2_tide(s, &p->client.vram,
			 &(struct davy_check2_tide){ .low = 9 * DAVY_GIB,
						     .high = 15000 * DAVY_MIB,
						     .rate = 3 * DAVY_MIB,
						     .high_ns = 6 * DAVY_MIN,
						     .low_ns = 50 * DAVY_S,
						     .exact = true });
	davy_sim_add_actor(s, work_evicted, p, s->begin_ns + 2 * DAVY_MIN);
}

/* Pictures with four checkpoints: VRAM between 30 % and 95 %, host memory up and down. */
void davy_check4_sdxl_queue(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 12272);
	struct davy_sim_process *p =
		work_comfy(s, d, "juggernautXL_v9.safetensors", 3700 * DAVY_MIB);

	(void)arg;
	davy_check2_tide(s, &p->client.vram,
			 &(struct davy_check2_tide){ .low = 3600 * DAVY_MIB,
						     .high = 11600 * DAVY_MIB,
						     .rate = 4 * DAVY_MIB,
						     .high_ns = 17 * DAVY_S,
						     .low_ns = 8 * DAVY_S });
	davy_check2_tide(s, &p->client.system,
			 &(struct davy_check2_tide){ .low = 5 * DAVY_GIB,
						     .high = 24 * DAVY_GIB,
						     .rate = DAVY_MIB,
						     .high_ns = 4 * DAVY_MIN,
						     .low_ns = 3 * DAVY_MIN });
}

/* llama-bench, model after model: 98 % of VRAM, and each run ends. */
void davy_check4_bench_brim(struct davy_sim *s, uint64_t arg)
{
	static const char *const models[] = { "Qwen3-30B-A3B-Q4_K_M.gguf",
					      "gemma-3-27b-it-Q4_K_S.gguf",
					      "Mistral-Small-24B-Q5_K_M.gguf" };
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 20464);
	struct davy_sim_process *p, *first = NULL;

	(void)arg;
	for (size_t i = 0; i < 3; i++) {
		struct davy_check_engine e =
			davy_check_by_vulkan(models[i], (18100 + i * 200) * DAVY_MIB, 32768);
		struct davy_sim_load *l;

		e.comm = "llama-bench";
		e.engine = DAVY_ENGINE_LLAMA_CPP;
		e.role = DAVY_ROLE_TOOL;
		p = davy_check_engine(s, d, &e, i ? 0 : 19600 * DAVY_MIB);
		l = davy_check_chat(s, p, 300 * DAVY_MS);
		l->habit.prompt_min = l->habit.prompt_max = 4096;
		l->habit.answer_min = l->habit.answer_max = 128;
		first = first ? first : p;
	}
	davy_check2_rounds(s, first,
			   &(struct davy_check2_rounds){ .count = 3,
							 .rate = 3 * DAVY_MIB,
							 .serve_ns = 4 * DAVY_MIN,
							 .gap_ns = 6 * DAVY_S });
}

/* n: address of the next fault */
static uint64_t work_retry(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint32_t count = (uint32_t)davy_sim_between(s, 40, 900);

	a->n[0] += count * 4096;
	davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY, 0x7e0000000000 + a->n[0] % (32 * DAVY_GIB),
		       count);
	davy_sim_hot_fact(s, DAVY_FACT_KFD_PAGE_FAULT, p, 0, count);
	p->kfd.fault_count += count;
	p->kfd.pages_in += count * 16;
	p->kfd.pages_out += davy_sim_between(s, 0, count * 16);
	return s->now_ns + davy_sim_around(s, 350 * DAVY_MS);
}

/* A training with XNACK on 48 GiB, larger than VRAM: pages come and go, all faults are served. */
void davy_check4_xnack_train(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 49136);
	struct davy_sim_process *p = davy_check_app(s, d, "python3.12", 40 * DAVY_GIB);

	(void)arg;
	s->host_total = 256 * DAVY_GIB;
	p->by_kfd = true;
	p->ring = NULL;
	p->kfd.queue_count = 8;
	p->client.system = 70 * DAVY_GIB;
	davy_check_wander(s, &p->client.vram, 43 * DAVY_GIB, 47 * DAVY_GIB, 3 * DAVY_S);
	davy_sim_add_actor(s, work_retry, p, s->begin_ns + 20 * DAVY_S);
}

/* of: the server */
static uint64_t work_rebind(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_hot_fact(s, DAVY_FACT_XE_VMA_EVICT, p, davy_sim_between(s, 2, 64) * DAVY_MIB, 1);
	davy_sim_hot_fact(s, DAVY_FACT_XE_PAGE_FAULT, p, 0, (uint32_t)davy_sim_between(s, 1, 30));
	if (!(++a->stage % 4))
		davy_sim_hot_fact(s, DAVY_FACT_XE_REBIND_RETRY, p, 0, 1);
	return s->now_ns + davy_sim_around(s, 45 * DAVY_S);
}

/* xe, 24 GiB: a server, speech and pictures at up to 94 %; VMAs are evicted and bound again. */
void davy_check4_xe_tools(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 24480);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3-14B-Q6_K.gguf", 12 * DAVY_GIB, 32768);
	struct davy_check_engine voice =
		davy_check_by_vulkan("ggml-large-v3-turbo.bin", 1600 * DAVY_MIB, 4096);
	struct davy_sim_process *pictures;
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 560, 20 * DAVY_S);
	voice.ring = 1;
	voice.comm = "whisper-server";
	voice.engine = DAVY_ENGINE_WHISPER_CPP;
	davy_check3_serve(s, d, &voice, 80, 30 * DAVY_S);
	pictures = davy_check_app(s, d, "python3", 2 * DAVY_GIB);
	davy_check2_tide(s, &pictures->client.vram,
			 &(struct davy_check2_tide){ .low = 2 * DAVY_GIB,
						     .high = 7 * DAVY_GIB,
						     .rate = 2 * DAVY_MIB,
						     .high_ns = 40 * DAVY_S,
						     .low_ns = 60 * DAVY_S });
	davy_sim_add_actor(s, work_rebind, l->p, s->begin_ns + 30 * DAVY_S);
}

/* Films are scaled up, tile by tile: each job takes 0.8 to 1.1 s of 2 s, for hours. */
void davy_check4_tile_upscale(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 32);
	struct davy_check_engine e =
		davy_check_by_vulkan("realesrgan-x4plus.gguf", 70 * DAVY_MIB, 4096);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "sd";
	e.engine = DAVY_ENGINE_SD_CPP;
	l = davy_check3_serve(s, d, &e, 130, DAVY_S);
	l->habit.prompt_min = l->habit.prompt_max = 4090;
	l->habit.answer_min = l->habit.answer_max = 1;
	l->habit.keep_permille = 0;
	l->pace.prompt_ns = 950 * DAVY_MS;
	l->pace.prompt_slope_ns = 0;
	l->pace.noise_permille = 150;
}

/* Chats of up to 100,000 tokens; the longest jobs take 4.6 of 10 s. */
void davy_check4_deep_chats(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 96);
	struct davy_check_engine e = davy_check_by_vulkan("Qwen3-Next-80B-A3B-Instruct-Q4_K_M.gguf",
							  48 * DAVY_GIB, 102400);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 800, 20 * DAVY_S);
	l->habit.prompt_min = 1000;
	l->habit.prompt_max = 20000;
	l->habit.keep_permille = 900;
	l->pace.prompt_ns = 600 * DAVY_MS;
	l->pace.prompt_slope_ns = 38 * DAVY_MS;
	l->pace.noise_permille = 50;
}

/* An agent calls llama-cli again and again on 8 GiB: 92 % for half a minute each. */
void davy_check4_agent_runs(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 8176);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q5_K_M.gguf", 6800 * DAVY_MIB, 8192);
	struct davy_sim_process *p;

	(void)arg;
	e.comm = "llama-cli";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	p = davy_check_engine(s, d, &e, 0);
	davy_check_chat(s, p, 2 * DAVY_S);
	davy_check2_rounds(s, p,
			   &(struct davy_check2_rounds){ .count = 1,
							 .rate = 2 * DAVY_MIB,
							 .serve_ns = 30 * DAVY_S,
							 .gap_ns = 11 * DAVY_S });
}

/* Speech is written down all the time: short jobs without a pause, and a small chat model. */
void davy_check4_whisper_stream(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 8176);
	struct davy_check_engine e =
		davy_check_by_vulkan("ggml-large-v3.bin", 3100 * DAVY_MIB, 4096);
	struct davy_check_engine chat =
		davy_check_by_vulkan("Qwen3-1.7B-Q8_0.gguf", 1900 * DAVY_MIB, 8192);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "whisper-stream";
	e.engine = DAVY_ENGINE_WHISPER_CPP;
	e.ring = 2;
	l = davy_check3_serve(s, d, &e, 480, 200 * DAVY_MS);
	l->habit.prompt_min = l->habit.prompt_max = 1500;
	l->habit.answer_min = 20;
	l->habit.answer_max = 80;
	l->habit.keep_permille = 0;
	davy_check3_serve(s, d, &chat, 330, DAVY_MIN);
}

/* Two cards of 24 and 8 GiB: one is full for hours with a split model, the other draws. */
void davy_check4_mixed_cards(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_sim_device *second = davy_check3_second(s, 10 * DAVY_S, 8176);
	struct davy_check_engine e =
		davy_check_by_rocm("Llama-3.3-70B-Instruct-IQ3_M.gguf", 30 * DAVY_GIB, 16384);
	struct davy_sim_process *tabs = davy_check_app(s, second, "firefox", DAVY_GIB);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 972, 25 * DAVY_S);
	davy_copy_name(l->p->info.more_devices[0], sizeof(l->p->info.more_devices[0]),
		       second->name);
	davy_check_frames(s, tabs, 4 * DAVY_MS, 60);
	davy_check_wander(s, &tabs->client.vram, 5200 * DAVY_MIB, 6900 * DAVY_MIB, 15 * DAVY_S);
}

/* The agent starts late: a server has run for days, with evictions long ago, and one loads. */
void davy_check4_late_join(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_check_engine e =
		davy_check_by_rocm("gemma-3-12b-it-Q8_0.gguf", 12 * DAVY_GIB, 16384);
	struct davy_check_engine other =
		davy_check_by_rocm("Qwen3-8B-Q8_0.gguf", 8500 * DAVY_MIB, 16384);
	struct davy_sim_process *p;

	(void)arg;
	e.found = true;
	davy_check3_serve(s, d, &e, 540, 30 * DAVY_S)->p->client.gtt = 900 * DAVY_MIB;
	p = davy_check3_later(s, d, &other);
	davy_check_chat(s, p, 45 * DAVY_S);
	davy_check2_rounds(s, p,
			   &(struct davy_check2_rounds){ .count = 1,
							 .rate = DAVY_MIB,
							 .serve_ns = 12 * DAVY_MIN,
							 .gap_ns = 5 * DAVY_MIN });
}

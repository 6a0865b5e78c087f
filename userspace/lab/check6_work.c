/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hours of work near a limit, in which nothing fails. */
#include "lab/check6_parts.h"

/*
 * SGLang with --mem-fraction-static 0.95 on two cards: each start fills 97 % of VRAM at 4 GB/s and
 * keeps it; requests never pause; its user starts it anew at times.
 */
void davy_check6_sglang_97(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 24560);
	struct davy_sim_device *second = davy_check3_second(s, 60 * DAVY_S, 24560);
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-32B-AWQ", 22050 * DAVY_MIB, 65536);
	const struct davy_check2_rounds rounds = { 1, DAVY_STATUS_TERM, 4 * DAVY_MIB, 16 * DAVY_MIN,
						   50 * DAVY_S };

	(void)arg;
	e.comm = "sglang::schedul";
	e.engine = DAVY_ENGINE_SGLANG;
	davy_check2_rounds(s, davy_check3_serve(s, d, &e, 960, 150 * DAVY_MS)->p, &rounds);
	davy_check2_rounds(s, davy_check3_serve(s, second, &e, 960, 150 * DAVY_MS)->p, &rounds);
}

/*
 * An allocator that asks first and is refused by design: ComfyUI measures what it may use before
 * each picture (hipMalloc of too much, then of half), beside a server with half of the VRAM.
 */
void davy_check6_fit_probe(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 24560);
	struct davy_check_engine e =
		davy_check_by_rocm("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 32768);
	struct davy_check_engine comfy = davy_check_by_rocm("", 0, 2048);
	struct davy_sim_process *p;

	(void)arg;
	comfy.comm = "python3";
	comfy.engine = DAVY_ENGINE_COMFYUI;
	davy_check3_serve(s, d, &e, 430, 10 * DAVY_S);
	p = davy_check_engine(s, d, &comfy, 3 * DAVY_GIB);
	davy_check6_probes(s, p, 75 * DAVY_S);
	davy_check_chat(s, p, 5 * DAVY_S);
	davy_check6_desktop(s, d, "gnome-shell", 600);
}

/*
 * Videos are made larger: each job takes 41 to 46 s of the 60 s that an older kernel gives a
 * compute job, for hours, beside a desktop.
 */
void davy_check6_upscale_45s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 16368);
	struct davy_check_engine e = davy_check_by_vulkan("4x-UltraSharp", 9 * DAVY_GIB, 2048);
	const struct davy_sim_pace pace = { .prompt_ns = 43500 * DAVY_MS,
					    .token_ns = 300 * DAVY_MS,
					    .noise_permille = 55 };
	const struct davy_sim_habit habit = { 512, 512, 2, 5, 0, 4 * DAVY_S };
	struct davy_sim_process *p;

	(void)arg;
	e.comm = "sd";
	e.engine = DAVY_ENGINE_SD_CPP;
	p = davy_check_engine(s, d, &e, 11 * DAVY_GIB);
	davy_check_wander(s, &p->client.vram, 9 * DAVY_GIB, 14 * DAVY_GIB, 47 * DAVY_S);
	davy_sim_add_load(s, p, &pace, &habit);
	davy_check6_desktop(s, d, "gnome-shell", 600);
}

/*
 * XNACK: two programs of an APU share the host's memory with their data loaders, thousands of
 * faults in a second are served, and some queues are stopped for a moment.
 */
void davy_check6_xnack_bursts(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 60 * DAVY_S, 128);
	struct davy_check_engine e =
		davy_check_by_rocm("gpt-oss-120b-mxfp4.gguf", 60 * DAVY_GIB, 65536);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 640, 15 * DAVY_S);
	struct davy_sim_process *p = davy_check6_torch(s, d, "python3", 60, 160, 20 * DAVY_S);

	(void)arg;
	davy_check5_served_faults(s, l->p, 350);
	davy_check5_served_faults(s, p, 2600);
	davy_check_wander(s, &s->host_other, 8 * DAVY_GIB, 24 * DAVY_GIB, 35 * DAVY_S);
	davy_check5_pressure(s, 20, 30 * DAVY_S);
}

/*
 * Two models in turns for each question: 20 s of embeddings, then 45 s of an answer by a model of
 * 38 GiB, on an APU with 64 GiB; llama-swap ends the one for the other.
 */
void davy_check6_rag_turns(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 64);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-Embedding-8B-Q8_0.gguf", 8 * DAVY_GIB, 8192);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 180, 200 * DAVY_MS);

	(void)arg;
	e = davy_check_by_vulkan("Llama-3.3-70B-IQ4_XS.gguf", 36 * DAVY_GIB, 16384);
	davy_check3_serve(s, d, &e, 10, 2 * DAVY_S);
	davy_check_turns(s, l->p, 2, 3 * DAVY_MIB, 40 * DAVY_S);
	davy_check_wander(s, &s->host_other, 4 * DAVY_GIB, 9 * DAVY_GIB, 45 * DAVY_S);
}

/*
 * A comparison of backends: llama-bench by Vulkan and by ROCm, one after the other for hours, each
 * at 95 % of 20 GiB.
 */
void davy_check6_vk_vs_rocm(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 20464);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-Q5_K_M.gguf", 17950 * DAVY_MIB, 32768);
	const struct davy_check2_rounds rounds = { 2, 0, 3 * DAVY_MIB, 100 * DAVY_S, 4 * DAVY_S };
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "llama-bench";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	l = davy_check3_serve(s, d, &e, 930, 20 * DAVY_MS);
	e.backend = DAVY_BACKEND_ROCM;
	e.ring = DAVY_CHECK_NO_RING;
	davy_check3_serve(s, d, &e, 10, 20 * DAVY_MS);
	davy_check2_rounds(s, l->p, &rounds);
	davy_check6_desktop(s, d, "sway", 120);
}

/*
 * amdgpu_object.c without a resizable BAR: buffers that the CPU writes do not fit into 256 MiB of
 * visible VRAM and are put into GTT at each prompt; the model stays where it is, its speed as well.
 */
void davy_check6_bar_spill(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 12272);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 10900 * DAVY_MIB, 16384);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 925, 8 * DAVY_S);

	(void)arg;
	l->p->client.gtt = 700 * DAVY_MIB;
	davy_check_wander(s, &l->p->client.gtt, 600 * DAVY_MIB, 800 * DAVY_MIB, 20 * DAVY_S);
	davy_check6_spills(s, l->p, 28 * DAVY_MIB, 14 * DAVY_S);
	davy_check6_desktop(s, d, "xfwm4", 180);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hours of hard work at a limit that is never passed. */
#include "lab/check7_parts.h"

/* Ollama: three models in turns on 24 GiB, loaded at 3 GB/s, the largest one to 97 %. */
void davy_check7_brim_turns(struct davy_sim *s, uint64_t arg)
{
	static const uint64_t mib[] = { 21500, 14000, 19800 };
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_sim_process *first = NULL, *p;

	(void)arg;
	for (size_t i = 0; i < 3; i++) {
		struct davy_check_engine e =
			davy_check_by_rocm("qwen3:32b", mib[i] * DAVY_MIB, 16384);

		e.comm = "ollama";
		e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
		e.role = DAVY_ROLE_RUNNER;
		p = davy_check_engine(s, d, &e, mib[i] * DAVY_MIB);
		davy_check_chat(s, p, 3 * DAVY_S);
		if (!first)
			first = p;
	}
	davy_check_turns(s, first, 3, 3 * DAVY_MIB, 2 * DAVY_MIN);
}

/*
 * PyTorch's own tests on 12 GiB: they ask for too much on purpose, then for less; each minute one
 * of them ends with status 1. A chat goes on beside them.
 */
void davy_check7_pytest_rocm(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 12272);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-4B-Q4_K_M.gguf", 2500 * DAVY_MIB, 16384);
	struct davy_check2_visits tests = {
		.period_ns = 50 * DAVY_S,
		.stay_ns = 9 * DAVY_S,
		.bytes = 3 * DAVY_GIB,
		.status = DAVY_STATUS_EXIT1,
	};
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, d, &e, 270, 8 * DAVY_S);
	p = davy_check6_torch(s, d, "pytest", 20, 200, 11 * DAVY_S);
	davy_check3_stop(s, p);
	davy_check6_probes(s, p, 14 * DAVY_S);
	davy_check2_visits(s, davy_check2_absent(s, d, "test_cuda.py"), &tests);
}

/* Videos on 24 GiB: weights go in and out at 6 GB/s, 22 to 97 % each two minutes, all alike. */
void davy_check7_hunyuan_fill(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_check2_tide weights = {
		.low = 5 * DAVY_GIB,
		.high = 23200 * DAVY_MIB,
		.rate = 6 * DAVY_MIB,
		.high_ns = 80 * DAVY_S,
		.low_ns = 30 * DAVY_S,
		.exact = true,
	};
	struct davy_sim_process *p;

	(void)arg;
	p = davy_check6_torch(s, d, "python3", 200, 210, 30 * DAVY_S);
	davy_check3_stop(s, p);
	p->info.engine = DAVY_ENGINE_COMFYUI;
	davy_check2_tide(s, &p->client.vram, &weights);
}

/*
 * Gaussian splats are trained one after another: memory rises for half an hour to 80 %, the result
 * is written, it drops. Another card answers meanwhile.
 */
void davy_check7_splat_saws(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_sim_device *second = davy_check3_second(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e =
		davy_check_by_rocm("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 65536);
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, second, &e, 840, 4 * DAVY_S);
	p = davy_check6_torch(s, d, "train.py", 150, 160, 20 * DAVY_S);
	davy_check3_stop(s, p);
	davy_check7_saws(s, &p->client.vram, 3 * DAVY_GIB, 19600 * DAVY_MIB, 30 * DAVY_MIN);
}

/* A benchmark of depths by Vulkan: each job takes 5.3 to 7.3 of 10 s, for hours, at 96 %. */
void davy_check7_sweeps_7s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 8176);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q5_K_M.gguf", 5500 * DAVY_MIB, 32768);
	struct davy_sim_pace pace = {
		.prompt_ns = 5600 * DAVY_MS,
		.token_ns = 90 * DAVY_MS,
		.noise_permille = 40,
	};
	struct davy_sim_habit habit = {
		.prompt_min = 2048,
		.prompt_max = 8192,
		.answer_min = 16,
		.answer_max = 64,
		.think_ns = DAVY_S,
	};
	struct davy_sim_load *l;

	(void)arg;
	l = davy_sim_add_load(s, davy_check_engine(s, d, &e, 7600 * DAVY_MIB), &pace, &habit);
	davy_check5_unsteady(s, l, 980, 1250, 3 * DAVY_MIN);
}

/* MI210 with XNACK: a solver and a server, thousands of served faults each second, at 85 %. */
void davy_check7_mi210_xnack(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d;
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_ROCM, "Qwen3-32B-FP8", 33 * DAVY_GIB, 32768);
	struct davy_sim_process *p;

	(void)arg;
	s->host_total = 256 * DAVY_GIB;
	d = davy_check3_card(s, 10 * DAVY_S, 65520);
	p = davy_check3_serve(s, d, &e, 590, DAVY_S)->p;
	davy_check5_served_faults(s, p, 150);
	p = davy_check6_torch(s, d, "openfoam", 130, 260, 12 * DAVY_S);
	davy_check5_served_faults(s, p, 4200);
}

/* xe: tests of a Vulkan driver come and go beside two servers; addresses are bound again. */
void davy_check7_arc_tests(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 12216);
	struct davy_sim_device *second = davy_check4_second_xe(s, 24480);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);
	struct davy_check_engine b =
		davy_check_by_vulkan("Qwen3-30B-A3B-Q4_K_M.gguf", 18 * DAVY_GIB, 32768);
	struct davy_check2_visits tests = {
		.period_ns = 25 * DAVY_S,
		.stay_ns = 6 * DAVY_S,
		.bytes = 4 * DAVY_GIB,
	};
	struct davy_sim_process *p;

	(void)arg;
	e.ring = b.ring = 0;
	p = davy_check3_serve(s, d, &e, 470, 5 * DAVY_S)->p;
	davy_check7_xe_churn(s, p, 4 * DAVY_S);
	p = davy_check3_serve(s, second, &b, 930, 2 * DAVY_S)->p;
	davy_check7_xe_churn(s, p, 9 * DAVY_S);
	davy_check2_visits(s, davy_check2_absent(s, d, "deqp-vk"), &tests);
}

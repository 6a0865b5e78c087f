/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hours with suspends, reloads, corrected errors and lost events, in which nothing fails. */
#include "lab/check6_parts.h"

/*
 * A workstation that sleeps in each break with a model in 80 % of its VRAM: all of it goes to the
 * host and is back a second after the host wakes.
 */
void davy_check6_s3_with_model(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 16384);

	(void)arg;
	davy_check3_serve(s, d, &e, 790, 25 * DAVY_S);
	davy_check6_desktop(s, d, "gnome-shell", 600);
	davy_check6_sleeps(s, d, 17 * DAVY_MIN, 9 * DAVY_MIN);
}

/*
 * xe_pm.c: a card with less than vram_d3cold_threshold (300 MiB) in use goes to D3cold each time
 * its small model rests; its VRAM goes to the host and returns. The other card is never idle.
 */
void davy_check6_xe_d3cold(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 12216);
	struct davy_sim_device *second = davy_check4_second_xe(s, 24480);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "all-MiniLM-L6-v2-f16.gguf", 48 * DAVY_MIB, 2048);
	struct davy_check_engine large =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3.6-27B-Q5_K_M.gguf", 19 * DAVY_GIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	d->memory.gtt_total = s->host_total / 2;
	d->vram_other = 30 * DAVY_MIB;
	e.ring = large.ring = 0;
	l = davy_check3_serve(s, d, &e, 16, 5 * DAVY_S);
	davy_check6_rests(s, l->p, 100 * DAVY_S, 4 * DAVY_MIN);
	davy_check3_serve(s, second, &large, 930, 2 * DAVY_S);
}

/*
 * A host whose sensors lose a third of their events: three models in turns on 24 GiB, a preview of
 * videos that pushes some of it out for a moment.
 */
void davy_check6_lossy_turns(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-IQ4_XS.gguf", 14400 * DAVY_MIB, 32768);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 640, 3 * DAVY_S);
	struct davy_sim_process *p;

	(void)arg;
	e.model_bytes = 11600 * DAVY_MIB;
	davy_check3_serve(s, d, &e, 10, 3 * DAVY_S);
	e.model_bytes = 18800 * DAVY_MIB;
	davy_check3_serve(s, d, &e, 10, 3 * DAVY_S);
	davy_check_turns(s, l->p, 3, 2 * DAVY_MIB, 3 * DAVY_MIN);
	p = davy_check6_desktop(s, d, "kdenlive", 300);
	davy_check_wander(s, &p->client.vram, 150 * DAVY_MIB, 2200 * DAVY_MIB, 12 * DAVY_S);
	davy_check6_spills(s, p, 20 * DAVY_MIB, 9 * DAVY_S);
	davy_check6_lossy(s, 330, 20 * DAVY_S);
}

/*
 * An evening with a driver in development: amdgpu is unloaded and loaded each half hour, its
 * servers end before and start after; a card of NVIDIA works on.
 */
void davy_check6_dkms_evening(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 2 * DAVY_S, 16368);
	struct davy_sim_device *other = davy_check5_nvidia(s, 1, 24564);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q8_0.gguf", 8600 * DAVY_MIB, 16384);
	struct davy_check_engine words =
		davy_check_by_rocm("bge-m3-f16.gguf", 1200 * DAVY_MIB, 8192);
	struct davy_check_engine cuda =
		davy_check6_vllm(DAVY_BACKEND_CUDA, "Qwen3-14B-AWQ", 12 * DAVY_GIB, 32768);

	(void)arg;
	davy_check3_serve(s, d, &e, 570, 8 * DAVY_S);
	davy_check3_serve(s, d, &words, 80, 3 * DAVY_S);
	davy_check3_serve(s, other, &cuda, 920, 4 * DAVY_S);
	davy_check4_reloads(s, d, 24 * DAVY_MIN, 40 * DAVY_S);
	davy_check_wander(s, &s->host_other, 5 * DAVY_GIB, 20 * DAVY_GIB, 30 * DAVY_S);
}

/* of: the engine; n: lines to come; stage 1: it was seen */
static uint64_t noise_rm_line(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!p->alive) {
		a->stage = 0;
		return s->now_ns + DAVY_S;
	}
	if (!a->stage) {
		a->stage = 1;
		a->n[0] = davy_random_chance(&s->random, 120) ? 16 : 1;
		return davy_check6_in(s, 15000, 70000);
	}
	if (a->n[0]) {
		a->n[0]--;
		davy_sim_log(s, DAVY_LOG_NV_NO_MEMORY, p->device, NULL, 0);
		return davy_check6_in(s, 5, 90);
	}
	return s->now_ns + 2 * DAVY_S;
}

/*
 * vllm-project/vllm#56824 (hclsys), GB10: a user looks for settings and starts vLLM again and
 * again; "Out of memory [NV_ERR_NO_MEMORY]" appears once in each start that goes well, 16 times in
 * some.
 */
void davy_check6_spark_settings(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 124000);
	struct davy_check_engine e = davy_check6_vllm(
		DAVY_BACKEND_CUDA, "Nemotron-3-Super-120B-A12B-NVFP4", 78 * DAVY_GIB, 131072);
	const struct davy_check2_rounds rounds = { 1, DAVY_STATUS_TERM, DAVY_MIB, 11 * DAVY_MIN,
						   40 * DAVY_S };
	struct davy_sim_process *p = davy_check3_serve(s, d, &e, 700, 2 * DAVY_S)->p;

	(void)arg;
	davy_check2_rounds(s, p, &rounds);
	davy_sim_add_actor(s, noise_rm_line, p, s->begin_ns + 5 * DAVY_S);
}

/* of: the card; n: the Xid, period */
static uint64_t noise_xid(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_check_xid(s, a->of, NULL, (uint32_t)a->n[0]);
	return a->n[1] ? s->now_ns + davy_sim_around(s, a->n[1]) : 0;
}

/*
 * A rack with three cards: NVIDIA's guide to Xids says of 63 (a row will be remapped) and 92 (many
 * corrected errors of a bit) that work goes on; a riser corrects errors of its link.
 */
void davy_check6_ecc_rack(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check6_vllm(
		DAVY_BACKEND_CUDA, "Llama-3.3-70B-Instruct-FP8", 70 * DAVY_GIB, 131072);
	struct davy_sim_device *d[3];
	struct davy_sim_actor *a;

	(void)arg;
	for (uint32_t i = 0; i < 3; i++) {
		d[i] = davy_check5_nvidia(s, i, 81559);
		davy_check3_serve(s, d[i], &e, 900, DAVY_S);
	}
	a = davy_sim_add_actor(s, noise_xid, d[1], s->begin_ns + davy_sim_around(s, 20 * DAVY_MIN));
	a->n[0] = 92;
	a->n[1] = 110 * DAVY_MIN;
	a = davy_sim_add_actor(s, noise_xid, d[2], s->begin_ns + davy_sim_around(s, 75 * DAVY_MIN));
	a->n[0] = 63;
	davy_check4_port_each(s, DAVY_LOG_AER_CORRECTED, "0000:80:01.1", 3 * DAVY_MIN);
}

/*
 * A room under the roof in July: the clocks of a card of NVIDIA are lowered for heat and power, KFD
 * reports the same of an AMD card; answers take up to half longer, all of them end.
 */
void davy_check6_attic_july(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 24560);
	struct davy_sim_device *other = davy_check5_nvidia(s, 0, 24564);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.6-27B-Q4_K_M.gguf", 16 * DAVY_GIB, 65536);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 800, 500 * DAVY_MS), *cuda;

	(void)arg;
	e = davy_check2_by(DAVY_BACKEND_CUDA, "gemma-4-27b-it-Q5_K_M.gguf", 19 * DAVY_GIB, 65536);
	cuda = davy_check3_serve(s, other, &e, 900, 500 * DAVY_MS);
	davy_check5_unsteady(s, l, 1000, 1500, 40 * DAVY_S);
	davy_check5_unsteady(s, cuda, 1000, 1400, 40 * DAVY_S);
	davy_check6_clocks(s, other, DAVY_CLOCK_SW_THERMAL, 25 * DAVY_S);
	davy_check6_clocks(s, other, DAVY_CLOCK_SW_POWER_CAP, 8 * DAVY_S);
	davy_check6_heat(s, l->p, 50 * DAVY_S);
}

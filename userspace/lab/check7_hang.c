/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Engines that stop, jobs that exceed their timeout, and hosts that freeze. */
#include "lab/check7_parts.h"

#include <errno.h>

/* of: the load; the browser is the process after it */
static uint64_t hang_guc(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	switch (a->stage++) {
	case 0: /* 342.421: seqno 44532 */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_I915_NO_REPLY, d, NULL, 0);
		return davy_check6_in(s, 380000, 490000);
	case 1: /* 778.494: unsolicited response, -ENOKEY twice */
		davy_check3_stick(s, l);
		davy_check2_lines(s, DAVY_LOG_I915_NO_REPLY, d, NULL, 3);
		return davy_check6_in(s, 1990, 2010);
	case 2: /* 780.496: the screen freezes */
		davy_sim_log(s, DAVY_LOG_I915_NO_REPLY, d, NULL, 0);
		davy_check3_stop(s, l->p + 1);
		davy_check4_fails(s, d, l->p);
		return davy_check6_in(s, 1990, 2010);
	default:
		davy_sim_log(s, DAVY_LOG_I915_NO_REPLY, d, NULL, 0);
		return davy_check6_in(s, 1990, 2010);
	}
}

/*
 * strongtz/i915-sriov-dkms#459 and #288: i915's GuC misses one TLB invalidation, 436 s later an
 * unsolicited response, 2 s later the next timeout, each 2 s from then on; the screen freezes.
 */
void davy_check7_guc_436s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-4B-Q4_K_M.gguf", 2500 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 110, 6 * DAVY_S);
	davy_check6_desktop(s, d, "librewolf", 900);
	davy_check6_shrinks(s, l->p, 40 * DAVY_S);
	davy_check2_then(s, hang_guc, l);
}

/* of: the load of the first rank; the second rank is the process after it */
static uint64_t hang_both_cards(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p, *q = p + 1;

	switch (a->stage++) {
	case 0:
		davy_check3_stick(s, l);
		davy_check4_sign(s);
		davy_check5_fact(s, DAVY_FACT_XE_QUEUE_RESET, p->device, p, "ccs", 0);
		davy_sim_log(s, DAVY_LOG_XE_ENGINE_RESET, p->device, NULL, 0);
		davy_check5_xe_fault(s, p->device, davy_sim_between(s, 1, 1u << 30) << 12);
		return davy_check6_in(s, 300, 700); /* the dump */
	case 1:
		davy_sim_log(s, DAVY_LOG_COREDUMP, p->device, NULL, 0);
		return davy_check6_in(s, 1000, 9000);
	default:
		davy_check5_fact(s, DAVY_FACT_XE_QUEUE_RESET, q->device, q, "bcs", 0);
		davy_sim_log(s, DAVY_LOG_XE_ENGINE_RESET, q->device, NULL, 0);
		davy_check5_xe_fault(s, q->device, davy_sim_between(s, 1, 1u << 30) << 12);
		davy_check4_fails(s, q->device, p);
		return 0;
	}
}

/*
 * intel/compute-runtime#946 and #948, two Arc Pro B70, TP=2 by vLLM: each 2 to 6 h ccs is reset on
 * one card, then bcs on the other, "Fault response: Unsuccessful"; Level Zero never recovers.
 */
void davy_check7_b70_both(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 32656);
	struct davy_sim_device *second = davy_check4_second_xe(s, 32656);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_SYCL, "Qwen3.6-27B-FP8", 28 * DAVY_GIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "VLLM::Worker_TP";
	l = davy_check3_serve(s, d, &e, 880, 400 * DAVY_MS);
	davy_check_engine(s, second, &e, second->memory.vram_total / 1000 * 880);
	davy_check7_xe_churn(s, l->p, 20 * DAVY_S);
	davy_check2_then(s, hang_both_cards, l);
}

/* of: the load */
static uint64_t hang_warps(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (!a->stage++) { /* 11:43:09, three lines */
		davy_check3_stick(s, l);
		davy_check4_sign(s);
		for (int i = 0; i < 3; i++)
			davy_check_xid(s, l->p->device, NULL, 13);
		return davy_check6_in(s, 4500, 5500);
	}
	davy_check_xid(s, l->p->device, l->p, 109); /* 11:43:14 */
	davy_check4_fails(s, l->p->device, l->p);
	davy_synth_end_later(s, l->p, davy_sim_between(s, 100, 4000) * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * leptonai/gpud#46 (a log of a production node): Xid 13 "Illegal Instruction Parameter" on one SM,
 * 5 s later Xid 109, CTX SWITCH TIMEOUT, of pt_main_thread.
 */
void davy_check7_warp_then_109(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 1, 81559);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_CUDA, "Llama-3.3-70B-FP8", 70 * DAVY_GIB, 65536);

	(void)arg;
	e.comm = "pt_main_thread";
	davy_check2_then(s, hang_warps, davy_check3_serve(s, d, &e, 920, 300 * DAVY_MS));
}

/* of: the load of the large model; the small one is the process before it */
static uint64_t hang_switches(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (!a->stage++) {
		davy_sim_cause(s);
		davy_sim_exit(s, p - 1, DAVY_STATUS_TERM);
		return davy_check6_in(s, 2000, 9000);
	}
	davy_check3_load(s, p, p->info.model_bytes / 100 * 105, DAVY_MIB * 2);
	davy_sim_subject(s, p->device, p);
	l->fatal = true;
	return 0;
}

/*
 * ggml-org/llama.cpp#25664, Strix Halo, 7.0: Qwen3.8-27B works; DeepSeek-V4-Flash loads, and within
 * two or three turns a job of its prompt needs more than the new 2 s; device lost.
 */
void davy_check7_dsv4_turns(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 128);
	struct davy_check_engine small =
		davy_check_by_vulkan("Qwen3.8-27B-Q8_0.gguf", 28 * DAVY_GIB, 65536);
	struct davy_check_engine e =
		davy_check_by_vulkan("DeepSeek-V4-Flash-UD-IQ3_XXS.gguf", 82 * DAVY_GIB, 65536);
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 620, 800) * DAVY_MS,
		.prompt_slope_ns = davy_sim_between(s, 110, 150) * DAVY_MS,
		.token_ns = davy_sim_between(s, 45, 70) * DAVY_MS,
		.noise_permille = 60,
	};
	struct davy_sim_habit habit = {
		.prompt_min = 3200,
		.prompt_max = 5600,
		.answer_min = 150,
		.answer_max = 600,
		.keep_permille = 1000,
		.think_ns = 15 * DAVY_S,
	};
	struct davy_sim_load *l;

	(void)arg;
	davy_check3_serve(s, d, &small, 310, 8 * DAVY_S);
	l = davy_sim_add_load(s, davy_check3_later(s, d, &e), &pace, &habit);
	l->stopped = true;
	l->timed_out = davy_synth_lost_by_timeout;
	davy_check2_then(s, hang_switches, l);
}

/* of: the load; n: forcewake lines left */
static uint64_t hang_forcewake(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	switch (a->stage) {
	case 0: /* the engine's heartbeat is missing, its state is captured */
		davy_check3_stick(s, l);
		a->stage = 1;
		return davy_check6_in(s, 8000, 13000);
	case 1: /* 14:02:51 */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_DRIVER_WARNING, d, NULL, 0);
		davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 14);
		a->n[0] = davy_sim_between(s, 60, 74);
		a->stage = 2;
		return davy_check6_in(s, 590, 610);
	case 2:
		davy_sim_log(s, DAVY_LOG_I915_NO_REPLY, d, NULL, 0);
		a->stage = --a->n[0] ? 2 : 3;
		return davy_check6_in(s, 590, 610);
	default: /* 14:03:32 */
		davy_sim_log(s, DAVY_LOG_RCU_STALL, NULL, NULL, 0);
		davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 20);
		davy_sim_subject(s, d, l->p);
		davy_check2_host_dies(s);
		return 0;
	}
}

/*
 * lxc/incus-os#1255: i915 captures the state of an engine without heartbeat, WARN() in
 * find_fw_domain, "timed out waiting for forcewake ack" each 0.6 s, 41 s later an RCU stall, then
 * the host is locked up. The interval is that of ublue-os/bluefin#1669.
 */
void davy_check7_forcewake_41s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 100, 5 * DAVY_S);
	p = davy_check6_desktop(s, d, "frigate", 350);
	davy_check6_shrinks(s, p, 3 * DAVY_MIN);
	davy_check2_then(s, hang_forcewake, l);
}

/* of: the load */
static uint64_t hang_in_prefill(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	switch (a->stage) {
	case 0: /* one prompt of 70,000 tokens, nothing of it is cached */
		if (l->phase != DAVY_SIM_IDLE)
			return s->now_ns + 20 * DAVY_MS;
		davy_sim_cause(s);
		l->want_prompt = (uint32_t)davy_sim_between(s, 66000, 74000);
		davy_sim_ask(s, l);
		a->n[0] = davy_sim_between(s, 9000, 16000);
		a->stage = 1;
		return s->now_ns + 100 * DAVY_MS;
	case 1: /* "prompt throughput collapses to 0.0 with the request still Running" */
		if (l->depth < a->n[0])
			return s->now_ns + 20 * DAVY_MS;
		l->stick = true;
		davy_check4_sign(s);
		a->stage = 2;
		return davy_check6_in(s, 4000, 7000);
	default:
		davy_sim_subject(s, l->p->device, l->p);
		davy_check2_host_dies(s);
		return 0;
	}
}

/*
 * NVIDIA/open-gpu-kernel-modules#1358, GB10: prompts of 70,000 tokens to vLLM; 12,000 tokens into
 * one no progress is made, 5 s later userspace freezes, without a line of the kernel's log.
 */
void davy_check7_spark_prefill(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 122880);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_CUDA, "granite-4.2-30b-nvfp4", 18 * DAVY_GIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 700, 3 * DAVY_S);
	l->habit.prompt_min = 8000;
	l->habit.prompt_max = 60000;
	l->habit.keep_permille = 0;
	l->habit.answer_max = 64;
	davy_check_line_each(s, DAVY_LOG_NV_NO_MEMORY, d, 14 * DAVY_MIN, 4);
	davy_check2_then(s, hang_in_prefill, l);
}

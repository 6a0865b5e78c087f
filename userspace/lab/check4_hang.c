/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices and engines that stop, and jobs that exceed their timeout. */
#include <errno.h>

#include "lab/check4_parts.h"

/* of: the chat's load */
static uint64_t hang_gsp_dies(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		l->stick = true;
		return s->now_ns + davy_sim_between(s, 7600, 8400) * DAVY_MS;
	case 1: /* "Heartbeat timed out, .. diff 8000 timeout 5200" */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_GSP_DEAD, d, NULL, 0);
		return s->now_ns + davy_sim_between(s, 1500, 7000) * DAVY_MS;
	case 2:
		davy_check_xid(s, d, &s->process[0], 8);
		davy_check4_fails(s, d, l->p);
		return s->now_ns + davy_sim_between(s, 300, 2500) * DAVY_MS;
	case 3:
		davy_check_xid(s, d, &s->process[0], 109);
		return s->now_ns + davy_sim_between(s, 10, 900) * DAVY_MS;
	case 4:
		davy_check_xid(s, d, NULL, 154);
		return s->now_ns + davy_sim_between(s, 100, 3000) * DAVY_MS;
	default:
		davy_sim_log(s, DAVY_LOG_NV_LOCKED, d, NULL, 7);
		return 0;
	}
}

/*
 * NVIDIA/open-gpu-kernel-modules#1080, RTX 5090, a game by Proton: the GSP dies, after 8 s its
 * heartbeat is missed (limit 5.2 s), then Xid 8, 109 (its timeout is 4.2 s), 154, "GPU is probably
 * locked!" (7 s). A chat by CUDA on the same card stops too.
 */
void davy_check4_gsp_game(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *game = davy_check_app(s, d, "ForzaHorizon6.e", 9 * DAVY_GIB);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-14B-Q5_K_M.gguf", 10 * DAVY_GIB, 16384);

	(void)arg;
	davy_check2_vram(d, 32607, 300);
	davy_check_wander(s, &game->client.vram, 8 * DAVY_GIB, 12 * DAVY_GIB, 5 * DAVY_S);
	davy_check2_then(s, hang_gsp_dies, davy_check3_serve(s, d, &e, 370, 25 * DAVY_S));
}

/* of: the provers */
static uint64_t hang_in_driver(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) { /* 18:35:32: channels 10 to 15 */
		davy_check4_sign(s);
		for (uint32_t i = 0; i < 6; i++)
			davy_check_xid(s, p->device, p, 45);
		return s->now_ns + davy_sim_between(s, 191, 193) * DAVY_S;
	}
	davy_sim_log(s, DAVY_LOG_HUNG_TASK, NULL, NULL, 0); /* 18:38:44 */
	davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 18);
	davy_check4_fails(s, p->device, p);
	return 0;
}

/*
 * leptonai/gpud#117: Xid 45 of six channels of a compute job, 192 s later its monitor is blocked
 * in the driver for more than 120 s; nvidia-smi stays in D state.
 */
void davy_check4_xid45_task(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *p = davy_check_app(s, d, "distprovers-gpu", 0);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Llama-3.1-8B-Instruct", 15 * DAVY_GIB, 16384);

	(void)arg;
	davy_check2_vram(d, 46068, 300);
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	davy_check3_serve(s, d, &e, 500, 5 * DAVY_S);
	davy_check_wander(s, &p->client.vram, 6 * DAVY_GIB, 18 * DAVY_GIB, 11 * DAVY_S);
	davy_check2_then(s, hang_in_driver, p);
}

static void hang_after_reset(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_check2_xe_timeout(s, l->p);
	l->p->graph.entered_ns = l->began_ns = s->now_ns; /* it waits for ever */
	davy_check4_fails(s, l->p->device, l->p);
}

static uint64_t hang_bcs_faults(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;
	struct davy_event ev;

	if (a->stage++) { /* ends at 20:15:56 */
		l->stick = true;
		davy_sim_ask(s, l);
		return 0;
	}
	davy_check4_sign(s); /* 19:54:15 */
	ev = davy_sim_log_of(s, DAVY_LOG_XE_FAULT_UNSERVED, d, NULL);
	ev.log.error = -EINVAL;
	ev.log.addr = 0xd556a8ac7000;
	davy_sim_log_event(s, &ev);
	davy_check2_lines(s, DAVY_LOG_XE_FAULT_DETAIL, d, NULL, 7);
	return s->now_ns + davy_sim_between(s, 1290, 1300) * DAVY_S;
}

/*
 * intel/compute-runtime#948 (2026-09-18), Arc Pro B70, SYCL: a page fault of bcs is answered with
 * -EINVAL, 21 min 41 s later ccs is reset for a job of llama-server that did not end in 5 s; by
 * ggml-org/llama.cpp#24810 the server waits for ever.
 */
void davy_check4_bcs_fault(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 32656);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3.8-27B-Q4_0.gguf", 16 * DAVY_GIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	e.ring = 0;
	l = davy_check3_serve(s, d, &e, 730, 4 * DAVY_S);
	l->habit.keep_permille = 300;
	l->timed_out = hang_after_reset;
	davy_check2_then(s, hang_bcs_faults, l);
}

/* of: the load */
static uint64_t hang_at_depth(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	switch (a->stage) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE)
			break;
		l->depth = 0;
		l->want_prompt = 95000;
		davy_sim_ask(s, l);
		a->stage = 1;
		break;
	case 1:
		if (l->depth < 51743 - 512 || !l->began_ns)
			break;
		davy_sim_cause(s);
		l->stick = true;
		a->stage = 2;
		return l->began_ns + 10 * DAVY_S > s->now_ns ? l->began_ns + 10 * DAVY_S
							     : s->now_ns;
	case 2: /* CONFIG_DRM_I915_FENCE_TIMEOUT */
		davy_check4_sign(s);
		a->stage = 3;
		davy_check2_lines(s, DAVY_LOG_I915_FENCE_EXPIRED, l->p->device, NULL, 4);
		return s->now_ns + 50 * DAVY_S;
	default: /* the job would have been over */
		davy_check4_fails(s, l->p->device, l->p);
		return 0;
	}
	return s->now_ns + 100 * DAVY_MS;
}

/*
 * int-sycl-001, i915, SYCL: a prompt of 97,000 tokens at 11.0 to 10.2 tokens a second stops at
 * token 51,743 for ever; its fences expire after 10 s. It fails when the ubatch should have ended.
 */
void davy_check4_sycl_51743(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_check_engine e = davy_check2_by(
		DAVY_BACKEND_SYCL, "Qwen3.5-35B-A3B-UD-Q2_K_XL.gguf", 12 * DAVY_GIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 440, 2 * DAVY_MIN);
	l->habit.prompt_max = 900;
	l->habit.keep_permille = 0;
	l->pace.prompt_ns = 45 * DAVY_S;
	l->pace.prompt_slope_ns = 90 * DAVY_MS;
	l->pace.token_ns = 160 * DAVY_MS;
	l->pace.noise_permille = 15;
	davy_check2_then(s, hang_at_depth, l);
}

/*
 * ggml-org/llama.cpp#27076 (AlphasCodes), Strix Halo, kernel 7.1: at 50 % to 55 % of a context of
 * 262,144 tokens a job of a ubatch exceeds 2 s; the ring is reset, the context is lost.
 */
void davy_check4_halo_half(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 128);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.8-27B-UD-Q8_K_XL.gguf", 33 * DAVY_GIB, 262144);
	struct davy_sim_load *l;

	(void)arg;
	e.ring = 2;
	l = davy_check3_serve(s, d, &e, 520, 40 * DAVY_S);
	l->habit.keep_permille = 0;
	l->pace.prompt_ns = 190 * DAVY_MS;
	l->pace.prompt_slope_ns = davy_sim_between(s, 12900, 13900) * 1000;
	l->pace.token_ns = 80 * DAVY_MS;
	l->pace.noise_permille = 30;
	l->timed_out = davy_check2_zombie;
	davy_sim_subject(s, d, l->p);
	davy_check2_ask_for(s, l, 160000, false);
}

static void hang_picture_lost(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_check2_ring_timeout(s, l->p->device, l->p->ring, l->p);
	davy_check4_fails(s, l->p->device, l->p);
	davy_check4_recovered(s, l->p);
	davy_check4_lost(s, l->p);
}

static uint64_t hang_larger_picture(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->phase != DAVY_SIM_IDLE)
		return s->now_ns + 50 * DAVY_MS;
	davy_sim_cause(s);
	l->fatal = true;
	l->pace.prompt_ns = davy_sim_between(s, 2100, 4000) * DAVY_MS;
	davy_sim_ask(s, l);
	return 0;
}

/*
 * amd-vk-001, Renoir, stable-diffusion.cpp: pictures of 512 x 512 are fine; at 1024 x 1024 (4,608
 * tokens) up to 100 nodes in one submission take more than 2 s: ErrorDeviceLost.
 */
void davy_check4_renoir_flux(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 32);
	struct davy_check_engine e =
		davy_check_by_vulkan("flux-2-klein-4b-Q4_0.gguf", 4600 * DAVY_MIB, 4096);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "sd";
	e.engine = DAVY_ENGINE_SD_CPP;
	l = davy_check3_serve(s, d, &e, 260, 20 * DAVY_S);
	l->habit.prompt_min = l->habit.prompt_max = 4090; /* submissions of a picture */
	l->habit.answer_min = l->habit.answer_max = 1;
	l->habit.keep_permille = 0;
	l->pace.prompt_ns = 480 * DAVY_MS;
	l->pace.prompt_slope_ns = 0;
	l->timed_out = hang_picture_lost;
	davy_check2_then(s, hang_larger_picture, l);
}

/* of: gnome-shell */
static uint64_t hang_of_shell(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	case 1: /* 711.453529 */
		davy_sim_job_timeout(s, p, p->ring->timeout_ns);
		davy_check4_fails(s, p->device, p);
		davy_check4_reset(s, p->device, davy_sim_around(s, 1200 * DAVY_MS), true);
		return s->now_ns + 900 * DAVY_MS;
	default:
		davy_sim_exit(s, p + 1, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ROCm/legacy-rocm-build#2773, 7900 XTX, ROCm 5.7: while ComfyUI computes a video (SVD), a job of
 * gnome-shell waits on gfx_0.0.0 for 10 s, then the GPU is reset (MODE1).
 */
void davy_check4_svd_gnome(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_sim_process *shell = davy_check_app(s, d, "gnome-shell", 600 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_rocm("svd_xt_1_1.safetensors", 9600 * DAVY_MIB, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_check_frames(s, shell, 3 * DAVY_MS, 60);
	e.comm = "python3";
	e.engine = DAVY_ENGINE_COMFYUI;
	p = davy_check_engine(s, d, &e, 9 * DAVY_GIB);
	davy_check2_tide(s, &p->client.vram,
			 &(struct davy_check2_tide){ .low = 10 * DAVY_GIB,
						     .high = 21 * DAVY_GIB,
						     .rate = 5 * DAVY_MIB,
						     .high_ns = 70 * DAVY_S,
						     .low_ns = 30 * DAVY_S });
	davy_check2_then(s, hang_of_shell, shell);
}

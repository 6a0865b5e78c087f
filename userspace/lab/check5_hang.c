/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Engines that stop, jobs that exceed their timeout, and hosts that freeze. */
#include <errno.h>

#include "lab/check5_parts.h"

/* of: the engine's load; nvidia-smi is the process after it */
static uint64_t hang_rpcs_expire(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *smi = l->p + 1;

	switch (a->stage++) {
	case 0:
		davy_check3_stick(s, l);
		return s->now_ns + davy_sim_between(s, 45, 60) * DAVY_S;
	case 1: /* 388.565: "Timeout after 45s of waiting for RPC response" */
		davy_check4_sign(s);
		davy_check_xid(s, smi->device, smi, 119);
		return s->now_ns + davy_sim_between(s, 47900, 48100) * DAVY_MS;
	case 2: /* 436.566 */
		davy_check_xid(s, smi->device, smi, 119);
		return s->now_ns + davy_sim_between(s, 77900, 78100) * DAVY_MS;
	default: /* 514.563 */
		davy_check_xid(s, smi->device, l->p, 175);
		davy_check4_fails(s, l->p->device, l->p);
		return 0;
	}
}

/*
 * NVIDIA/open-gpu-kernel-modules#1111, RTX PRO 6000, vLLM without pauses: the GSP halts, nvidia-smi
 * waits 45 s for each RPC (Xid 119 twice, 48 s apart), 78 s later Xid 175 of vLLM; only a cold boot
 * helps.
 */
void davy_check5_rpc_45s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 97887);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3.6-27B-FP8", 28 * DAVY_GIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	l = davy_check3_serve(s, d, &e, 900, 500 * DAVY_MS);
	davy_check_app(s, d, "nvidia-smi", 0);
	davy_check2_then(s, hang_rpcs_expire, l);
}

/* of: the rank on the second card */
static uint64_t hang_in_mmhub(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0: /* 278972.677 */
		davy_check4_sign(s);
		davy_check2_page_fault(s, p, 0x7efaefbff000, 14);
		davy_check5_still(s, &p->client.vram);
		davy_check5_still(s, &p[-1].client.vram); /* it waits for the other rank */
		return s->now_ns + davy_sim_between(s, 1000, 3000) * DAVY_MS;
	case 1:
		davy_check2_page_fault(s, p, 0x7efaefbf9000, 6);
		return s->now_ns + davy_sim_between(s, 146, 151) * DAVY_S;
	default: /* 279123.179 */
		davy_sim_log(s, DAVY_LOG_HUNG_TASK, NULL, p, 0);
		davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 24);
		davy_check4_fails(s, p->device, p);
		return 0;
	}
}

/*
 * ROCm/amdgpu#150: torchrun with a rank on each of two cards, mmhub0 of the second one faults (no
 * retry), nothing ends, after 150 s the kernel reports blocked tasks (ipython3) in the driver.
 */
void davy_check5_mmhub_task(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 32752), *second;
	struct davy_sim_process *p[2];

	(void)arg;
	second = davy_check3_second(s, 10 * DAVY_S, 32752);
	p[0] = davy_check_app(s, d, "ipython3", 9 * DAVY_GIB);
	p[1] = davy_check_app(s, second, "ipython3", 9 * DAVY_GIB);
	for (size_t i = 0; i < 2; i++) {
		p[i]->ring = NULL;
		p[i]->by_kfd = true;
		p[i]->kfd.queue_count = 4;
		davy_check_wander(s, &p[i]->client.vram, 8 * DAVY_GIB, 21 * DAVY_GIB, 2 * DAVY_S);
	}
	davy_check2_then(s, hang_in_mmhub, p[1]);
}

static uint64_t hang_on_links(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	switch (a->stage++) {
	case 0:
		davy_check4_sign(s);
		for (size_t i = 0; i < 2; i++)
			davy_check_xid(s, l[i].p->device, NULL, 145);
		return s->now_ns + davy_sim_between(s, 100, 2000) * DAVY_MS;
	case 1: /* "Ch 0000000x caused by previous Xid 145" */
		for (size_t i = 0; i < 8; i++)
			davy_check_xid(s, l[i % 2].p->device, l[i % 2].p, 45);
		return s->now_ns + davy_sim_between(s, 1, 6) * DAVY_S;
	case 2:
		davy_sim_exit(s, l[0].p, DAVY_STATUS_EXIT1);
		davy_sim_exit(s, l[1].p, DAVY_STATUS_EXIT1);
		return s->now_ns + davy_sim_between(s, 15, 60) * DAVY_S;
	case 3:
		davy_check3_load(s, l[0].p, 240 * DAVY_GIB, 6 * DAVY_MIB);
		davy_check3_load(s, l[1].p, 240 * DAVY_GIB, 6 * DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 45, 70) * DAVY_S;
	case 4: /* the first collective of the new engine */
		davy_check3_stick(s, &l[0]);
		davy_check3_stick(s, &l[1]);
		return s->now_ns + DAVY_MIN;
	default:
		davy_check4_fails(s, l[0].p->device, l[0].p);
		return 0;
	}
}

/*
 * NVIDIA/open-gpu-kernel-modules#1355, B300 cards, vLLM TP=2: Xid 145 (RLW_RXPIPE) on both, their
 * channels are torn down (Xid 45), the workers end. From then on NCCL collectives hang on any pair
 * until the node reboots: the restarted engine never answers.
 */
void davy_check5_rlw_links(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "DeepSeek-V4-Flash", 160 * DAVY_GIB, 131072);

	(void)arg;
	e.comm = "VLLM::Worker_TP";
	e.engine = DAVY_ENGINE_VLLM;
	for (uint32_t bus = 0; bus < 2; bus++)
		davy_check3_serve(s, davy_check5_nvidia(s, bus, 275040), &e, 870, 2 * DAVY_S);
	davy_check2_then(s, hang_on_links, &s->load[0]);
}

static void hang_bench_lost(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;

	davy_check2_ring_timeout(s, p->device, p->ring, p);
	davy_check4_fails(s, p->device, p);
	davy_check5_fact(s, DAVY_FACT_FENCE_FAILED, p->device, p, p->ring->name, -ETIME);
	p->ring->began_ns = p->graph.entered_ns = 0;
	p->graph.failed_count++;
	davy_check4_recovered(s, p);
	davy_check4_lost(s, p);
}

/*
 * ggml-org/llama.cpp#25664, Strix Halo, Linux 7.x: llama-bench of DeepSeek V4 Flash (IQ3_XXS, 97
 * GiB) at depths of 0, 16384, 32768, 65536: the jobs grow with the depth and the last one exceeds
 * the timeout of 2 s.
 */
void davy_check5_bench_depths(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 128);
	struct davy_check_engine e = davy_check_by_vulkan(
		"DeepSeek-V4-Flash-0731-UD-IQ3_XXS-00001-of-00004.gguf", 92 * DAVY_GIB, 131072);
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 380, 440) * DAVY_MS,
		.prompt_slope_ns = davy_sim_between(s, 28, 31) * DAVY_MS,
		.token_ns = davy_sim_between(s, 50, 90) * DAVY_MS,
		.token_slope_ns = DAVY_MS / 2,
		.noise_permille = 20,
	};
	struct davy_sim_habit habit = {
		.prompt_min = 512,
		.prompt_max = 16896,
		.answer_min = 128,
		.answer_max = 128,
		.think_ns = 2 * DAVY_S,
	};
	struct davy_sim_load *l;

	(void)arg;
	s->host_other = 5 * DAVY_GIB;
	e.comm = "llama-bench";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	l = davy_sim_add_load(s, davy_check_engine(s, d, &e, 93 * DAVY_GIB), &pace, &habit);
	l->timed_out = hang_bench_lost;
	davy_check2_ask_for(s, l, 66048, false);
}

/* of: the compositor */
static uint64_t hang_of_compositor(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_check3_stop(s, p);
		/* fall through */
	case 2:
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	default:
		davy_check2_ring_timeout(s, p->device, p->ring, p);
		davy_check4_fails(s, p->device, p);
		p->ring->began_ns = 0;
		davy_check4_recovered(s, p);
		return a->stage < 4 ? s->now_ns + davy_sim_between(s, 1, 4) * DAVY_MS : 0;
	}
}

/*
 * CachyOS/linux-cachyos#678: kwin_wayland's ring times out after 10 s, is reset well, and times out
 * again 10.24 s later, and again; the game ends. A model by Vulkan works on a compute ring.
 */
void davy_check5_kwin_10s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_sim_process *p = davy_check_app(s, d, "kwin_wayland", 500 * DAVY_MIB), *game;
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-14B-Q4_K_M.gguf", 8900 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, p, 2 * DAVY_MS, 120);
	davy_check3_serve(s, d, &e, 580, 30 * DAVY_S);
	game = davy_check_app(s, d, "Marvel-Win64-Sh", 3 * DAVY_GIB);
	davy_check_frames(s, game, 7 * DAVY_MS, 100);
	davy_check_wander(s, &game->client.vram, 2 * DAVY_GIB, 4 * DAVY_GIB, 15 * DAVY_S);
	davy_check2_then(s, hang_of_compositor, p);
}

/* of: the load of the speech recognition */
static uint64_t hang_under_spinlock(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (!a->stage++) { /* 09:25:53 */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_OOPS, NULL, l->p, 0);
		davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 45);
		davy_check3_stop(s, &s->process[0]);
		l->stopped = true; /* inside the submission of a job */
		l->p->ring->began_ns = 0;
		l->p->graph.entered_ns = s->now_ns;
		return s->now_ns + davy_sim_between(s, 22, 28) * DAVY_S;
	}
	davy_sim_log(s, DAVY_LOG_LOCKUP, NULL, &s->process[0], 0);
	davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 30);
	davy_check4_fails(s, l->p->device, l->p);
	return s->now_ns + 28 * DAVY_S;
}

/*
 * peteonrails/voxtype#624, Renoir, Linux 7.1.9: whisper.cpp by Vulkan transcribes a clip of 0.3 s,
 * a NULL pointer in ttm_lru_bulk_move_tail, the thread dies with a spinlock of TTM. All others
 * spin: soft lockups of 26 s and more, up to 238 s.
 */
void davy_check5_lru_oops(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 32);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_vulkan("ggml-small.en.bin", 490 * DAVY_MIB, 1500);
	struct davy_sim_load *l;

	(void)arg;
	davy_check_frames(s, desktop, 4 * DAVY_MS, 60);
	e.comm = "tokio-runtime-w";
	e.engine = DAVY_ENGINE_WHISPER_CPP;
	l = davy_check3_serve(s, d, &e, 40, 20 * DAVY_S);
	l->habit.keep_permille = 0;
	l->habit.prompt_max = 700;
	davy_check2_then(s, hang_under_spinlock, l);
}

/* of: the compositor */
static uint64_t hang_after_two(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
	case 2: /* 16:50:27 */
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	case 1:
	case 3: /* 16:50:29, 16:50:31 */
		davy_check2_ring_timeout(s, p->device, p->ring, p);
		p->ring->began_ns = 0;
		davy_check4_recovered(s, p);
		if (a->stage < 4)
			return s->now_ns + davy_sim_between(s, 1, 40) * DAVY_MS;
		return s->now_ns + davy_sim_between(s, 300, 308) * DAVY_S;
	case 4: /* 16:55:35 */
		davy_check5_hogged(s, DAVY_LOG_RESTORE_WORKER_HOGGED, 19);
		return s->now_ns + davy_sim_between(s, 2, 60) * DAVY_S;
	default:
		davy_sim_subject(s, p->device, p);
		davy_check2_host_dies(s);
		return 0;
	}
}

/*
 * ROCm/ROCm#5997, ROCm 7.2, Linux 6.17: a compute job beside kwin_x11, whose ring times out and is
 * reset well twice within 2 s; 5 min later "amdgpu_amdkfd_restore_userptr_worker hogged CPU .. 19
 * times", then the host freezes.
 */
void davy_check5_kwin_twice(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 2 * DAVY_S, 16304);
	struct davy_sim_process *p = davy_check_app(s, d, "kwin_x11", 350 * DAVY_MIB), *job;

	(void)arg;
	davy_check_frames(s, p, 3 * DAVY_MS, 60);
	job = davy_check_app(s, d, "python3", 9 * DAVY_GIB);
	job->ring = NULL;
	job->by_kfd = true;
	job->kfd.queue_count = 2;
	davy_check_wander(s, &job->client.vram, 8 * DAVY_GIB, 14 * DAVY_GIB, 4 * DAVY_S);
	davy_check2_then(s, hang_after_two, p);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resets of a device, and devices that are not there any more. */
#include "lab/check7_parts.h"

#include <errno.h>

/* of: Blender */
static uint64_t reset_after_fences(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_check3_stop(s, p);
		davy_check4_hold(s, p->ring, p);
		return davy_check6_in(s, 4850, 4890);
	case 1: /* 2674.170 */
		davy_sim_log(s, DAVY_LOG_DISPLAY_STALLED, p->device, NULL, 0);
		return p->ring->began_ns + 10 * DAVY_S;
	default: /* 2679.300 */
		davy_sim_job_timeout(s, p, 10 * DAVY_S);
		p->ring->began_ns = 0;
		davy_check4_fails(s, p->device, p);
		davy_synth_reset_device(s, p->device, davy_sim_between(s, 1000, 3500) * DAVY_MS, 0);
		davy_check2_lines(s, DAVY_LOG_QUEUE_EVICT_FAILED, p->device, NULL, 1);
		return 0;
	}
}

/*
 * rocm-arch/rocm-arch#829, RX 6800, 5.18: Blender with Cycles HIP; "Waiting for fences timed out!",
 * 5.13 s later its job of gfx_0.0.0 times out and the GPU is reset, the KIQ is dead.
 */
void davy_check7_blender_kiq(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 32768);
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, d, &e, 360, 15 * DAVY_S);
	davy_check6_desktop(s, d, "gnome-shell", 400);
	p = davy_check6_desktop(s, d, "blender", 5200);
	p->ring = &d->ring[0];
	davy_check_wander(s, &p->client.vram, 3 * DAVY_GIB, 7 * DAVY_GIB, 20 * DAVY_S);
	davy_check2_then(s, reset_after_fences, p);
}

/* of: the load; n: lines left */
static uint64_t reset_sdma0(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;
	struct davy_sim_process kernel = { .device = d, .ring = &d->ring[4] };

	switch (a->stage) {
	case 0: /* "lots of drm:invalidate_tlbs errors", "very slow computation" */
		if (!a->n[0]) {
			davy_check4_sign(s);
			a->n[0] = davy_sim_between(s, 40, 110);
			l->slow_permille = (uint32_t)davy_sim_between(s, 4000, 9000);
		}
		davy_sim_log(s, DAVY_LOG_KIQ_TIMEOUT, d, NULL, 0);
		a->stage = --a->n[0] == 0;
		return davy_check6_in(s, 1000, 4000);
	case 1: /* 00:26:23, mmhub, vmid 0 */
		davy_check7_driver_fault(s, d, 0xf7ff000000, 52);
		davy_check4_hold(s, kernel.ring, &kernel);
		a->stage = 2;
		return s->now_ns + 10 * DAVY_S;
	default: /* 00:26:33 */
		davy_sim_job_timeout(s, &kernel, 10 * DAVY_S);
		kernel.ring->began_ns = 0;
		davy_check4_fails(s, d, l->p);
		davy_check_evict_queues(s, l->p, 3);
		davy_synth_reset_device(s, d, davy_sim_between(s, 1000, 2000) * DAVY_MS, 0);
		return 0;
	}
}

/*
 * ROCm/tensorflow-upstream#180, Vega on a bad riser: flushes of the TLB time out for minutes, all
 * work is very slow; then page faults of vmid 0, 10 s later sdma0 times out, MODE1, VRAM is lost.
 */
void davy_check7_vmc_sdma0(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-14B-Q4_K_M.gguf", 9 * DAVY_GIB, 16384);

	(void)arg;
	davy_check2_then(s, reset_sdma0, davy_check3_serve(s, d, &e, 640, 3 * DAVY_S));
}

/* of: the server's load; clinfo is the process after it */
static uint64_t reset_not_preempted(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (!a->stage++) {
		davy_check_start_again(s, p + 1);
		davy_check3_stick(s, l);
		davy_check4_sign(s);
		davy_check5_fact(s, DAVY_FACT_KFD_EVICT_WANTED, NULL, p, NULL, 0);
		return davy_check6_in(s, 8990, 9030); /* queue_preemption_timeout_ms */
	}
	davy_sim_log(s, DAVY_LOG_HWS_HANG, p->device, NULL, 0);
	davy_check2_lines(s, DAVY_LOG_QUEUE_EVICT_FAILED, p->device, p, 1);
	davy_sim_log(s, DAVY_LOG_QUIESCE_FAILED, NULL, NULL, 0);
	davy_check5_fact(s, DAVY_FACT_KFD_GPU_RESET, p->device, NULL, NULL, 0);
	davy_check4_fails(s, p->device, p);
	davy_synth_reset_device(s, p->device, davy_sim_between(s, 300, 900) * DAVY_MS, 0);
	return 0;
}

/*
 * ROCm/legacy-rocm-build#1584, Ryzen 5 with HWS: clinfo starts, "qcm fence wait loop timeout
 * expired", KFD cannot be quiesced, MODE2. kfd_device_queue_manager.c waits 9 s for a preemption.
 */
void davy_check7_clinfo_9s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 32);
	struct davy_check_engine e =
		davy_check_by_rocm("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 140, 2 * DAVY_S);
	davy_check2_absent(s, d, "clinfo");
	davy_check6_desktop(s, d, "plasmashell", 300);
	davy_check2_then(s, reset_not_preempted, l);
}

/* of: the server; n: index of the kernel's worker */
static uint64_t reset_no_d0(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = davy_check_load_of(s, p);

	switch (a->stage++) {
	case 0: /* the card sleeps */
		if (l->phase != DAVY_SIM_IDLE) {
			a->stage = 0;
			return s->now_ns + 50 * DAVY_MS;
		}
		davy_check3_stop(s, p);
		l->stopped = true;
		davy_check6_out(s, &s->process[a->n[0]], p->device);
		return davy_check6_in(s, 20000, 90000);
	case 1: /* 13908.084: "Unable to change power state from D3hot to D0" */
		davy_sim_cause(s);
		return davy_check6_in(s, 4300, 4500);
	case 2: /* 13912.492, .648, .805, .961 */
		davy_check4_sign(s);
		davy_check4_lines(s, DAVY_LOG_KIQ_TIMEOUT, p->device, s->now_ns,
				  156417 * DAVY_NS_PER_MS / 1000, 4);
		return davy_check6_in(s, 900, 3000);
	default:
		davy_sim_log(s, DAVY_LOG_RESUME_FAILED, p->device, NULL, 0);
		davy_sim_log(s, DAVY_LOG_DEVICE_LOST, p->device, NULL, 0);
		davy_check4_fails(s, p->device, p);
		davy_synth_end_later(s, p, davy_sim_between(s, 100, 3000) * DAVY_MS,
				     DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ROCm/legacy-rocm-build#4226, W7800: after hours of light use with Ollama the card does not leave
 * D3hot, "device inaccessible"; 4.4 s later flushes of the TLB time out, the resume fails (when, is
 * not shown).
 */
void davy_check7_d3hot_w7800(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 32752);
	struct davy_check_engine e = davy_check_by_rocm("qwen2.5-coder:32b", 19 * DAVY_GIB, 32768);
	struct davy_sim_actor *a;
	struct davy_sim_process *p;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check3_serve(s, d, &e, 640, 10 * DAVY_S)->p;
	davy_check6_rests(s, p, 4 * DAVY_MIN, 5 * DAVY_MIN);
	a = davy_check2_then(s, reset_no_d0, p);
	a->n[0] = s->process_count - 1;
}

/* of: the load */
static uint64_t reset_slept_on(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	uint64_t ns = davy_sim_between(s, 20, 90) * DAVY_MIN;

	switch (a->stage) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE || !davy_check3_suspend(s, ns))
			return s->now_ns + 30 * DAVY_MS;
		l->stopped = true;
		a->stage = 1;
		return s->now_ns + ns + davy_sim_between(s, 800, 2500) * DAVY_MS;
	case 1: /* 409.7757: "Shader Program Header 11 Error", four lines */
		davy_check4_sign(s);
		for (int i = 0; i < 4; i++)
			davy_check_xid(s, l->p->device, NULL, 13);
		a->stage = 2;
		return davy_check6_in(s, 4000, 90000);
	default: /* the next request: "CUDA error: unspecified launch failure" */
		davy_check4_fails(s, l->p->device, l->p);
		davy_sim_exit(s, l->p, DAVY_STATUS_EXIT1);
		return 0;
	}
}

/*
 * NixOS/nixpkgs#334180, ollama/ollama#8426: vLLM in a container is left running in a suspend; after
 * the wakeup Xid 13, its next request fails, and the module cannot be loaded again.
 */
void davy_check7_cuda_after_s3(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 16376);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_CUDA, "Qwen3-8B-AWQ", 6 * DAVY_GIB, 32768);

	(void)arg;
	davy_check2_then(s, reset_slept_on, davy_check3_serve(s, d, &e, 900, 12 * DAVY_S));
}

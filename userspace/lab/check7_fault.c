/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults, and what comes before. */
#include "lab/check7_parts.h"

/* of: the server */
static uint64_t fault_again(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0: /* 11372.10: eleven lines in 3 ms */
		davy_check4_sign(s);
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		davy_check2_lines(s, DAVY_LOG_QUEUE_BUFFER_FREED, NULL, NULL, 11);
		return davy_check6_in(s, 2000, 9000);
	case 1:
		davy_check3_load(s, p, p->info.model_bytes / 100 * 112, DAVY_MIB * 2);
		return davy_check6_in(s, 90000, 112000);
	default: /* 11478.87: "4834 callbacks suppressed", mmhub0 */
		davy_check2_page_fault(s, p, 0x7f6a4cc00000, 4834);
		davy_check4_fails(s, p->device, p);
		davy_synth_end_later(s, p, davy_sim_between(s, 20, 400) * DAVY_MS,
				     DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ROCm/rocm-systems#4817, gfx9: a program ends, "Freeing queue vital buffer ..., queue evicted"
 * eleven times; 107 s later mmhub faults of llama-server in hipMemcpyAsync.
 */
void davy_check7_vital_107s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 32752);
	struct davy_check_engine e =
		davy_check_by_rocm("gpt-oss-20b-mxfp4.gguf", 11 * DAVY_GIB, 65536);

	(void)arg;
	davy_check2_then(s, fault_again, davy_check3_serve(s, d, &e, 390, 4 * DAVY_S)->p);
}

/* of: the X server */
static uint64_t fault_fences(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0: /* amdgpu_dm waits 5 s for the fences of a plane */
		davy_check3_stop(s, p);
		davy_check4_hold(s, p->ring, p);
		return davy_check6_in(s, 4990, 5020);
	case 1: /* 19:25:05 */
		davy_check2_lines(s, DAVY_LOG_DISPLAY_STALLED, p->device, NULL, 2);
		return davy_check6_in(s, 4800, 4900);
	case 2: /* 19:25:10 */
		davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY, 0x80011e079000, 40);
		davy_check2_lines(s, DAVY_LOG_PAGE_FAULT, p->device, p, 10);
		davy_check4_fails(s, p->device, p);
		return davy_check6_in(s, 40, 80);
	default:
		p->ring->began_ns = 0;
		davy_check5_fact(s, DAVY_FACT_SOFT_RECOVERY, p->device, NULL, p->ring->name, 0);
		davy_check3_ring_line(s, DAVY_LOG_SOFT_RECOVERED, p->device, p->ring);
		return 0;
	}
}

/*
 * freebsd/drm-kmod#78 (the same amdgpu, ported), gfx9: "Waiting for fences timed out!", 5 s later
 * retry faults that nobody serves, PERMISSION_FAULTS 5; the ring is soft recovered.
 */
void davy_check7_fences_retry(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 32);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-4B-Q4_K_M.gguf", 2500 * DAVY_MIB, 16384);

	(void)arg;
	davy_check3_serve(s, d, &e, 130, 9 * DAVY_S);
	davy_check2_then(s, fault_fences, davy_check6_desktop(s, d, "Xorg", 500));
}

/* of: the runner; n: faults left */
static uint64_t fault_of_nobody(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_check4_sign(s);
		a->n[0] = davy_sim_between(s, 12, 55);
	}
	if (a->n[0]--) {
		davy_check7_driver_fault(s, p->device, 0x1000, (uint32_t)davy_sim_between(s, 1, 3));
		return davy_check6_in(s, 650, 750);
	}
	davy_check2_page_fault(s, p, davy_sim_between(s, 0x7f0000, 0x7fffff) << 24, 20);
	davy_check4_fails(s, p->device, p);
	davy_synth_end_later(s, p, davy_sim_between(s, 20, 400) * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * ollama/ollama#738 (amd-pf-008): faults of vmid 0, pasid 0 at 0x1000, each 0.7 s; what ROCm runs
 * then is unusable. How many come before the runner's own is not told.
 */
void davy_check7_vmid0_700ms(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 12272);
	struct davy_check_engine e = davy_check_by_rocm("mistral-nemo:12b", 7 * DAVY_GIB, 16384);

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	davy_check2_then(s, fault_of_nobody, davy_check3_serve(s, d, &e, 690, 8 * DAVY_S)->p);
}

/* of: the load */
static uint64_t fault_gibberish(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->phase == DAVY_SIM_IDLE)
		davy_sim_ask(s, l);
	switch (a->stage++) {
	case 0:
		davy_check4_sign(s);
		davy_check7_driver_fault(s, l->p->device, 0, 10);
		return davy_check6_in(s, 6000, 25000);
	case 1:
		davy_check7_driver_fault(s, l->p->device, 0, 4);
		return davy_check6_in(s, 9000, 40000);
	default:
		davy_check4_fails(s, l->p->device, l->p);
		return 0;
	}
}

/*
 * ROCm/amdgpu#204, Strix Halo, 6.17: after large contexts were used many times, page faults (ring
 * 169, vmid 0, pasid 0), and the answers have doubled words and sentences that are cut off.
 */
void davy_check7_vmid0_gibberish(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 128);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.6-35B-A3B-Q8_0.gguf", 36 * DAVY_GIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 430, 3 * DAVY_S);
	l->habit.prompt_min = 4000;
	l->habit.prompt_max = 14000;
	l->habit.keep_permille = 850;
	davy_check2_then(s, fault_gibberish, l);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resets that are announced by the firmware, the memory or the fabric, and cards that disappear. */
#include <errno.h>

#include "lab/check6_parts.h"

/* of: the engine's load; n: answers that are missing */
static uint64_t reset_without_reply(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	if (!a->stage++) { /* 12:14:37, "CT: No response for request 0x5503 (fence 168)" */
		davy_check3_stick(s, l);
		davy_check4_sign(s);
		a->n[0] = davy_sim_between(s, 9, 17);
		davy_check2_lines(s, DAVY_LOG_I915_NO_REPLY, d, NULL, 3);
		return davy_check6_in(s, 950, 1050);
	}
	if (a->n[0]--) { /* "tlb invalidation response timed out for seqno 3", each second */
		davy_check2_lines(s, DAVY_LOG_I915_NO_REPLY, d, NULL, 1);
		return davy_check6_in(s, 950, 1050);
	}
	davy_sim_log(s, DAVY_LOG_I915_GT_RESET, d, NULL, 0);
	davy_check4_fails(s, d, l->p);
	davy_sim_log(s, DAVY_LOG_I915_RESET_FAILED, d, NULL, 0);
	davy_check5_wedged(s, d);
	return 0;
}

/*
 * intel-gpu/intel-gpu-i915-backports#172, Flex 140: the GuC does not answer, TLB invalidations time
 * out each second, the GPU hangs and its reset fails.
 */
void davy_check6_flex_ct(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check6_flex(s);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Phi-4-mini-int4", 2600 * DAVY_MIB, 16384);
	struct davy_sim_process *ffmpeg = davy_check_app(s, d, "ffmpeg", 300 * DAVY_MIB);

	(void)arg;
	e.comm = "ovms";
	e.engine = DAVY_ENGINE_GENERIC;
	davy_check_wander(s, &ffmpeg->client.vram, 200 * DAVY_MIB, 900 * DAVY_MIB, 20 * DAVY_S);
	davy_check2_then(s, reset_without_reply, davy_check3_serve(s, d, &e, 560, 4 * DAVY_S));
}

/* of: the rank on the first card */
static uint64_t reset_by_poison(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	switch (a->stage++) {
	case 0: /* UMC reports an error in a page that was not read yet, which is retired */
		davy_check4_sign(s);
		davy_sim_fault(s, p, DAVY_FAULT_ECC, 0, 1);
		davy_check2_lines(s, DAVY_LOG_RAS_UNCORRECTABLE, d, NULL, 2);
		davy_check2_lines(s, DAVY_LOG_RAS_PAGES, d, NULL, 1);
		return davy_check6_in(s, 6000, 90000);
	case 1: /* the program reads it */
		davy_check5_fact(s, DAVY_FACT_KFD_POISON, d, p, NULL, 0);
		davy_sim_log(s, DAVY_LOG_POISON_SIGNAL, d, p, 0);
		return davy_check6_in(s, 20, 120);
	default:
		davy_check5_fact(s, DAVY_FACT_KFD_GPU_RESET, d, NULL, NULL, 0);
		davy_check5_fact(s, DAVY_FACT_RAS_RESET, d, NULL, NULL, 0);
		davy_check4_fails(s, d, p);
		davy_synth_reset_device(s, d, davy_sim_between(s, 1500, 4000) * DAVY_MS, 0);
		return 0;
	}
}

/*
 * amdgpu_ras.c (poison creation), kfd_int_process_v9.c, event_interrupt_poison_consumption_v9();
 * ROCm/legacy-rocm-build#3766, #3192: an error of HBM is found and its page retired; when a program
 * reads it, it gets SIGBUS and the GPU is reset.
 */
void davy_check6_poison_later(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 65520);
	struct davy_sim_device *second = davy_check3_second(s, 60 * DAVY_S, 65520);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_ROCM, "Llama-3.3-70B-Instruct", 66 * DAVY_GIB, 65536);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 910, DAVY_S);

	(void)arg;
	davy_check3_serve(s, second, &e, 910, DAVY_S);
	davy_check2_then(s, reset_by_poison, l->p);
}

/* of: the load of the first rank; two more follow it */
static uint64_t reset_of_fabric(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_event ev = davy_sim_log_of(s, DAVY_LOG_SXID, NULL, NULL);

	if (!a->stage++) { /* "SXid (PCI:0000:84:00.0): 12028", egress nonposted PRIV error */
		davy_check4_sign(s);
		davy_copy_name(ev.log.device, sizeof(ev.log.device), "0000:84:00.0");
		ev.log.code = 12028;
		davy_sim_log_event(s, &ev);
		for (int i = 0; i < 3; i++)
			davy_check3_stick(s, l + i);
		return davy_check6_in(s, 2500, 9000);
	}
	for (int i = 0; i < 3; i++) {
		davy_check_xid(s, l[i].p->device, l[i].p, 45);
		davy_check4_fails(s, l[i].p->device, l[i].p);
		davy_synth_end_later(s, l[i].p, davy_sim_between(s, 100, 900) * DAVY_MS,
				     DAVY_STATUS_ABORT);
	}
	davy_check_xid(s, l->p->device, NULL, 154);
	return 0;
}

/*
 * leptonai/gpud#338 and NVIDIA's guide to fabric manager (DU-09883): a fatal SXid of the NVSwitch,
 * "GPU NVLink traffic will be stalled, and subsequent GPU access will hang", the driver aborts CUDA
 * with Xid 45; GPUs and switches need a reset.
 */
void davy_check6_sxid_trunk(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check6_vllm(DAVY_BACKEND_CUDA, "Qwen3.5-397B-A17B-NVFP4",
						      220 * DAVY_GIB, 131072);
	struct davy_sim_load *first = NULL;

	(void)arg;
	for (uint32_t i = 0; i < 3; i++) {
		struct davy_sim_device *d = davy_check5_nvidia(s, i, 81559);
		struct davy_sim_load *l = davy_check3_serve(s, d, &e, 900, 700 * DAVY_MS);

		first = first ? first : l;
	}
	davy_check2_then(s, reset_of_fabric, first);
}

/* of: the load; n: end */
static uint64_t reset_detached(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	if (!a->stage++) {
		davy_sim_cause(s);
		l->habit.think_ns = 200 * DAVY_MS; /* an agent begins to work */
		davy_sim_ask(s, l);
		a->n[0] = davy_check6_in(s, 90000, 420000);
		return davy_check6_in(s, 3000, 9000);
	}
	if (s->now_ns < a->n[0]) { /* "[ 7] BadDLLP" */
		davy_check4_sign(s);
		for (uint64_t i = davy_sim_between(s, 1, 9); i; i--)
			davy_check4_port_line(s, DAVY_LOG_AER_CORRECTED, "0000:03:01.0");
		return davy_check6_in(s, 60, 700);
	}
	davy_sim_log(s, DAVY_LOG_DEVICE_LOST, d, NULL, 0);
	davy_check4_fails(s, d, l->p);
	davy_check4_lost(s, l->p);
	davy_check6_device(s, d, DAVY_DEVICE_REMOVED);
	return 0;
}

/*
 * Dasharo/dasharo-issues#1849, RX 6600 by Thunderbolt 3: under the load of an LLM or a game the log
 * is flooded with BadDLLP; after 1 to 10 min the device detaches, only a hard reset helps.
 */
void davy_check6_tb3_baddllp(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *igpu = davy_synth_intel(s, false);
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 8176);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);

	(void)arg;
	davy_check6_desktop(s, igpu, "gnome-shell", 200);
	davy_check4_port_each(s, DAVY_LOG_AER_CORRECTED, "0000:03:01.0", 6 * DAVY_MIN);
	davy_check2_then(s, reset_detached, davy_check3_serve(s, d, &e, 780, 90 * DAVY_S));
}

/* of: the runner */
static uint64_t reset_ejected(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = davy_check_load_of(s, p);
	struct davy_event ev;

	switch (a->stage++) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE) {
			a->stage = 0;
			return s->now_ns + 200 * DAVY_MS;
		}
		l->stopped = true;
		davy_check4_sign(s);
		davy_check6_device(s, p->device, DAVY_DEVICE_REMOVED);
		return davy_check6_in(s, 4000, 70000);
	default: /* the next question */
		ev = davy_sim_fact(s, DAVY_FACT_IOCTL_FAILED, p->device, p);
		davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "amdgpu");
		ev.fact.error = -ENODEV;
		ev.fact.detail = 0x4b;
		davy_sim_tell(s, &ev);
		davy_check4_fails(s, p->device, p);
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ollama/ollama#5411, a notebook with a Radeon 780M and an RX 7600 XT by USB4: the eGPU is ejected
 * while a model is loaded on it; the next request ends the runner.
 */
void davy_check6_egpu_ejected(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *apu = davy_check3_apu(s, 0, 32);
	struct davy_sim_device *d = davy_check3_second(s, 60 * DAVY_S, 16368);
	struct davy_check_engine e = davy_check_by_rocm("gemma2:9b", 5400 * DAVY_MIB, 8192);

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	davy_check6_desktop(s, apu, "kwin_wayland", 250);
	davy_check2_then(s, reset_ejected, davy_check3_serve(s, d, &e, 430, 25 * DAVY_S)->p);
}

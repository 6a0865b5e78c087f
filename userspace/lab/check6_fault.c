/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults that are announced, an answer that is cut off, and a flood of interrupts. */
#include <errno.h>

#include "lab/check6_parts.h"

/* of: the program; n: time of the fault */
static uint64_t fault_userptr(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) { /* 2399.645 */
		davy_check4_sign(s);
		a->n[0] = davy_check6_in(s, 78000, 84000);
	}
	if (s->now_ns < a->n[0]) {
		uint64_t next_ns = davy_check6_in(s, 6000, 19000);

		davy_check_evict_queues(s, p, 1); /* USERPTR */
		davy_check_restore_queues(s, p, davy_sim_between(s, 200, 900) * DAVY_MS, true);
		davy_sim_log(s, DAVY_LOG_RESTORE_FAILED, NULL, NULL, 0);
		return next_ns < a->n[0] ? next_ns : a->n[0];
	}
	davy_check3_stop(s, p); /* 2480.727 */
	davy_check2_page_fault(s, p, 0x7febd6383000, 40);
	davy_check2_page_fault(s, p, 0x7febd6380000, 40);
	davy_check4_fails(s, p->device, p);
	davy_synth_end_later(s, p, 400 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * getsolus/packages#7986 (amd-svm-008), RDNA4: "amdgpu_amdkfd_restore_userptr_worker: Failed to
 * resume KFD", 81 s later a flood of faults of SDMA0.
 */
void davy_check6_userptr_81s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);
	struct davy_sim_process *p = davy_check6_torch(s, d, "python3", 300, 620, 9 * DAVY_S);

	(void)arg;
	davy_check6_desktop(s, d, "kwin_wayland", 600);
	davy_check3_serve(s, d, &e, 200, 40 * DAVY_S);
	davy_check2_then(s, fault_userptr, p);
}

/* of: the compositor */
static uint64_t fault_after_timeout(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) { /* the link changes its speed when the GPU rests */
		davy_check4_sign(s);
		davy_check4_port_line(s, DAVY_LOG_AER, "0000:40:01.2");
		davy_sim_log(s, DAVY_LOG_AER, p->device, NULL, 0);
		davy_sim_log(s, DAVY_LOG_PCI_ERROR, p->device, NULL, 0);
		davy_check4_port_line(s, DAVY_LOG_AER, "0000:40:00.0");
		return davy_check6_in(s, 900, 14000);
	}
	davy_check_xid(s, p->device, p, 31);
	davy_check2_lines(s, DAVY_LOG_XID_DETAIL, p->device, p, 2);
	davy_check4_fails(s, p->device, p);
	return 0;
}

/*
 * NVIDIA/open-gpu-kernel-modules#1229, RTX 5090 by Thunderbolt: a completion timeout, "can't
 * recover (no error_detected callback)", "device recovery failed"; the next access of the desktop
 * is Xid 31, only a reboot helps.
 */
void davy_check6_tb_cmplto(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 1, 32607);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3.6-27B-Q5_K_M.gguf", 19 * DAVY_GIB, 65536);

	(void)arg;
	davy_check3_serve(s, d, &e, 700, 45 * DAVY_S);
	davy_check4_port_each(s, DAVY_LOG_AER_CORRECTED, "0000:40:01.2", 9 * DAVY_MIN);
	davy_check2_then(s, fault_after_timeout, davy_check6_desktop(s, d, "plasmashell", 800));
}

/* of: the engine; n: failed faults, time of the last one */
static uint64_t fault_without_pages(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_SVM_FAULT, p->device, p);

	if (!a->stage++) { /* a data loader keeps what it reads */
		davy_sim_cause(s);
		davy_check_ramp(s, &s->host_other,
				s->host_other + davy_sim_host_available(s) - 220 * DAVY_MIB,
				s->now_ns, 130 * DAVY_S);
		return davy_check6_in(s, 118000, 126000);
	}
	s->pressure_permille = (uint32_t)davy_sim_between(s, 150, 600);
	if (!a->n[1]) {
		davy_check4_sign(s);
		a->n[1] = davy_check6_in(s, 14000, 38000);
	}
	if (s->now_ns < a->n[1]) {
		ev.fact.fresh = davy_sim_between(s, 2, 60);
		ev.fact.count = a->n[0] += ev.fact.fresh;
		ev.fact.error = -ENOMEM;
		ev.fact.pasid = p->pasid;
		ev.fact.addr = davy_sim_between(s, 0, 1u << 30) << 12;
		davy_sim_tell(s, &ev);
		return davy_check6_in(s, 80, 500);
	}
	davy_sim_log(s, DAVY_LOG_FAULT_UNSERVED, p->device, p, 0);
	davy_check2_page_fault(s, p, 0x7f31c4800000, 12);
	davy_check4_fails(s, p->device, p);
	davy_synth_end_later(s, p, 250 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * kfd_svm.c, svm_range_restore_pages(): without host memory a fault of XNACK cannot be served
 * (-ENOMEM of svm_range_validate_and_map, INCIDENTS.md B2 3); it is tried again and again, then it
 * is a fault without retry.
 */
void davy_check6_svm_nomem(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 60 * DAVY_S, 96);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-30B-A3B-Q8_0.gguf", 31 * DAVY_GIB, 32768);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 460, 9 * DAVY_S);

	(void)arg;
	davy_check5_served_faults(s, l->p, 300);
	davy_check6_service(s, "python3");
	davy_check2_then(s, fault_without_pages, l->p);
}

/* of: the load; n: end, suppressed */
static uint64_t fault_flood(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_event ev = davy_sim_log_of(s, DAVY_LOG_IOMMU_FAULT, l->p->device, NULL);

	if (!a->stage++) {
		davy_sim_ask(s, l);
		davy_check4_sign(s);
		a->n[0] = davy_check6_in(s, 11000, 21000);
	} else {
		ev.log.code = (uint32_t)davy_sim_between(s, 300000, 830000);
		davy_sim_log_event(s, &ev);
		ev.log.code = 0;
	}
	if (s->now_ns < a->n[0]) {
		for (uint64_t i = 0; i < 10; i++) {
			ev.log.addr = 0xf0810000 + (i << 12);
			davy_sim_log_event(s, &ev);
		}
		return s->now_ns + 5010 * DAVY_MS;
	}
	if (l->phase == DAVY_SIM_PROMPT)
		l->prompt_left = l->tokens;
	l->answer_left = 1; /* its output ends at once */
	davy_check4_fails(s, l->p->device, l->p);
	return 0;
}

/*
 * amd-io-003, ggml-org/llama.cpp#4983, RX 6750 XT, mixtral by ROCm with a part on the CPU: AMD-Vi
 * faults of the card, "821417 callbacks suppressed", an answer that ends at once.
 */
void davy_check6_iommu_821417(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 12272);
	struct davy_check_engine e =
		davy_check_by_rocm("mixtral-8x7b.q4_k_s.gguf", 24 * DAVY_GIB, 8192);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 800, 30 * DAVY_S);

	(void)arg;
	l->p->client.system = 16 * DAVY_GIB;
	davy_check6_desktop(s, d, "gnome-shell", 350);
	davy_check2_then(s, fault_flood, l);
}

/* of: the program; n: end, next lines */
static uint64_t fault_interrupts(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) { /* HSA_OVERRIDE_GFX_VERSION of another chip */
		davy_check_start_again(s, p);
		p->client.gtt = 2 * DAVY_GIB;
		return davy_check6_in(s, 2000, 6000);
	}
	if (!a->n[0]) { /* 14:43:25 */
		davy_check4_sign(s);
		a->n[0] = davy_check6_in(s, 16000, 48000);
	}
	if (s->now_ns >= a->n[0]) {
		davy_sim_log(s, DAVY_LOG_OOPS, NULL, NULL, 0);
		davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 40);
		davy_sim_subject(s, p->device, p);
		davy_check2_host_dies(s);
		return 0;
	}
	davy_sim_fault(s, p, DAVY_FAULT_WAVE, 0, (uint32_t)davy_sim_between(s, 14000, 19000));
	if (s->now_ns >= a->n[1]) {
		davy_check2_lines(s, DAVY_LOG_IH_OVERFLOW, p->device, NULL, 10);
		a->n[1] = s->now_ns + davy_sim_between(s, 5000, 8000) * DAVY_MS;
	}
	return s->now_ns + 100 * DAVY_MS;
}

/*
 * ROCm/rocm-systems#3531, Framework Desktop: with the wrong override, "KFD node 0 ih_fifo
 * overflow", 8 s later "1408857 callbacks suppressed", then the kernel crashes.
 */
void davy_check6_ih_fifo(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 128);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-120b-mxfp4.gguf", 60 * DAVY_GIB, 65536);
	struct davy_sim_process *p = davy_check2_absent(s, d, "python3");

	(void)arg;
	p->by_kfd = true;
	p->info.backend = DAVY_BACKEND_ROCM;
	p->info.engine = DAVY_ENGINE_GENERIC;
	davy_check6_desktop(s, d, "gnome-shell", 300);
	davy_check3_serve(s, d, &e, 690, 20 * DAVY_S);
	davy_check2_then(s, fault_interrupts, p);
}

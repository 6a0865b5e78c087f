/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ROCm: no DRM scheduler sees its jobs, and no timeout ends them. Restore workers that hog a CPU,
 * doubling (amd-svm-006: 40 s before the page fault), restores that fail (amd-svm-008: 81 s), SVM
 * over its limit (amd-svm-005: 60 s), queues that retire nothing (amd-hang-002: eight minutes
 * before the driver noticed), a MES that does not answer (amd-gr-001).
 */
#include "lab/scenarios.h"

#define ENOMEM_		  (-12)
#define EVICT_TRIGGER_SVM 0

/* The workqueue's watchdog warns when its count has doubled: 67, 131, 259, 515, 1027. */
static uint64_t hog(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = s->process;

	if (!a->stage)
		a->n[0] = dl_sim_around(s, 40 * DL_S) / 31; /* 1 + 2 + 4 + 8 + 16 of these */
	dl_sim_sign(s, s->now_ns);
	if (a->stage <= 4) {
		dl_sim_log(s, DL_LOG_RESTORE_WORKER_HOGGED, NULL, NULL,
			   3 + (uint32_t)(64 << a->stage));
		dl_sim_kfd(s, DL_KFD_QUEUES_EVICTED, p, EVICT_TRIGGER_SVM, 0);
		dl_sim_kfd(s, DL_KFD_QUEUES_RESTORED, p, 0, 0);
		p->kfd.evicted_ms += 100;
		p->kfd.fault_count += 400ull << a->stage;
		p->kfd.pages_in += 4000ull << a->stage;
		s->load[0].slow_permille += 300;
		return s->now_ns + (a->n[0] << a->stage++);
	}
	dl_sim_fault(s, p, DL_FAULT_VM, 0x7f0000000000 + (a->n[0] & 0xfffff000), 12);
	dl_sim_failed(s);
	dl_sim_kfd(s, DL_KFD_VM_FAULT, p, 0, 0);
	dl_sim_log(s, DL_LOG_PAGE_FAULT, p->device, p, 0);
	dl_synth_end_later(s, p, 30 * DL_MS, DL_STATUS_ABORT);
	return 0;
}

static void rocm(struct dl_sim *s, dl_sim_act act, uint32_t share_permille)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, share_permille);

	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, act, p, dl_synth_when(s));
}

void dl_synth_restore_hogs(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, hog, 700);
}

static uint64_t fail_to_restore(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	struct dl_event ev = dl_sim_fact(s, DL_FACT_KFD_RESTORE_FAILED, p->device, p);
	uint64_t next_ns;

	dl_sim_sign(s, s->now_ns);
	if (!a->stage++) {
		s->load[0].stick = true;
		a->n[0] = s->now_ns + dl_sim_around(s, 81 * DL_S);
		dl_sim_kfd(s, DL_KFD_QUEUES_EVICTED, p, 1, 0);
	}
	if (s->now_ns >= a->n[0]) {
		dl_sim_log(s, DL_LOG_HWS_HANG, p->device, NULL, 0);
		dl_sim_failed(s);
		return 0;
	}
	ev.fact.count = a->stage;
	ev.fact.error = ENOMEM_;
	dl_sim_tell(s, &ev);
	dl_sim_kfd(s, DL_KFD_QUEUES_RESTORED, p, 0, DL_KFD_RESCHEDULED);
	if (a->stage % 8 == 1)
		dl_sim_log(s, DL_LOG_RESTORE_FAILED, NULL, NULL, 0);
	next_ns = s->now_ns + dl_sim_around(s, DL_S);
	p->kfd.evicted_ms += (next_ns - s->now_ns) / DL_MS;
	return next_ns < a->n[0] ? next_ns : a->n[0];
}

void dl_synth_restore_failed(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, fail_to_restore, 700);
}

static uint64_t over_limit(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	struct dl_event ev = dl_sim_fact(s, DL_FACT_KFD_LIMIT, p->device, p);
	uint64_t next_ns;

	dl_sim_sign(s, s->now_ns);
	if (!a->stage++)
		a->n[0] = s->now_ns + dl_sim_around(s, 60 * DL_S);
	if (s->now_ns >= a->n[0]) {
		s->load[0].stick = true;
		dl_sim_failed(s);
		return 0;
	}
	ev.fact.error = ENOMEM_;
	ev.fact.bytes = 2 * DL_MIB;
	ev.fact.detail = 4; /* KFD_IOC_ALLOC_MEM_FLAGS_USERPTR */
	dl_sim_tell(s, &ev);
	dl_sim_log(s, DL_LOG_SVM_OVER_LIMIT, NULL, NULL, 0);
	s->load[0].slow_permille += 150;
	next_ns = s->now_ns + dl_sim_around(s, 6 * DL_S);
	return next_ns < a->n[0] ? next_ns : a->n[0];
}

void dl_synth_svm_limit(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, over_limit, 800);
}

/* Busy, and no token; the driver learns of it when it wants something of the queue. */
static uint64_t fall_silent(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	struct dl_sim_load *l = s->load;

	switch (a->stage++) {
	case 0:
		dl_sim_cause(s);
		l->stick = true;
		dl_sim_ask(s, l);
		return s->now_ns + 2 * DL_S; /* several times its slowest job */
	case 1:
		dl_sim_sign(s, s->now_ns);
		return s->now_ns + dl_sim_around(s, 8 * DL_MIN);
	default:
		dl_sim_log(s, DL_LOG_MES_FAILED, p->device, NULL, 0);
		dl_sim_log(s, DL_LOG_QUEUE_HANG, p->device, p, 0);
		dl_sim_failed(s);
		return 0;
	}
}

void dl_synth_silent_hang(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, fall_silent, 600);
}

/* Asked every 2 s (MES_TIMEOUT), then the GPU is reset. */
static uint64_t mes_fails(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	if (!a->stage++)
		a->n[0] = dl_sim_between(s, 3, 6);
	dl_sim_sign(s, s->now_ns);
	if (a->stage <= a->n[0]) {
		s->load[0].stick = true;
		dl_sim_log(s, DL_LOG_MES_FAILED, p->device, NULL, 0);
		return s->now_ns + dl_random_near(&s->random, 2 * DL_S, 50);
	}
	dl_sim_failed(s);
	dl_sim_kfd(s, DL_KFD_RESET_BEGIN, p, 0, 0);
	dl_synth_reset_device(s, p->device, dl_sim_around(s, 2 * DL_S), 0);
	return 0;
}

void dl_synth_mes(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, mes_fails, 600);
}

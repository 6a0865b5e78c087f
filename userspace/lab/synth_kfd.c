/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ROCm: its jobs have no DRM scheduler and no timeout. Restore workers that hog a CPU, doubling
 * (amd-svm-006: 40 s before the page fault); restores that fail (amd-svm-008: 81 s); SVM over its
 * limit (amd-svm-005: 60 s); queues without progress (amd-hang-002: eight minutes before the driver
 * noticed); a MES that does not answer (amd-gr-001).
 */
#include "lab/scenarios.h"

#define ENOMEM_		  (-12)
#define EVICT_TRIGGER_SVM 0

/* The workqueue's watchdog warns when its count has doubled: 67, 131, 259, 515, 1027. */
static uint64_t hog(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = s->process;

	if (!a->stage)
		a->n[0] = davy_sim_around(s, 40 * DAVY_S) / 31; /* 1 + 2 + 4 + 8 + 16 of these */
	davy_sim_precursor(s, s->now_ns);
	if (a->stage <= 4) {
		davy_sim_log(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, NULL,
			     3 + (uint32_t)(64 << a->stage));
		davy_sim_kfd(s, DAVY_KFD_QUEUES_EVICTED, p, EVICT_TRIGGER_SVM, 0);
		davy_sim_kfd(s, DAVY_KFD_QUEUES_RESTORED, p, 0, 0);
		p->kfd.evicted_ms += 100;
		p->kfd.fault_count += 400ull << a->stage;
		p->kfd.pages_in += 4000ull << a->stage;
		s->load[0].slow_permille += 300;
		return s->now_ns + (a->n[0] << a->stage++);
	}
	davy_sim_fault(s, p, DAVY_FAULT_VM, 0x7f0000000000 + (a->n[0] & 0xfffff000), 12);
	davy_sim_failed(s);
	davy_sim_kfd(s, DAVY_KFD_VM_FAULT, p, 0, 0);
	davy_sim_log(s, DAVY_LOG_PAGE_FAULT, p->device, p, 0);
	davy_synth_end_later(s, p, 30 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

static void rocm(struct davy_sim *s, davy_sim_act act, uint32_t share_permille)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, share_permille);

	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, act, p, davy_synth_when(s));
}

void davy_synth_restore_hogs(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, hog, 700);
}

static uint64_t fail_to_restore(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_KFD_RESTORE_FAILED, p->device, p);
	uint64_t next_ns;

	davy_sim_precursor(s, s->now_ns);
	if (!a->stage++) {
		s->load[0].stick = true;
		a->n[0] = s->now_ns + davy_sim_around(s, 81 * DAVY_S);
		davy_sim_kfd(s, DAVY_KFD_QUEUES_EVICTED, p, 1, 0);
	}
	if (s->now_ns >= a->n[0]) {
		davy_sim_log(s, DAVY_LOG_HWS_HANG, p->device, NULL, 0);
		davy_sim_failed(s);
		return 0;
	}
	ev.fact.count = a->stage;
	ev.fact.error = ENOMEM_;
	davy_sim_tell(s, &ev);
	davy_sim_kfd(s, DAVY_KFD_QUEUES_RESTORED, p, 0, DAVY_KFD_RESCHEDULED);
	if (a->stage % 8 == 1)
		davy_sim_log(s, DAVY_LOG_RESTORE_FAILED, NULL, NULL, 0);
	next_ns = s->now_ns + davy_sim_around(s, DAVY_S);
	p->kfd.evicted_ms += (next_ns - s->now_ns) / DAVY_MS;
	return next_ns < a->n[0] ? next_ns : a->n[0];
}

void davy_synth_restore_failed(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, fail_to_restore, 700);
}

static uint64_t over_limit(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_KFD_LIMIT, p->device, p);
	uint64_t next_ns;

	davy_sim_precursor(s, s->now_ns);
	if (!a->stage++)
		a->n[0] = s->now_ns + davy_sim_around(s, 60 * DAVY_S);
	if (s->now_ns >= a->n[0]) {
		s->load[0].stick = true;
		davy_sim_failed(s);
		return 0;
	}
	ev.fact.error = ENOMEM_;
	ev.fact.bytes = 2 * DAVY_MIB;
	ev.fact.detail = 4; /* KFD_IOC_ALLOC_MEM_FLAGS_USERPTR */
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_SVM_OVER_LIMIT, NULL, NULL, 0);
	s->load[0].slow_permille += 150;
	next_ns = s->now_ns + davy_sim_around(s, 6 * DAVY_S);
	return next_ns < a->n[0] ? next_ns : a->n[0];
}

void davy_synth_svm_limit(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, over_limit, 800);
}

/* Busy without a token; the driver notices at its next request to the queue. */
static uint64_t fall_silent(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = s->load;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		l->stick = true;
		davy_sim_ask(s, l);
		return s->now_ns + 2 * DAVY_S; /* several times its slowest job */
	case 1:
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_around(s, 8 * DAVY_MIN);
	default:
		davy_sim_log(s, DAVY_LOG_MES_FAILED, p->device, NULL, 0);
		davy_sim_log(s, DAVY_LOG_QUEUE_HANG, p->device, p, 0);
		davy_sim_failed(s);
		return 0;
	}
}

void davy_synth_silent_hang(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, fall_silent, 600);
}

/* A request every 2 s (MES_TIMEOUT), then the GPU is reset. */
static uint64_t mes_fails(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++)
		a->n[0] = davy_sim_between(s, 3, 6);
	davy_sim_precursor(s, s->now_ns);
	if (a->stage <= a->n[0]) {
		s->load[0].stick = true;
		davy_sim_log(s, DAVY_LOG_MES_FAILED, p->device, NULL, 0);
		return s->now_ns + davy_random_near(&s->random, 2 * DAVY_S, 50);
	}
	davy_sim_failed(s);
	davy_sim_kfd(s, DAVY_KFD_RESET_BEGIN, p, 0, 0);
	davy_synth_reset_device(s, p->device, davy_sim_around(s, 2 * DAVY_S), 0);
	return 0;
}

void davy_synth_mes(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	rocm(s, mes_fails, 600);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_fault and related failures: retry faults that become more frequent until one cannot be
 * served; a fault 2 to 60 s before the MES fails (amd-pf-005); a discovery child that faults before
 * the runner dies (amd-ri-004); a runner that dies repeatedly; a device that cannot be opened
 * (amd-dm-002); faults that only the IOMMU sees (amd-io-003: wrong output).
 */
#include <string.h>

#include "lab/scenarios.h"

#define STEP_NS (50 * DAVY_MS)

static uint64_t fault_address(struct davy_sim *s)
{
	return 0x7f0000000000 + davy_sim_between(s, 0, 1 << 20) * 4096;
}

/* n[0]: milli-faults a step, a third more each second or so; n[1]: remainder. */
static uint64_t fault_more(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint32_t count;

	davy_sim_cause(s);
	a->n[1] += davy_random_near(&s->random, a->n[0], 200);
	count = (uint32_t)(a->n[1] / 1000);
	a->n[1] %= 1000;
	a->n[0] += a->n[0] / a->n[2] + 1;
	if (count)
		davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY, fault_address(s), count);
	p->kfd.fault_count += count;
	if (a->n[0] >= 1000) /* 20 a second */
		davy_sim_precursor(s, s->now_ns);
	if (a->n[0] < 500000)
		return s->now_ns + STEP_NS;
	davy_sim_fault(s, p, DAVY_FAULT_VM, fault_address(s), 3);
	davy_sim_failed(s);
	davy_sim_kfd(s, DAVY_KFD_VM_FAULT, p, 0, 0);
	davy_sim_log(s, DAVY_LOG_PAGE_FAULT, p->device, p, 0);
	davy_synth_end_later(s, p, 20 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

void davy_synth_retry_storm(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 700);
	struct davy_sim_actor *a;

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	a = davy_sim_add_actor(s, fault_more, p, davy_synth_when(s));
	a->n[0] = 50;
	a->n[2] = davy_sim_around(s, 60);
}

static uint64_t fault_first(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_sim_precursor(s, s->now_ns);
		davy_sim_fault(s, p, DAVY_FAULT_VM, fault_address(s),
			       (uint32_t)davy_sim_between(s, 1, 6));
		davy_sim_log(s, DAVY_LOG_PAGE_FAULT, p->device, p, 0);
		s->load[0].stick = true;
		a->n[0] = s->now_ns + davy_sim_between(s, 2 * DAVY_S, a->n[1]);
		return a->n[0];
	}
	if (a->stage < 5) {
		davy_sim_log(s, DAVY_LOG_MES_FAILED, p->device, NULL, 0);
		return s->now_ns + 2 * DAVY_S;
	}
	davy_sim_failed(s);
	davy_synth_reset_device(s, p->device, davy_sim_around(s, 2 * DAVY_S), 0);
	return 0;
}

/* Argument: most seconds from the fault to the first failure of the MES. */
void davy_synth_fault_then_mes(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 700);

	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, fault_first, p, davy_synth_when(s))->n[1] = arg * DAVY_S;
}

/* The discovery child faults and aborts; the runner loads, and dies at its first graph. */
static uint64_t fault_discover(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;
	struct davy_sim_process *p;

	switch (a->stage++) {
	case 0:
		p = davy_sim_add_process(s, d, "ollama");
		p->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
		p->info.role = DAVY_ROLE_DISCOVERY;
		p->info.backend = DAVY_BACKEND_ROCM;
		davy_sim_start(s, p);
		davy_sim_precursor(s, s->now_ns);
		davy_sim_fault(s, p, DAVY_FAULT_VM, fault_address(s),
			       (uint32_t)davy_sim_between(s, 1, 40));
		davy_sim_log(s, DAVY_LOG_PAGE_FAULT, d, p, 0);
		davy_synth_end_later(s, p, 30 * DAVY_MS, DAVY_STATUS_ABORT);
		return s->now_ns + davy_sim_around(s, 3 * DAVY_S);
	case 1:
		p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 500);
		davy_sim_subject(s, d, p);
		return s->now_ns + davy_sim_around(s, 15 * DAVY_S);
	default:
		p = &s->process[s->process_count - 1];
		davy_sim_failed(s);
		davy_sim_log(s, DAVY_LOG_ENGINE_SEGFAULT, NULL, p, 0);
		davy_sim_exit(s, p, DAVY_STATUS_SEGV);
		return 0;
	}
}

void davy_synth_discovery_fault(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);

	(void)arg;
	davy_sim_add_actor(s, fault_discover, d, davy_synth_when(s));
}

/* Dies again after each restart by its supervisor; the third death is the failure. */
static uint64_t die_again(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;
	struct davy_sim_process *p;

	if (a->stage++ % 2 == 0) {
		p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 500);
		davy_sim_subject(s, d, p);
		return s->now_ns + davy_sim_around(s, 8 * DAVY_S);
	}
	p = &s->process[s->process_count - 1];
	if (a->stage == 2)
		davy_sim_precursor(s, s->now_ns);
	if (a->stage == 6)
		davy_sim_failed(s);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return a->stage < 6 ? s->now_ns + davy_sim_around(s, 5 * DAVY_S) : 0;
}

void davy_synth_crash_loop(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	davy_sim_add_actor(s, die_again, davy_synth_gpu(s, 0), davy_synth_when(s));
}

/* The service's user cannot open the node: the engine silently works on the CPU. */
static uint64_t refuse_node(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p;
	struct davy_event ev;

	if (a->stage++) {
		davy_sim_failed(s);
		return 0;
	}
	p = davy_synth_engine(s, a->of, DAVY_BACKEND_CPU, 0);
	davy_sim_subject(s, NULL, p);
	davy_sim_precursor(s, s->now_ns);
	ev = davy_sim_fact(s, DAVY_FACT_OPEN_REFUSED, NULL, p);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "dri/renderD128");
	ev.fact.error = -13; /* EACCES */
	davy_sim_tell(s, &ev);
	p->client.system = 5 * DAVY_GIB;
	davy_synth_chat(s, p);
	return s->now_ns + davy_sim_around(s, 90 * DAVY_S);
}

void davy_synth_open_refused(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	davy_sim_add_actor(s, refuse_node, davy_synth_dgpu(s, 0), davy_synth_when(s));
}

static uint64_t fault_stray(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_event ev = davy_sim_log_of(s, DAVY_LOG_IOMMU_FAULT, a->of, NULL);

	if (!a->stage++)
		a->n[0] = s->now_ns + davy_sim_around(s, 12 * DAVY_S);
	davy_sim_precursor(s, s->now_ns);
	ev.log.addr = fault_address(s);
	davy_sim_log_event(s, &ev);
	if (s->now_ns >= a->n[0]) {
		davy_sim_failed(s);
		return 0;
	}
	return s->now_ns + davy_sim_around(s, 2 * DAVY_S) / a->stage + DAVY_MS;
}

void davy_synth_iommu(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 600);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, fault_stray, d, davy_synth_when(s));
}

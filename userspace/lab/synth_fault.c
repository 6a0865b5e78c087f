/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_fault, and what comes of one: retry faults that become more until one cannot be served, a
 * fault 2 to 60 s before the MES fails (amd-pf-005), a discovery child that faults before the
 * runner dies (amd-ri-004), a runner that dies again and again, a device that may not be opened
 * (amd-dm-002), faults that only the IOMMU sees (amd-io-003: wrong output).
 */
#include <string.h>

#include "lab/scenarios.h"

#define STEP_NS (50 * DL_MS)

static uint64_t address(struct dl_sim *s)
{
	return 0x7f0000000000 + dl_sim_between(s, 0, 1 << 20) * 4096;
}

/* n[0]: milli-faults a step, a third more each second or so; n[1]: what is left over. */
static uint64_t fault_more(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	uint32_t count;

	dl_sim_cause(s);
	a->n[1] += dl_random_near(&s->random, a->n[0], 200);
	count = (uint32_t)(a->n[1] / 1000);
	a->n[1] %= 1000;
	a->n[0] += a->n[0] / a->n[2] + 1;
	if (count)
		dl_sim_fault(s, p, DL_FAULT_VM_RETRY, address(s), count);
	p->kfd.fault_count += count;
	if (a->n[0] >= 1000) /* 20 a second */
		dl_sim_sign(s, s->now_ns);
	if (a->n[0] < 500000)
		return s->now_ns + STEP_NS;
	dl_sim_fault(s, p, DL_FAULT_VM, address(s), 3);
	dl_sim_failed(s);
	dl_sim_kfd(s, DL_KFD_VM_FAULT, p, 0, 0);
	dl_sim_log(s, DL_LOG_PAGE_FAULT, p->device, p, 0);
	dl_synth_end_later(s, p, 20 * DL_MS, DL_STATUS_ABORT);
	return 0;
}

void dl_synth_retry_storm(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 700);
	struct dl_sim_actor *a;

	(void)arg;
	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	a = dl_sim_add_actor(s, fault_more, p, dl_synth_when(s));
	a->n[0] = 50;
	a->n[2] = dl_sim_around(s, 60);
}

static uint64_t fault_first(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	if (!a->stage++) {
		dl_sim_sign(s, s->now_ns);
		dl_sim_fault(s, p, DL_FAULT_VM, address(s), (uint32_t)dl_sim_between(s, 1, 6));
		dl_sim_log(s, DL_LOG_PAGE_FAULT, p->device, p, 0);
		s->load[0].stick = true;
		a->n[0] = s->now_ns + dl_sim_between(s, 2 * DL_S, a->n[1]);
		return a->n[0];
	}
	if (a->stage < 5) {
		dl_sim_log(s, DL_LOG_MES_FAILED, p->device, NULL, 0);
		return s->now_ns + 2 * DL_S;
	}
	dl_sim_failed(s);
	dl_synth_reset_device(s, p->device, dl_sim_around(s, 2 * DL_S), 0);
	return 0;
}

/* Argument: at most so many seconds from the fault to the first failure of the MES. */
void dl_synth_fault_then_mes(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 700);

	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, fault_first, p, dl_synth_when(s))->n[1] = arg * DL_S;
}

/* The child looks for devices, faults and aborts; the runner loads, and dies at its first graph. */
static uint64_t discover(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_device *d = a->of;
	struct dl_sim_process *p;

	switch (a->stage++) {
	case 0:
		p = dl_sim_add_process(s, d, "ollama");
		p->info.engine = DL_ENGINE_OLLAMA_RUNNER;
		p->info.role = DL_ROLE_DISCOVERY;
		p->info.backend = DL_BACKEND_ROCM;
		dl_sim_start(s, p);
		dl_sim_sign(s, s->now_ns);
		dl_sim_fault(s, p, DL_FAULT_VM, address(s), (uint32_t)dl_sim_between(s, 1, 40));
		dl_sim_log(s, DL_LOG_PAGE_FAULT, d, p, 0);
		dl_synth_end_later(s, p, 30 * DL_MS, DL_STATUS_ABORT);
		return s->now_ns + dl_sim_around(s, 3 * DL_S);
	case 1:
		p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 500);
		dl_sim_subject(s, d, p);
		return s->now_ns + dl_sim_around(s, 15 * DL_S);
	default:
		p = &s->process[s->process_count - 1];
		dl_sim_failed(s);
		dl_sim_log(s, DL_LOG_ENGINE_SEGFAULT, NULL, p, 0);
		dl_sim_exit(s, p, DL_STATUS_SEGV);
		return 0;
	}
}

void dl_synth_discovery_fault(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);

	(void)arg;
	dl_sim_add_actor(s, discover, d, dl_synth_when(s));
}

/* Started again by its supervisor, it dies as before; the third death is the failure. */
static uint64_t die_again(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_device *d = a->of;
	struct dl_sim_process *p;

	if (a->stage++ % 2 == 0) {
		p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 500);
		dl_sim_subject(s, d, p);
		return s->now_ns + dl_sim_around(s, 8 * DL_S);
	}
	p = &s->process[s->process_count - 1];
	if (a->stage == 2)
		dl_sim_sign(s, s->now_ns);
	if (a->stage == 6)
		dl_sim_failed(s);
	dl_sim_exit(s, p, DL_STATUS_ABORT);
	return a->stage < 6 ? s->now_ns + dl_sim_around(s, 5 * DL_S) : 0;
}

void dl_synth_crash_loop(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	dl_sim_add_actor(s, die_again, dl_synth_gpu(s, 0), dl_synth_when(s));
}

/* The service's user may not open the node: the engine works on the CPU, and says nothing of it. */
static uint64_t refuse_node(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p;
	struct dl_event ev;

	if (a->stage++) {
		dl_sim_failed(s);
		return 0;
	}
	p = dl_synth_engine(s, a->of, DL_BACKEND_CPU, 0);
	dl_sim_subject(s, NULL, p);
	dl_sim_sign(s, s->now_ns);
	ev = dl_sim_fact(s, DL_FACT_OPEN_REFUSED, NULL, p);
	dl_copy_name(ev.fact.name, sizeof(ev.fact.name), "dri/renderD128");
	ev.fact.error = -13; /* EACCES */
	dl_sim_tell(s, &ev);
	p->client.system = 5 * DL_GIB;
	dl_synth_chat(s, p);
	return s->now_ns + dl_sim_around(s, 90 * DL_S);
}

void dl_synth_open_refused(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	dl_sim_add_actor(s, refuse_node, dl_synth_dgpu(s, 0), dl_synth_when(s));
}

static uint64_t stray(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_event ev = dl_sim_log_of(s, DL_LOG_IOMMU_FAULT, a->of, NULL);

	if (!a->stage++)
		a->n[0] = s->now_ns + dl_sim_around(s, 12 * DL_S);
	dl_sim_sign(s, s->now_ns);
	ev.log.addr = address(s);
	dl_sim_log_event(s, &ev);
	if (s->now_ns >= a->n[0]) {
		dl_sim_failed(s);
		return 0;
	}
	return s->now_ns + dl_sim_around(s, 2 * DL_S) / a->stage + DL_MS;
}

void dl_synth_iommu(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 600);

	(void)arg;
	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, stray, d, dl_synth_when(s));
}

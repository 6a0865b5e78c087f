/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check2_parts.h"

#include <errno.h>
#include <string.h>

#define TIDE_NS (200 * DAVY_MS)

struct davy_sim_actor *davy_check2_then(struct davy_sim *s, davy_sim_act act, void *of)
{
	return davy_sim_add_actor(s, act, of, davy_synth_when(s));
}

void davy_check2_vram(struct davy_sim_device *d, uint64_t mib, uint64_t other_mib)
{
	d->memory.vram_total = d->memory.visible_total = mib * DAVY_MIB;
	if (d->vram_other > other_mib * DAVY_MIB)
		d->vram_other = other_mib * DAVY_MIB;
}

void davy_check2_host(struct davy_sim *s, struct davy_sim_device *d, uint64_t gib)
{
	s->host_total = gib * DAVY_GIB;
	d->memory.gtt_total = s->host_total / 4 * 3;
}

/* n: low, high, rate, high_ns, low_ns, the target of this tide; stage 0: low, 1: rises, 2: falls */
static uint64_t check2_tide_step(struct davy_sim *s, struct davy_sim_actor *a)
{
	uint64_t *field = a->of, step = a->n[2] * (TIDE_NS / DAVY_MS), low = a->n[0];

	if (!(a->stage & 3)) {
		a->n[5] = a->stage & 4
				  ? a->n[1]
				  : davy_sim_between(s, low + (a->n[1] - low) / 100 * 85, a->n[1]);
		a->stage |= 1;
	}
	if (a->stage & 1) {
		*field = a->n[5] > *field + step ? *field + step : a->n[5];
		if (*field != a->n[5])
			return s->now_ns + TIDE_NS;
		a->stage = (a->stage & 4) | 2;
		return s->now_ns + davy_sim_around(s, a->n[3]);
	}
	*field = *field > low + step ? *field - step : low;
	if (*field != low)
		return s->now_ns + TIDE_NS;
	a->stage &= 4;
	return s->now_ns + davy_sim_around(s, a->n[4]);
}

void davy_check2_tide(struct davy_sim *s, uint64_t *field, const struct davy_check2_tide *tide)
{
	struct davy_sim_actor *a = davy_sim_add_actor(
		s, check2_tide_step, field, s->begin_ns + davy_sim_around(s, tide->low_ns));

	a->n[0] = tide->low;
	a->n[1] = tide->high;
	a->n[2] = tide->rate;
	a->n[3] = tide->high_ns;
	a->n[4] = tide->low_ns;
	a->stage = tide->exact ? 4 : 0;
}

/* n: count, index, rate, serve_ns, gap_ns, status */
static uint64_t check2_round(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = (struct davy_sim_process *)a->of + a->n[1];
	uint64_t *memory = davy_check_memory(p), whole = p->info.model_bytes / 100 * 108;
	struct davy_sim_load *l = davy_check_load_of(s, p);
	uint64_t step = a->n[2] * 100;

	if (!p->alive) {
		davy_check_start_again(s, p);
		if (l)
			l->stopped = true;
		a->stage = 0;
	} else if (*memory < whole && !a->stage) {
		*memory = whole - *memory < step ? whole : *memory + step;
	} else if (!a->stage) {
		a->stage = 1;
		if (l && l->stopped)
			davy_check_go_on(s, l);
		return s->now_ns + davy_sim_around(s, a->n[3]);
	} else {
		davy_sim_exit(s, p, (int32_t)a->n[5]);
		a->n[1] = (a->n[1] + 1) % a->n[0];
		return s->now_ns + davy_sim_around(s, a->n[4]);
	}
	return s->now_ns + 100 * DAVY_MS;
}

void davy_check2_rounds(struct davy_sim *s, struct davy_sim_process *first,
			const struct davy_check2_rounds *rounds)
{
	struct davy_sim_actor *a;

	for (uint32_t i = 1; i < rounds->count; i++)
		davy_sim_exit(s, &first[i], (int32_t)rounds->status);
	a = davy_sim_add_actor(s, check2_round, first,
			       s->begin_ns + davy_sim_around(s, rounds->serve_ns));
	a->stage = 1;
	a->n[0] = rounds->count;
	a->n[2] = rounds->rate;
	a->n[3] = rounds->serve_ns;
	a->n[4] = rounds->gap_ns;
	a->n[5] = rounds->status;
}

static void check2_refused(struct davy_sim *s, const struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_OPEN_REFUSED, NULL, p);

	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "dri/renderD128");
	ev.fact.error = -EACCES;
	davy_sim_tell(s, &ev);
}

/* n: period, stay, bytes, status, refused */
static uint64_t check2_visit(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (p->alive) {
		davy_sim_exit(s, p, (int32_t)a->n[3]);
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
	davy_check_start_again(s, p);
	if (a->n[4])
		check2_refused(s, p);
	else
		*davy_check_memory(p) = davy_sim_between(s, a->n[2] / 4, a->n[2]);
	return s->now_ns + davy_sim_around(s, a->n[1]);
}

void davy_check2_visits(struct davy_sim *s, struct davy_sim_process *p,
			const struct davy_check2_visits *visits)
{
	struct davy_sim_actor *a = davy_sim_add_actor(
		s, check2_visit, p, s->begin_ns + davy_sim_around(s, visits->period_ns));

	a->n[0] = visits->period_ns;
	a->n[1] = visits->stay_ns;
	a->n[2] = visits->bytes;
	a->n[3] = (uint64_t)visits->status;
	a->n[4] = visits->refused;
}

struct davy_sim_process *davy_check2_absent(struct davy_sim *s, struct davy_sim_device *d,
					    const char *comm)
{
	struct davy_sim_process *p = davy_sim_add_process(s, d, comm);

	p->info.flags = DAVY_PROCESS_LOGIN_USER;
	return p;
}

struct davy_check_engine davy_check2_by(uint32_t backend, const char *model, uint64_t model_bytes,
					uint32_t context)
{
	struct davy_check_engine e = davy_check_by_rocm(model, model_bytes, context);

	e.backend = backend;
	return e;
}

void davy_check2_lines(struct davy_sim *s, enum davy_log_kind kind, const struct davy_sim_device *d,
		       const struct davy_sim_process *p, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		davy_sim_log(s, kind, d, p, 0);
}

void davy_check2_page_fault(struct davy_sim *s, const struct davy_sim_process *p, uint64_t addr,
			    uint32_t count)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_KFD_VM_FAULT, p->device, p);

	davy_sim_fault(s, p, DAVY_FAULT_VM, addr, count);
	ev.fact.pasid = p->pasid;
	ev.fact.addr = addr;
	if (p->by_kfd) {
		davy_sim_tell(s, &ev);
		davy_sim_kfd(s, DAVY_KFD_VM_FAULT, p, 0, 0);
	}
	ev = davy_sim_log_of(s, DAVY_LOG_PAGE_FAULT, p->device, p);
	ev.log.addr = addr;
	davy_sim_log_event(s, &ev);
}

void davy_check2_mes_reset(struct davy_sim *s, struct davy_sim_device *d,
			   const struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_KFD_GPU_RESET, d, NULL);

	davy_check2_lines(s, DAVY_LOG_MES_FAILED, d, NULL, 1);
	davy_check2_lines(s, DAVY_LOG_MES_UNRECOVERABLE, d, NULL, 1);
	davy_check2_lines(s, DAVY_LOG_QUEUE_EVICT_FAILED, d, p, 2);
	davy_sim_tell(s, &ev);
	davy_check2_lines(s, DAVY_LOG_IP_DUMP_BEGUN, d, NULL, 1);
	davy_check2_lines(s, DAVY_LOG_IP_DUMP_DONE, d, NULL, 1);
	davy_synth_reset_device(s, d, davy_sim_between(s, 1200, 4500) * DAVY_MS, 0);
}

void davy_check2_ring_timeout(struct davy_sim *s, const struct davy_sim_device *d,
			      const struct davy_sim_ring *r, const struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_JOB_TIMEOUT, p ? p->pid : 0);

	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), d->name);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), r->name);
	ev.job_timeout.fence_context = r->context;
	ev.job_timeout.fence_seqno = r->seqno;
	ev.job_timeout.age_ns = r->timeout_ns;
	ev.job_timeout.pasid = p ? p->pasid : 0;
	davy_sim_tell(s, &ev);
	if (!strcmp(d->driver, "xe"))
		return;
	davy_check2_lines(s, DAVY_LOG_IP_DUMP_BEGUN, d, NULL, 1);
	davy_check2_lines(s, DAVY_LOG_IP_DUMP_DONE, d, NULL, 1);
	davy_check2_lines(s, DAVY_LOG_COREDUMP, d, NULL, 1);
	ev = davy_sim_log_of(s, DAVY_LOG_RING_TIMEOUT, d, p);
	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), r->name);
	davy_sim_log_event(s, &ev);
	ev = davy_sim_log_of(s, DAVY_LOG_RING_RESET_BEGUN, d, NULL);
	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), r->name);
	davy_sim_log_event(s, &ev);
}

void davy_check2_xe_timeout(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_XE_QUEUE_RESET, p->device, p);

	davy_check2_ring_timeout(s, p->device, p->ring, p);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "ccs");
	ev.fact.detail = 13; /* GuC id */
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_XE_ENGINE_RESET, p->device, NULL, 0);
	davy_sim_log(s, DAVY_LOG_XE_JOB_TIMEOUT, p->device, p, 0);
	davy_sim_log(s, DAVY_LOG_COREDUMP, p->device, NULL, 0);
	ev = davy_sim_fact(s, DAVY_FACT_FENCE_FAILED, p->device, p);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->ring->name);
	ev.fact.error = -ECANCELED;
	davy_sim_tell(s, &ev);
	p->ring->began_ns = p->graph.entered_ns = 0;
}

void davy_check2_zombie(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_FENCE_FAILED, p->device, p);

	davy_check2_ring_timeout(s, p->device, p->ring, p);
	davy_sim_failed(s);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->ring->name);
	ev.fact.error = -ETIME;
	davy_sim_tell(s, &ev);
	p->ring->began_ns = p->graph.entered_ns = 0;
	p->graph.failed_count++;
	p->graph.failing = 1;
	davy_sim_ring_reset(s, p, 0);
	ev = davy_sim_fact(s, DAVY_FACT_WEDGED_EVENT, p->device, NULL);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "amdgpu");
	ev.fact.detail = 1;
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_RECOVERED, p->device, NULL, 0);
	davy_sim_throw(s, p, DAVY_LOST);
	p->progress.busy_slots = 0;
}

static uint64_t check2_asked(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->phase != DAVY_SIM_IDLE)
		return s->now_ns + 20 * DAVY_MS;
	davy_sim_cause(s);
	l->want_prompt = (uint32_t)a->n[0];
	l->fatal = true;
	l->stick = a->n[1];
	davy_sim_ask(s, l);
	return 0;
}

void davy_check2_ask_for(struct davy_sim *s, struct davy_sim_load *l, uint32_t prompt, bool stick)
{
	struct davy_sim_actor *a = davy_check2_then(s, check2_asked, l);

	a->n[0] = prompt;
	a->n[1] = stick;
}

void davy_check2_host_dies(struct davy_sim *s)
{
	davy_sim_failed(s);
	s->end_ns = s->now_ns;
}

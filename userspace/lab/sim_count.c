/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the BPF programs: frequent facts and moves. Reports edges at once, sums on a tick. */
#include "lab/sim_say.h"

#include <assert.h>
#include <string.h>

#define ALLOC_QUIET_NS (20 * DAVY_MS) /* bpf_setup.c */
#define FACT_QUIET_NS  (50 * DAVY_MS)
#define SPILL_BYTES    (16 * DAVY_MIB)
#define FAULT_COUNT    256

static void tell_sum(struct davy_sim *s, struct davy_sim_sum *sum)
{
	struct davy_event *ev = &sum->ev;

	if (!sum->fresh)
		return;
	if (ev->kind == DAVY_EV_ALLOC_FAILED) {
		ev->alloc_failed.count = (uint32_t)sum->count;
		ev->alloc_failed.fresh = (uint32_t)sum->fresh;
	} else if (ev->kind == DAVY_EV_FAULT) {
		ev->fault.count = sum->count;
		ev->fault.fresh = sum->fresh;
	} else {
		ev->fact.count = sum->count;
		ev->fact.fresh = sum->fresh;
		ev->fact.bytes = sum->bytes;
	}
	sum->fresh = 0;
	sum->spoke_ns = s->now_ns;
	davy_sim_tell(s, ev);
}

void davy_sim_tell_sums(struct davy_sim *s)
{
	for (size_t i = 0; i < DAVY_SIM_SUMS && s->sum[i].ev.kind; i++)
		tell_sum(s, &s->sum[i]);
}

static bool same_sum(const struct davy_event *a, const struct davy_event *b)
{
	if (a->kind != b->kind || a->pid != b->pid)
		return false;
	if (a->kind == DAVY_EV_ALLOC_FAILED)
		return a->alloc_failed.stage == b->alloc_failed.stage &&
		       a->alloc_failed.error == b->alloc_failed.error &&
		       davy_same_name(a->alloc_failed.device, b->alloc_failed.device);
	if (a->kind == DAVY_EV_FAULT)
		return a->fault.pasid == b->fault.pasid &&
		       a->fault.fault_class == b->fault.fault_class &&
		       davy_same_name(a->fault.device, b->fault.device);
	return a->fact.fact == b->fact.fact && davy_same_name(a->fact.device, b->fact.device);
}

static struct davy_sim_sum *sim_count_sum_of(struct davy_sim *s, const struct davy_event *ev)
{
	size_t i = 0;

	while (i < DAVY_SIM_SUMS && s->sum[i].ev.kind && !same_sum(&s->sum[i].ev, ev))
		i++;
	assert(i < DAVY_SIM_SUMS);
	if (!s->sum[i].ev.kind)
		s->sum[i].ev = *ev;
	return &s->sum[i];
}

/* Reports the first one, then each time at "enough", at most once in "quiet_ns". */
static void sim_count_count(struct davy_sim *s, struct davy_sim_sum *sum, uint32_t more,
			    bool enough, uint64_t quiet_ns)
{
	bool first = !sum->count;

	sum->count += more;
	sum->fresh += more;
	if (more && (first || (enough && s->now_ns - sum->spoke_ns >= quiet_ns)))
		tell_sum(s, sum);
}

void davy_sim_alloc_failed(struct davy_sim *s, const struct davy_sim_process *p,
			   enum davy_alloc_stage stage, int32_t error, uint64_t bytes,
			   uint32_t more)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_ALLOC_FAILED, p->pid);
	struct davy_sim_sum *sum;

	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), p->device->name);
	ev.alloc_failed.stage = stage;
	ev.alloc_failed.error = error;
	ev.alloc_failed.what = stage == DAVY_ALLOC_RESOURCE ? 2 : 0; /* TTM_PL_VRAM */
	sum = sim_count_sum_of(s, &ev);
	sum->ev.alloc_failed.bytes = bytes;
	sim_count_count(s, sum, more, true, ALLOC_QUIET_NS);
}

void davy_sim_fault(struct davy_sim *s, const struct davy_sim_process *p,
		    enum davy_fault_class fault_class, uint64_t addr, uint32_t more)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_FAULT, 0);
	struct davy_sim_sum *sum;

	davy_copy_name(ev.fault.device, sizeof(ev.fault.device), p->device->name);
	ev.fault.pasid = p->pasid;
	ev.fault.vmid = p->pasid ? 8 : 0;
	ev.fault.client_id = 27; /* UTCL2 */
	ev.fault.fault_class = (uint16_t)fault_class;
	sum = sim_count_sum_of(s, &ev);
	sum->ev.fault.addr = addr;
	sim_count_count(s, sum, more, true, ALLOC_QUIET_NS);
}

void davy_sim_hot_fact(struct davy_sim *s, enum davy_fact fact, const struct davy_sim_process *p,
		       uint64_t bytes, uint32_t more)
{
	struct davy_event ev = davy_sim_fact(s, fact, p->device, p);
	struct davy_sim_sum *sum = sim_count_sum_of(s, &ev);
	uint64_t reported = sum->ev.fact.bytes;

	sum->bytes += bytes;
	sim_count_count(s, sum, more,
			sum->bytes - reported >= SPILL_BYTES || sum->fresh + more >= FAULT_COUNT,
			FACT_QUIET_NS);
}

static void tell_mover(struct davy_sim *s, struct davy_sim_mover *m)
{
	struct davy_event ev;

	if (m->reported_bytes == m->moved.out_bytes + m->moved.in_bytes)
		return;
	m->reported_bytes = m->moved.out_bytes + m->moved.in_bytes;
	m->spoke_ns = s->now_ns;
	ev = davy_sim_event(s, DAVY_EV_BO_MOVED, m->evictor_pid);
	ev.bo_moved = m->moved;
	davy_sim_tell(s, &ev);
}

void davy_sim_tell_movers(struct davy_sim *s)
{
	for (size_t i = 0; i < DAVY_SIM_MOVERS && s->mover[i].evictor_pid; i++)
		tell_mover(s, &s->mover[i]);
}

static struct davy_sim_mover *mover_of(struct davy_sim *s, uint32_t evictor,
				       const struct davy_sim_process *owner)
{
	struct davy_sim_mover *m = s->mover;

	while (m < s->mover + DAVY_SIM_MOVERS && m->evictor_pid &&
	       (m->evictor_pid != evictor || m->moved.owner_pid != owner->pid))
		m++;
	assert(m < s->mover + DAVY_SIM_MOVERS);
	if (!m->evictor_pid) {
		m->evictor_pid = evictor;
		m->moved.owner_pid = owner->pid;
		m->moved.owner_pasid = owner->pasid;
		davy_copy_name(m->moved.device, sizeof(m->moved.device), owner->device->name);
	}
	return m;
}

void davy_sim_move_out(struct davy_sim *s, uint32_t evictor, struct davy_sim_process *owner,
		       uint64_t bytes)
{
	struct davy_sim_mover *m = mover_of(s, evictor, owner);

	if (bytes > owner->client.vram)
		bytes = owner->client.vram;
	owner->client.vram -= bytes;
	owner->client.gtt += bytes;
	owner->client.evicted += bytes;
	owner->device->memory.eviction_count += bytes / DAVY_MIB / 2 + 1;
	m->moved.out_bytes += bytes;
	m->moved.out_count += (uint32_t)(bytes / DAVY_MIB / 2) + 1;
	if (s->now_ns - m->spoke_ns >= DAVY_MOVE_EDGE_NS)
		tell_mover(s, m);
}

void davy_sim_move_in(struct davy_sim *s, uint32_t evictor, struct davy_sim_process *owner,
		      uint64_t bytes)
{
	struct davy_sim_mover *m = mover_of(s, evictor, owner);

	if (bytes > owner->client.evicted)
		bytes = owner->client.evicted;
	owner->client.vram += bytes;
	owner->client.gtt -= bytes;
	owner->client.evicted -= bytes;
	m->moved.in_bytes += bytes;
	m->moved.in_count += (uint32_t)(bytes / DAVY_MIB / 2) + 1;
	if (s->now_ns - m->spoke_ns >= DAVY_MOVE_EDGE_NS)
		tell_mover(s, m);
}

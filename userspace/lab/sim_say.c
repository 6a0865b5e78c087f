/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/sim_say.h"

#include <string.h>

#define REPEAT_NS (100 * DL_MS) /* of a line of the log; kernel_log.c */
#define SIG_KILL  9

struct dl_event dl_sim_event(const struct dl_sim *s, enum dl_event_kind kind, uint32_t pid)
{
	struct dl_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = s->now_ns;
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

void dl_sim_tell(struct dl_sim *s, struct dl_event *ev)
{
	if (s->error)
		return;
	ev->at_ns = s->now_ns;
	s->told |= ev->kind != DL_EV_TICK;
	s->event_count++;
	s->error = s->put(s->arg, ev);
}

struct dl_event dl_sim_log_of(const struct dl_sim *s, enum dl_log_kind kind,
			      const struct dl_sim_device *d, const struct dl_sim_process *p)
{
	const struct dl_log_meaning *meaning = dl_log_meaning(kind);
	struct dl_event ev = dl_sim_event(s, DL_EV_LOG, p ? p->pid : 0);

	if (d)
		dl_copy_name(ev.log.device, sizeof(ev.log.device), d->name);
	if (p)
		dl_copy_name(ev.log.comm, sizeof(ev.log.comm), p->info.comm);
	ev.log.named_pid = ev.pid;
	ev.log.kind = (uint16_t)kind;
	ev.log.role = meaning->role;
	ev.log.log_class = meaning->class;
	ev.log.hazard = meaning->hazard;
	ev.log.weight = meaning->weight;
	ev.log.leads = meaning->leads;
	return ev;
}

static bool same_line(const struct dl_event *a, const struct dl_event *b)
{
	return a->kind == b->kind && a->log.kind == b->log.kind && a->log.code == b->log.code &&
	       a->log.named_pid == b->log.named_pid && dl_same_name(a->log.device, b->log.device) &&
	       dl_same_name(a->log.ring, b->log.ring);
}

static void tell_held(struct dl_sim *s, struct dl_sim_said *said)
{
	if (!said->ev.kind || !said->ev.log.repeats)
		return;
	said->told_ns = s->now_ns;
	dl_sim_tell(s, &said->ev);
	said->ev.log.repeats = 0;
}

void dl_sim_log_event(struct dl_sim *s, struct dl_event *ev)
{
	struct dl_sim_said *said = &s->said[0];

	for (size_t i = 0; i < DL_SIM_SAID && !same_line(&said->ev, ev); i++)
		if (same_line(&s->said[i].ev, ev) || s->said[i].told_ns < said->told_ns)
			said = &s->said[i];
	if (same_line(&said->ev, ev) && s->now_ns - said->told_ns < REPEAT_NS) {
		ev->log.repeats = said->ev.log.repeats + 1;
		said->ev = *ev;
		return;
	}
	if (same_line(&said->ev, ev))
		ev->log.repeats = said->ev.log.repeats;
	else
		tell_held(s, said);
	said->ev = *ev;
	said->ev.log.repeats = 0;
	said->told_ns = s->now_ns;
	dl_sim_tell(s, ev);
}

void dl_sim_log(struct dl_sim *s, enum dl_log_kind kind, const struct dl_sim_device *d,
		const struct dl_sim_process *p, uint32_t code)
{
	struct dl_event ev = dl_sim_log_of(s, kind, d, p);

	ev.log.code = code;
	dl_sim_log_event(s, &ev);
}

void dl_sim_tell_said(struct dl_sim *s)
{
	for (size_t i = 0; i < DL_SIM_SAID; i++)
		if (s->now_ns - s->said[i].told_ns >= REPEAT_NS)
			tell_held(s, &s->said[i]);
}

struct dl_event dl_sim_fact(const struct dl_sim *s, enum dl_fact fact,
			    const struct dl_sim_device *d, const struct dl_sim_process *p)
{
	struct dl_event ev = dl_sim_event(s, DL_EV_FACT, p ? p->pid : 0);

	if (d)
		dl_copy_name(ev.fact.device, sizeof(ev.fact.device), d->name);
	ev.fact.fact = (uint16_t)fact;
	ev.fact.count = 1;
	ev.fact.fresh = 1;
	ev.fact.by_pid = ev.pid;
	return ev;
}

void dl_sim_kfd(struct dl_sim *s, enum dl_kfd_event event, const struct dl_sim_process *p,
		uint32_t trigger, uint32_t flags)
{
	struct dl_event ev = dl_sim_event(s, DL_EV_KFD, p ? p->pid : 0);

	if (p && p->device)
		dl_copy_name(ev.kfd.device, sizeof(ev.kfd.device), p->device->name);
	ev.kfd.driver_ns = s->now_ns;
	ev.kfd.event = event;
	ev.kfd.trigger = trigger;
	ev.kfd.flags = flags;
	dl_sim_tell(s, &ev);
}

void dl_sim_throw(struct dl_sim *s, const struct dl_sim_process *p, const char *type)
{
	struct dl_event ev = dl_sim_event(s, DL_EV_THROW, p->pid);

	dl_copy_name(ev.thrown.type, sizeof(ev.thrown.type), type);
	dl_sim_tell(s, &ev);
}

static void free_all(struct dl_sim_process *p)
{
	p->client.vram = p->client.gtt = p->client.system = p->client.evicted = 0;
	p->kfd.vram = 0;
	p->graph.entered_ns = 0;
	if (p->ring && p->ring->pid == p->pid)
		p->ring->began_ns = 0;
}

void dl_sim_exit(struct dl_sim *s, struct dl_sim_process *p, int32_t status)
{
	struct dl_event ev;

	if (!p->alive)
		return;
	if ((status & 0x7f) && (status & 0x7f) != SIG_KILL) {
		ev = dl_sim_fact(s, DL_FACT_SIGNAL_TAKEN, NULL, p);
		dl_copy_name(ev.fact.name, sizeof(ev.fact.name), p->info.comm);
		ev.fact.detail = (uint32_t)status & 0x7f;
		dl_sim_tell(s, &ev);
	}
	p->alive = false;
	ev = dl_sim_event(s, DL_EV_PROCESS_EXIT, p->pid);
	ev.process_exit.start_ticks = p->info.start_ticks;
	ev.process_exit.status = status;
	dl_sim_tell(s, &ev);
	if (p->device && !strcmp(p->device->driver, "amdgpu")) {
		ev = dl_sim_event(s, DL_EV_PASID, p->pid);
		ev.pasid.pasid = p->pasid;
		ev.pasid.freed = 1;
		dl_sim_tell(s, &ev);
	}
	free_all(p);
}

void dl_sim_job_timeout(struct dl_sim *s, const struct dl_sim_process *p, uint64_t age_ns)
{
	struct dl_event ev = dl_sim_event(s, DL_EV_JOB_TIMEOUT, p->pid);

	dl_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), p->device->name);
	dl_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), p->ring->name);
	ev.job_timeout.fence_context = p->ring->context;
	ev.job_timeout.fence_seqno = p->ring->seqno;
	ev.job_timeout.age_ns = age_ns;
	ev.job_timeout.pasid = p->pasid;
	dl_sim_tell(s, &ev);
	ev = dl_sim_log_of(s, DL_LOG_RING_TIMEOUT, p->device, p);
	dl_copy_name(ev.log.ring, sizeof(ev.log.ring), p->ring->name);
	dl_sim_log_event(s, &ev);
}

void dl_sim_reset(struct dl_sim *s, const struct dl_sim_device *d, bool begun, int32_t result)
{
	struct dl_event ev = dl_sim_event(s, DL_EV_RESET, 0);

	dl_copy_name(ev.reset.device, sizeof(ev.reset.device), d->name);
	ev.reset.begun = begun;
	ev.reset.result = begun ? 0 : result;
	dl_sim_tell(s, &ev);
	if (begun)
		dl_sim_log(s, DL_LOG_GPU_RESET_BEGUN, d, NULL, 0);
	else
		dl_sim_log(s, result ? DL_LOG_GPU_RESET_FAILED : DL_LOG_GPU_RESET_DONE, d, NULL, 0);
}

void dl_sim_ring_reset(struct dl_sim *s, const struct dl_sim_process *p, int32_t error)
{
	struct dl_event ev = dl_sim_fact(s, DL_FACT_RING_RESET, p->device, NULL);

	dl_copy_name(ev.fact.name, sizeof(ev.fact.name), p->ring->name);
	ev.fact.error = error;
	ev.fact.duration_ns = error ? 2200 * DL_MS : 4 * DL_MS;
	dl_sim_tell(s, &ev);
	ev = dl_sim_log_of(s, error ? DL_LOG_RING_RESET_FAILED : DL_LOG_RING_RESET_DONE, p->device,
			   NULL);
	dl_copy_name(ev.log.ring, sizeof(ev.log.ring), p->ring->name);
	dl_sim_log_event(s, &ev);
}

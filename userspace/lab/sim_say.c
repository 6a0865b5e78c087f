/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/sim_say.h"

#include <string.h>

#define REPEAT_NS (100 * DAVY_MS) /* of a repeated log line; kernel_log.c */
#define SIG_KILL  9

struct davy_event davy_sim_event(const struct davy_sim *s, enum davy_event_kind kind, uint32_t pid)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = s->now_ns;
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

/* A full ring buffer loses what passes it; polled values and the log do not. */
static bool sim_say_loses(struct davy_sim *s, uint32_t kind)
{
	if (!s->lossy_permille)
		return false;
	if (kind != DAVY_EV_BO_MOVED && kind != DAVY_EV_ALLOC_FAILED && kind != DAVY_EV_FACT &&
	    kind != DAVY_EV_FAULT && kind != DAVY_EV_THROW)
		return false;
	return davy_random_chance(&s->random, s->lossy_permille);
}

void davy_sim_tell(struct davy_sim *s, struct davy_event *ev)
{
	if (s->error)
		return;
	if (sim_say_loses(s, ev->kind)) {
		s->lost_count++;
		return;
	}
	ev->at_ns = s->now_ns;
	s->reported |= ev->kind != DAVY_EV_TICK;
	s->event_count++;
	s->error = s->put(s->arg, ev);
}

struct davy_event davy_sim_log_of(const struct davy_sim *s, enum davy_log_kind kind,
				  const struct davy_sim_device *d, const struct davy_sim_process *p)
{
	const struct davy_log_meaning *meaning = davy_log_meaning(kind);
	struct davy_event ev = davy_sim_event(s, DAVY_EV_LOG, p ? p->pid : 0);

	if (d)
		davy_copy_name(ev.log.device, sizeof(ev.log.device), d->name);
	if (p)
		davy_copy_name(ev.log.comm, sizeof(ev.log.comm), p->info.comm);
	ev.log.named_pid = ev.pid;
	ev.log.kind = (uint16_t)kind;
	ev.log.role = meaning->role;
	ev.log.log_class = meaning->class;
	ev.log.hazard = meaning->hazard;
	ev.log.weight = meaning->weight;
	ev.log.leads = meaning->leads;
	return ev;
}

static bool same_line(const struct davy_event *a, const struct davy_event *b)
{
	return a->kind == b->kind && a->log.kind == b->log.kind && a->log.code == b->log.code &&
	       a->log.named_pid == b->log.named_pid &&
	       davy_same_name(a->log.device, b->log.device) &&
	       davy_same_name(a->log.ring, b->log.ring);
}

static void sim_say_tell_pending(struct davy_sim *s, struct davy_sim_said *said)
{
	if (!said->ev.kind || !said->ev.log.repeats)
		return;
	said->reported_ns = s->now_ns;
	davy_sim_tell(s, &said->ev);
	said->ev.log.repeats = 0;
}

void davy_sim_log_event(struct davy_sim *s, struct davy_event *ev)
{
	struct davy_sim_said *said = &s->said[0];

	for (size_t i = 0; i < DAVY_SIM_SAID && !same_line(&said->ev, ev); i++)
		if (same_line(&s->said[i].ev, ev) || s->said[i].reported_ns < said->reported_ns)
			said = &s->said[i];
	if (same_line(&said->ev, ev) && s->now_ns - said->reported_ns < REPEAT_NS) {
		ev->log.repeats = said->ev.log.repeats + 1;
		said->ev = *ev;
		return;
	}
	if (same_line(&said->ev, ev))
		ev->log.repeats = said->ev.log.repeats;
	else
		sim_say_tell_pending(s, said);
	said->ev = *ev;
	said->ev.log.repeats = 0;
	said->reported_ns = s->now_ns;
	davy_sim_tell(s, ev);
}

void davy_sim_log(struct davy_sim *s, enum davy_log_kind kind, const struct davy_sim_device *d,
		  const struct davy_sim_process *p, uint32_t code)
{
	struct davy_event ev = davy_sim_log_of(s, kind, d, p);

	ev.log.code = code;
	davy_sim_log_event(s, &ev);
}

void davy_sim_tell_said(struct davy_sim *s)
{
	for (size_t i = 0; i < DAVY_SIM_SAID; i++)
		if (s->now_ns - s->said[i].reported_ns >= REPEAT_NS)
			sim_say_tell_pending(s, &s->said[i]);
}

struct davy_event davy_sim_fact(const struct davy_sim *s, enum davy_fact fact,
				const struct davy_sim_device *d, const struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_FACT, p ? p->pid : 0);

	if (d)
		davy_copy_name(ev.fact.device, sizeof(ev.fact.device), d->name);
	ev.fact.fact = (uint16_t)fact;
	ev.fact.count = 1;
	ev.fact.fresh = 1;
	ev.fact.by_pid = ev.pid;
	return ev;
}

void davy_sim_kfd(struct davy_sim *s, enum davy_kfd_event event, const struct davy_sim_process *p,
		  uint32_t trigger, uint32_t flags)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_KFD, p ? p->pid : 0);

	if (p && p->device)
		davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), p->device->name);
	ev.kfd.driver_ns = s->now_ns;
	ev.kfd.event = event;
	ev.kfd.trigger = trigger;
	ev.kfd.flags = flags;
	davy_sim_tell(s, &ev);
}

void davy_sim_tell_lost(struct davy_sim *s, const char *sensor)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_SENSOR, 0);

	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), sensor);
	ev.sensor.state = DAVY_SENSOR_LOST;
	ev.sensor.count = s->lost_count;
	if (s->lost_count)
		davy_sim_tell(s, &ev);
	s->lost_count = 0;
}

void davy_sim_throw(struct davy_sim *s, const struct davy_sim_process *p, const char *type)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_THROW, p->pid);

	davy_copy_name(ev.thrown.type, sizeof(ev.thrown.type), type);
	davy_sim_tell(s, &ev);
}

static void free_all(struct davy_sim_process *p)
{
	p->client.vram = p->client.gtt = p->client.system = p->client.evicted = 0;
	p->kfd.vram = 0;
	p->graph.entered_ns = 0;
	if (p->ring && p->ring->pid == p->pid)
		p->ring->began_ns = 0;
}

void davy_sim_exit(struct davy_sim *s, struct davy_sim_process *p, int32_t status)
{
	struct davy_event ev;

	if (!p->alive)
		return;
	if ((status & 0x7f) && (status & 0x7f) != SIG_KILL) {
		ev = davy_sim_fact(s, DAVY_FACT_SIGNAL_TAKEN, NULL, p);
		davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->info.comm);
		ev.fact.detail = (uint32_t)status & 0x7f;
		davy_sim_tell(s, &ev);
	}
	p->alive = false;
	ev = davy_sim_event(s, DAVY_EV_PROCESS_EXIT, p->pid);
	ev.process_exit.start_ticks = p->info.start_ticks;
	ev.process_exit.status = status;
	davy_sim_tell(s, &ev);
	if (p->device && !strcmp(p->device->driver, "amdgpu")) {
		ev = davy_sim_event(s, DAVY_EV_PASID, p->pid);
		ev.pasid.pasid = p->pasid;
		ev.pasid.freed = 1;
		davy_sim_tell(s, &ev);
	}
	free_all(p);
}

void davy_sim_job_timeout(struct davy_sim *s, const struct davy_sim_process *p, uint64_t age_ns)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_JOB_TIMEOUT, p->pid);

	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), p->device->name);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), p->ring->name);
	ev.job_timeout.fence_context = p->ring->context;
	ev.job_timeout.fence_seqno = p->ring->seqno;
	ev.job_timeout.age_ns = age_ns;
	ev.job_timeout.pasid = p->pasid;
	davy_sim_tell(s, &ev);
	ev = davy_sim_log_of(s, DAVY_LOG_RING_TIMEOUT, p->device, p);
	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), p->ring->name);
	davy_sim_log_event(s, &ev);
}

void davy_sim_reset(struct davy_sim *s, const struct davy_sim_device *d, bool begun, int32_t result)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_RESET, 0);

	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), d->name);
	ev.reset.begun = begun;
	ev.reset.result = begun ? 0 : result;
	davy_sim_tell(s, &ev);
	if (begun)
		davy_sim_log(s, DAVY_LOG_GPU_RESET_BEGUN, d, NULL, 0);
	else
		davy_sim_log(s, result ? DAVY_LOG_GPU_RESET_FAILED : DAVY_LOG_GPU_RESET_DONE, d,
			     NULL, 0);
}

void davy_sim_ring_reset(struct davy_sim *s, const struct davy_sim_process *p, int32_t error)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_RING_RESET, p->device, NULL);

	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->ring->name);
	ev.fact.error = error;
	ev.fact.duration_ns = error ? 2200 * DAVY_MS : 4 * DAVY_MS;
	davy_sim_tell(s, &ev);
	ev = davy_sim_log_of(s, error ? DAVY_LOG_RING_RESET_FAILED : DAVY_LOG_RING_RESET_DONE,
			     p->device, NULL);
	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), p->ring->name);
	davy_sim_log_event(s, &ev);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check4_parts.h"

void davy_check4_sign(struct davy_sim *s)
{
	davy_sim_precursor(s, s->now_ns);
}

void davy_check4_fails(struct davy_sim *s, const struct davy_sim_device *d,
		       const struct davy_sim_process *p)
{
	if (!s->label.failure_ns)
		davy_sim_subject(s, d, p);
	davy_sim_failed(s);
}

void davy_check4_hold(struct davy_sim *s, struct davy_sim_ring *r, const struct davy_sim_process *p)
{
	r->began_ns = s->now_ns;
	r->pid = p->pid;
	r->seqno++;
	davy_sim_precursor(s, s->now_ns + r->timeout_ns / 8);
}

/* n: VRAM is lost */
static uint64_t check4_reset_ends(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;

	davy_sim_reset(s, d, false, 0);
	if (a->n[0]) {
		davy_sim_log(s, DAVY_LOG_VRAM_LOST, d, NULL, 0);
		d->memory.vram_lost_count++;
	}
	davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, d, NULL, 12);
	return 0;
}

void davy_check4_reset(struct davy_sim *s, struct davy_sim_device *d, uint64_t ns, bool lost)
{
	davy_sim_reset(s, d, true, 0);
	davy_sim_add_actor(s, check4_reset_ends, d, s->now_ns + ns)->n[0] = lost;
	for (size_t i = 0; i < d->ring_count; i++)
		d->ring[i].began_ns = 0;
}

void davy_check4_recovered(struct davy_sim *s, const struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_WEDGED_EVENT, p->device, NULL);

	davy_sim_ring_reset(s, p, 0);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->device->driver);
	ev.fact.detail = 1; /* DRM_WEDGE_RECOVERY_NONE */
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_RECOVERED, p->device, NULL, 0);
}

void davy_check4_lost(struct davy_sim *s, struct davy_sim_process *p)
{
	davy_sim_throw(s, p, DAVY_LOST);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
}

struct davy_sim_device *davy_check4_xe(struct davy_sim *s, uint64_t mib)
{
	struct davy_sim_device *d = davy_synth_intel(s, true);

	davy_check2_vram(d, mib, 200);
	return d;
}

struct davy_sim_device *davy_check4_second_xe(struct davy_sim *s, uint64_t mib)
{
	struct davy_sim_device *d = davy_sim_add_device(s, "0000:c7:00.0", "xe", mib * DAVY_MIB, 0);
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), d->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), d->driver);
	ev.device.change = DAVY_DEVICE_ADDED;
	davy_sim_tell(s, &ev);
	davy_sim_add_ring(s, d, "ccs2", 5 * DAVY_S);
	return d;
}

void davy_check4_port_line(struct davy_sim *s, enum davy_log_kind kind, const char *port)
{
	struct davy_event ev = davy_sim_log_of(s, kind, NULL, NULL);

	davy_copy_name(ev.log.device, sizeof(ev.log.device), port);
	davy_sim_log_event(s, &ev);
}

/* n: kind, pause, count */
static uint64_t check4_line(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_log(s, (enum davy_log_kind)a->n[0], a->of, NULL, 0);
	return --a->n[2] ? s->now_ns + a->n[1] : 0;
}

void davy_check4_lines(struct davy_sim *s, enum davy_log_kind kind, struct davy_sim_device *d,
		       uint64_t at_ns, uint64_t ns, uint32_t count)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check4_line, d, at_ns);

	a->n[0] = kind;
	a->n[1] = ns;
	a->n[2] = count;
}

/* n: kind, period; of: the port's name */
static uint64_t check4_port(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_check4_port_line(s, (enum davy_log_kind)a->n[0], a->of);
	return s->now_ns + davy_sim_around(s, a->n[1]);
}

void davy_check4_port_each(struct davy_sim *s, enum davy_log_kind kind, const char *port,
			   uint64_t period_ns)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check4_port, (void *)(uintptr_t)port,
						      s->begin_ns + davy_sim_around(s, period_ns));

	a->n[0] = kind;
	a->n[1] = period_ns;
}

static void check4_change(struct davy_sim *s, const struct davy_sim_device *d,
			  enum davy_device_change change)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), d->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), d->driver);
	ev.device.change = change;
	davy_sim_tell(s, &ev);
}

static void check4_end_all(struct davy_sim *s, const struct davy_sim_device *d)
{
	for (size_t i = 0; i < s->process_count; i++)
		if (s->process[i].device == d && s->process[i].alive)
			davy_sim_exit(s, &s->process[i], DAVY_STATUS_TERM);
}

static void check4_start_all(struct davy_sim *s, const struct davy_sim_device *d)
{
	for (size_t i = 0; i < s->process_count; i++) {
		struct davy_sim_process *p = &s->process[i];

		if (p->device == d && !p->alive)
			davy_check3_load(s, p, p->info.model_bytes / 100 * 107, DAVY_MIB);
	}
}

/* n: period, gone; stage 0: there, 1: its users end, 2: gone, 3: back */
static uint64_t check4_reload(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;

	switch (a->stage++) {
	case 0:
		check4_end_all(s, d);
		return s->now_ns + davy_sim_between(s, 2, 9) * DAVY_S;
	case 1:
		check4_change(s, d, DAVY_DEVICE_REMOVED);
		d->tells_memory = false;
		return s->now_ns + davy_sim_around(s, a->n[1]);
	case 2:
		check4_change(s, d, DAVY_DEVICE_ADDED);
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, d, NULL, 14);
		d->tells_memory = true;
		return s->now_ns + davy_sim_between(s, 5, 40) * DAVY_S;
	default:
		check4_start_all(s, d);
		a->stage = 0;
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
}

void davy_check4_reloads(struct davy_sim *s, struct davy_sim_device *d, uint64_t period_ns,
			 uint64_t gone_ns)
{
	struct davy_sim_actor *a = davy_sim_add_actor(
		s, check4_reload, d, s->begin_ns + davy_sim_around(s, 12 * DAVY_MIN));

	a->n[0] = period_ns;
	a->n[1] = gone_ns;
}

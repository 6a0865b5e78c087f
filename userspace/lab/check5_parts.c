/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check5_parts.h"

#include <errno.h>

struct davy_sim_device *davy_check5_nvidia(struct davy_sim *s, uint32_t bus, uint64_t mib)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, bus);

	davy_check2_vram(d, mib, 300);
	return d;
}

void davy_check5_fact(struct davy_sim *s, enum davy_fact fact, const struct davy_sim_device *d,
		      const struct davy_sim_process *p, const char *name, int32_t error)
{
	struct davy_event ev = davy_sim_fact(s, fact, d, p);

	if (name)
		davy_copy_name(ev.fact.name, sizeof(ev.fact.name), name);
	ev.fact.error = error;
	davy_sim_tell(s, &ev);
}

void davy_check5_hogged(struct davy_sim *s, enum davy_log_kind kind, uint32_t times)
{
	davy_sim_log(s, kind, NULL, NULL, times);
}

void davy_check5_illegal(struct davy_sim *s, const struct davy_sim_process *p)
{
	davy_sim_fault(s, p, DAVY_FAULT_ILLEGAL, 0, 1);
	davy_sim_log(s, DAVY_LOG_ILLEGAL_OPCODE, p->device, NULL, 0);
}

void davy_check5_xe_fault(struct davy_sim *s, const struct davy_sim_device *d, uint64_t addr)
{
	struct davy_event ev = davy_sim_log_of(s, DAVY_LOG_XE_FAULT_UNSERVED, d, NULL);

	ev.log.error = -ENOENT;
	ev.log.addr = addr;
	davy_sim_log_event(s, &ev);
	davy_check2_lines(s, DAVY_LOG_XE_FAULT_DETAIL, d, NULL, 7);
}

/* of: the process; n: length of the reset */
static uint64_t check5_ring_refuses(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_ring_reset(s, p, -ETIMEDOUT);
	p->ring->began_ns = 0;
	davy_check2_lines(s, DAVY_LOG_MES_FAILED, p->device, NULL, 1);
	davy_synth_reset_device(s, p->device, a->n[0], 0);
	return 0;
}

void davy_check5_mode1(struct davy_sim *s, const struct davy_sim_process *p, uint64_t ns,
		       uint64_t reset_ns)
{
	davy_sim_add_actor(s, check5_ring_refuses, (void *)(uintptr_t)p, s->now_ns + ns)->n[0] =
		reset_ns;
}

void davy_check5_wedged(struct davy_sim *s, const struct davy_sim_device *d)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_check5_fact(s, DAVY_FACT_WEDGED, d, NULL, d->driver, 0);
	davy_sim_log(s, DAVY_LOG_WEDGED, d, NULL, 0);
	davy_copy_name(ev.device.device, sizeof(ev.device.device), d->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), d->driver);
	davy_copy_name(ev.device.detail, sizeof(ev.device.detail), "rebind,bus-reset");
	ev.device.change = DAVY_DEVICE_WEDGED;
	davy_sim_tell(s, &ev);
}

void davy_check5_oom_kill(struct davy_sim *s, struct davy_sim_process *p, bool group)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_OOM_VICTIM, NULL, p);

	if (!p->alive)
		return;
	davy_sim_log(s, DAVY_LOG_OOM_INVOKED, NULL, NULL, 0);
	davy_check2_lines(s, DAVY_LOG_MEMORY_REPORT, NULL, NULL, group ? 6 : 40);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->info.comm);
	ev.fact.bytes = p->client.system;
	ev.fact.detail = group;
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_OOM_KILL, NULL, p, 0);
	davy_sim_exit(s, p, DAVY_STATUS_KILL);
}

void davy_check5_still(struct davy_sim *s, const uint64_t *field)
{
	for (size_t i = 0; i < s->actor_count; i++)
		if (s->actor[i].of == field)
			s->actor[i].next_ns = 0;
}

/* of: the process; n: faults in a second */
static uint64_t check5_serves(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint32_t count = (uint32_t)davy_sim_between(s, a->n[0] / 20, a->n[0] / 10 + 1);

	if (!p->alive)
		return s->now_ns + DAVY_S;
	davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY, davy_sim_between(s, 0, 1u << 30) << 12, count);
	davy_sim_hot_fact(s, DAVY_FACT_KFD_PAGE_FAULT, p, 0, count);
	p->kfd.fault_count += count;
	p->kfd.pages_in += count * 16;
	p->kfd.pages_out += davy_sim_between(s, 0, count * 8);
	return s->now_ns + davy_sim_around(s, 75 * DAVY_MS);
}

void davy_check5_served_faults(struct davy_sim *s, struct davy_sim_process *p, uint32_t per_second)
{
	davy_sim_add_actor(s, check5_serves, p, s->begin_ns + 3 * DAVY_S)->n[0] = per_second;
}

/* of: the load; n: on, off; stage 1: it works */
static uint64_t check5_shift(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (!l->p->alive)
		return s->now_ns + 10 * DAVY_S;
	if (!a->stage) {
		a->stage = 1;
		davy_check_go_on(s, l);
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
	if (l->phase != DAVY_SIM_IDLE)
		return s->now_ns + 100 * DAVY_MS;
	a->stage = 0;
	l->stopped = true;
	return s->now_ns + davy_sim_around(s, a->n[1]);
}

void davy_check5_shifts(struct davy_sim *s, struct davy_sim_load *l, uint64_t on_ns,
			uint64_t off_ns)
{
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check5_shift, l, s->begin_ns + davy_sim_around(s, on_ns));

	a->stage = 1;
	a->n[0] = on_ns;
	a->n[1] = off_ns;
}

static uint64_t check5_cancel(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->p->alive && l->phase != DAVY_SIM_IDLE && !l->stick) {
		if (l->phase == DAVY_SIM_PROMPT && l->prompt_left > l->tokens)
			l->prompt_left = l->tokens;
		l->answer_left = 1;
	}
	return s->now_ns + davy_sim_around(s, a->n[0]);
}

void davy_check5_cancels(struct davy_sim *s, struct davy_sim_load *l, uint64_t period_ns)
{
	davy_sim_add_actor(s, check5_cancel, l, s->begin_ns + davy_sim_around(s, period_ns))->n[0] =
		period_ns;
}

/* of: the load; n: least, most, period */
static uint64_t check5_pace(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	l->slow_permille = (uint32_t)davy_sim_between(s, a->n[0], a->n[1]);
	return s->now_ns + davy_sim_around(s, a->n[2]);
}

void davy_check5_unsteady(struct davy_sim *s, struct davy_sim_load *l, uint32_t least,
			  uint32_t most, uint64_t period_ns)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check5_pace, l, s->begin_ns + DAVY_S);

	a->n[0] = least;
	a->n[1] = most;
	a->n[2] = period_ns;
}

/* n: most, period */
static uint64_t check5_stall(struct davy_sim *s, struct davy_sim_actor *a)
{
	s->pressure_permille = (uint32_t)davy_sim_between(s, 0, a->n[0]);
	return s->now_ns + davy_sim_around(s, a->n[1]);
}

void davy_check5_pressure(struct davy_sim *s, uint32_t most, uint64_t period_ns)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check5_stall, NULL, s->begin_ns + DAVY_S);

	a->n[0] = most;
	a->n[1] = period_ns;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check7_parts.h"

#define STEP_NS (200 * DAVY_MS)

void davy_check7_driver_fault(struct davy_sim *s, struct davy_sim_device *d, uint64_t addr,
			      uint32_t count)
{
	struct davy_sim_process none = { .device = d };
	struct davy_event ev = davy_sim_log_of(s, DAVY_LOG_DRIVER_FAULT, d, NULL);

	davy_sim_fault(s, &none, DAVY_FAULT_VM, addr, count);
	ev.log.addr = addr;
	davy_sim_log_event(s, &ev);
}

static void return_all(struct davy_sim *s, const struct davy_sim_device *d)
{
	for (size_t i = 0; i < s->process_count; i++) {
		struct davy_sim_process *p = &s->process[i];

		if (p->device == d && p->alive && p->client.evicted)
			davy_sim_move_in(s, p->pid, p, p->client.evicted);
	}
}

/* of: the game; n: bytes, play, rest; stage 1: it plays */
static uint64_t check7_play(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage) {
		a->stage = 1;
		davy_check_allocate(s, p, davy_sim_between(s, a->n[0] / 10 * 7, a->n[0]));
		return s->now_ns + davy_sim_around(s, a->n[1]);
	}
	a->stage = 0;
	p->client.vram = p->client.gtt = 0;
	return_all(s, p->device);
	return s->now_ns + davy_sim_around(s, a->n[2]);
}

void davy_check7_plays(struct davy_sim *s, struct davy_sim_process *game, uint64_t bytes,
		       uint64_t play_ns, uint64_t rest_ns)
{
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check7_play, game, s->begin_ns + davy_sim_around(s, rest_ns));

	a->n[0] = bytes;
	a->n[1] = play_ns;
	a->n[2] = rest_ns;
}

/* of: the process; n: xid, period */
static uint64_t check7_xid(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_check_xid(s, p->device, p, (uint32_t)a->n[0]);
	return s->now_ns + davy_sim_around(s, a->n[1]);
}

void davy_check7_xid_each(struct davy_sim *s, struct davy_sim_process *p, uint32_t xid,
			  uint64_t period_ns)
{
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check7_xid, p, s->begin_ns + davy_sim_around(s, period_ns));

	a->n[0] = xid;
	a->n[1] = period_ns;
}

/* of: the process; n: period */
static uint64_t check7_churn(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (p->alive) {
		davy_sim_hot_fact(s, DAVY_FACT_XE_PAGE_FAULT, p, 0,
				  (uint32_t)davy_sim_between(s, 1, 60));
		if (davy_random_chance(&s->random, 300))
			davy_sim_hot_fact(s, DAVY_FACT_XE_VMA_EVICT, p,
					  davy_sim_between(s, 1, 64) * DAVY_MIB, 1);
		if (davy_random_chance(&s->random, 120))
			davy_sim_hot_fact(s, DAVY_FACT_XE_REBIND_RETRY, p, 0, 1);
	}
	return s->now_ns + davy_sim_around(s, a->n[0]);
}

void davy_check7_xe_churn(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns)
{
	davy_sim_add_actor(s, check7_churn, p, s->begin_ns + davy_sim_around(s, period_ns))->n[0] =
		period_ns;
}

/* of: the field; n: low, high, over, end of this rise, its top */
static uint64_t check7_saw(struct davy_sim *s, struct davy_sim_actor *a)
{
	uint64_t *field = a->of, left_ns;

	if (!a->stage) {
		a->stage = 1;
		a->n[3] = s->now_ns + davy_sim_around(s, a->n[2]);
		a->n[4] = davy_sim_between(s, a->n[1] / 100 * 93, a->n[1]);
		*field = a->n[0];
		return s->now_ns + STEP_NS;
	}
	if (s->now_ns >= a->n[3]) {
		a->stage = 0;
		return s->now_ns + davy_sim_between(s, 4, 40) * DAVY_S;
	}
	left_ns = a->n[3] - s->now_ns;
	if (a->n[4] > *field)
		*field += (a->n[4] - *field) / (left_ns / STEP_NS + 1);
	return s->now_ns + STEP_NS;
}

void davy_check7_saws(struct davy_sim *s, uint64_t *field, uint64_t low, uint64_t high,
		      uint64_t over_ns)
{
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check7_saw, field, s->begin_ns + 2 * DAVY_S);

	a->n[0] = low;
	a->n[1] = high;
	a->n[2] = over_ns;
}

/* of: the process; n: period */
static uint64_t check7_killed(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!p->alive) {
		davy_check_start_again(s, p);
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
	davy_check5_oom_kill(s, p, true);
	return s->now_ns + davy_sim_between(s, 300, 9000) * DAVY_MS;
}

void davy_check7_at_limit(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns)
{
	davy_sim_add_actor(s, check7_killed, p, s->begin_ns + davy_sim_around(s, period_ns))->n[0] =
		period_ns;
}

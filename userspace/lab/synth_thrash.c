/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eviction_thrash: no error, but little progress. Two tenants evict each other (amd-ev-005); a
 * model that fills the VRAM works from GTT (amd-ev-003: 14.6 GB of it in the first request, 42 to
 * 18 tokens/s); KFD's queues are evicted and restored in turn. The failure is the moment when an
 * engine has lost two thirds of its speed (half of it for a spill).
 */
#include "lab/scenarios.h"

#define STEP_NS	       (50 * DAVY_MS)
#define PRECURSOR_SLOW 1100 /* permille of a job's usual time */
#define FAILED_SLOW    3000
#define TTM_TRIGGER    2 /* KFD_QUEUE_EVICTION_TRIGGER_TTM */

static void slow_down(struct davy_sim *s, uint32_t permille)
{
	for (size_t i = 0; i < s->load_count; i++)
		s->load[i].slow_permille = permille;
	if (permille >= PRECURSOR_SLOW)
		davy_sim_precursor(s, s->now_ns);
}

/* Each evicts the other, ever more. n[0]: bytes a second, n[1]: turns. */
static uint64_t ping_pong(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *one = &s->process[a->n[1] % 2];
	struct davy_sim_process *other = &s->process[(a->n[1] + 1) % 2];
	uint64_t bytes = davy_random_near(&s->random, a->n[0] / (DAVY_S / STEP_NS), 300);

	davy_sim_cause(s);
	davy_sim_move_in(s, one->pid, one, bytes);
	davy_sim_move_out(s, one->pid, other, bytes);
	davy_sim_alloc_failed(s, one, DAVY_ALLOC_RESOURCE, -28, bytes, 1);
	if (++a->n[2] % 20 == 0)
		a->n[1]++;
	a->n[0] += a->n[0] / a->n[3];
	slow_down(s, 1000 + (uint32_t)(a->n[0] * 1000 / DAVY_GIB));
	if (s->load[0].slow_permille >= FAILED_SLOW)
		davy_sim_failed(s);
	if (a->n[0] > 3 * DAVY_GIB)
		a->n[0] = 3 * DAVY_GIB;
	return s->now_ns + STEP_NS;
}

static uint64_t overcommit(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = &s->process[1];
	struct davy_sim_actor *pong;

	(void)a;
	davy_sim_cause(s);
	p->client.vram += p->device->memory.vram_total - davy_sim_vram_used(s, p->device);
	p->client.gtt += DAVY_GIB; /* what did not fit */
	p->client.evicted += DAVY_GIB;
	pong = davy_sim_add_actor(s, ping_pong, NULL, s->now_ns + STEP_NS);
	pong->n[0] = 8 * DAVY_MIB;
	pong->n[3] = davy_sim_around(s, 160); /* doubles every 5 to 10 s */
	return 0;
}

/* The first two processes and loads are the tenants'. */
void davy_synth_ping_pong(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 550);

	(void)arg;
	davy_synth_chat(s, p);
	davy_synth_chat(s, davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 350));
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, overcommit, NULL, davy_synth_when(s));
}

static uint64_t spill(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		a->n[0] = davy_sim_between(s, 6, 15) * DAVY_GIB;
		a->n[1] = a->n[0] / (davy_sim_around(s, 12 * DAVY_S) / STEP_NS);
	}
	davy_sim_cause(s);
	davy_sim_hot_fact(s, DAVY_FACT_VRAM_SPILL, p, a->n[1], 4);
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -28, 32 * DAVY_MIB, 4);
	p->client.gtt += a->n[1];
	p->client.evicted += a->n[1] / 2;
	a->n[2] += a->n[1];
	slow_down(s, 1000 + (uint32_t)(a->n[2] * 1400 / a->n[0]));
	if (a->n[2] < a->n[0])
		return s->now_ns + STEP_NS;
	davy_sim_failed(s);
	return 0;
}

void davy_synth_spill(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 950);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, spill, p, davy_synth_when(s));
}

/*
 * A cycle costs at least 100 ms (KFD restores no sooner). n[0]: ns between two, n[1]: out since.
 * Three in two seconds are a storm.
 */
static uint64_t evict_queues(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t away_ns;

	davy_sim_cause(s);
	if (!a->n[1]) {
		a->n[1] = s->now_ns;
		davy_sim_move_out(s, s->process[1].pid, p, davy_sim_around(s, 200 * DAVY_MIB));
		davy_sim_kfd(s, DAVY_KFD_QUEUES_EVICTED, p, TTM_TRIGGER, 0);
		return s->now_ns + davy_sim_between(s, 100, 160) * DAVY_MS;
	}
	away_ns = s->now_ns - a->n[1];
	if (a->n[0] < DAVY_S && davy_random_chance(&s->random, 300)) { /* it does not fit */
		davy_sim_kfd(s, DAVY_KFD_QUEUES_RESTORED, p, 0, DAVY_KFD_RESCHEDULED);
		return s->now_ns + 100 * DAVY_MS;
	}
	a->n[1] = 0;
	davy_sim_move_in(s, p->pid, p, 200 * DAVY_MIB);
	davy_sim_kfd(s, DAVY_KFD_QUEUES_RESTORED, p, 0, 0);
	p->kfd.evicted_ms += away_ns / DAVY_MS;
	slow_down(s, 1000 + (uint32_t)(away_ns * 1000 / a->n[0]));
	if (away_ns * 2 > a->n[0] && a->n[0] < 400 * DAVY_MS)
		davy_sim_failed(s);
	if (a->n[0] > 2 * DAVY_S / 3)
		a->n[0] -= a->n[0] / 8;
	else
		a->n[0] -= a->n[0] / 20;
	if (a->n[0] < 150 * DAVY_MS)
		a->n[0] = 150 * DAVY_MS;
	return s->now_ns + davy_random_near(&s->random, a->n[0], 200);
}

void davy_synth_queue_thrash(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 600);

	(void)arg;
	davy_synth_chat(s, p);
	davy_synth_desktop(s, d);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, evict_queues, p, davy_synth_when(s))->n[0] =
		davy_sim_around(s, 9 * DAVY_S);
}

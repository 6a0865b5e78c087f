/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eviction_thrash: nothing fails, and nothing gets done. Two tenants push each other out (amd-
 * ev-005), a model that fills the VRAM works out of GTT (amd-ev-003: 14.6 GB of it in the first
 * request, 42 to 18 tokens/s), KFD's queues are stopped and restored in turn. The failure is the
 * moment when an engine has lost two thirds of its speed (half of it, where it spills).
 */
#include "lab/scenarios.h"

#define STEP_NS	    (50 * DL_MS)
#define SIGN_SLOW   1100 /* permille of a job's usual time */
#define FAILED_SLOW 3000
#define TTM_TRIGGER 2 /* KFD_QUEUE_EVICTION_TRIGGER_TTM */

static void slow_down(struct dl_sim *s, uint32_t permille)
{
	for (size_t i = 0; i < s->load_count; i++)
		s->load[i].slow_permille = permille;
	if (permille >= SIGN_SLOW)
		dl_sim_sign(s, s->now_ns);
}

/* One moves the other out to be back itself; more each time. n[0]: bytes a second, n[1]: turns. */
static uint64_t ping_pong(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *one = &s->process[a->n[1] % 2];
	struct dl_sim_process *other = &s->process[(a->n[1] + 1) % 2];
	uint64_t bytes = dl_random_near(&s->random, a->n[0] / (DL_S / STEP_NS), 300);

	dl_sim_cause(s);
	dl_sim_move_in(s, one->pid, one, bytes);
	dl_sim_move_out(s, one->pid, other, bytes);
	dl_sim_alloc_failed(s, one, DL_ALLOC_RESOURCE, -28, bytes, 1);
	if (++a->n[2] % 20 == 0)
		a->n[1]++;
	a->n[0] += a->n[0] / a->n[3];
	slow_down(s, 1000 + (uint32_t)(a->n[0] * 1000 / DL_GIB));
	if (s->load[0].slow_permille >= FAILED_SLOW)
		dl_sim_failed(s);
	if (a->n[0] > 3 * DL_GIB)
		a->n[0] = 3 * DL_GIB;
	return s->now_ns + STEP_NS;
}

static uint64_t overcommit(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = &s->process[1];
	struct dl_sim_actor *pong;

	(void)a;
	dl_sim_cause(s);
	p->client.vram += p->device->memory.vram_total - dl_sim_vram_used(s, p->device);
	p->client.gtt += DL_GIB; /* what found no place */
	p->client.evicted += DL_GIB;
	pong = dl_sim_add_actor(s, ping_pong, NULL, s->now_ns + STEP_NS);
	pong->n[0] = 8 * DL_MIB;
	pong->n[3] = dl_sim_around(s, 160); /* doubles every 5 to 10 s */
	return 0;
}

/* The first two processes are the tenants, theirs the first two loads. */
void dl_synth_ping_pong(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 550);

	(void)arg;
	dl_synth_chat(s, p);
	dl_synth_chat(s, dl_synth_engine(s, d, DL_BACKEND_VULKAN, 350));
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, overcommit, NULL, dl_synth_when(s));
}

static uint64_t spill(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	if (!a->stage++) {
		a->n[0] = dl_sim_between(s, 6, 15) * DL_GIB;
		a->n[1] = a->n[0] / (dl_sim_around(s, 12 * DL_S) / STEP_NS);
	}
	dl_sim_cause(s);
	dl_sim_hot_fact(s, DL_FACT_VRAM_SPILL, p, a->n[1], 4);
	dl_sim_alloc_failed(s, p, DL_ALLOC_RESOURCE, -28, 32 * DL_MIB, 4);
	p->client.gtt += a->n[1];
	p->client.evicted += a->n[1] / 2;
	a->n[2] += a->n[1];
	slow_down(s, 1000 + (uint32_t)(a->n[2] * 1400 / a->n[0]));
	if (a->n[2] < a->n[0])
		return s->now_ns + STEP_NS;
	dl_sim_failed(s);
	return 0;
}

void dl_synth_spill(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 950);

	(void)arg;
	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, spill, p, dl_synth_when(s));
}

/*
 * A cycle costs at least 100 ms (KFD restores no sooner). n[0]: ns between two, n[1]: out since.
 * Three in two seconds are a storm.
 */
static uint64_t evict_queues(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	uint64_t away_ns;

	dl_sim_cause(s);
	if (!a->n[1]) {
		a->n[1] = s->now_ns;
		dl_sim_move_out(s, s->process[1].pid, p, dl_sim_around(s, 200 * DL_MIB));
		dl_sim_kfd(s, DL_KFD_QUEUES_EVICTED, p, TTM_TRIGGER, 0);
		return s->now_ns + dl_sim_between(s, 100, 160) * DL_MS;
	}
	away_ns = s->now_ns - a->n[1];
	if (a->n[0] < DL_S && dl_random_chance(&s->random, 300)) { /* it does not fit */
		dl_sim_kfd(s, DL_KFD_QUEUES_RESTORED, p, 0, DL_KFD_RESCHEDULED);
		return s->now_ns + 100 * DL_MS;
	}
	a->n[1] = 0;
	dl_sim_move_in(s, p->pid, p, 200 * DL_MIB);
	dl_sim_kfd(s, DL_KFD_QUEUES_RESTORED, p, 0, 0);
	p->kfd.evicted_ms += away_ns / DL_MS;
	slow_down(s, 1000 + (uint32_t)(away_ns * 1000 / a->n[0]));
	if (away_ns * 2 > a->n[0] && a->n[0] < 400 * DL_MS)
		dl_sim_failed(s);
	if (a->n[0] > 2 * DL_S / 3)
		a->n[0] -= a->n[0] / 8;
	else
		a->n[0] -= a->n[0] / 20;
	if (a->n[0] < 150 * DL_MS)
		a->n[0] = 150 * DL_MS;
	return s->now_ns + dl_random_near(&s->random, a->n[0], 200);
}

void dl_synth_queue_thrash(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 600);

	(void)arg;
	dl_synth_chat(s, p);
	dl_synth_desktop(s, d);
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, evict_queues, p, dl_synth_when(s))->n[0] = dl_sim_around(s, 9 * DL_S);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benign: memory that normal work fills, moves and swaps. */
#include "lab/scenarios.h"

#define STEP_NS (100 * DAVY_MS)

/* Loads models at disk speed, one after the other; each serves until the next one. */
static uint64_t swap_models(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = s->load;

	if (a->stage == 0) {
		p->pid += (uint32_t)davy_sim_between(s, 1, 90);
		p->client.vram = 0;
		davy_sim_start(s, p);
		a->n[0] = p->device->memory.vram_total / 1000 * davy_sim_between(s, 400, 850);
		a->n[1] = a->n[0] / (davy_sim_around(s, 7 * DAVY_S) / STEP_NS);
		a->stage = 1;
	}
	if (a->stage == 1) {
		p->client.vram += a->n[1];
		if (p->client.vram < a->n[0])
			return s->now_ns + STEP_NS;
		a->stage = 2;
		l->stopped = false;
		l->phase = DAVY_SIM_IDLE;
		l->depth = 0;
		l->actor->next_ns = s->now_ns + DAVY_S;
		return s->now_ns + davy_sim_around(s, 4 * DAVY_MIN);
	}
	if (l->phase != DAVY_SIM_IDLE || l->began_ns)
		return s->now_ns + STEP_NS;
	l->stopped = true;
	davy_sim_exit(s, p, DAVY_STATUS_TERM);
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, 4 * DAVY_S);
}

void davy_benign_swaps(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 0);

	(void)arg;
	davy_synth_chat(s, p)->stopped = true;
	p->alive = false;
	p->pid += 100000; /* unused by then */
	davy_sim_add_actor(s, swap_models, p, s->begin_ns + 5 * DAVY_S);
}

/* n[0]: bytes to come; the load ends at 85 to 95 %. */
static uint64_t benign_memory_fill(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	if (!a->stage++) {
		a->n[0] = d->memory.vram_total / 1000 * davy_sim_between(s, 850, 950);
		a->n[1] = d->memory.vram_total / (davy_sim_around(s, 20 * DAVY_S) / STEP_NS);
	}
	if (davy_sim_vram_used(s, d) + a->n[1] >= a->n[0])
		return 0;
	p->client.vram += a->n[1];
	return s->now_ns + STEP_NS;
}

void davy_benign_filled(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, (enum davy_backend)arg, 20);

	davy_synth_chat(s, p);
	davy_sim_add_actor(s, benign_memory_fill, p, s->begin_ns + 30 * DAVY_S);
}

/* Full up to the engine's margin, and constant. */
void davy_benign_static(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);

	davy_synth_chat(s, davy_synth_engine(s, d, (enum davy_backend)arg, 960));
}

/* amd-rpm-002: an idle card suspends, and its VRAM reads as nearly empty. */
static uint64_t doze(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (a->stage++ % 2) {
		p->client.vram = a->n[0];
		p->client.gtt -= a->n[0];
		l->habit.think_ns = 20 * DAVY_S;
		return s->now_ns + davy_sim_around(s, 4 * DAVY_MIN);
	}
	if (l->phase != DAVY_SIM_IDLE || l->began_ns) {
		a->stage--;
		return s->now_ns + STEP_NS;
	}
	a->n[0] = p->client.vram;
	p->client.vram = 0;
	p->client.gtt += a->n[0];
	l->actor->next_ns += 6 * DAVY_MIN; /* or it would wake the card */
	return s->now_ns + davy_sim_between(s, 60, 300) * DAVY_S;
}

void davy_benign_runtime_pm(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 500);

	(void)arg;
	d->memory.flags |= DAVY_MEMORY_MAY_SUSPEND;
	davy_sim_add_actor(s, doze, davy_synth_chat(s, p), s->begin_ns + 2 * DAVY_MIN);
}

/* Several engines that fit into the memory together. */
void davy_benign_tenants(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);

	(void)arg;
	for (int i = 0; i < 3; i++)
		davy_synth_chat(s, davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 280));
	davy_synth_desktop(s, d);
}

/* A second model evicts an idle one once; requests bring it back. */
static uint64_t push_out(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *idle = s->process;

	if (!a->stage++) {
		davy_sim_start(s, p);
		a->n[0] = p->device->memory.vram_total / 2;
		a->n[1] = a->n[0] / (davy_sim_around(s, 6 * DAVY_S) / STEP_NS);
	}
	if (a->n[2] >= a->n[0])
		return 0;
	a->n[2] += a->n[1];
	if (davy_sim_vram_used(s, p->device) + a->n[1] >= p->device->memory.vram_total) {
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -28, 64 * DAVY_MIB, 2);
		davy_sim_move_out(s, p->pid, idle, a->n[1]);
	}
	p->client.vram += a->n[1];
	return s->now_ns + STEP_NS;
}

void davy_benign_evicted_once(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 700);
	p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 10);
	davy_synth_chat(s, p);
	davy_sim_add_actor(s, push_out, p, s->begin_ns + 5 * DAVY_MIN);
}

/* A full heap a few times; the next placement succeeds. */
static uint64_t retry(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_alloc_failed(s, a->of, DAVY_ALLOC_RESOURCE, -28, 4 * DAVY_MIB,
			      (uint32_t)davy_sim_between(s, 1, 10));
	if (davy_random_chance(&s->random, 100))
		davy_sim_alloc_failed(s, a->of, DAVY_ALLOC_VALIDATE, -12, 4 * DAVY_MIB, 1);
	return s->now_ns + davy_sim_around(s, 50 * DAVY_S);
}

void davy_benign_retries(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 930);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_add_actor(s, retry, p, s->begin_ns + DAVY_MIN);
}

/* A kernel build: an eighth of the host's memory stays free, with low pressure. */
static uint64_t memory_compile(struct davy_sim *s, struct davy_sim_actor *a)
{
	if (!a->n[0])
		a->n[0] = s->host_other;
	if (a->stage++ % 2) {
		s->host_other = a->n[0];
		s->pressure_permille = 0;
		return s->now_ns + davy_sim_around(s, 6 * DAVY_MIN);
	}
	s->host_other += davy_sim_host_available(s) - s->host_total / 8;
	s->pressure_permille = (uint32_t)davy_sim_between(s, 0, 30);
	return s->now_ns + davy_sim_around(s, 4 * DAVY_MIN);
}

void davy_benign_host_cache(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_apu(s, 0); /* it shares the host's memory */

	(void)arg;
	davy_synth_chat(s, davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 500));
	davy_sim_add_actor(s, memory_compile, NULL, s->begin_ns + 2 * DAVY_MIN);
}

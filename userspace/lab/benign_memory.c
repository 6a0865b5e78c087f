/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benign: memory that is full, filled, moved and swapped as ordinary work does it. */
#include "lab/scenarios.h"

#define STEP_NS (100 * DL_MS)

/* A model is loaded at the speed of a disk, and its engine serves until the next one comes. */
static uint64_t swap_models(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	struct dl_sim_load *l = s->load;

	if (a->stage == 0) {
		p->pid += (uint32_t)dl_sim_between(s, 1, 90);
		p->client.vram = 0;
		dl_sim_start(s, p);
		a->n[0] = p->device->memory.vram_total / 1000 * dl_sim_between(s, 400, 850);
		a->n[1] = a->n[0] / (dl_sim_around(s, 7 * DL_S) / STEP_NS);
		a->stage = 1;
	}
	if (a->stage == 1) {
		p->client.vram += a->n[1];
		if (p->client.vram < a->n[0])
			return s->now_ns + STEP_NS;
		a->stage = 2;
		l->stopped = false;
		l->phase = DL_SIM_IDLE;
		l->depth = 0;
		l->actor->next_ns = s->now_ns + DL_S;
		return s->now_ns + dl_sim_around(s, 4 * DL_MIN);
	}
	if (l->phase != DL_SIM_IDLE || l->began_ns)
		return s->now_ns + STEP_NS;
	l->stopped = true;
	dl_sim_exit(s, p, DL_STATUS_TERM);
	a->stage = 0;
	return s->now_ns + dl_sim_around(s, 4 * DL_S);
}

void dl_benign_swaps(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 0);

	(void)arg;
	dl_synth_chat(s, p)->stopped = true;
	p->alive = false;
	p->pid += 100000; /* nobody's by then */
	dl_sim_add_actor(s, swap_models, p, s->begin_ns + 5 * DL_S);
}

/* n[0]: bytes to come; the load ends at 85 to 95 %. */
static uint64_t fill(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	struct dl_sim_device *d = p->device;

	if (!a->stage++) {
		a->n[0] = d->memory.vram_total / 1000 * dl_sim_between(s, 850, 950);
		a->n[1] = d->memory.vram_total / (dl_sim_around(s, 20 * DL_S) / STEP_NS);
	}
	if (dl_sim_vram_used(s, d) + a->n[1] >= a->n[0])
		return 0;
	p->client.vram += a->n[1];
	return s->now_ns + STEP_NS;
}

void dl_benign_filled(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, (enum dl_backend)arg, 20);

	dl_synth_chat(s, p);
	dl_sim_add_actor(s, fill, p, s->begin_ns + 30 * DL_S);
}

/* As full as a fit leaves it, and so it stays. */
void dl_benign_static(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);

	dl_synth_chat(s, dl_synth_engine(s, d, (enum dl_backend)arg, 960));
}

/* amd-rpm-002: nobody uses it, it sleeps, and its VRAM reads as nearly empty. */
static uint64_t doze(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;
	struct dl_sim_process *p = l->p;

	if (a->stage++ % 2) {
		p->client.vram = a->n[0];
		p->client.gtt -= a->n[0];
		l->habit.think_ns = 20 * DL_S;
		return s->now_ns + dl_sim_around(s, 4 * DL_MIN);
	}
	if (l->phase != DL_SIM_IDLE || l->began_ns) {
		a->stage--;
		return s->now_ns + STEP_NS;
	}
	a->n[0] = p->client.vram;
	p->client.vram = 0;
	p->client.gtt += a->n[0];
	l->actor->next_ns += 6 * DL_MIN; /* or it would wake the card */
	return s->now_ns + dl_sim_between(s, 60, 300) * DL_S;
}

void dl_benign_runtime_pm(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 500);

	(void)arg;
	dl_sim_add_actor(s, doze, dl_synth_chat(s, p), s->begin_ns + 2 * DL_MIN);
}

/* Several engines that fit side by side. */
void dl_benign_tenants(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);

	(void)arg;
	for (int i = 0; i < 3; i++)
		dl_synth_chat(s, dl_synth_engine(s, d, DL_BACKEND_VULKAN, 280));
	dl_synth_desktop(s, d);
}

/* A second model pushes an idle one out, once; it comes back as often as it is asked. */
static uint64_t push_out(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of, *idle = s->process;

	if (!a->stage++) {
		dl_sim_start(s, p);
		a->n[0] = p->device->memory.vram_total / 2;
		a->n[1] = a->n[0] / (dl_sim_around(s, 6 * DL_S) / STEP_NS);
	}
	if (a->n[2] >= a->n[0])
		return 0;
	a->n[2] += a->n[1];
	if (dl_sim_vram_used(s, p->device) + a->n[1] >= p->device->memory.vram_total) {
		dl_sim_alloc_failed(s, p, DL_ALLOC_RESOURCE, -28, 64 * DL_MIB, 2);
		dl_sim_move_out(s, p->pid, idle, a->n[1]);
	}
	p->client.vram += a->n[1];
	return s->now_ns + STEP_NS;
}

void dl_benign_evicted_once(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p;

	(void)arg;
	dl_synth_engine(s, d, DL_BACKEND_VULKAN, 700);
	p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 10);
	dl_synth_chat(s, p);
	dl_sim_add_actor(s, push_out, p, s->begin_ns + 5 * DL_MIN);
}

/* A heap without room, a few times: the next placement does. */
static uint64_t retry(struct dl_sim *s, struct dl_sim_actor *a)
{
	dl_sim_alloc_failed(s, a->of, DL_ALLOC_RESOURCE, -28, 4 * DL_MIB,
			    (uint32_t)dl_sim_between(s, 1, 10));
	if (dl_random_chance(&s->random, 100))
		dl_sim_alloc_failed(s, a->of, DL_ALLOC_VALIDATE, -12, 4 * DL_MIB, 1);
	return s->now_ns + dl_sim_around(s, 50 * DL_S);
}

void dl_benign_retries(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 930);

	(void)arg;
	dl_synth_chat(s, p);
	dl_sim_add_actor(s, retry, p, s->begin_ns + DL_MIN);
}

/* Somebody compiles a kernel: an eighth of the host's memory stays, and a little pressure. */
static uint64_t compile(struct dl_sim *s, struct dl_sim_actor *a)
{
	if (!a->n[0])
		a->n[0] = s->host_other;
	if (a->stage++ % 2) {
		s->host_other = a->n[0];
		s->pressure_permille = 0;
		return s->now_ns + dl_sim_around(s, 6 * DL_MIN);
	}
	s->host_other += dl_sim_host_available(s) - s->host_total / 8;
	s->pressure_permille = (uint32_t)dl_sim_between(s, 0, 30);
	return s->now_ns + dl_sim_around(s, 4 * DL_MIN);
}

void dl_benign_host_cache(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);

	(void)arg;
	dl_synth_chat(s, dl_synth_engine(s, d, DL_BACKEND_VULKAN, 500));
	dl_sim_add_actor(s, compile, NULL, s->begin_ns + 2 * DL_MIN);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/sim.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sim_load.h"
#include "lab/sim_say.h"

#define AFTER_NS (10 * DAVY_S) /* length of a trace after its failure */
#define LIMIT_NS (8 * DAVY_H)  /* after the calm: time limit for the failure */
#define USER_HZ	 100

struct davy_sim *davy_sim_new(const char *scenario, uint64_t seed, davy_sim_put put, void *arg)
{
	struct davy_sim *s = calloc(1, sizeof(*s));

	if (s)
		s->load = calloc(DAVY_SIM_LOADS, sizeof(*s->load));
	if (!s || !s->load) {
		free(s);
		return NULL;
	}
	davy_random_seed(&s->random, scenario, seed);
	davy_copy_name(s->label.scenario, sizeof(s->label.scenario), scenario);
	s->label.seed = seed;
	s->begin_ns = davy_sim_between(s, 100, 864000) * DAVY_S + davy_sim_between(s, 0, DAVY_S);
	s->now_ns = s->begin_ns;
	s->next_pid = (uint32_t)davy_sim_between(s, 900, 60000);
	s->host_total = 64 * DAVY_GIB;
	s->host_other = davy_sim_between(s, 3, 8) * DAVY_GIB;
	s->put = put;
	s->arg = arg;
	return s;
}

void davy_sim_free(struct davy_sim *s)
{
	if (s)
		free(s->load);
	free(s);
}

struct davy_sim_device *davy_sim_add_device(struct davy_sim *s, const char *name,
					    const char *driver, uint64_t vram, uint64_t gtt)
{
	struct davy_sim_device *d = &s->device[s->device_count++];

	assert(s->device_count <= DAVY_SIM_DEVICES);
	davy_copy_name(d->name, sizeof(d->name), name);
	davy_copy_name(d->driver, sizeof(d->driver), driver);
	davy_copy_name(d->memory.device, sizeof(d->memory.device), name);
	d->memory.vram_total = vram;
	d->memory.visible_total = vram;
	d->memory.gtt_total = gtt;
	d->tells_memory = strcmp(driver, "nvidia") != 0;
	d->vram_other = vram ? davy_sim_between(s, 40, 400) * DAVY_MIB : 0;
	d->gtt_other = gtt ? davy_sim_between(s, 20, 200) * DAVY_MIB : 0;
	return d;
}

struct davy_sim_ring *davy_sim_add_ring(struct davy_sim *s, struct davy_sim_device *d,
					const char *name, uint64_t timeout_ns)
{
	struct davy_sim_ring *r = &d->ring[d->ring_count++];

	assert(d->ring_count <= DAVY_SIM_RINGS);
	davy_copy_name(r->name, sizeof(r->name), name);
	r->timeout_ns = timeout_ns;
	r->context = davy_sim_between(s, 2, 4000);
	r->seqno = davy_sim_between(s, 1, 1000000);
	return r;
}

struct davy_sim_process *davy_sim_add_process(struct davy_sim *s, struct davy_sim_device *d,
					      const char *comm)
{
	struct davy_sim_process *p = &s->process[s->process_count++];

	assert(s->process_count <= DAVY_SIM_PROCESSES);
	s->next_pid += (uint32_t)davy_sim_between(s, 1, 400);
	p->pid = s->next_pid;
	p->pasid = 0x8000 + (uint32_t)s->process_count;
	p->device = d;
	p->info.ppid = 1;
	davy_copy_name(p->info.comm, sizeof(p->info.comm), comm);
	p->client.client_id = davy_sim_between(s, 10, 900);
	p->progress.slots = 1;
	if (d) {
		davy_copy_name(p->info.device, sizeof(p->info.device), d->name);
		davy_copy_name(p->client.device, sizeof(p->client.device), d->name);
		davy_copy_name(p->times.device, sizeof(p->times.device), d->name);
		davy_copy_name(p->kfd.device, sizeof(p->kfd.device), d->name);
	}
	return p;
}

/* Resets the state of a reused process. */
static void start_anew(struct davy_sim_process *p)
{
	struct davy_ev_job_times times = { 0 };
	struct davy_ev_progress progress = { .context_size = p->progress.context_size,
					     .slots = p->progress.slots };

	memcpy(times.device, p->times.device, sizeof(times.device));
	memcpy(times.ring, p->times.ring, sizeof(times.ring));
	memset(&p->graph, 0, sizeof(p->graph));
	p->times = times;
	p->progress = progress;
	p->client.busy_ns = 0;
	p->client.client_id++;
	p->graph_reported = p->times_reported = 0;
}

void davy_sim_start(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_event ev;

	start_anew(p);
	ev = davy_sim_event(s, DAVY_EV_PROCESS, p->pid);
	p->alive = true;
	p->info.start_ticks = s->now_ns / (DAVY_S / USER_HZ);
	ev.process = p->info;
	davy_sim_tell(s, &ev);
	if (!p->device)
		return;
	if (p->ring)
		davy_copy_name(p->times.ring, sizeof(p->times.ring), p->ring->name);
	if (strcmp(p->device->driver, "amdgpu") != 0)
		return;
	ev = davy_sim_event(s, DAVY_EV_PASID, p->pid);
	ev.pasid.pasid = p->pasid;
	davy_sim_tell(s, &ev);
}

struct davy_sim_actor *davy_sim_add_actor(struct davy_sim *s, davy_sim_act act, void *of,
					  uint64_t at_ns)
{
	struct davy_sim_actor *a = &s->actor[s->actor_count++];

	assert(s->actor_count <= DAVY_SIM_ACTORS);
	a->act = act;
	a->of = of;
	a->next_ns = at_ns;
	return a;
}

void davy_sim_sleep(struct davy_sim *s, uint64_t ns)
{
	for (size_t i = 0; i < s->actor_count; i++)
		if (s->actor[i].next_ns)
			s->actor[i].next_ns += ns;
}

void davy_sim_cause(struct davy_sim *s)
{
	if (!s->label.cause_ns)
		s->label.cause_ns = s->now_ns;
}

void davy_sim_precursor(struct davy_sim *s, uint64_t at_ns)
{
	davy_sim_cause(s);
	if (!s->label.precursor_ns)
		s->label.precursor_ns = at_ns;
}

void davy_sim_failed(struct davy_sim *s)
{
	if (s->label.failure_ns)
		return;
	assert(s->label.precursor_ns && s->label.precursor_ns <= s->now_ns);
	s->label.failure_ns = s->now_ns;
	s->end_ns = s->now_ns + AFTER_NS;
}

void davy_sim_subject(struct davy_sim *s, const struct davy_sim_device *d,
		      const struct davy_sim_process *p)
{
	davy_copy_name(s->label.device, sizeof(s->label.device), d ? d->name : "");
	s->label.pid = p ? p->pid : 0;
}

uint64_t davy_sim_vram_used(const struct davy_sim *s, const struct davy_sim_device *d)
{
	uint64_t used = d->vram_other;

	for (size_t i = 0; i < s->process_count; i++)
		if (s->process[i].device == d && s->process[i].alive)
			used += s->process[i].client.vram;
	return used < d->memory.vram_total ? used : d->memory.vram_total;
}

uint64_t davy_sim_gtt_used(const struct davy_sim *s, const struct davy_sim_device *d)
{
	uint64_t used = d->gtt_other;

	for (size_t i = 0; i < s->process_count; i++)
		if (s->process[i].device == d && s->process[i].alive)
			used += s->process[i].client.gtt;
	return used < d->memory.gtt_total ? used : d->memory.gtt_total;
}

uint64_t davy_sim_host_available(const struct davy_sim *s)
{
	uint64_t used = s->host_other;

	for (size_t i = 0; i < s->device_count; i++)
		used += davy_sim_gtt_used(s, &s->device[i]);
	for (size_t i = 0; i < s->process_count; i++)
		if (s->process[i].alive)
			used += s->process[i].client.system;
	return used < s->host_total ? s->host_total - used : 0;
}

/* Among actors with the same time, the first added one: deterministic on all machines. */
static struct davy_sim_actor *next_actor(struct davy_sim *s)
{
	struct davy_sim_actor *next = NULL;

	for (size_t i = 0; i < s->actor_count; i++) {
		struct davy_sim_actor *a = &s->actor[i];

		if (a->next_ns && (!next || a->next_ns < next->next_ns))
			next = a;
	}
	return next;
}

int davy_sim_run(struct davy_sim *s)
{
	bool fails = s->label.class != DAVY_CLASS_NONE;
	struct davy_sim_actor *a;

	s->end_ns = s->begin_ns + s->calm_ns + (fails ? LIMIT_NS : 0);
	davy_sim_add_actor(s, davy_sim_watch, NULL, s->begin_ns + 100 * DAVY_MS);
	while (!s->error && (a = next_actor(s)) && a->next_ns <= s->end_ns) {
		assert(a->next_ns >= s->now_ns);
		s->now_ns = a->next_ns;
		a->next_ns = 0;
		a->next_ns = a->act(s, a);
		assert(!a->next_ns || a->next_ns >= s->now_ns);
	}
	if (!s->error && fails && !s->label.failure_ns)
		s->error = -ETIME;
	s->label.begin_ns = s->begin_ns;
	s->label.duration_ns = s->end_ns - s->begin_ns;
	return s->error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define STEP_NS	    (100 * DAVY_MS)
#define BLOCK_BYTES (32 * DAVY_MIB) /* each retry of TTM evicts one such buffer */

struct davy_check_engine davy_check_by_vulkan(const char *model, uint64_t model_bytes,
					      uint32_t context)
{
	return (struct davy_check_engine){
		.comm = "llama-server",
		.model = model,
		.engine = DAVY_ENGINE_LLAMA_SERVER,
		.role = DAVY_ROLE_SERVER,
		.backend = DAVY_BACKEND_VULKAN,
		.context = context,
		.ubatch = 512,
		.ring = 1,
		.model_bytes = model_bytes,
	};
}

struct davy_check_engine davy_check_by_rocm(const char *model, uint64_t model_bytes,
					    uint32_t context)
{
	struct davy_check_engine e = davy_check_by_vulkan(model, model_bytes, context);

	e.backend = DAVY_BACKEND_ROCM;
	e.ring = DAVY_CHECK_NO_RING;
	return e;
}

uint64_t *davy_check_memory(struct davy_sim_process *p)
{
	bool shared = p->device->memory.flags & DAVY_MEMORY_SHARED;

	return shared ? &p->client.gtt : &p->client.vram;
}

/* As davy_sim_start reports it, but its work began long ago. */
static void check_found(struct davy_sim *s, struct davy_sim_process *p)
{
	uint64_t age_s = davy_sim_between(s, 60, s->begin_ns / DAVY_S);
	struct davy_event ev = davy_sim_event(s, DAVY_EV_PROCESS, p->pid);

	p->alive = true;
	p->info.start_ticks = (s->begin_ns / DAVY_S - age_s) * 100;
	p->graph.graph_count = age_s * davy_sim_between(s, 2, 15);
	p->graph.max_ns = davy_sim_between(s, 200, 900) * DAVY_MS;
	p->client.busy_ns = age_s * davy_sim_between(s, 50, 600) * DAVY_MS;
	p->progress.prompt_count = age_s * 40;
	p->progress.generated_count = age_s * 9;
	p->kfd.evicted_ms = davy_sim_between(s, 0, 90000);
	p->device->memory.eviction_count += davy_sim_between(s, 0, 400000);
	if (p->ring)
		davy_copy_name(p->times.ring, sizeof(p->times.ring), p->ring->name);
	ev.process = p->info;
	davy_sim_tell(s, &ev);
	if (strcmp(p->device->driver, "amdgpu") != 0)
		return;
	ev = davy_sim_event(s, DAVY_EV_PASID, p->pid);
	ev.pasid.pasid = p->pasid;
	davy_sim_tell(s, &ev);
}

struct davy_sim_process *davy_check_engine(struct davy_sim *s, struct davy_sim_device *d,
					   const struct davy_check_engine *e, uint64_t bytes)
{
	struct davy_sim_process *p = davy_sim_add_process(s, d, e->comm);
	struct davy_ev_process *i = &p->info;

	if (e->ring != DAVY_CHECK_NO_RING && e->ring < d->ring_count)
		p->ring = &d->ring[e->ring];
	p->by_kfd = e->backend == DAVY_BACKEND_ROCM;
	p->kfd.queue_count = p->by_kfd ? 4 : 0;
	i->engine = (uint8_t)e->engine;
	i->role = (uint8_t)e->role;
	i->backend = (uint8_t)e->backend;
	i->port = (uint16_t)davy_sim_between(s, 8080, 8099);
	i->batch = 2048;
	i->ubatch = e->ubatch;
	i->parallel = 1;
	i->gpu_layers = DAVY_LAYERS_ALL;
	i->layer_count = 48;
	i->trained_context = 131072;
	i->context_size = p->progress.context_size = e->context;
	i->model_bytes = e->model_bytes;
	davy_copy_name(i->model, sizeof(i->model), e->model);
	davy_copy_name(i->cache_k, sizeof(i->cache_k), "f16");
	davy_copy_name(i->cache_v, sizeof(i->cache_v), "f16");
	*davy_check_memory(p) = bytes;
	if (e->found)
		check_found(s, p);
	else
		davy_sim_start(s, p);
	return p;
}

struct davy_sim_process *davy_check_app(struct davy_sim *s, struct davy_sim_device *d,
					const char *comm, uint64_t bytes)
{
	struct davy_sim_process *p = davy_sim_add_process(s, d, comm);

	if (d->ring_count)
		p->ring = &d->ring[0];
	p->info.flags = DAVY_PROCESS_LOGIN_USER;
	*davy_check_memory(p) = bytes;
	davy_sim_start(s, p);
	return p;
}

void davy_check_start_again(struct davy_sim *s, struct davy_sim_process *p)
{
	assert(!p->alive);
	s->next_pid += (uint32_t)davy_sim_between(s, 1, 400);
	p->pid = s->next_pid;
	davy_sim_start(s, p);
}

struct davy_sim_load *davy_check_chat(struct davy_sim *s, struct davy_sim_process *p,
				      uint64_t think_ns)
{
	struct davy_sim_pace pace = davy_synth_pace(s, p);
	struct davy_sim_habit habit = davy_synth_chats;

	habit.think_ns = think_ns;
	return davy_sim_add_load(s, p, &pace, &habit);
}

void davy_check_go_on(struct davy_sim *s, struct davy_sim_load *l)
{
	l->phase = DAVY_SIM_IDLE;
	l->began_ns = 0;
	l->depth = l->p->progress.depth = 0;
	l->stick = l->stopped = false;
	l->p->progress.busy_slots = 0;
	l->actor->stage = 1;
	l->actor->next_ns = s->now_ns + davy_sim_around(s, l->habit.think_ns);
}

struct davy_sim_load *davy_check_load_of(struct davy_sim *s, const struct davy_sim_process *p)
{
	for (size_t i = 0; i < s->load_count; i++)
		if (s->load[i].p == p)
			return &s->load[i];
	return NULL;
}

static uint64_t check_ramp_step(struct davy_sim *s, struct davy_sim_actor *a)
{
	uint64_t *field = a->of, to = a->n[0], left_ns;

	if (!a->stage++)
		a->n[1] += s->now_ns;
	if (s->now_ns >= a->n[1]) {
		*field = to;
		return 0;
	}
	left_ns = a->n[1] - s->now_ns;
	if (to > *field)
		*field += (to - *field) / (left_ns / STEP_NS + 1);
	else
		*field -= (*field - to) / (left_ns / STEP_NS + 1);
	return s->now_ns + STEP_NS;
}

void davy_check_ramp(struct davy_sim *s, uint64_t *field, uint64_t to, uint64_t at_ns,
		     uint64_t over_ns)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check_ramp_step, field, at_ns);

	a->n[0] = to;
	a->n[1] = over_ns;
}

static uint64_t check_wander_step(struct davy_sim *s, struct davy_sim_actor *a)
{
	uint64_t *field = a->of;

	*field = davy_sim_between(s, a->n[0], a->n[1]);
	return s->now_ns + davy_sim_around(s, a->n[2]);
}

void davy_check_wander(struct davy_sim *s, uint64_t *field, uint64_t least, uint64_t most,
		       uint64_t period_ns)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check_wander_step, field, s->begin_ns);

	a->n[0] = least;
	a->n[1] = most;
	a->n[2] = period_ns;
}

/* The process with most VRAM: a server that rests is at the end of TTM's list. */
static struct davy_sim_process *check_victim(struct davy_sim *s, const struct davy_sim_process *p)
{
	struct davy_sim_process *victim = NULL;

	for (size_t i = 0; i < s->process_count; i++) {
		struct davy_sim_process *q = &s->process[i];

		if (q == p || !q->alive || q->device != p->device || !q->client.vram)
			continue;
		if (!victim || q->client.vram > victim->client.vram)
			victim = q;
	}
	return victim;
}

/* Memory of others leaves VRAM; returns what is still missing. */
static uint64_t check_make_room(struct davy_sim *s, struct davy_sim_process *p, uint64_t missing)
{
	uint64_t room = p->device->memory.gtt_total - davy_sim_gtt_used(s, p->device);
	struct davy_sim_process *q = check_victim(s, p);
	uint64_t bytes = missing;

	if (!q)
		return missing;
	if (bytes > q->client.vram)
		bytes = q->client.vram;
	if (bytes > room)
		bytes = room;
	if (!bytes)
		return missing;
	if (q->by_kfd)
		davy_check_evict_queues(s, q, 2); /* TTM */
	davy_sim_move_out(s, p->pid, q, bytes);
	if (q->by_kfd)
		davy_check_restore_queues(s, q, 100 * DAVY_MS, false);
	return missing - bytes;
}

int davy_check_allocate(struct davy_sim *s, struct davy_sim_process *p, uint64_t bytes)
{
	struct davy_sim_device *d = p->device;
	uint64_t used = davy_sim_vram_used(s, d), missing, room;

	missing = used + bytes > d->memory.vram_total ? used + bytes - d->memory.vram_total : 0;
	if (missing) {
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -ENOSPC, bytes,
				      (uint32_t)(missing / BLOCK_BYTES) + 1);
		missing = check_make_room(s, p, missing);
	}
	room = d->memory.gtt_total - davy_sim_gtt_used(s, d);
	if (missing > room) {
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_VALIDATE, -ENOMEM, bytes, 1);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, bytes, 1);
		return -ENOMEM;
	}
	if (missing)
		davy_sim_hot_fact(s, DAVY_FACT_VRAM_SPILL, p, missing, 1);
	p->client.gtt += missing;
	p->client.vram += bytes - missing;
	return 0;
}

int davy_check_hip_allocate(struct davy_sim *s, struct davy_sim_process *p, uint64_t bytes)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_KFD_LIMIT, p->device, p);

	if (davy_sim_vram_used(s, p->device) + bytes <= p->device->memory.vram_total) {
		p->client.vram += bytes;
		return 0;
	}
	ev.fact.bytes = bytes;
	ev.fact.detail = 1; /* KFD_IOC_ALLOC_MEM_FLAGS_VRAM */
	ev.fact.error = -ENOMEM;
	davy_sim_tell(s, &ev);
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, bytes, 1);
	return -ENOMEM;
}

void davy_check_evict_queues(struct davy_sim *s, struct davy_sim_process *p, uint32_t trigger)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_KFD_QUEUES_EVICTED, NULL, p);

	ev.fact.detail = trigger;
	davy_sim_tell(s, &ev);
	davy_sim_kfd(s, DAVY_KFD_QUEUES_EVICTED, p, trigger, 0);
}

void davy_check_restore_queues(struct davy_sim *s, struct davy_sim_process *p, uint64_t after_ns,
			       bool again)
{
	enum davy_fact fact = again ? DAVY_FACT_KFD_RESTORE_FAILED : DAVY_FACT_KFD_QUEUES_RESTORED;
	struct davy_event ev = davy_sim_fact(s, fact, NULL, p);

	ev.fact.error = again ? -ENOMEM : 0;
	ev.fact.duration_ns = again ? 0 : after_ns;
	p->kfd.evicted_ms += after_ns / DAVY_MS;
	davy_sim_tell(s, &ev);
	davy_sim_kfd(s, DAVY_KFD_QUEUES_RESTORED, p, 0, again ? DAVY_KFD_RESCHEDULED : 0);
}

static uint64_t check_draw(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t ns = davy_random_near(&s->random, a->n[0], 300);
	uint32_t frames = (uint32_t)davy_sim_between(s, a->n[1] / 2, a->n[1]);
	size_t slot = 0;

	while (slot < DAVY_TIME_SLOTS - 1 && ns >= DAVY_TIME_SLOT_NS << (slot + 1))
		slot++;
	if (p->alive) {
		p->times.slot[slot] += frames;
		p->times.count += frames;
		p->times.sum_ns += ns * frames;
		if (ns > p->times.max_ns)
			p->times.max_ns = ns;
		p->client.busy_ns += ns * frames;
	}
	return s->now_ns + davy_sim_between(s, 800, 1200) * DAVY_MS;
}

void davy_check_frames(struct davy_sim *s, struct davy_sim_process *p, uint64_t frame_ns,
		       uint32_t per_second)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check_draw, p, s->begin_ns + DAVY_S);

	a->n[0] = frame_ns;
	a->n[1] = per_second;
}

static uint64_t check_line(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_log(s, (enum davy_log_kind)a->n[0], a->of, NULL, 4);
	if (a->n[2] > 1 && davy_sim_between(s, 0, a->n[2]))
		return s->now_ns + davy_sim_between(s, 1, 400) * DAVY_MS;
	return s->now_ns + davy_sim_around(s, a->n[1]);
}

void davy_check_line_each(struct davy_sim *s, enum davy_log_kind kind, struct davy_sim_device *d,
			  uint64_t period_ns, uint32_t burst)
{
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check_line, d, s->begin_ns + davy_sim_around(s, period_ns));

	a->n[0] = kind;
	a->n[1] = period_ns;
	a->n[2] = burst;
}

/* The weights, the KV cache and the compute buffers. */
static uint64_t check_loaded_bytes(const struct davy_sim_process *p)
{
	return p->info.model_bytes / 100 * 109;
}

static uint64_t check_turn(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = (struct davy_sim_process *)a->of + a->n[1];
	uint64_t *memory = davy_check_memory(p), whole = check_loaded_bytes(p);
	uint64_t step = a->n[2] * (STEP_NS / DAVY_MS);
	struct davy_sim_load *l = davy_check_load_of(s, p);

	if (!p->alive) {
		davy_check_start_again(s, p);
		l->stopped = true;
	} else if (*memory < whole) {
		*memory = whole - *memory < step ? whole : *memory + step;
	} else if (l->stopped) {
		davy_check_go_on(s, l);
		return s->now_ns + davy_sim_around(s, a->n[3]);
	} else {
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		a->n[1] = (a->n[1] + 1) % a->n[0];
		return s->now_ns + davy_sim_between(s, 2000, 6000) * DAVY_MS;
	}
	return s->now_ns + STEP_NS;
}

void davy_check_turns(struct davy_sim *s, struct davy_sim_process *first, uint32_t count,
		      uint64_t rate, uint64_t serve_ns)
{
	struct davy_sim_actor *a;

	for (uint32_t i = 1; i < count; i++)
		davy_sim_exit(s, &first[i], DAVY_STATUS_KILL);
	a = davy_sim_add_actor(s, check_turn, first, s->begin_ns + davy_sim_around(s, serve_ns));
	a->n[0] = count;
	a->n[2] = rate;
	a->n[3] = serve_ns;
}

static uint64_t check_seen_stuck(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	davy_sim_precursor(s, s->now_ns);
	return 0;
}

void davy_check_stuck(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_sim_cause(s);
	l->stick = true;
	l->fatal = false;
	davy_sim_ask(s, l);
	davy_sim_add_actor(s, check_seen_stuck, NULL, s->now_ns + DAVY_S);
}

void davy_check_xid(struct davy_sim *s, const struct davy_sim_device *d,
		    const struct davy_sim_process *p, uint32_t xid)
{
	const struct davy_log_meaning *meaning = davy_xid_meaning(xid);
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_NVIDIA_XID, d, NULL);

	ev.fact.detail = xid;
	davy_sim_tell(s, &ev);
	ev = davy_sim_log_of(s, DAVY_LOG_XID, d, p);
	ev.log.code = xid;
	ev.log.role = meaning->role;
	ev.log.log_class = meaning->class;
	ev.log.hazard = meaning->hazard;
	ev.log.weight = meaning->weight;
	ev.log.leads = meaning->leads;
	davy_sim_log_event(s, &ev);
}

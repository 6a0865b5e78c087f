/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/world.h"

#include <assert.h>
#include <string.h>

#include "core/world/usage.h"

/* Knuth's multiplicative hash: pids and PASIDs are sequential. */
static size_t world_set_of(uint32_t key, size_t sets)
{
	assert(sets && !(sets & (sets - 1)));
	return (size_t)((key * 2654435761u) >> 16) & (sets - 1);
}

struct davy_process *davy_world_process(struct davy_world *w, uint32_t pid)
{
	struct davy_process *set = w->processes[world_set_of(pid, DAVY_WORLD_PROCESS_SETS)];

	for (size_t i = 0; pid && i < DAVY_WORLD_WAYS; i++)
		if (set[i].pid == pid)
			return &set[i];
	return NULL;
}

struct davy_process *davy_world_process_next(struct davy_world *w, size_t *at)
{
	while (*at < DAVY_WORLD_PROCESSES) {
		uint64_t rest = w->process_map[*at / 64] >> *at % 64;

		if (!rest) {
			*at += 64 - *at % 64;
			continue;
		}
		*at += (size_t)__builtin_ctzll(rest) + 1;
		return &w->processes[(*at - 1) / DAVY_WORLD_WAYS][(*at - 1) % DAVY_WORLD_WAYS];
	}
	return NULL;
}

static void world_mark(struct davy_world *w, const struct davy_process *p, bool used)
{
	size_t at = (size_t)(p - &w->processes[0][0]);
	uint64_t bit = (uint64_t)1 << at % 64;

	if (used)
		w->process_map[at / 64] |= bit;
	else
		w->process_map[at / 64] &= ~bit;
}

static size_t world_process_count(const struct davy_process *set, uint32_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < DAVY_WORLD_WAYS; i++)
		count += set[i].pid && !set[i].workload && set[i].uid == uid;
	return count;
}

/*
 * A process with a workload outlives those without. Among the others, the user with the most
 * processes loses the oldest. The user of the new process counts one more.
 */
static bool world_process_before(const struct davy_process *set, const struct davy_process *a,
				 const struct davy_process *b, uint32_t newcomer)
{
	size_t a_count = world_process_count(set, a->uid) + (a->uid == newcomer);
	size_t b_count = world_process_count(set, b->uid) + (b->uid == newcomer);

	if (!a->workload != !b->workload)
		return !a->workload;
	if (!a->workload && a_count != b_count)
		return a_count > b_count;
	return a->used_ns < b->used_ns;
}

struct davy_process *davy_world_process_get(struct davy_world *w, uint32_t pid, uint32_t uid,
					    uint64_t now_ns)
{
	struct davy_process *set = w->processes[world_set_of(pid, DAVY_WORLD_PROCESS_SETS)];
	struct davy_process *victim = &set[0];
	struct davy_process *known = davy_world_process(w, pid);

	assert(pid);
	if (known) {
		known->used_ns = now_ns;
		return known;
	}
	for (size_t i = 1; i < DAVY_WORLD_WAYS && victim->pid; i++)
		if (!set[i].pid || world_process_before(set, &set[i], victim, uid))
			victim = &set[i];
	if (victim->pid)
		w->evicted_count++;
	memset(victim, 0, sizeof(*victim));
	victim->pid = pid;
	victim->uid = uid;
	victim->used_ns = now_ns;
	world_mark(w, victim, true);
	return victim;
}

struct davy_client *davy_world_client(struct davy_world *w, uint32_t pasid)
{
	struct davy_client *set = w->clients[world_set_of(pasid, DAVY_WORLD_CLIENT_SETS)];

	for (size_t i = 0; pasid && i < DAVY_WORLD_WAYS; i++)
		if (set[i].pasid == pasid)
			return &set[i];
	return NULL;
}

struct davy_client *davy_world_client_get(struct davy_world *w, uint32_t pasid, uint64_t now_ns)
{
	struct davy_client *set = w->clients[world_set_of(pasid, DAVY_WORLD_CLIENT_SETS)];
	struct davy_client *victim = &set[0];
	struct davy_client *known = davy_world_client(w, pasid);

	assert(pasid);
	if (known) {
		known->used_ns = now_ns;
		return known;
	}
	for (size_t i = 0; i < DAVY_WORLD_WAYS && victim->pasid; i++)
		if (!set[i].pasid || set[i].used_ns < victim->used_ns)
			victim = &set[i];
	if (victim->pasid)
		w->evicted_count++;
	memset(victim, 0, sizeof(*victim));
	victim->pasid = pasid;
	victim->used_ns = now_ns;
	return victim;
}

struct davy_workload *davy_world_workload(struct davy_world *w, uint32_t id)
{
	for (size_t i = 0; id && w->workload_count && i < DAVY_WORLD_WORKLOADS; i++)
		if (w->workloads[i].id == id)
			return &w->workloads[i];
	return NULL;
}

struct davy_workload *davy_world_workload_get(struct davy_world *w, uint32_t id, uint64_t now_ns)
{
	struct davy_workload *victim = &w->workloads[0];
	struct davy_workload *known = davy_world_workload(w, id);

	assert(id);
	if (known)
		return known;
	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS && victim->id; i++)
		if (!w->workloads[i].id || w->workloads[i].used_ns < victim->used_ns)
			victim = &w->workloads[i];
	if (victim->id)
		w->evicted_count++;
	else
		w->workload_count++;
	memset(victim, 0, sizeof(*victim));
	victim->id = id;
	victim->used_ns = now_ns;
	return victim;
}

struct davy_ring_state *davy_world_ring_get(struct davy_world *w, const char *device,
					    const char *ring, uint64_t now_ns)
{
	struct davy_ring_state *victim = &w->rings[0];

	for (size_t i = 0; i < DAVY_WORLD_RINGS; i++) {
		struct davy_ring_state *r = &w->rings[i];

		if (r->used_ns && davy_same_name(r->ring, ring) &&
		    davy_same_name(r->device, device)) {
			r->used_ns = now_ns;
			return r;
		}
		if (r->used_ns < victim->used_ns)
			victim = r;
	}
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	davy_copy_name(victim->device, sizeof(victim->device), device);
	davy_copy_name(victim->ring, sizeof(victim->ring), ring);
	victim->used_ns = now_ns;
	return victim;
}

struct davy_mover_state *davy_world_mover_get(struct davy_world *w, const char *device,
					      uint32_t evictor_pid, uint32_t owner_pid,
					      uint64_t now_ns)
{
	struct davy_mover_state *victim = &w->movers[0];

	for (size_t i = 0; i < DAVY_WORLD_MOVERS; i++) {
		struct davy_mover_state *m = &w->movers[i];

		if (m->used_ns && m->evictor_pid == evictor_pid && m->owner_pid == owner_pid &&
		    davy_same_name(m->device, device)) {
			m->used_ns = now_ns;
			return m;
		}
		if (m->used_ns < victim->used_ns)
			victim = m;
	}
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	davy_copy_name(victim->device, sizeof(victim->device), device);
	victim->evictor_pid = evictor_pid;
	victim->owner_pid = owner_pid;
	victim->used_ns = now_ns;
	return victim;
}

struct davy_alloc_state *davy_world_alloc_get(struct davy_world *w, const char *device,
					      uint32_t pid, uint64_t now_ns)
{
	struct davy_alloc_state *victim = &w->allocs[0];

	for (size_t i = 0; i < DAVY_WORLD_ALLOCS; i++) {
		struct davy_alloc_state *a = &w->allocs[i];

		if (a->used_ns && a->pid == pid && davy_same_name(a->device, device)) {
			a->used_ns = now_ns;
			return a;
		}
		if (a->used_ns < victim->used_ns)
			victim = a;
	}
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	davy_copy_name(victim->device, sizeof(victim->device), device);
	victim->pid = pid;
	victim->used_ns = now_ns;
	return victim;
}

const struct davy_device_state *davy_world_device(const struct davy_world *w, const char *device)
{
	for (size_t i = 0; device[0] && i < DAVY_WORLD_DEVICES; i++)
		if (w->devices[i].used_ns && davy_same_name(w->devices[i].device, device))
			return &w->devices[i];
	return NULL;
}

struct davy_device_state *davy_world_device_get(struct davy_world *w, const char *device,
						uint64_t now_ns)
{
	struct davy_device_state *victim = &w->devices[0];

	for (size_t i = 0; i < DAVY_WORLD_DEVICES; i++) {
		struct davy_device_state *d = &w->devices[i];

		if (d->used_ns && davy_same_name(d->device, device)) {
			d->used_ns = now_ns;
			return d;
		}
		if (d->used_ns < victim->used_ns)
			victim = d;
	}
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	davy_copy_name(victim->device, sizeof(victim->device), device);
	victim->used_ns = now_ns;
	return victim;
}

/* Data about a process that is stored outside its entry. */
static void world_forget_belongings(struct davy_world *w, uint32_t pid)
{
	davy_precursors_forget(w, pid);
	davy_uses_forget(w, pid);
	davy_memory_forget(&w->memory, pid);
	davy_pace_forget(&w->paces, pid);
}

static void world_take_backend(struct davy_workload *work, const struct davy_process *p)
{
	if (p->backend != DAVY_BACKEND_UNKNOWN)
		work->backend = p->backend;
	if (p->device[0] || p->backend == DAVY_BACKEND_CPU)
		davy_copy_name(work->device, sizeof(work->device), p->device);
}

/* A pid with a new start time is another process: discard the old data. */
static void world_apply_process(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_process *in = &ev->process;
	struct davy_process *p = davy_world_process_get(w, ev->pid, 0, ev->at_ns);
	struct davy_workload *work = davy_world_workload(w, in->workload);
	bool adopted = in->workload && p->workload != in->workload;

	if (p->start_ticks != in->start_ticks) {
		if (p->start_ticks) /* the exit event is late or lost */
			world_forget_belongings(w, ev->pid);
		*p = (struct davy_process){ .pid = ev->pid, .uid = p->uid };
		p->start_ticks = in->start_ticks;
	}
	if (p->engine != in->engine) { /* exec keeps pid and start time only */
		p->backend = DAVY_BACKEND_UNKNOWN;
		p->port = 0;
		p->ubatch = p->slot_context = p->context_size = p->parallel = 0;
		memset(p->device, 0, sizeof(p->device));
		memset(p->model, 0, sizeof(p->model));
		p->met_ns = p->worked_ns = 0;
		memset(&p->life, 0, sizeof(p->life));
	}
	p->used_ns = ev->at_ns;
	p->met_ns = p->met_ns ? p->met_ns : ev->at_ns;
	p->ppid = in->ppid;
	p->role = in->role;
	p->flags = in->flags;
	p->gpu_layers = in->gpu_layers;
	p->layer_count = in->layer_count;
	p->cache_type =
		davy_same_name(in->cache_k, in->cache_v) ? davy_cache_named(in->cache_k) : 0;
	p->model_bytes = in->model_bytes;
	p->workload = in->workload;
	p->engine = in->engine;
	if (in->backend != DAVY_BACKEND_UNKNOWN || !p->backend)
		p->backend = in->backend;
	if (in->port || adopted) /* the port in a container may be none of this host */
		p->port = in->port;
	davy_copy_name(p->comm, sizeof(p->comm), in->comm);
	if (in->device[0])
		davy_copy_name(p->device, sizeof(p->device), in->device);
	if (in->model[0])
		davy_copy_name(p->model, sizeof(p->model), in->model);
	if (in->ubatch)
		p->ubatch = in->ubatch;
	if (in->context_size)
		p->context_size = in->context_size;
	if (in->parallel)
		p->parallel = in->parallel;
	if (in->context_size)
		p->slot_context = in->context_size / (in->parallel ? in->parallel : 1);
	if (!work || work->pid != ev->pid)
		return;
	if (in->port && !(in->flags & DAVY_PROCESS_PORT_ASSUMED))
		work->port = in->port; /* specified or observed, never just the engine's default */
	world_take_backend(work, p);
}

static void world_apply_workload(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_workload *in = &ev->workload;
	struct davy_workload *work = davy_world_workload_get(w, in->workload, ev->at_ns);
	struct davy_process *p = davy_world_process(w, ev->pid);

	if (p && work->port && !in->port)
		p->port = 0; /* it cannot be reached from here */
	work->used_ns = ev->at_ns;
	work->adopted = in->adopted;
	work->movable = in->movable;
	work->can = in->can;
	work->pinned = in->pinned;
	work->rival = in->rival;
	work->engine = in->engine;
	work->backend = work->asked = in->backend;
	work->port = in->port;
	if (ev->pid)
		work->pid = ev->pid;
	if (in->device[0] || in->backend == DAVY_BACKEND_CPU)
		davy_copy_name(work->device, sizeof(work->device), in->device);
	if (in->backend == DAVY_BACKEND_UNKNOWN &&
	    p) /* a replacement is seen before it is reported */
		world_take_backend(work, p);
	if (in->model[0])
		davy_copy_name(work->model, sizeof(work->model), in->model);
}

static void world_apply_pasid(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_client *client;

	if (!ev->pasid.pasid)
		return;
	client = davy_world_client_get(w, ev->pasid.pasid, ev->at_ns);
	if (!ev->pasid.freed)
		client->pid = ev->pid;
}

static void world_apply_device(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_device *in = &ev->device;
	struct davy_device_state *d;

	if (!in->device[0] || (!in->driver[0] && in->change != DAVY_DEVICE_REMOVED))
		return;
	d = davy_world_device_get(w, in->device, ev->at_ns);
	davy_copy_name(d->driver, sizeof(d->driver),
		       in->change == DAVY_DEVICE_REMOVED ? "" : in->driver);
}

static void world_apply_rules(struct davy_world *w, const struct davy_ev_rules *in)
{
	struct davy_workload *work = davy_world_workload(w, in->workload);

	if (!work)
		return;
	work->mode = in->mode;
	work->fixed = in->fixed;
	work->ubatch_floor = in->ubatch_floor;
}

static void world_note_oom_kill(struct davy_world *w, const struct davy_event *ev)
{
	bool kill = (ev->kind == DAVY_EV_FACT && ev->fact.fact == DAVY_FACT_OOM_VICTIM) ||
		    (ev->kind == DAVY_EV_LOG && ev->log.kind == DAVY_LOG_OOM_KILL);
	struct davy_process *p = kill && ev->pid ? davy_world_process(w, ev->pid) : NULL;

	if (p)
		p->oom_killed_ns = ev->at_ns;
}

/* 13: an exception of its shaders; 31: a page fault. Its context is lost. */
static void world_note_xid(struct davy_world *w, const struct davy_event *ev)
{
	bool fault = ev->kind == DAVY_EV_LOG && ev->log.kind == DAVY_LOG_XID &&
		     (ev->log.code == 13 || ev->log.code == 31);
	struct davy_process *p = fault && ev->pid ? davy_world_process(w, ev->pid) : NULL;

	if (p)
		p->xid_ns = ev->at_ns;
}

static void world_note_refusal(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_process *p = davy_world_process(w, ev->pid);
	bool quota = ev->kind == DAVY_EV_VRAM && ev->vram.why == DAVY_VRAM_QUOTA;
	bool refused =
		quota || (ev->kind == DAVY_EV_VRAM && ev->vram.why == DAVY_VRAM_RESERVE) ||
		(ev->kind == DAVY_EV_ALLOC_FAILED && ev->alloc_failed.stage == DAVY_ALLOC_IOCTL);

	if (!p || !refused)
		return;
	p->vram_refused_ns = ev->at_ns;
	p->vram_limit = quota ? ev->vram.limit : 0;
}

static void world_note_depth(struct davy_world *w, const struct davy_process *p, uint32_t depth)
{
	struct davy_workload *work = p ? davy_world_workload(w, p->workload) : NULL;

	if (work && work->pid == p->pid && depth > work->deepest)
		work->deepest = depth;
}

void davy_world_apply(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_process *p;

	world_note_oom_kill(w, ev);
	world_note_xid(w, ev);
	switch (ev->kind) {
	case DAVY_EV_PROCESS:
		world_apply_process(w, ev);
		break;
	case DAVY_EV_OWNER:
		davy_world_process_get(w, ev->pid, ev->owner.uid, ev->at_ns)->uid = ev->owner.uid;
		break;
	case DAVY_EV_WORKLOAD:
		world_apply_workload(w, ev);
		break;
	case DAVY_EV_RULES:
		world_apply_rules(w, &ev->rules);
		break;
	case DAVY_EV_PASID:
		world_apply_pasid(w, ev);
		break;
	case DAVY_EV_DEVICE:
		world_apply_device(w, ev);
		davy_memory_apply(&w->memory, ev);
		break;
	case DAVY_EV_GRAPH:
		p = davy_world_process(w, ev->pid);
		if (p && ev->graph.graph_count > p->graph.graph_count)
			p->worked_ns = ev->at_ns;
		davy_life_apply_graph(w, ev);
		break;
	case DAVY_EV_VRAM:
	case DAVY_EV_ALLOC_FAILED:
		world_note_refusal(w, ev);
		break;
	case DAVY_EV_RING:
		davy_jobs_apply_ring(w, ev);
		break;
	case DAVY_EV_JOB_TIMEOUT:
		davy_jobs_apply_timeout(w, ev);
		break;
	case DAVY_EV_JOB_TIMES:
		davy_jobs_apply_times(w, ev);
		break;
	case DAVY_EV_LOCKUP:
		davy_jobs_apply_lockup(w, ev);
		break;
	case DAVY_EV_CLIENT:
		davy_life_apply_client(w, ev);
		davy_uses_apply(w, ev);
		davy_memory_apply(&w->memory, ev);
		break;
	case DAVY_EV_PROGRESS:
		p = davy_world_process(w, ev->pid);
		if (p && (ev->progress.prompt_count || ev->progress.generated_count))
			p->worked_ns = ev->at_ns;
		davy_life_apply_progress(w, ev);
		world_note_depth(w, p, ev->progress.depth);
		break;
	case DAVY_EV_SENSOR:
		davy_life_apply_sensor(w, ev);
		break;
	case DAVY_EV_KFD_USE:
		davy_precursors_apply_kfd_use(w, ev);
		davy_uses_apply(w, ev);
		davy_memory_apply(&w->memory, ev);
		break;
	default:
		davy_memory_apply(&w->memory, ev);
		break;
	}
}

static void world_forget_process(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_process *p = davy_world_process(w, ev->pid);
	uint64_t start = ev->process_exit.start_ticks;

	if (p && start && start != p->start_ticks)
		return; /* the exit of an older process with this pid */
	if (p) {
		world_mark(w, p, false);
		memset(p, 0, sizeof(*p));
	}
	world_forget_belongings(w, ev->pid);
}

void davy_world_settle(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_workload *work;

	if (ev->kind == DAVY_EV_PROCESS_EXIT)
		world_forget_process(w, ev);
	if (ev->kind == DAVY_EV_WORKLOAD && ev->workload.op == DAVY_WORKLOAD_GONE) {
		work = davy_world_workload(w, ev->workload.workload);
		memset(work, 0, sizeof(*work));
		w->workload_count--;
	}
	if (ev->kind == DAVY_EV_PASID && ev->pasid.freed) {
		struct davy_client *client = davy_world_client(w, ev->pasid.pasid);

		if (client)
			memset(client, 0, sizeof(*client));
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's sampling of a simulated host, at the real rates: bpf_poll.c (tick of 100 ms, 50 ms
 * while a job runs; ignores jobs younger than 50 ms), gpu_memory.c (the sampler's interval),
 * agent_gpus.c (clients each second, counters each ten seconds).
 */
#include <string.h>

#include "lab/sim_say.h"

#define TICK_NS	     (100 * DAVY_MS)
#define TICK_BUSY_NS (50 * DAVY_MS)
#define YOUNG_NS     (50 * DAVY_MS)
#define ASK_NS	     DAVY_S
#define COUNT_NS     (10 * DAVY_S)
#define SELDOM_NS    (5 * DAVY_S)
#define OFTEN_NS     (200 * DAVY_MS)
#define LATE_US	     300 /* maximum delay of a busy loop's timer */
#define HOST_PART    256 /* fraction of the host's memory: smaller changes are not reported */
#define STALL_STEP   10	 /* permille */

static void look_at_ring(struct davy_sim *s, const struct davy_sim_device *d,
			 struct davy_sim_ring *r)
{
	uint64_t age_ns = r->began_ns ? s->now_ns - r->began_ns : 0;
	struct davy_event ev;

	if (age_ns < YOUNG_NS)
		age_ns = 0;
	if (!age_ns && !r->reported)
		return;
	ev = davy_sim_event(s, DAVY_EV_RING, r->began_ns ? r->pid : 0);
	r->reported = age_ns != 0;
	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), d->name);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), r->name);
	ev.ring.timeout_ns = r->timeout_ns;
	ev.ring.age_ns = age_ns;
	ev.ring.running_count = r->began_ns != 0;
	if (age_ns) {
		ev.ring.fence_context = r->context;
		ev.ring.fence_seqno = r->seqno;
	}
	davy_sim_tell(s, &ev);
}

static bool look_at_rings(struct davy_sim *s)
{
	bool busy = false;

	for (size_t i = 0; i < s->device_count; i++) {
		for (size_t j = 0; j < s->device[i].ring_count; j++) {
			busy |= s->device[i].ring[j].began_ns != 0;
			look_at_ring(s, &s->device[i], &s->device[i].ring[j]);
		}
	}
	return busy;
}

static void look_at_graph(struct davy_sim *s, struct davy_sim_process *p)
{
	uint64_t entered_ns = p->graph.entered_ns;
	bool in_flight = entered_ns && s->now_ns - entered_ns > YOUNG_NS;
	struct davy_event ev;

	if (!in_flight && p->graph_reported == p->graph.graph_count + p->graph.failed_count)
		return;
	p->graph_reported = in_flight ? UINT64_MAX : p->graph.graph_count + p->graph.failed_count;
	ev = davy_sim_event(s, DAVY_EV_GRAPH, p->pid);
	ev.graph = p->graph;
	if (!in_flight)
		ev.graph.entered_ns = 0;
	davy_sim_tell(s, &ev);
}

static void look_at_times(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_event ev;

	if (p->times_reported == p->times.count)
		return;
	p->times_reported = p->times.count;
	ev = davy_sim_event(s, DAVY_EV_JOB_TIMES, p->pid);
	ev.job_times = p->times;
	davy_sim_tell(s, &ev);
}

/* ns until the rest is filled at the rate of the last interval. */
static uint64_t sim_watch_interval_of(uint64_t total, uint64_t used, uint64_t before,
				      uint64_t ago_ns)
{
	uint64_t left = total > used ? total - used : 0, grown = used > before ? used - before : 0;
	uint64_t ns = UINT64_MAX;

	if (!total)
		return SELDOM_NS;
	if (left < total / 10)
		return OFTEN_NS;
	if (grown && ago_ns && left / grown < UINT64_MAX / ago_ns)
		ns = left / grown * ago_ns;
	ns /= 20;
	if (left < total / 4 && ns > DAVY_S)
		ns = DAVY_S;
	return ns < OFTEN_NS ? OFTEN_NS : ns > SELDOM_NS ? SELDOM_NS : ns;
}

static uint64_t interval(const struct davy_ev_memory *now, const struct davy_ev_memory *before,
			 uint64_t ago_ns)
{
	uint64_t vram, gtt, host;

	vram = sim_watch_interval_of(now->vram_total, now->vram_used, before->vram_used, ago_ns);
	gtt = sim_watch_interval_of(now->gtt_total, now->gtt_used, before->gtt_used, ago_ns);
	host = sim_watch_interval_of(now->host_total, now->host_total - now->host_available,
				     before->host_total - before->host_available, ago_ns);
	if (gtt < vram)
		vram = gtt;
	return host < vram ? host : vram;
}

static uint64_t sim_watch_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* As agent_gpus.c: large changes, and only for devices that use the host's memory. */
static bool sim_watch_host_moved(const struct davy_ev_memory *reported,
				 const struct davy_ev_memory *now)
{
	if (!(now->flags & (DAVY_MEMORY_SHARED | DAVY_MEMORY_MAY_SUSPEND)))
		return false;
	return sim_watch_distance(now->host_available, reported->host_available) >
		       now->host_total / HOST_PART ||
	       sim_watch_distance(now->pressure_permille, reported->pressure_permille) >=
		       STALL_STEP;
}

static void sim_watch_sample(struct davy_sim *s, struct davy_sim_device *d)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_MEMORY, 0);
	struct davy_ev_memory now = d->memory, before = d->sampled;
	uint64_t ago_ns = s->now_ns - d->sampled_ns;
	bool first = !d->sampled_ns;

	if (!first && s->now_ns - d->counted_ns < COUNT_NS) {
		now.eviction_count = before.eviction_count;
		now.vram_lost_count = before.vram_lost_count;
	} else {
		d->counted_ns = s->now_ns;
	}
	now.vram_used = davy_sim_vram_used(s, d);
	now.visible_used = now.vram_used;
	now.gtt_used = davy_sim_gtt_used(s, d);
	now.host_total = s->host_total;
	now.host_available = davy_sim_host_available(s);
	now.pressure_permille = s->pressure_permille;
	d->sampled = now;
	d->sampled_ns = s->now_ns;
	d->next_ns = s->now_ns + (first ? OFTEN_NS : interval(&now, &before, ago_ns));
	before.host_available = now.host_available; /* it always changes slightly */
	before.pressure_permille = now.pressure_permille;
	if (!first && !sim_watch_host_moved(&d->reported, &now) &&
	    !memcmp(&before, &now, sizeof(now)))
		return;
	d->reported = ev.memory = now;
	davy_sim_tell(s, &ev);
}

static void sim_watch_look_at_client(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_CLIENT, p->pid);
	bool known = p->client_reported.client_id != 0;

	if (!p->alive && known) {
		ev.client = p->client_reported;
		ev.client.gone = 1;
		memset(&p->client_reported, 0, sizeof(p->client_reported));
		davy_sim_tell(s, &ev);
		return;
	}
	if (!p->alive || !memcmp(&p->client, &p->client_reported, sizeof(p->client)))
		return;
	p->client_reported = p->client;
	ev.client = p->client;
	davy_sim_tell(s, &ev);
}

static void sim_watch_look_at_kfd(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_KFD_USE, p->pid);

	p->kfd.gone = !p->alive;
	p->kfd.vram = p->client.vram;
	if (!memcmp(&p->kfd, &p->kfd_reported, sizeof(p->kfd)))
		return;
	p->kfd_reported = p->kfd;
	ev.kfd_use = p->kfd;
	davy_sim_tell(s, &ev);
}

static void look_at_progress(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_PROGRESS, p->pid);

	if (!memcmp(&p->progress, &p->progress_reported, sizeof(p->progress)))
		return;
	p->progress_reported = p->progress;
	ev.progress = p->progress;
	davy_sim_tell(s, &ev);
}

static void sim_watch_ask(struct davy_sim *s)
{
	s->asked_ns = s->now_ns;
	for (size_t i = 0; i < s->process_count; i++) {
		struct davy_sim_process *p = &s->process[i];

		if (!p->device ||
		    (!p->alive && !p->client_reported.client_id && !p->kfd_reported.vram))
			continue;
		if (p->device->tells_memory)
			sim_watch_look_at_client(s, p);
		if (p->by_kfd)
			sim_watch_look_at_kfd(s, p);
		if (p->alive && p->info.engine != DAVY_ENGINE_NONE && p->progress.context_size)
			look_at_progress(s, p);
	}
}

uint64_t davy_sim_watch(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_event tick = davy_sim_event(s, DAVY_EV_TICK, 0);
	uint64_t late_ns = 0;
	bool busy;

	(void)a;
	busy = look_at_rings(s);
	for (size_t i = 0; i < s->process_count; i++)
		if (s->process[i].alive)
			look_at_graph(s, &s->process[i]);
	davy_sim_tell_movers(s);
	davy_sim_tell_sums(s);
	for (size_t i = 0; i < s->process_count; i++)
		if (s->process[i].ring)
			look_at_times(s, &s->process[i]);
	for (size_t i = 0; i < s->device_count; i++)
		if (s->device[i].tells_memory && s->now_ns >= s->device[i].next_ns)
			sim_watch_sample(s, &s->device[i]);
	if (s->now_ns - s->asked_ns >= ASK_NS)
		sim_watch_ask(s);
	davy_sim_tell_said(s);
	if (s->reported)
		late_ns = davy_sim_between(s, 0, LATE_US) * 1000;
	s->reported = false;
	davy_sim_tell(s, &tick);
	return s->now_ns + (busy ? TICK_BUSY_NS : TICK_NS) + late_ns;
}

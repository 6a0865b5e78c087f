/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/world.h"

#include <string.h>

#define PAUSE_NS (5 * DL_NS_PER_S) /* clients are asked every second */

void dl_life_done(struct dl_process *p, uint64_t now_ns)
{
	if (p)
		p->life.done_ns = now_ns;
}

void dl_life_busy(struct dl_process *p, uint64_t from_ns, uint64_t now_ns)
{
	if (!p)
		return;
	if (!p->life.busy_from_ns || now_ns - p->life.busy_ns > PAUSE_NS)
		p->life.busy_from_ns = from_ns;
	p->life.busy_ns = now_ns;
}

/* Depth that grows by more than what was generated is a prompt's; it moves once a batch. */
static bool prefills(const struct dl_life *l, const struct dl_ev_progress *in)
{
	const struct dl_ev_progress *was = &l->progress;
	uint64_t made = in->generated_count - was->generated_count;
	bool deeper = in->depth > was->depth && in->depth - was->depth > made;

	if (!in->busy_slots)
		return false;
	if (deeper || in->prompt_count > was->prompt_count || !was->busy_slots)
		return true;
	return l->prefill && !made;
}

void dl_life_apply_progress(struct dl_world *w, const struct dl_event *ev)
{
	const struct dl_ev_progress *in = &ev->progress;
	struct dl_process *p = dl_world_process(w, ev->pid);
	struct dl_life *l;

	if (!p)
		return;
	l = &p->life;
	if (!l->progress_ns || in->depth != l->progress.depth ||
	    in->prompt_count != l->progress.prompt_count ||
	    in->generated_count != l->progress.generated_count || !l->progress.busy_slots)
		l->token_ns = ev->at_ns;
	if (l->progress_ns && in->generated_count > l->progress.generated_count)
		l->made_ns = ev->at_ns;
	if (in->prompt_count > l->progress.prompt_count) {
		uint64_t fresh = in->prompt_count - l->progress.prompt_count;

		l->batch = fresh < in->depth ? (uint32_t)fresh : in->depth;
	} else if (in->generated_count > l->progress.generated_count) {
		l->batch = 1;
	}
	l->prefill = l->progress_ns && prefills(l, in);
	l->depth_told |= in->depth != 0;
	l->progress = *in;
	l->progress_ns = ev->at_ns ? ev->at_ns : 1;
}

static struct dl_busy_state *file_of(struct dl_world *w, const struct dl_event *ev)
{
	struct dl_busy_state *set =
		w->busy.files[((ev->pid * 2654435761u) >> 16) & (DL_WORLD_BUSY_SETS - 1)];
	struct dl_busy_state *victim = &set[0];

	for (size_t i = 0; i < DL_WORLD_BUSY_WAYS; i++) {
		struct dl_busy_state *f = &set[i];

		if (f->used_ns && f->pid == ev->pid && f->client_id == ev->client.client_id &&
		    dl_same_name(f->device, ev->client.device))
			return f;
		if (f->used_ns < victim->used_ns)
			victim = f;
	}
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	victim->pid = ev->pid;
	victim->client_id = ev->client.client_id;
	dl_copy_name(victim->device, sizeof(victim->device), ev->client.device);
	return victim;
}

void dl_life_apply_client(struct dl_world *w, const struct dl_event *ev)
{
	const struct dl_ev_client *in = &ev->client;
	struct dl_busy_state *f = file_of(w, ev);
	uint64_t passed_ns = ev->at_ns - f->used_ns;

	if (in->gone) {
		memset(f, 0, sizeof(*f));
		return;
	}
	if (f->used_ns && in->busy_ns > f->busy_ns && passed_ns &&
	    (in->busy_ns - f->busy_ns) / (passed_ns / 10 + 1) >= 8)
		dl_life_busy(dl_world_process(w, ev->pid), f->used_ns, ev->at_ns);
	f->busy_ns = in->busy_ns;
	f->used_ns = ev->at_ns ? ev->at_ns : 1;
}

void dl_life_apply_graph(struct dl_world *w, const struct dl_event *ev)
{
	struct dl_process *p = dl_world_process(w, ev->pid);

	if (!p)
		return;
	if (ev->graph.graph_count != p->graph.graph_count)
		dl_life_done(p, ev->at_ns);
	p->graph = ev->graph;
}

/*
 * Who told of ends may tell no more: until the next one is told, nobody is known to. Some sensors
 * never tell of any.
 */
void dl_life_apply_sensor(struct dl_world *w, const struct dl_event *ev)
{
	static const char *const silent[] = { "fdinfo", "kmsg", "kfd_smi" };

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (dl_same_name(ev->sensor.name, silent[i]))
			return;
	if (ev->sensor.state == DL_SENSOR_LIVE || ev->sensor.state == DL_SENSOR_LOST)
		return;
	for (size_t set = 0; set < DL_WORLD_PROCESS_SETS; set++)
		for (size_t way = 0; way < DL_WORLD_WAYS; way++)
			w->processes[set][way].life.done_ns = 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/world.h"

#include <string.h>

#define PAUSE_NS (5 * DAVY_NS_PER_S) /* clients are sampled every second */

void davy_life_done(struct davy_process *p, uint64_t now_ns)
{
	if (p)
		p->life.done_ns = now_ns;
}

void davy_life_busy(struct davy_process *p, uint64_t from_ns, uint64_t now_ns)
{
	if (!p)
		return;
	if (!p->life.busy_from_ns || now_ns - p->life.busy_ns > PAUSE_NS)
		p->life.busy_from_ns = from_ns;
	p->life.busy_ns = now_ns;
}

/* If the depth grows by more than the generated tokens, it is a prompt. It grows once per batch. */
static bool life_prefills(const struct davy_life *l, const struct davy_ev_progress *in)
{
	const struct davy_ev_progress *was = &l->progress;
	uint64_t made = in->generated_count - was->generated_count;
	bool deeper = in->depth > was->depth && in->depth - was->depth > made;

	if (!in->busy_slots)
		return false;
	if (deeper || in->prompt_count > was->prompt_count || !was->busy_slots)
		return true;
	return l->prefill && !made;
}

void davy_life_apply_progress(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_progress *in = &ev->progress;
	struct davy_process *p = davy_world_process(w, ev->pid);
	struct davy_life *l;

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
	l->prefill = l->progress_ns && life_prefills(l, in);
	l->depth_known |= in->depth != 0;
	l->progress = *in;
	l->progress_ns = ev->at_ns ? ev->at_ns : 1;
}

static struct davy_busy_state *life_file(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_busy_state *set =
		w->busy.files[((ev->pid * 2654435761u) >> 16) & (DAVY_WORLD_BUSY_SETS - 1)];
	struct davy_busy_state *victim = &set[0];

	for (size_t i = 0; i < DAVY_WORLD_BUSY_WAYS; i++) {
		struct davy_busy_state *f = &set[i];

		if (f->used_ns && f->pid == ev->pid && f->client_id == ev->client.client_id &&
		    davy_same_name(f->device, ev->client.device))
			return f;
		if (f->used_ns < victim->used_ns)
			victim = f;
	}
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	victim->pid = ev->pid;
	victim->client_id = ev->client.client_id;
	davy_copy_name(victim->device, sizeof(victim->device), ev->client.device);
	return victim;
}

void davy_life_apply_client(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_client *in = &ev->client;
	struct davy_busy_state *f = life_file(w, ev);
	uint64_t passed_ns = ev->at_ns - f->used_ns;

	if (in->gone) {
		memset(f, 0, sizeof(*f));
		return;
	}
	if (f->used_ns && in->busy_ns > f->busy_ns && passed_ns &&
	    (in->busy_ns - f->busy_ns) / (passed_ns / 10 + 1) >= 8)
		davy_life_busy(davy_world_process(w, ev->pid), f->used_ns, ev->at_ns);
	f->busy_ns = in->busy_ns;
	f->used_ns = ev->at_ns ? ev->at_ns : 1;
}

void davy_life_apply_graph(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_process *p = davy_world_process(w, ev->pid);

	if (!p)
		return;
	if (ev->graph.graph_count != p->graph.graph_count)
		davy_life_done(p, ev->at_ns);
	p->graph = ev->graph;
}

/*
 * A sensor that reported job ends may be lost. Until the next report, no sensor is known to report
 * them. The sensors in the list never report job ends.
 */
void davy_life_apply_sensor(struct davy_world *w, const struct davy_event *ev)
{
	static const char *const without_ends[] = { "fdinfo", "kmsg", "kfd_smi" };

	for (size_t i = 0; i < sizeof(without_ends) / sizeof(without_ends[0]); i++)
		if (davy_same_name(ev->sensor.name, without_ends[i]))
			return;
	if (ev->sensor.state == DAVY_SENSOR_LIVE || ev->sensor.state == DAVY_SENSOR_LOST)
		return;
	for (size_t set = 0; set < DAVY_WORLD_PROCESS_SETS; set++)
		for (size_t way = 0; way < DAVY_WORLD_WAYS; way++)
			w->processes[set][way].life.done_ns = 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_pace.h"

#include "agent/act/units.h"

#define TICK_US	     100000		 /* ten map reads a second take microseconds */
#define TICK_BUSY_US 50000		 /* a job runs: a quarter of a 2 s timeout is 500 ms */
#define TICK_REST_US ((uint64_t)2000000) /* nothing runs */
#define NEWS_NS	     (5 * DAVY_NS_PER_S)

/* Whether the agent tracks an engine, or a process that it still inspects. */
static bool pace_tracks(const struct davy_agent *a)
{
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++) {
		const struct davy_tracked *t = &a->tracked[i];

		if (t->pid && (t->inspect_ns || t->reported.engine != DAVY_ENGINE_NONE))
			return true;
	}
	return false;
}

static bool pace_reads(const struct davy_readers *r)
{
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (r->at[i].begun_ns)
			return true;
	return r->queue.count || r->scan;
}

static bool pace_is_linked(const struct davy_agent *a)
{
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++)
		if (a->links[i].source)
			return true;
	for (size_t i = 0; i < DAVY_ORPHAN_GROUPS; i++)
		if (a->orphans.group[i].supervisor)
			return true;
	return a->sockets.all.connects;
}

/* Whether a workload runs, or has an effect in force or a pending act. */
static bool pace_works(const struct davy_agent *a)
{
	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS; i++) {
		const struct davy_workload *w = &a->core.world.workloads[i];

		if (w->id && (w->pid || w->act_plan || w->retry_ns || w->check_ns ||
			      w->freeze_plan || w->effect_count))
			return true;
	}
	for (size_t i = 0; a->units && i < DAVY_ADOPTED_MAX; i++) {
		const struct davy_service *u = &a->units->unit[i];

		if (u->name[0] && (u->main_pid || u->pid || u->act.plan || u->settle_late))
			return true;
	}
	return a->core.alarm_count || a->probes_running;
}

/* Whether a query of a GPU is pending, or its memory is sampled faster than at rest. */
static bool pace_asks_gpus(const struct davy_gpus *g)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct davy_watched_gpu *w = &g->gpu[i];

		if (!w->lockups_ns || w->versions.asking ||
		    w->next_ns < w->sampled_ns + TICK_REST_US * 1000)
			return true;
	}
	return false;
}

static bool pace_is_quick(struct davy_agent *a, uint64_t now_ns)
{
	return now_ns < a->news_ns + NEWS_NS || pace_works(a) ||
	       (a->bpf && davy_bpf_stirs(a->bpf, now_ns)) || pace_tracks(a) ||
	       pace_reads(&a->readers) || pace_is_linked(a) || pace_asks_gpus(&a->gpus) ||
	       davy_agent_kernel_log_waits(a);
}

/*
 * While the agent is not at rest, it polls jobs. A rest begins one tick after the BPF programs were
 * asked to report the next job.
 */
uint64_t davy_agent_pace_us(struct davy_agent *a, uint64_t now_ns)
{
	bool quick = pace_is_quick(a, now_ns), reports_jobs = a->bpf && davy_bpf_tells_jobs(a->bpf);

	if (a->bpf)
		davy_bpf_tell_jobs(a->bpf, !quick);
	a->rests = !quick && (!a->bpf || reports_jobs);
	if (a->rests)
		return TICK_REST_US;
	return a->bpf && davy_bpf_jobs_running(a->bpf) ? TICK_BUSY_US : TICK_US;
}

bool davy_agent_pace_wakes(struct davy_agent *a, uint64_t now_ns, uint64_t *ret_us)
{
	if (!a->rests || !pace_is_quick(a, now_ns))
		return false;
	a->rests = false;
	*ret_us = TICK_US;
	return true;
}

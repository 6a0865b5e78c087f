/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/hazard/silence.h"

#define THROTTLE_FACTOR 4		      /* minimum duty: a quarter */
#define TIMEOUT_MOST_NS (600 * DAVY_NS_PER_S) /* a longer one is no limit of a job */
#define BUSY_OLD_NS	(5 * DAVY_NS_PER_S)   /* clients and rings are sampled every second */

/* False if no slot is busy and no graph runs: then silence is normal. */
static bool silence_has_work(const struct davy_process *p)
{
	if (p->graph.entered_ns)
		return true;
	if (p->life.progress_ns && p->life.progress.slots)
		return p->life.progress.busy_slots;
	return p->life.busy_from_ns != 0;
}

static bool silence_has_queues(const struct davy_step *s, const struct davy_process *p)
{
	const struct davy_kfd_state *k = davy_world_kfd(&s->core->world, p->pid);

	return k && k->queue_count;
}

/* Since when a device works for it; 0: none does. For KFD only the existence of queues is known. */
static uint64_t silence_busy_since(const struct davy_step *s, const struct davy_process *p)
{
	if (p->life.busy_from_ns && s->now_ns - p->life.busy_ns <= BUSY_OLD_NS)
		return p->life.busy_from_ns;
	return silence_has_queues(s, p) ? p->life.token_ns : 0;
}

/* True if progress would be reported: without tokens, jobs or a ring, silence means nothing. */
static bool silence_is_observable(const struct davy_step *s, const struct davy_process *p)
{
	return p->life.progress_ns || p->life.done_ns ||
	       (p->life.ring_ns && s->now_ns - p->life.ring_ns <= BUSY_OLD_NS);
}

static uint64_t silence_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t davy_silent_ns(const struct davy_step *s, const struct davy_process *p)
{
	uint64_t since_ns;

	if (p->backend == DAVY_BACKEND_CPU || !silence_has_work(p) || !silence_is_observable(s, p))
		return 0;
	since_ns = silence_busy_since(s, p);
	if (!since_ns)
		return 0;
	since_ns = silence_max(since_ns, silence_max(p->life.token_ns, p->life.done_ns));
	since_ns = silence_max(since_ns, silence_max(p->checked_ok_ns, p->paused_ns));
	/* a graph may start after hours of idle time */
	since_ns = silence_max(since_ns, p->graph.entered_ns);
	return s->now_ns > since_ns ? s->now_ns - since_ns : 0;
}

/* Its job may run for the lockup timeout of the ring: then the driver acts. */
static uint64_t silence_job_ends_ns(const struct davy_step *s, const struct davy_process *p)
{
	uint64_t timeout_ns = 0;

	for (size_t i = 0; i < DAVY_WORLD_RINGS; i++) {
		const struct davy_ring_state *r = &s->core->world.rings[i];

		if (r->age_ns && r->age_pid == p->pid && s->now_ns - r->used_ns <= BUSY_OLD_NS)
			timeout_ns = silence_max(timeout_ns, r->timeout_ns);
	}
	return timeout_ns <= TIMEOUT_MOST_NS ? timeout_ns + timeout_ns / 10 : 0;
}

/* Ring jobs of a KFD process are page table updates: they do not show progress of its kernels. */
uint64_t davy_silent_limit_ns(const struct davy_step *s, const struct davy_process *p)
{
	bool ends_reported = p->graph.graph_count || (p->life.done_ns && !silence_has_queues(s, p));
	uint64_t limit_ns = davy_threshold_ns(
		s, ends_reported ? DAVY_CFG_WEDGED_SILENT_MS : DAVY_CFG_WEDGED_SILENT_BLIND_MS,
		NULL, p);

	return silence_max(limit_ns * davy_throttle_factor(s, p), silence_job_ends_ns(s, p));
}

static const struct davy_workload *silence_frozen_workload(const struct davy_step *s,
							   const struct davy_process *p)
{
	const struct davy_workload *w = davy_world_workload(&s->core->world, p->workload);

	return w && w->freeze_plan && w->pid == p->pid ? w : NULL;
}

bool davy_is_paused(const struct davy_step *s, const struct davy_process *p)
{
	const struct davy_workload *w = silence_frozen_workload(s, p);

	return w && w->freeze_action == DAVY_ACTION_PAUSE;
}

uint64_t davy_throttle_factor(const struct davy_step *s, const struct davy_process *p)
{
	const struct davy_workload *w = silence_frozen_workload(s, p);

	return w && w->freeze_action == DAVY_ACTION_THROTTLE ? THROTTLE_FACTOR : 1;
}

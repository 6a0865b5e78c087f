/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/world.h"

#include <assert.h>
#include <string.h>

#include "lib/hash.h"

#define FIRST_BIN_MS   1000
#define MILLION	       1000000u
#define SLOT_TIMES_MAX (1u << 20) /* per event; keeps products within 63 bits */

enum davy_queue_kind davy_ring_kind(const char *ring)
{
	static const struct {
		char prefix[6];
		uint8_t kind;
	} kinds[] = {
		{ "sdma", DAVY_QUEUE_COPY },  { "bcs", DAVY_QUEUE_COPY },
		{ "vcn", DAVY_QUEUE_VIDEO },  { "vce", DAVY_QUEUE_VIDEO },
		{ "uvd", DAVY_QUEUE_VIDEO },  { "jpeg", DAVY_QUEUE_VIDEO },
		{ "vpe", DAVY_QUEUE_VIDEO },  { "vcs", DAVY_QUEUE_VIDEO },
		{ "vecs", DAVY_QUEUE_VIDEO },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(ring, kinds[i].prefix, strlen(kinds[i].prefix)))
			return (enum davy_queue_kind)kinds[i].kind;
	return DAVY_QUEUE_COMPUTE;
}

static struct davy_times_state *jobs_times_set(struct davy_world *w, uint32_t pid)
{
	return w->jobs.times[((pid * 2654435761u) >> 16) & (DAVY_WORLD_TIMES_SETS - 1)];
}

struct davy_times_state *davy_world_times(struct davy_world *w, const char *device,
					  const char *ring, uint32_t pid)
{
	struct davy_times_state *set = jobs_times_set(w, pid);

	for (size_t i = 0; i < DAVY_WORLD_TIMES_WAYS; i++)
		if (set[i].used_ns && set[i].pid == pid && davy_same_name(set[i].ring, ring) &&
		    davy_same_name(set[i].device, device))
			return &set[i];
	return NULL;
}

static struct davy_times_state *jobs_times_new(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_times_state *set = jobs_times_set(w, ev->pid), *victim = &set[0];

	for (size_t i = 0; i < DAVY_WORLD_TIMES_WAYS; i++)
		if (set[i].used_ns < victim->used_ns)
			victim = &set[i];
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	victim->pid = ev->pid;
	davy_copy_name(victim->device, sizeof(victim->device), ev->job_times.device);
	davy_copy_name(victim->ring, sizeof(victim->ring), ev->job_times.ring);
	return victim;
}

static uint64_t jobs_slot_low(size_t slot)
{
	return slot ? DAVY_TIME_SLOT_NS << slot : 0;
}

static uint32_t world_jobs_added(const struct davy_times_state *t,
				 const struct davy_ev_job_times *in, size_t slot)
{
	uint32_t by = in->slot[slot] > t->slot[slot] ? in->slot[slot] - t->slot[slot] : 0;

	return by < SLOT_TIMES_MAX ? by : SLOT_TIMES_MAX;
}

/*
 * Duration of the slowest new job. If the maximum rose, it is the maximum. Otherwise it is the mean
 * of the new jobs in their highest slot: the added time minus an upper estimate for the lower
 * slots. A slot is a factor of two wide. The estimate is good when few jobs are new, as with slow
 * jobs.
 */
static void jobs_judge_fresh(struct davy_times_state *t, const struct davy_ev_job_times *in)
{
	uint64_t below_ns = 0, rest_ns = in->sum_ns > t->sum_ns ? in->sum_ns - t->sum_ns : 0;
	uint64_t high_ns = in->max_ns;
	size_t top = DAVY_TIME_SLOTS;

	t->slowest_ns = in->max_ns;
	t->slow_count = 1;
	if (in->max_ns > t->max_ns)
		return;
	while (top-- > 0 && !world_jobs_added(t, in, top))
		;
	t->slow_count = top < DAVY_TIME_SLOTS ? world_jobs_added(t, in, top) : 0;
	t->slowest_ns = 0;
	if (!t->slow_count)
		return;
	for (size_t i = 0; i < top; i++)
		below_ns += world_jobs_added(t, in, i) * (jobs_slot_low(i) + jobs_slot_low(i) / 2);
	rest_ns = rest_ns > below_ns ? (rest_ns - below_ns) / t->slow_count : 0;
	if (top < DAVY_TIME_SLOTS - 1 && (DAVY_TIME_SLOT_NS << (top + 1)) < high_ns)
		high_ns = DAVY_TIME_SLOT_NS << (top + 1);
	t->slowest_ns = rest_ns < jobs_slot_low(top) ? jobs_slot_low(top) : rest_ns;
	if (t->slowest_ns > high_ns)
		t->slowest_ns = high_ns;
}

void davy_jobs_apply_times(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_job_times *in = &ev->job_times;
	struct davy_times_state *t = davy_world_times(w, in->device, in->ring, ev->pid);

	if (!t)
		t = jobs_times_new(w, ev);
	t->fresh_count = t->slowest_ns = t->slow_count = 0;
	if (t->used_ns && in->count > t->count && in->max_ns >= t->max_ns) {
		t->fresh_count = in->count - t->count;
		jobs_judge_fresh(t, in);
		davy_life_done(davy_world_process(w, ev->pid), ev->at_ns);
	} /* otherwise the values are older than the agent's attach, or the counters restarted */
	t->used_ns = ev->at_ns ? ev->at_ns : 1;
	t->count = in->count;
	t->sum_ns = in->sum_ns;
	t->max_ns = in->max_ns;
	memcpy(t->slot, in->slot, sizeof(t->slot));
}

void davy_jobs_apply_ring(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_ring *in = &ev->ring;
	struct davy_ring_state *r = davy_world_ring_get(w, in->device, in->ring, ev->at_ns);
	bool same = in->age_ns && r->age_context == in->fence_context &&
		    r->age_seqno == in->fence_seqno;
	struct davy_process *p;

	r->ended_ns = same ? 0 : r->age_ns;
	r->ended_pid = r->age_pid;
	if (r->ended_ns)
		davy_life_done(davy_world_process(w, r->ended_pid), ev->at_ns);
	r->timeout_ns = in->timeout_ns;
	r->timeout_reported = true;
	r->age_ns = in->age_ns;
	r->age_pid = ev->pid;
	r->age_context = in->fence_context;
	r->age_seqno = in->fence_seqno;
	if (!in->age_ns)
		return;
	p = davy_world_process(w, ev->pid);
	davy_life_busy(p, ev->at_ns, ev->at_ns);
	if (p)
		p->life.ring_ns = ev->at_ns;
}

/* A job that timed out did not end normally: its duration is no measure. */
void davy_jobs_apply_timeout(struct davy_world *w, const struct davy_event *ev)
{
	struct davy_ring_state *r =
		davy_world_ring_get(w, ev->job_timeout.device, ev->job_timeout.ring, ev->at_ns);

	r->age_ns = 0;
}

void davy_jobs_apply_lockup(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_lockup *in = &ev->lockup;
	struct davy_lockup_state *victim = &w->jobs.lockups[0];

	for (size_t i = 0; i < DAVY_WORLD_LOCKUPS; i++) {
		struct davy_lockup_state *l = &w->jobs.lockups[i];

		if (l->used_ns && davy_same_name(l->queue, in->queue) &&
		    davy_same_name(l->device, in->device)) {
			victim = l;
			break;
		}
		if (l->used_ns < victim->used_ns)
			victim = l;
	}
	davy_copy_name(victim->device, sizeof(victim->device), in->device);
	davy_copy_name(victim->queue, sizeof(victim->queue), in->queue);
	victim->used_ns = ev->at_ns ? ev->at_ns : 1;
	victim->timeout_ns = in->timeout_ns;
}

/* True if a ring belongs to a queue kind: by name prefix, for amdgpu by its table. */
static bool jobs_ring_in_queue(const char *ring, const char *queue)
{
	size_t len = strlen(queue);

	if (len && !strncmp(ring, queue, len))
		return true;
	if (davy_same_name(queue, "compute"))
		return !strncmp(ring, "comp", 4);
	return davy_same_name(queue, "video") && davy_ring_kind(ring) == DAVY_QUEUE_VIDEO;
}

uint64_t davy_world_timeout(const struct davy_world *w, const char *device, const char *ring)
{
	for (size_t i = 0; i < DAVY_WORLD_RINGS; i++) {
		const struct davy_ring_state *r = &w->rings[i];

		if (r->timeout_reported && davy_same_name(r->ring, ring) &&
		    davy_same_name(r->device, device))
			return r->timeout_ns <= DAVY_TIMEOUT_MAX_NS ? r->timeout_ns : 0;
	}
	for (size_t i = 0; i < DAVY_WORLD_LOCKUPS; i++) {
		const struct davy_lockup_state *l = &w->jobs.lockups[i];

		if (l->used_ns && davy_same_name(l->device, device) &&
		    jobs_ring_in_queue(ring, l->queue))
			return l->timeout_ns <= DAVY_TIMEOUT_MAX_NS ? l->timeout_ns : 0;
	}
	return 0;
}

static uint64_t jobs_load_hash(const struct davy_process *p, const char *device, const char *model)
{
	uint64_t hash = davy_fnv(davy_fnv_text(DAVY_FNV_START, model), "\xff", 1);

	hash = davy_fnv(davy_fnv_text(hash, device), "\xff", 1);
	return (hash ^ p->ubatch ^ (uint64_t)p->backend << 32) * 1099511628211u;
}

static const char *jobs_load_model(const struct davy_process *p)
{
	return p->model[0] ? p->model : p->comm;
}

uint32_t davy_model_key(const struct davy_process *p)
{
	return (uint32_t)davy_fnv_text(DAVY_FNV_START, jobs_load_model(p));
}

const struct davy_load *davy_world_load(const struct davy_world *w, const struct davy_process *p,
					const char *device)
{
	const char *model = jobs_load_model(p);
	uint64_t hash = jobs_load_hash(p, device, model);

	for (size_t i = 0; i < DAVY_WORLD_LOADS; i++) {
		const struct davy_load *l = &w->jobs.loads[i];

		if (l->used_ns && l->hash == hash && l->ubatch == p->ubatch &&
		    l->backend == p->backend && davy_same_name(l->model, model) &&
		    davy_same_name(l->device, device))
			return l;
	}
	return NULL;
}

struct davy_load *davy_world_load_get(struct davy_world *w, const struct davy_process *p,
				      const char *device, uint64_t now_ns)
{
	struct davy_load *l = (struct davy_load *)davy_world_load(w, p, device);
	struct davy_load *victim = &w->jobs.loads[0];
	const char *model = jobs_load_model(p);

	if (l) {
		l->used_ns = now_ns;
		return l;
	}
	for (size_t i = 0; i < DAVY_WORLD_LOADS; i++)
		if (w->jobs.loads[i].used_ns < victim->used_ns)
			victim = &w->jobs.loads[i];
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	davy_copy_name(victim->device, sizeof(victim->device), device);
	davy_copy_name(victim->model, sizeof(victim->model), model);
	victim->hash = jobs_load_hash(p, device, model);
	victim->used_ns = now_ns ? now_ns : 1;
	victim->ubatch = p->ubatch;
	victim->backend = p->backend;
	davy_growth_begin(&victim->growth, FIRST_BIN_MS);
	return victim;
}

static void jobs_end_period(struct davy_load *l, uint64_t now_ns)
{
	uint32_t few = l->period_count >= DAVY_USUAL_FEW ? l->period_most : 0;
	uint32_t usual = few < l->few_most ? few : l->few_most;

	if (now_ns - l->period_ns > 2 * DAVY_USUAL_NS)
		few = 0; /* the next period does not follow on this one */
	if (l->period_count >= DAVY_USUAL_JOBS)
		usual = l->period_most;
	if (usual > l->usual)
		l->usual = usual;
	l->few_most = few;
}

void davy_load_add(struct davy_load *l, uint32_t share, uint64_t now_ns)
{
	if (!l->period_ns || now_ns - l->period_ns > DAVY_USUAL_NS) {
		jobs_end_period(l, now_ns);
		l->period_ns = now_ns ? now_ns : 1;
		l->period_most = l->period_count = 0;
	}
	if (share > l->period_most)
		l->period_most = share;
	l->period_count++;
}

uint64_t davy_load_threshold(const struct davy_load *l, uint64_t threshold, uint64_t timeout)
{
	uint64_t usual, most = timeout - timeout / 20;

	if (!l || !l->usual)
		return threshold;
	usual = (uint64_t)l->usual * timeout / MILLION;
	usual += usual / 10;
	usual = usual < most ? usual : most;
	return usual > threshold ? usual : threshold;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: the slowest finished jobs of a load (model and ubatch on a device) compared to the
 *   timeout of their ring, and how that grows with the depth of the context, or with time if the
 *   engine does not report its depth.
 * Threshold: one job above "level1" is level 1. Three within a minute above "level2" or "level3"
 *   are levels 2 and 3. If the growth reaches the timeout before the context is full (or within
 *   "ahead"), it is level 1 from a fifth of the timeout on, level 2 from "level1" on. Job time is
 *   roughly proportional to the ubatch: the plan names a ubatch that would stay below "level1".
 *   Level 2 acts only on growth: long jobs of equal length are no precursor. Where jobs were slow
 *   for ten minutes without a timeout, levels 2 and 3 begin a tenth above the longest of them.
 * False alarms: a single slow job (shader compilation, a pause, a suspend) stays at level 1. No
 *   alarm for jobs that are long but do not grow, for copies and video, and for a ring without
 *   timeout. A job that timed out is covered by job_stall and reset.
 * Test: tests/unit/test_job_headroom.c.
 */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <inttypes.h>

#define MILLION	      1000000u
#define SHORT_NS      (20 * DAVY_NS_PER_MS) /* negligible compared to the timeout of any driver */
#define FORESEE_SHARE (MILLION / 5)
#define DEPTH_TIMES   4 /* limit of extrapolation, as a multiple of the observed range */
#define TIME_TIMES    16
#define DEPTH_BIN     256
#define TIME_BIN_MS   1000
#define REST_NS	      (5 * DAVY_NS_PER_S)   /* a new run begins after such a pause */
#define DEPTH_OLD_NS  (300 * DAVY_NS_PER_S) /* a batch on a slow device may take minutes */
#define RECENT_NS     (60 * DAVY_NS_PER_S)
#define RECENT_JOBS   6
#define PACE_MAX_NS   (60 * DAVY_NS_PER_S) /* per token; times any depth, it fits 63 bits */

struct finished {
	const char *device;
	const char *ring;
	uint32_t pid;
	uint32_t count;
	uint64_t ns;
};

struct verdict {
	uint32_t level;
	uint64_t share;	   /* observed part of the timeout; in millionths like all parts here */
	uint64_t worst;	   /* predicted */
	uint64_t reach;	   /* axis value where a job takes the whole timeout; 0: not predicted */
	uint64_t until_ns; /* when; 0: unknown */
	uint64_t first_ns; /* first job of the evidence */
};

static struct davy_ring_state *job_headroom_ring(struct davy_step *s)
{
	return davy_world_ring_get(&s->core->world, s->ev->ring.device, s->ev->ring.ring,
				   s->now_ns);
}

/* From the histogram; without one, the last observed age of the job. */
static struct finished job_headroom_finished(struct davy_step *s)
{
	struct davy_world *w = &s->core->world;
	struct finished job = { .pid = s->ev->pid };
	const struct davy_times_state *t;
	const struct davy_ring_state *r;

	if (s->ev->kind == DAVY_EV_JOB_TIMES) {
		job.device = s->ev->job_times.device;
		job.ring = s->ev->job_times.ring;
		t = davy_world_times(w, job.device, job.ring, job.pid);
		job.ns = t ? t->slowest_ns : 0;
		job.count = t ? t->slow_count : 0;
		return job;
	}
	r = job_headroom_ring(s);
	job.device = r->device;
	job.ring = r->ring;
	job.pid = r->ended_pid;
	job.count = 1;
	if (!davy_world_times(w, r->device, r->ring, r->ended_pid))
		job.ns = r->ended_ns;
	return job;
}

static void job_headroom_begin_run(struct davy_load *l, uint64_t now_ns, uint32_t depth)
{
	l->began_ns = now_ns;
	l->began_depth = l->depth = depth;
}

/*
 * The value that grows along a straight line. By depth, it is the job time. By time, it is its
 * square, if each job is deeper than the previous one by the same number of tokens.
 */
static uint64_t job_headroom_linear(const struct davy_load *l, uint64_t share)
{
	return l->by_depth ? share : share * share / MILLION;
}

static void job_headroom_by_depth(struct davy_step *s, struct davy_load *l,
				  const struct davy_process *p, uint64_t share)
{
	uint32_t depth = p->life.progress.depth;

	if (!l->began_ns || depth < l->depth - l->depth / 8) {
		job_headroom_begin_run(l, s->now_ns, depth);
		l->growth.pass++;
	}
	l->depth = depth;
	if (p->life.prefill) /* single-token jobs are short and do not predict prompt jobs */
		davy_growth_add(&l->growth, depth, share);
}

static void job_headroom_by_time(struct davy_step *s, struct davy_load *l, uint64_t share,
				 uint64_t job_ns)
{
	uint64_t ms = (s->now_ns - l->began_ns) / DAVY_NS_PER_MS;

	if (!l->began_ns || s->now_ns - l->last_ns > REST_NS + job_ns ||
	    davy_growth_fell(&l->growth, ms)) {
		job_headroom_begin_run(l, s->now_ns, 0);
		davy_growth_begin(&l->growth, TIME_BIN_MS);
		ms = 0;
	}
	davy_growth_add(&l->growth, ms, job_headroom_linear(l, share));
}

static void job_headroom_place(struct davy_step *s, struct davy_load *l,
			       const struct davy_process *p, uint64_t share, uint64_t job_ns)
{
	bool by_depth = p->life.depth_known && s->now_ns - p->life.progress_ns < DEPTH_OLD_NS;

	if (l->by_depth != by_depth) {
		l->by_depth = by_depth;
		l->began_ns = 0;
		davy_growth_begin(&l->growth, by_depth ? DEPTH_BIN : TIME_BIN_MS);
	}
	if (by_depth)
		job_headroom_by_depth(s, l, p, share);
	else
		job_headroom_by_time(s, l, share, job_ns);
	l->last_ns = s->now_ns;
}

static uint64_t job_headroom_level(const struct davy_step *s, const struct davy_load *l,
				   const struct davy_process *p, uint32_t level)
{
	int key = DAVY_CFG_HEADROOM_LEVEL1 + (int)level - 1;

	return davy_threshold(s, (enum davy_config_key)key, l->device, p) * (MILLION / 1000);
}

static void job_headroom_remember(struct davy_step *s, struct davy_load *l,
				  const struct davy_process *p, uint64_t share, uint32_t count)
{
	if (share < job_headroom_level(s, l, p, 1))
		return;
	davy_load_add(l, (uint32_t)share, s->now_ns);
	for (uint32_t i = 0; i < count && i < 3; i++) {
		l->slow[l->slow_next] = (uint32_t)share;
		l->slow_ns[l->slow_next] = s->now_ns;
		l->slow_next = (uint8_t)((l->slow_next + 1) % DAVY_LOAD_SLOW);
	}
}

/* Third slowest job of the last minute, or of six timeouts if longer: ignores two outliers. */
static uint64_t job_headroom_third_slowest(const struct davy_step *s, const struct davy_load *l,
					   uint64_t timeout_ns, uint64_t *ret_ns)
{
	uint64_t recent_ns =
		timeout_ns * RECENT_JOBS > RECENT_NS ? timeout_ns * RECENT_JOBS : RECENT_NS;

	uint32_t top[3] = { 0 };

	*ret_ns = s->now_ns;
	for (size_t i = 0; i < DAVY_LOAD_SLOW; i++) {
		uint32_t share = l->slow[i];

		if (!share || s->now_ns - l->slow_ns[i] > recent_ns)
			continue;
		if (l->slow_ns[i] < *ret_ns)
			*ret_ns = l->slow_ns[i];
		for (size_t j = 0; j < 3; j++) {
			uint32_t less = share < top[j] ? share : top[j];

			top[j] = share > top[j] ? share : top[j];
			share = less;
		}
	}
	return top[2];
}

/* Maximum depth of the context if known, otherwise the limit of extrapolation. */
static uint64_t job_headroom_full_depth(const struct davy_process *p, uint64_t far)
{
	if (p->life.progress.context_size)
		return p->life.progress.context_size;
	return p->slot_context ? p->slot_context : far;
}

/*
 * Time when the line reaches "reach"; 0: unknown. Deeper jobs take longer, so the depth grows more
 * slowly: the pace so far is scaled by the mean job time ahead over the mean so far.
 */
static uint64_t job_headroom_when(const struct davy_step *s, const struct davy_load *l,
				  const struct davy_trend *t, uint64_t reach)
{
	uint64_t pace_ns, here, before;

	if (!l->by_depth)
		return l->began_ns + reach * DAVY_NS_PER_MS;
	here = davy_trend_at(t, l->depth);
	before = davy_trend_at(t, l->began_depth) + here;
	if (l->depth <= l->began_depth || reach <= l->depth || !before)
		return 0;
	pace_ns = (s->now_ns - l->began_ns) / (l->depth - l->began_depth);
	if (pace_ns > PACE_MAX_NS)
		return 0;
	pace_ns = pace_ns * (here + MILLION) / before;
	return pace_ns < PACE_MAX_NS ? s->now_ns + (reach - l->depth) * pace_ns : 0;
}

/* Predicts whether the trend reaches the timeout soon enough to report it. */
static void job_headroom_predict(const struct davy_step *s, const struct davy_load *l,
				 const struct davy_process *p, struct verdict *v)
{
	uint64_t far, end, reach;
	struct davy_trend t;

	if (v->share < FORESEE_SHARE || !davy_growth_trend(&l->growth, &t) || !t.steady ||
	    t.y < (int64_t)job_headroom_linear(l, FORESEE_SHARE))
		return;
	far = (uint64_t)t.x * (l->by_depth ? DEPTH_TIMES : TIME_TIMES);
	end = t.x + davy_threshold(s, DAVY_CFG_HEADROOM_AHEAD_MS, l->device, p);
	if (l->by_depth)
		end = job_headroom_full_depth(p, far);
	reach = davy_trend_reach(&t, MILLION);
	if (reach > end || reach > far)
		return;
	v->reach = reach ? reach : 1;
	v->until_ns = job_headroom_when(s, l, &t, reach);
	v->worst = l->by_depth ? davy_trend_at(&t, end) : MILLION;
	if (!v->level)
		v->level = 1;
	if (v->level < 2 && t.y >= (int64_t)job_headroom_linear(l, job_headroom_level(s, l, p, 1)))
		v->level = 2;
}

static struct verdict job_headroom_judge(const struct davy_step *s, const struct davy_load *l,
					 const struct davy_process *p, uint64_t share,
					 uint64_t timeout_ns)
{
	struct verdict v = { .share = share };
	uint64_t first_ns, third = job_headroom_third_slowest(s, l, timeout_ns, &first_ns);

	v.first_ns = s->now_ns;
	v.level = share >= job_headroom_level(s, l, p, 1);
	for (uint32_t level = 2; level <= 3; level++) {
		if (third < davy_load_threshold(l, job_headroom_level(s, l, p, level), MILLION))
			break;
		v.level = level;
		v.share = third;
		v.first_ns = first_ns;
	}
	job_headroom_predict(s, l, p, &v);
	if (v.worst < v.share)
		v.worst = v.share;
	return v;
}

/* The largest power of two below "ubatch" whose jobs would stay below level 1; 0: none. */
static uint32_t job_headroom_fitting(const struct davy_step *s, const struct davy_load *l,
				     const struct davy_process *p, uint64_t worst)
{
	uint64_t least = davy_threshold(s, DAVY_CFG_HEADROOM_UBATCH_FLOOR, l->device, p);
	uint64_t ubatch = p->ubatch, power = 1;
	uint64_t fit = ubatch * job_headroom_level(s, l, p, 1) / worst;

	if (ubatch && fit >= ubatch)
		fit = ubatch - 1;
	while (power * 2 <= fit)
		power *= 2;
	return fit && power >= least ? (uint32_t)power : 0;
}

static void job_headroom_raise(struct davy_step *s, const struct davy_load *l,
			       const struct davy_process *p, const struct finished *job,
			       const struct verdict *v)
{
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_JOB_HEADROOM, p);

	assert(v->level >= 1 && v->level <= 3 && v->worst);
	davy_copy_name(note.device, sizeof(note.device), job->device);
	davy_copy_name(note.detail, sizeof(note.detail),
		       job->ring); /* the ring has no alarm of its own */
	note.level = (uint8_t)v->level;
	note.unit = DAVY_UNIT_PERMILLE;
	note.observed = v->share / (MILLION / 1000);
	note.threshold = job_headroom_level(s, l, p, v->level) / (MILLION / 1000);
	note.ubatch = p->ubatch;
	note.fitting_ubatch = job_headroom_fitting(s, l, p, v->worst);
	if (v->first_ns < s->now_ns)
		davy_plan_evidence(&note, v->first_ns, DAVY_EV_JOB_TIMES, 3);
	note.form = v->reach ? DAVY_FORM_GROWING : DAVY_FORM_PLAIN;
	note.predicted_depth = l->by_depth ? (uint32_t)v->reach : 0;
	note.until_ns = v->until_ns;
	davy_alarm_raise(s, &note);
}

static void job_headroom_look(struct davy_step *s)
{
	struct finished job = job_headroom_finished(s);
	struct davy_world *w = &s->core->world;
	const struct davy_process *p;
	uint64_t timeout_ns, share;
	struct verdict v;
	struct davy_load *l;

	if (job.ns < SHORT_NS || davy_ring_kind(job.ring) != DAVY_QUEUE_COMPUTE)
		return;
	p = davy_world_process(w, job.pid);
	if (!p || p->engine == DAVY_ENGINE_NONE || p->backend == DAVY_BACKEND_CPU)
		return;
	timeout_ns = davy_world_timeout(w, job.device, job.ring);
	if (job.ns >= timeout_ns) /* no timeout, or a suspend made the job long */
		return;
	share = job.ns * MILLION / timeout_ns;
	if (!share)
		return;
	l = davy_world_load_get(w, p, job.device, s->now_ns);
	job_headroom_place(s, l, p, share, job.ns);
	job_headroom_remember(s, l, p, share, job.count);
	v = job_headroom_judge(s, l, p, share, timeout_ns);
	if (v.level)
		job_headroom_raise(s, l, p, &job, &v);
}

static void job_headroom_reason(const struct davy_plan *p, struct davy_clause *c)
{
	c->say(c, "jobs on ring %s use %" PRIu64 ".%" PRIu64 " %% of the lockup timeout", p->detail,
	       p->observed / 10, p->observed % 10);
	if (p->observed >= p->threshold)
		c->say(c, " (threshold %" PRIu64 ".%" PRIu64 " %%)", p->threshold / 10,
		       p->threshold % 10);
	if (p->predicted_depth || p->until_ns > p->at_ns)
		c->say(c, "; predicted to reach it");
	if (p->predicted_depth)
		c->say(c, " at a depth of %u", p->predicted_depth);
	if (p->until_ns > p->at_ns)
		c->say(c, " in %" PRIu64 " s", (p->until_ns - p->at_ns) / DAVY_NS_PER_S);
	if (p->fitting_ubatch)
		c->say(c, "; ubatch %u would fit", p->fitting_ubatch);
}

const struct davy_hazard_row davy_hazard_job_headroom = {
	.sees = DAVY_SEES(DAVY_EV_JOB_TIMES) | DAVY_SEES(DAVY_EV_RING),
	.look = job_headroom_look,
	.reason = job_headroom_reason,
	.precursor.leads =
		DAVY_CAN_NOT_ANSWER | DAVY_CAN_HOST_CRASH | DAVY_CAN_WRONG_OUTPUT | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 2, { DAVY_ACTION_SHRINK }, DAVY_FORM_GROWING },
	.escalation[1] = { 3,
			   { DAVY_ACTION_PAUSE, DAVY_ACTION_SHRINK, DAVY_ACTION_MIGRATE_CPU,
			     DAVY_ACTION_RESTART } },
	.shortage = DAVY_SHORT_OF_TIME,
	.of_long_jobs = true,
	.finds_ubatch = true,
};

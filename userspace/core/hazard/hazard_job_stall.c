/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: age of the oldest running job on a ring compared to the timeout of that ring
 *   (drm_gpu_scheduler.timeout, read from the scheduler).
 * Threshold: 25, 50, 75 % are levels 1 to 3. Level 2 needs another such job of the ring within a
 *   minute. If jobs of this load were slow for ten minutes without a timeout (32 of them, or 8 in
 *   each of two such periods), both levels begin a tenth above the longest of them (at most at
 *   95 %). The time to act is the rest of the timeout.
 * False alarms: a timeout of 0 (never fires) is ignored. One job that uses half of the timeout and
 *   ends in time is no precursor: level 1 up to 75 %. The alarm outlives its job by the clear
 *   time: equally long jobs are one alarm, not one each.
 * Test: tests/unit/test_gpu_hazards.c, tests/vm hang.
 */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <inttypes.h>

#define AGAIN_NS       (60 * DAVY_NS_PER_S)
#define TIMEOUT_MAX_NS (UINT64_MAX / 1000) /* 213 days; a longer timeout never fires */

static uint64_t job_stall_threshold(const struct davy_step *s, uint32_t level)
{
	const struct davy_process *p = davy_scoped_process(s, s->ev->pid);

	return davy_threshold(s, (enum davy_config_key)(DAVY_CFG_STALL_LEVEL1 + (int)level - 1),
			      s->ev->ring.device, p);
}

static uint32_t job_stall_level_of(const struct davy_step *s, uint64_t permille)
{
	const struct davy_process *p = davy_world_process(&s->core->world, s->ev->pid);
	const struct davy_load *l =
		p ? davy_world_load(&s->core->world, p, s->ev->ring.device) : NULL;
	uint32_t level = permille >= job_stall_threshold(s, 1);

	for (uint32_t i = 2; i <= 3; i++)
		level += permille >= davy_load_threshold(l, job_stall_threshold(s, i), 1000);
	return level;
}

/* Half of the timeout counts only if a recent job of the ring has used as much. */
static uint32_t job_stall_judge(const struct davy_step *s, struct davy_ring_state *r,
				uint64_t permille)
{
	uint32_t level = job_stall_level_of(s, permille);

	r->slow |= level >= 2;
	if (level == 2 && !(r->slow_ns && s->now_ns - r->slow_ns <= AGAIN_NS))
		level = 1;
	return level;
}

static void job_stall_begin_job(struct davy_step *s, struct davy_ring_state *r)
{
	if (r->slow)
		r->slow_ns = s->now_ns;
	r->slow = false;
	r->level = 0;
	r->first_precursor_ns = 0;
	r->pid = s->ev->pid;
	r->fence_context = s->ev->ring.fence_context;
	r->fence_seqno = s->ev->ring.fence_seqno;
}

static void job_stall_raise(struct davy_step *s, struct davy_ring_state *r, uint32_t level,
			    uint64_t permille)
{
	const struct davy_process *p = davy_world_process(&s->core->world, s->ev->pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_JOB_STALL, p);

	assert(level >= 1 && level <= 3);
	davy_copy_name(note.device, sizeof(note.device), r->device);
	davy_copy_name(note.ring, sizeof(note.ring), r->ring);
	note.level = (uint8_t)level;
	note.unit = DAVY_UNIT_PERMILLE;
	note.observed = permille;
	note.threshold = job_stall_threshold(s, level);
	note.until_ns = s->now_ns + s->ev->ring.timeout_ns - s->ev->ring.age_ns;
	if (r->first_precursor_ns)
		note.first_precursor_ns = r->first_precursor_ns;
	else
		r->first_precursor_ns = s->now_ns;
	davy_alarm_raise(s, &note);
	r->level = level;
}

static void job_stall_keep(struct davy_step *s, const struct davy_ring_state *r, uint64_t permille)
{
	davy_alarm_keep(s, DAVY_HZ_JOB_STALL, r->pid, r->device, r->ring);
	davy_sample_kept(s, DAVY_HZ_JOB_STALL, r->pid, r->device, r->ring, permille);
}

static void job_stall_look(struct davy_step *s)
{
	const struct davy_ev_ring *in = &s->ev->ring;
	struct davy_ring_state *r =
		davy_world_ring_get(&s->core->world, in->device, in->ring, s->now_ns);
	uint64_t age_ns = in->age_ns;
	uint64_t permille;
	uint32_t level;

	if (r->fence_context != in->fence_context || r->fence_seqno != in->fence_seqno || !age_ns)
		job_stall_begin_job(s, r);
	if (!in->timeout_ns || in->timeout_ns > TIMEOUT_MAX_NS || !age_ns)
		return;
	if (age_ns > in->timeout_ns)
		age_ns = in->timeout_ns; /* after the timeout, the driver reports it */
	permille = age_ns * 1000 / in->timeout_ns;
	level = job_stall_judge(s, r, permille);
	if (level > r->level)
		job_stall_raise(s, r, level, permille);
	else if (r->level)
		job_stall_keep(s, r, permille);
}

static void job_stall_reason(const struct davy_plan *p, struct davy_clause *c)
{
	c->say(c,
	       "oldest job on ring %s has used %" PRIu64 ".%" PRIu64 " %% of the lockup timeout "
	       "(threshold %" PRIu64 ".%" PRIu64 " %%)",
	       p->ring, p->observed / 10, p->observed % 10, p->threshold / 10, p->threshold % 10);
}

const struct davy_hazard_row davy_hazard_job_stall = {
	.sees = DAVY_SEES(DAVY_EV_RING),
	.look = job_stall_look,
	.reason = job_stall_reason,
	.precursor.leads =
		DAVY_CAN_NOT_ANSWER | DAVY_CAN_HOST_CRASH | DAVY_CAN_WRONG_OUTPUT | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 3,
			   { DAVY_ACTION_PAUSE, DAVY_ACTION_SHRINK, DAVY_ACTION_MIGRATE_CPU,
			     DAVY_ACTION_RESTART } },
	.shortage = DAVY_SHORT_OF_TIME,
	.of_long_jobs = true,
	.weakens = true, /* any part of the timeout keeps it */
};

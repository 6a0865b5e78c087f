/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: a process requested device memory and did not get it (TTM, DRM ioctls). Kernel log lines
 *   about it count if no BPF program has reported that device for two seconds.
 * Threshold: a full heap is normal while a model is loaded over an idle one: level 1 from "count"
 *   failures within "window" on. The same applies to a validation that failed after evicting: the
 *   driver may try a wider placement. No host pages: level 2. Failed ioctls: the first is level 1,
 *   the second within "lines_window" level 2, "lines" of them level 3. The same steps for log lines
 *   of failed submissions, for memory that KFD refused over its limit (a failed hipMalloc), and
 *   without level 3 for a failed xe VM bind. "lines" weaker lines are level 1.
 * False alarms: drivers try optional placements: level 1. Failed pins occurred hundreds of times a
 *   day without harm. The driver retries a submission that fails occasionally. PyTorch frees its
 *   cache after a failed allocation and tries again, by design: one failed ioctl is no precursor. A
 *   bind fails with a wrong address, too.
 * Test: tests/unit/test_gpu_hazards.c, test_fault_signs.c, test_fact_hazards.c,
 *   tests/vm huge.
 */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <inttypes.h>

#include "core/event/fact.h"

static bool alloc_failure_many(struct davy_step *s, const struct davy_ev_alloc_failed *in,
			       const struct davy_process *p)
{
	struct davy_alloc_state *a;

	a = davy_world_alloc_get(&s->core->world, in->device, s->ev->pid, s->now_ns);
	if (s->now_ns - a->window_ns >
	    davy_threshold_ns(s, DAVY_CFG_ALLOC_WINDOW_MS, in->device, p)) {
		a->window_ns = s->now_ns;
		a->window_count = 0;
	}
	a->window_count += in->fresh;
	return a->window_count >= davy_threshold(s, DAVY_CFG_ALLOC_COUNT, in->device, p);
}

/* Refusals that an application may survive: it depends on how many there are. */
static uint32_t alloc_failure_repeated(uint64_t count, uint64_t limit)
{
	return count < 2 ? 1 : count < limit ? 2 : 3;
}

/* The number of recent ones of that kind, with "fresh" new ones. */
static uint64_t alloc_failure_count(struct davy_step *s, enum davy_tally_kind kind,
				    const char *device, const struct davy_process *p,
				    uint64_t fresh)
{
	struct davy_tally *t =
		davy_world_tally(&s->core->world, kind, device, s->ev->pid, s->now_ns,
				 davy_threshold_ns(s, DAVY_CFG_ALLOC_LINES_WINDOW_MS, device, p));

	t->count += fresh;
	return t->count;
}

static void alloc_failure_look_at_line(struct davy_step *s)
{
	const struct davy_ev_log *in = &s->ev->log;
	struct davy_world *w = &s->core->world;
	const struct davy_process *p = davy_world_process(w, s->ev->pid);
	uint64_t limit = davy_threshold(s, DAVY_CFG_ALLOC_LINES, in->device, p);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_ALLOC_FAILURE, p);
	bool strong = in->weight > 2;
	uint64_t count;

	if (in->role != DAVY_PART_PRECURSOR || in->hazard != DAVY_LOG_HZ_ALLOC_FAILURE ||
	    davy_world_reported(w, in->device, DAVY_REPORT_ALLOC, DAVY_BY_LOG, 0, s->now_ns))
		return;
	count = alloc_failure_count(s, strong ? DAVY_TALLY_ALLOC_LINE : DAVY_TALLY_ALLOC_HINT,
				    in->device, p, 1 + (uint64_t)in->repeats);
	if (!strong && count < limit)
		return;
	if (in->device[0])
		davy_copy_name(note.device, sizeof(note.device), in->device);
	davy_copy_name(note.detail, sizeof(note.detail), davy_log_kind_name(in->kind));
	if (!p)
		davy_copy_name(note.comm, sizeof(note.comm), in->comm);
	note.level = strong ? (uint8_t)alloc_failure_repeated(count, limit) : 1;
	note.unit = DAVY_UNIT_COUNT;
	note.observed = count;
	note.threshold = strong ? (note.level == 2 ? 2 : 1) : limit;
	note.result = in->error;
	davy_alarm_raise(s, &note);
}

static void alloc_failure_look_at_fact(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	struct davy_world *w = &s->core->world;
	const struct davy_process *p = davy_world_process(w, s->ev->pid);
	uint64_t limit = davy_threshold(s, DAVY_CFG_ALLOC_LINES, in->device, p);
	bool bind = in->fact == DAVY_FACT_XE_VM_OPS_FAILED;
	struct davy_plan note;
	uint64_t count;

	if (!bind && in->fact != DAVY_FACT_KFD_LIMIT)
		return;
	count = alloc_failure_count(s, bind ? DAVY_TALLY_ALLOC_BIND : DAVY_TALLY_ALLOC_LIMIT,
				    in->device, p, 1);
	note = davy_plan_about(s, DAVY_HZ_ALLOC_FAILURE, p);
	davy_copy_name(note.device, sizeof(note.device), in->device);
	davy_copy_name(note.detail, sizeof(note.detail), davy_fact_text(in->fact));
	note.level = (uint8_t)alloc_failure_repeated(count, bind ? UINT64_MAX : limit);
	note.unit = DAVY_UNIT_COUNT;
	note.observed = count;
	note.threshold = note.level == 3 ? limit : note.level;
	note.result = in->error;
	davy_world_report(w, in->device, DAVY_REPORT_ALLOC, DAVY_BY_PROGRAM, note.level, s->now_ns);
	davy_alarm_raise(s, &note);
}

static void alloc_failure_look_at_failure(struct davy_step *s)
{
	const struct davy_ev_alloc_failed *in = &s->ev->alloc_failed;
	const struct davy_process *p = davy_world_process(&s->core->world, s->ev->pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_ALLOC_FAILURE, p);
	bool ioctl = in->stage == DAVY_ALLOC_IOCTL;

	assert(in->stage >= DAVY_ALLOC_RESOURCE && in->stage <= DAVY_ALLOC_POPULATE);
	davy_copy_name(note.device, sizeof(note.device), in->device);
	note.unit = DAVY_UNIT_BYTES;
	note.observed = in->bytes;
	note.result = in->error;
	note.level = in->stage == DAVY_ALLOC_POPULATE ? 2 : 1; /* the host is out of memory */
	if (ioctl) {
		note.unit = DAVY_UNIT_COUNT;
		note.observed = alloc_failure_count(s, DAVY_TALLY_ALLOC_IOCTL, in->device, p,
						    in->fresh ? in->fresh : 1);
		note.threshold = davy_threshold(s, DAVY_CFG_ALLOC_LINES, in->device, p);
		note.level = (uint8_t)alloc_failure_repeated(note.observed, note.threshold);
		note.threshold = note.level == 3 ? note.threshold : note.level;
		davy_copy_name(note.detail, sizeof(note.detail),
			       "an ioctl reported that there is no memory");
	}
	davy_world_report(&s->core->world, in->device, DAVY_REPORT_ALLOC, DAVY_BY_PROGRAM,
			  note.level, s->now_ns);
	if (in->stage != DAVY_ALLOC_RESOURCE || alloc_failure_many(s, in, p))
		davy_alarm_raise(s, &note);
}

static void alloc_failure_look(struct davy_step *s)
{
	if (s->ev->kind == DAVY_EV_LOG)
		alloc_failure_look_at_line(s);
	else if (s->ev->kind == DAVY_EV_FACT)
		alloc_failure_look_at_fact(s);
	else
		alloc_failure_look_at_failure(s);
}

static void alloc_failure_reason(const struct davy_plan *p, struct davy_clause *c)
{
	static const char *const what[] = { "", "repeatedly found a heap full",
					    "eviction did not free enough memory" };

	if (p->unit == DAVY_UNIT_COUNT) {
		c->say(c, "%s%s, %" PRIu64 " times recently",
		       p->evidence[0].kind == DAVY_EV_LOG ? "kernel log: " : "", p->detail,
		       p->observed);
		return;
	}
	c->say(c, "%s (%s", what[p->level < 3 ? p->level : 0],
	       p->result == -28 ? "-ENOSPC" : "-ENOMEM");
	if (p->observed)
		c->say(c, ", %" PRIu64 " MiB requested", p->observed >> 20);
	c->say(c, ")");
}

const struct davy_hazard_row davy_hazard_alloc_failure = {
	.sees = DAVY_SEES(DAVY_EV_ALLOC_FAILED) | DAVY_SEES(DAVY_EV_LOG) | DAVY_SEES(DAVY_EV_FACT),
	.look = alloc_failure_look,
	.reason = alloc_failure_reason,
	.precursor.leads = DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_DEVICE_LOST | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 3, { DAVY_ACTION_UNLOAD, DAVY_ACTION_SHRINK } },
	.shortage = DAVY_SHORT_OF_MEMORY,
};

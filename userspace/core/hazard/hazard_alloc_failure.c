/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: memory of the device that a process asked for and did not get (TTM, DRM ioctls); lines of
 *   the log that say so, where no kernel program has told of that device for two seconds.
 * Threshold: a heap without room is normal while a model is loaded over an idle one: level 1 only
 *   for "count" of them within "window". So is a validation that failed after evicting: the driver
 *   may try a wider placement. No pages of the host is level 2, an ioctl that told the application
 *   so level 3: it is about to give up. Of lines, a failed submission is level 1, a second one
 *   within "lines_window" level 2, "lines" of them level 3; weaker ones are level 1 when so many
 *   come.
 * False alarms: drivers probe for room with placements they can do without: levels 1. Failed pins
 *   came hundreds a day without harm; a submission that fails now and then is done again.
 * Test: tests/unit/test_gpu_hazards.c, test_fault_signs.c, tests/vm huge.
 */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <inttypes.h>

static bool many(struct davy_step *s, const struct davy_ev_alloc_failed *in,
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

static const uint8_t levels[] = {
	[DAVY_ALLOC_RESOURCE] = 1,
	[DAVY_ALLOC_VALIDATE] = 1, /* the driver may try a wider placement, and mostly succeeds */
	[DAVY_ALLOC_IOCTL] = 3,
	[DAVY_ALLOC_POPULATE] = 2, /* the host itself is out of memory */
};

static void look_at_line(struct davy_step *s)
{
	const struct davy_ev_log *in = &s->ev->log;
	struct davy_world *w = &s->core->world;
	const struct davy_process *p = davy_world_process(w, s->ev->pid);
	uint64_t limit = davy_threshold(s, DAVY_CFG_ALLOC_LINES, in->device, p);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_ALLOC_FAILURE, p);
	bool strong = in->weight > 2;
	struct davy_tally *t;

	if (in->role != DAVY_PART_PRECURSOR || in->hazard != DAVY_LOG_HZ_ALLOC_FAILURE ||
	    davy_world_was_reported(w, in->device, DAVY_REPORT_ALLOC, DAVY_BY_LOG, 0, s->now_ns))
		return;
	t = davy_world_tally(w, strong ? DAVY_TALLY_ALLOC_LINE : DAVY_TALLY_ALLOC_HINT, in->device,
			     s->ev->pid, s->now_ns,
			     davy_threshold_ns(s, DAVY_CFG_ALLOC_LINES_WINDOW_MS, in->device, p));
	t->count += 1 + (uint64_t)in->repeats;
	if (!strong && t->count < limit)
		return;
	if (in->device[0])
		davy_copy_name(note.device, sizeof(note.device), in->device);
	davy_copy_name(note.detail, sizeof(note.detail), davy_log_kind_name(in->kind));
	if (!p)
		davy_copy_name(note.comm, sizeof(note.comm), in->comm);
	note.level = 1;
	if (strong)
		note.level = t->count >= limit ? 3 : t->count > 1 ? 2 : 1;
	note.unit = DAVY_UNIT_COUNT;
	note.observed = t->count;
	note.threshold = strong ? (note.level == 2 ? 2 : 1) : limit;
	note.result = in->error;
	davy_alarm_raise(s, &note);
}

static void look_at_failure(struct davy_step *s)
{
	const struct davy_ev_alloc_failed *in = &s->ev->alloc_failed;
	const struct davy_process *p = davy_world_process(&s->core->world, s->ev->pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_ALLOC_FAILURE, p);

	assert(in->stage >= DAVY_ALLOC_RESOURCE && in->stage <= DAVY_ALLOC_POPULATE);
	davy_world_report(&s->core->world, in->device, DAVY_REPORT_ALLOC, DAVY_BY_PROGRAM,
			  levels[in->stage], s->now_ns);
	if (in->stage == DAVY_ALLOC_RESOURCE && !many(s, in, p))
		return;
	davy_copy_name(note.device, sizeof(note.device), in->device);
	note.level = levels[in->stage];
	note.unit = DAVY_UNIT_BYTES;
	note.observed = in->bytes;
	note.result = in->error;
	davy_alarm_raise(s, &note);
}

static void alloc_failure_look(struct davy_step *s)
{
	if (s->ev->kind == DAVY_EV_LOG)
		look_at_line(s);
	else
		look_at_failure(s);
}

static void alloc_failure_because(const struct davy_plan *p, struct davy_clause *c)
{
	static const char *const what[] = { "", "finds a heap full again and again",
					    "got no memory even after evicting",
					    "was told by its ioctl that there is no memory" };

	if (p->unit == DAVY_UNIT_COUNT) {
		c->say(c, "the kernel's log says %s, %" PRIu64 " times of late", p->detail,
		       p->observed);
		return;
	}
	c->say(c, "%s (%s", what[p->level < 4 ? p->level : 0],
	       p->result == -28 ? "-ENOSPC" : "-ENOMEM");
	if (p->observed)
		c->say(c, ", %" PRIu64 " MiB asked for", p->observed >> 20);
	c->say(c, ")");
}

const struct davy_hazard_row davy_hazard_alloc_failure = {
	.sees = DAVY_SEES(DAVY_EV_ALLOC_FAILED) | DAVY_SEES(DAVY_EV_LOG),
	.look = alloc_failure_look,
	.reason = alloc_failure_because,
	.precursor.leads = DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_DEVICE_LOST | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 3, { DAVY_ACTION_UNLOAD, DAVY_ACTION_SHRINK } },
	.shortage = DAVY_SHORT_OF_MEMORY,
};

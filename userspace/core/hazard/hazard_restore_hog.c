/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: workers that restore a KFD process's memory fail or repeat: restores that KFD retries
 *   every 100 ms (SMI events, amdgpu_amdkfd_gpuvm_restore_process_bos), "hogged CPU" of the restore
 *   workers, "Failed to resume KFD", "exceeds resident system memory limit".
 * Threshold: "retries" in a row are level 2, four times as many level 3. One hogged line is level 1
 *   (one came 1.3 h before other symptoms), the first in half a day and a count that has doubled
 *   within a day level 2 without an action, a second within "window" level 2, a count that doubled
 *   and is at least "count" level 3: a page fault followed 40 s later. The other two lines are
 *   level 2 (60 to 81 s before), three of them level 3. "rebinds" retries of xe's rebind worker
 *   within 10 s are level 2; half as many are if they come in every 10 s of a minute.
 * False alarms: a restore that fails once and succeeds 100 ms later; hogging workers of other
 *   drivers; some rebinds while memory of a process is invalidated (fork, unmap).
 * Test: tests/unit/test_kfd_hazards.c, test_fact_hazards.c.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>

#define IN_A_ROW_NS   (60 * DAVY_NS_PER_S) /* ends the series if the success event is lost */
#define REBIND_NS     (10 * DAVY_NS_PER_S)
#define LASTING_NS    (60 * DAVY_NS_PER_S)
#define LINES_STRONG  3
#define DAY_NS	      (24ULL * 3600 * DAVY_NS_PER_S)
#define HOG_LINE_BASE 3 /* workqueue.c prints when the count minus this doubled: 4, 5, 7, 11 */

struct finding {
	const char *device;
	const char *what;
	enum davy_form form;
	uint32_t pid;
	uint32_t level;
	uint64_t count;
	uint64_t threshold;
};

static uint64_t restore_hog_limit(const struct davy_step *s, enum davy_config_key key,
				  const struct finding *f)
{
	return davy_threshold(s, key, f->device, davy_scoped_process(s, f->pid));
}

static void restore_hog_raise(struct davy_step *s, const struct finding *f)
{
	const struct davy_process *p = davy_world_process(&s->core->world, f->pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_RESTORE_HOG, p);

	note.pid = f->pid;
	if (f->device[0])
		davy_copy_name(note.device, sizeof(note.device), f->device);
	davy_copy_name(note.detail, sizeof(note.detail), f->what);
	note.form = (uint8_t)f->form;
	note.level = (uint8_t)f->level;
	note.unit = DAVY_UNIT_COUNT;
	note.observed = f->count;
	note.threshold = f->threshold;
	davy_alarm_raise(s, &note);
}

static void restore_hog_retried(struct davy_step *s, const char *device, uint64_t times)
{
	struct finding f = {
		.device = device, .what = "", .form = DAVY_FORM_RETRIED, .pid = s->ev->pid
	};
	uint64_t retries = restore_hog_limit(s, DAVY_CFG_RESTORE_RETRIES, &f);

	if (times < retries)
		return;
	f.level = times >= 4 * retries ? 3 : 2;
	f.count = times;
	f.threshold = retries;
	restore_hog_raise(s, &f);
}

static void restore_hog_look_at_kfd(struct davy_step *s)
{
	const struct davy_ev_kfd *in = &s->ev->kfd;
	struct davy_tally *t;

	if (in->event != DAVY_KFD_QUEUES_RESTORED)
		return;
	t = davy_world_tally(&s->core->world, DAVY_TALLY_RETRIED_SMI, in->device, s->ev->pid,
			     s->now_ns, IN_A_ROW_NS);
	if (!(in->flags & DAVY_KFD_RESCHEDULED)) {
		t->count = 0;
		return;
	}
	restore_hog_retried(s, in->device, ++t->count);
}

/* True if half of the limit was reached again and again, without a pause, for a minute. */
static bool restore_hog_rebinds_last(struct davy_step *s, const struct finding *f)
{
	struct davy_tally *t;

	if (f->count < f->threshold / 2)
		return false;
	t = davy_world_tally(&s->core->world, DAVY_TALLY_REBIND_LASTS, f->device, f->pid, s->now_ns,
			     2 * REBIND_NS);
	if (!t->first)
		t->first = s->now_ns ? s->now_ns : 1;
	t->window_ns = s->now_ns; /* a longer time without them ends the storm */
	return s->now_ns - t->first >= LASTING_NS;
}

static void restore_hog_rebound(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	struct finding f = {
		.device = in->device, .what = "", .form = DAVY_FORM_RETRIED, .pid = s->ev->pid
	};
	struct davy_tally *t = davy_world_tally(&s->core->world, DAVY_TALLY_REBIND, in->device,
						s->ev->pid, s->now_ns, REBIND_NS);

	t->count += in->fresh;
	f.level = 2;
	f.count = t->count;
	f.threshold = restore_hog_limit(s, DAVY_CFG_RESTORE_REBINDS, &f);
	if (restore_hog_rebinds_last(s, &f))
		f.threshold /= 2;
	if (f.count >= f.threshold)
		restore_hog_raise(s, &f);
}

static void restore_hog_look_at_fact(struct davy_step *s)
{
	const struct davy_kfd_state *k;

	if (s->ev->fact.fact == DAVY_FACT_XE_REBIND_RETRY)
		restore_hog_rebound(s);
	if (s->ev->fact.fact != DAVY_FACT_KFD_RESTORE_FAILED)
		return;
	k = davy_world_kfd(&s->core->world, s->ev->pid);
	restore_hog_retried(s, k ? k->device : "", s->ev->fact.count);
}

static struct finding restore_hog_line(struct davy_step *s)
{
	const struct davy_ev_log *in = &s->ev->log;
	struct finding f = { .device = in->device, .what = davy_log_kind_name(in->kind) };

	f.pid = s->ev->pid ? s->ev->pid : davy_world_kfd_only(&s->core->world, in->device);
	f.count = f.threshold = 1;
	f.level = 1;
	return f;
}

/* These lines contain no pid of the process: count them per device. */
static struct davy_tally *restore_hog_lines(struct davy_step *s, enum davy_tally_kind kind,
					    const struct finding *f)
{
	return davy_world_tally(&s->core->world, kind, s->ev->log.device, 0, s->now_ns,
				restore_hog_limit(s, DAVY_CFG_RESTORE_WINDOW_MS, f) *
					DAVY_NS_PER_MS);
}

static bool restore_hog_doubled(uint64_t from, uint64_t to)
{
	if (from <= HOG_LINE_BASE)
		from = HOG_LINE_BASE + 1;
	return to > from && to - HOG_LINE_BASE >= 2 * (from - HOG_LINE_BASE);
}

/* Over hours, too: 4 to 131 in 40 min to 21 h before a host hung (legacy-rocm-build#5952). */
static bool restore_hog_climbs(struct davy_step *s, uint64_t times, uint64_t least)
{
	struct davy_tally *t = davy_world_tally(&s->core->world, DAVY_TALLY_HOGGED_DAY,
						s->ev->log.device, 0, s->now_ns, DAY_NS);

	if (!t->first)
		t->first = times;
	return times >= least && restore_hog_doubled(t->first, times);
}

/* One line came 40 s before page faults (amd-svm-006), and others came without. */
static bool restore_hog_is_first(struct davy_step *s)
{
	return davy_world_line_is_new(&s->core->world, s->ev->log.kind, s->now_ns);
}

static void restore_hog_hogged(struct davy_step *s)
{
	struct finding f = restore_hog_line(s);
	struct davy_tally *t = restore_hog_lines(s, DAVY_TALLY_HOGGED, &f);
	uint64_t least = restore_hog_limit(s, DAVY_CFG_RESTORE_COUNT, &f);
	uint64_t times = s->ev->log.code;
	bool first;

	if (!t->count)
		t->first = times;
	t->count += 1 + (uint64_t)s->ev->log.repeats;
	f.count = times;
	f.threshold = least;
	if (t->count > 1)
		f.level = times >= least && restore_hog_doubled(t->first, times) ? 3 : 2;
	first = restore_hog_is_first(s);
	if (f.level < 2 && (restore_hog_climbs(s, times, least) || first)) {
		f.level = 2;
		f.form = DAVY_FORM_HINT;
	}
	restore_hog_raise(s, &f);
}

static void restore_hog_failed(struct davy_step *s)
{
	struct finding f = restore_hog_line(s);
	struct davy_tally *t;

	t = restore_hog_lines(s, DAVY_TALLY_RESTORE_LINE, &f);
	t->count += 1 + (uint64_t)s->ev->log.repeats;
	f.count = t->count;
	f.threshold = LINES_STRONG;
	f.level = f.count >= LINES_STRONG ? 3 : 2;
	restore_hog_raise(s, &f);
}

static void restore_hog_look_at_log(struct davy_step *s)
{
	struct finding f;

	switch (s->ev->log.kind) {
	case DAVY_LOG_RESTORE_WORKER_HOGGED:
		restore_hog_hogged(s);
		break;
	case DAVY_LOG_RESTORE_FAILED:
	case DAVY_LOG_SVM_OVER_LIMIT:
		restore_hog_failed(s);
		break;
	case DAVY_LOG_RESTORE_WORKER_STACK: /* one stack is many lines */
		f = restore_hog_line(s);
		f.level = restore_hog_lines(s, DAVY_TALLY_HOGGED, &f)->count ? 2 : 1;
		restore_hog_raise(s, &f);
		break;
	default:
		break;
	}
}

static void restore_hog_look(struct davy_step *s)
{
	if (s->ev->kind == DAVY_EV_KFD)
		restore_hog_look_at_kfd(s);
	else if (s->ev->kind == DAVY_EV_FACT)
		restore_hog_look_at_fact(s);
	else
		restore_hog_look_at_log(s);
}

static void restore_hog_reason(const struct davy_plan *p, struct davy_clause *c)
{
	if (p->form == DAVY_FORM_RETRIED)
		c->say(c,
		       "its memory could not be restored %" PRIu64
		       " times in a row (threshold %" PRIu64 ")",
		       p->observed, p->threshold);
	else
		c->say(c, "kernel log: %s, count %" PRIu64 " (threshold %" PRIu64 ")", p->detail,
		       p->observed, p->threshold);
}

const struct davy_hazard_row davy_hazard_restore_hog = {
	.sees = DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_KFD) | DAVY_SEES(DAVY_EV_LOG),
	.look = restore_hog_look,
	.reason = restore_hog_reason,
	.precursor.leads = DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_NOT_ANSWER | DAVY_CAN_PAGE_FAULT |
			   DAVY_CAN_HOST_CRASH | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_RESET_HORIZON_MS,
	.escalation[0] = { 2, { DAVY_ACTION_UNLOAD, DAVY_ACTION_SHRINK } },
	.escalation[1] = { 2, { DAVY_ACTION_NONE }, DAVY_FORM_HINT },
	.escalation[2] = { 3, { DAVY_ACTION_UNLOAD, DAVY_ACTION_SHRINK, DAVY_ACTION_RESTART } },
	.repeats = true, /* ROCm/legacy-rocm-build#5952: lines for 40 min to 21 h, then a hang */
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: workers that bring a KFD process's memory back and fail or repeat: restores that KFD
 *   tries again every 100 ms (SMI events, amdgpu_amdkfd_gpuvm_restore_process_bos), "hogged CPU"
 *   of the restore workers, "Failed to resume KFD", "exceeds resident system memory limit".
 * Threshold: "retries" in a row are level 2, four times as many level 3. One hogged line is level 1
 *   (one came 1.3 h before anything else), a second within "window" level 2, a count that doubled
 *   and is "count" or more level 3: a page fault came 40 s later. The other two lines are level 2
 *   (60 to 81 s before), level 3 when they come three times.
 * False alarms: a restore that fails once and works 100 ms later; other drivers' hogging workers.
 * Test: tests/unit/test_kfd_hazards.c.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>

#define IN_A_ROW_NS   (60 * DAVY_NS_PER_S) /* should the event of its success be lost */
#define LINES_STRONG  3
#define HOG_LINE_BASE 3 /* workqueue.c tells when the count less this has doubled: 4, 5, 7, 11 */

struct sign {
	const char *device;
	const char *what;
	enum davy_form form;
	uint32_t pid;
	uint32_t level;
	uint64_t count;
	uint64_t threshold;
};

static uint64_t restore_hog_limit(const struct davy_step *s, enum davy_config_key key,
				  const struct sign *sign)
{
	return davy_threshold(s, key, sign->device, davy_scoped_process(s, sign->pid));
}

static void restore_hog_raise(struct davy_step *s, const struct sign *sign)
{
	const struct davy_process *p = davy_world_process(&s->core->world, sign->pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_RESTORE_HOG, p);

	note.pid = sign->pid;
	if (sign->device[0])
		davy_copy_name(note.device, sizeof(note.device), sign->device);
	davy_copy_name(note.detail, sizeof(note.detail), sign->what);
	note.form = (uint8_t)sign->form;
	note.level = (uint8_t)sign->level;
	note.unit = DAVY_UNIT_COUNT;
	note.observed = sign->count;
	note.threshold = sign->threshold;
	davy_alarm_raise(s, &note);
}

static void tried_again(struct davy_step *s, const char *device, uint64_t times)
{
	struct sign sign = {
		.device = device, .what = "", .form = DAVY_FORM_RETRIED, .pid = s->ev->pid
	};
	uint64_t retries = restore_hog_limit(s, DAVY_CFG_RESTORE_RETRIES, &sign);

	if (times < retries)
		return;
	sign.level = times >= 4 * retries ? 3 : 2;
	sign.count = times;
	sign.threshold = retries;
	restore_hog_raise(s, &sign);
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
	tried_again(s, in->device, ++t->count);
}

static void restore_hog_look_at_fact(struct davy_step *s)
{
	const struct davy_kfd_state *k;

	if (s->ev->fact.fact != DAVY_FACT_KFD_RESTORE_FAILED)
		return;
	k = davy_world_kfd(&s->core->world, s->ev->pid);
	tried_again(s, k ? k->device : "", s->ev->fact.count);
}

static struct sign line_sign(struct davy_step *s)
{
	const struct davy_ev_log *in = &s->ev->log;
	struct sign sign = { .device = in->device, .what = davy_log_kind_name(in->kind) };

	sign.pid = s->ev->pid ? s->ev->pid : davy_world_kfd_only(&s->core->world, in->device);
	sign.count = sign.threshold = 1;
	sign.level = 1;
	return sign;
}

/* Lines of this sort say no pid of their own: they are counted for the device. */
static struct davy_tally *lines(struct davy_step *s, enum davy_tally_kind kind,
				const struct sign *sign)
{
	return davy_world_tally(&s->core->world, kind, s->ev->log.device, 0, s->now_ns,
				restore_hog_limit(s, DAVY_CFG_RESTORE_WINDOW_MS, sign) *
					DAVY_NS_PER_MS);
}

static bool restore_hog_doubled(uint64_t from, uint64_t to)
{
	if (from <= HOG_LINE_BASE)
		from = HOG_LINE_BASE + 1;
	return to > from && to - HOG_LINE_BASE >= 2 * (from - HOG_LINE_BASE);
}

static void hogged(struct davy_step *s)
{
	struct sign sign = line_sign(s);
	struct davy_tally *t = lines(s, DAVY_TALLY_HOGGED, &sign);
	uint64_t least = restore_hog_limit(s, DAVY_CFG_RESTORE_COUNT, &sign);
	uint64_t times = s->ev->log.code;

	if (!t->count)
		t->first = times;
	t->count += 1 + (uint64_t)s->ev->log.repeats;
	sign.count = times;
	sign.threshold = least;
	if (t->count > 1)
		sign.level = times >= least && restore_hog_doubled(t->first, times) ? 3 : 2;
	restore_hog_raise(s, &sign);
}

static void restore_hog_failed(struct davy_step *s)
{
	struct sign sign = line_sign(s);
	struct davy_tally *t;

	t = lines(s, DAVY_TALLY_RESTORE_LINE, &sign);
	t->count += 1 + (uint64_t)s->ev->log.repeats;
	sign.count = t->count;
	sign.threshold = LINES_STRONG;
	sign.level = sign.count >= LINES_STRONG ? 3 : 2;
	restore_hog_raise(s, &sign);
}

static void restore_hog_look_at_log(struct davy_step *s)
{
	struct sign sign;

	switch (s->ev->log.kind) {
	case DAVY_LOG_RESTORE_WORKER_HOGGED:
		hogged(s);
		break;
	case DAVY_LOG_RESTORE_FAILED:
	case DAVY_LOG_SVM_OVER_LIMIT:
		restore_hog_failed(s);
		break;
	case DAVY_LOG_RESTORE_WORKER_STACK: /* one stack is many lines */
		sign = line_sign(s);
		sign.level = lines(s, DAVY_TALLY_HOGGED, &sign)->count ? 2 : 1;
		restore_hog_raise(s, &sign);
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

static void restore_hog_because(const struct davy_plan *p, struct davy_clause *c)
{
	if (p->form == DAVY_FORM_RETRIED)
		c->say(c,
		       "its memory found no way back %" PRIu64 " times in a row (threshold %" PRIu64
		       ")",
		       p->observed, p->threshold);
	else
		c->say(c, "the kernel's log says %s, count %" PRIu64 " (threshold %" PRIu64 ")",
		       p->detail, p->observed, p->threshold);
}

const struct davy_hazard_row davy_hazard_restore_hog = {
	.sees = DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_KFD) | DAVY_SEES(DAVY_EV_LOG),
	.look = restore_hog_look,
	.reason = restore_hog_because,
	.precursor.leads = DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_NOT_ANSWER | DAVY_CAN_PAGE_FAULT |
			   DAVY_CAN_HOST_CRASH | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 3, { DAVY_ACTION_UNLOAD, DAVY_ACTION_SHRINK, DAVY_ACTION_RESTART } },
};

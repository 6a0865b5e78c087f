/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/alarm_judge.h"

#include <string.h>

void davy_judge_begin(struct davy_judge *j, const struct davy_case *of)
{
	memset(j, 0, sizeof(*j));
	j->of = of;
}

static bool alarm_judge_same(const struct davy_raised_alarm *a, const struct davy_plan *plan)
{
	return a->hazard == plan->hazard && a->pid == plan->pid &&
	       davy_same_name(a->device, plan->device) && davy_same_name(a->ring, plan->ring);
}

static struct davy_raised_alarm *alarm_judge_find(struct davy_judge *j,
						  const struct davy_plan *plan)
{
	for (size_t i = 0; i < DAVY_ALARMS_MAX; i++)
		if (j->raised[i].hazard && alarm_judge_same(&j->raised[i], plan))
			return &j->raised[i];
	return NULL;
}

/* If the table is full, the next rise counts as a new alarm. */
static void alarm_judge_raise(struct davy_judge *j, const struct davy_plan *plan)
{
	for (size_t i = 0; i < DAVY_ALARMS_MAX; i++) {
		struct davy_raised_alarm *a = &j->raised[i];

		if (a->hazard)
			continue;
		a->hazard = plan->hazard;
		a->pid = plan->pid;
		memcpy(a->device, plan->device, sizeof(a->device));
		memcpy(a->ring, plan->ring, sizeof(a->ring));
		return;
	}
}

static bool concerns(const struct davy_label *l, const struct davy_plan *plan)
{
	if (!plan->pid && !plan->device[0])
		return true; /* about the whole host */
	if (l->pid && plan->pid == l->pid)
		return true;
	return l->device[0] && davy_same_name(plan->device, l->device);
}

static void judge_alarm(struct davy_judge *j, const struct davy_plan *plan)
{
	const struct davy_label *l = &j->of->label;
	struct davy_score *s = &j->score;

	if (j->of->failed) {
		if (plan->at_ns >= l->failure_ns)
			return;
		if (concerns(l, plan) && plan->at_ns + DAVY_EARLY_NS >= l->cause_ns) {
			if (s->foreseen)
				return;
			s->foreseen = true;
			s->lead_time_ns = l->failure_ns - plan->at_ns;
			s->hazard = plan->hazard;
			s->level = plan->level;
			return;
		}
	}
	if (!j->of->labelled)
		return;
	s->false_count++;
	if (plan->hazard < DAVY_JUDGE_HAZARDS)
		s->false_of[plan->hazard]++;
}

void davy_judge_plan(struct davy_judge *j, const struct davy_plan *plan)
{
	struct davy_raised_alarm *known;

	if (plan->kind != DAVY_PLAN_NOTE && plan->kind != DAVY_PLAN_CLEAR)
		return;
	known = alarm_judge_find(j, plan);
	if (plan->kind == DAVY_PLAN_CLEAR) {
		if (known)
			known->hazard = 0;
		return;
	}
	if (plan->level < DAVY_ALARM_LEVEL || known)
		return;
	alarm_judge_raise(j, plan);
	judge_alarm(j, plan);
}

uint32_t davy_lead_time_permille(const struct davy_case *of, const struct davy_score *score)
{
	uint64_t possible_ns = of->label.failure_ns - of->label.precursor_ns;

	if (!score->foreseen)
		return 0;
	if (score->lead_time_ns >= possible_ns)
		return 1000;
	return (uint32_t)((unsigned __int128)score->lead_time_ns * 1000 / possible_ns);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/alarm_judge.h"

#include <string.h>

/*
 * Measured durations (README, Cost and the demonstration): event to freeze 4 ms at most; a fault to
 * the stop of the engine 364 ms. A replacement loads its memory again, slowly: 1 GB/s.
 */
#define FREEZE_NS    (5 * DAVY_NS_PER_MS)
#define STOP_NS	     (400 * DAVY_NS_PER_MS)
#define BYTES_PER_MS 1000000

void davy_judge_begin(struct davy_judge *j, const struct davy_case *of)
{
	memset(j, 0, sizeof(*j));
	j->of = of;
}

void davy_judge_event(struct davy_judge *j, const struct davy_event *ev)
{
	const struct davy_label *l = &j->of->label;

	if (!l->pid || ev->pid != l->pid)
		return;
	j->met |= ev->kind == DAVY_EV_PROCESS;
	if (ev->kind == DAVY_EV_PROCESS && ev->process.model[0])
		davy_copy_name(j->model, sizeof(j->model), ev->process.model);
	if (ev->at_ns >= l->precursor_ns)
		j->named_in |= 1ULL << ev->kind;
}

static bool alarm_judge_same(const struct davy_raised_alarm *a, const struct davy_plan *plan)
{
	return a->hazard == plan->hazard && a->pid == plan->pid && !a->cleared_ns &&
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

/* Order of replacement: cleared ones that foresee nothing, then the earliest cleared one. */
static uint64_t alarm_judge_worth(const struct davy_raised_alarm *a)
{
	if (!a->cleared_ns)
		return UINT64_MAX;
	return a->may_foresee ? a->cleared_ns : 1;
}

/* NULL: all places have alarms that stand. */
static struct davy_raised_alarm *alarm_judge_place(struct davy_judge *j)
{
	struct davy_raised_alarm *least = &j->raised[0];

	for (size_t i = 0; i < DAVY_ALARMS_MAX; i++) {
		if (!j->raised[i].hazard)
			return &j->raised[i];
		if (alarm_judge_worth(&j->raised[i]) < alarm_judge_worth(least))
			least = &j->raised[i];
	}
	return least->cleared_ns ? least : NULL;
}

/* If the table is full, the next rise counts as a new alarm. */
static void alarm_judge_raise(struct davy_judge *j, const struct davy_plan *plan, bool may_foresee)
{
	struct davy_raised_alarm *a = alarm_judge_place(j);

	if (!a)
		return;
	memset(a, 0, sizeof(*a));
	a->at_ns = plan->at_ns;
	a->pid = plan->pid;
	a->victim_pid = plan->victim_pid;
	a->culprit_pid = plan->culprit_pid;
	a->hazard = plan->hazard;
	a->level = plan->level;
	a->may_foresee = may_foresee;
	a->met = j->met;
	a->knowable = j->named_in & davy_hazard_sees((enum davy_hazard)plan->hazard);
	memcpy(a->device, plan->device, sizeof(a->device));
	memcpy(a->ring, plan->ring, sizeof(a->ring));
}

/*
 * True if the alarm is about the failing device or process, about the whole host, or about another
 * process that computes the failing model: a worker on the next device.
 */
static bool concerns(const struct davy_judge *j, const struct davy_plan *plan)
{
	const struct davy_label *l = &j->of->label;

	if (!plan->pid && !plan->device[0])
		return true;
	if (l->pid && plan->pid == l->pid)
		return true;
	if (j->model[0] && davy_same_name(plan->model, j->model))
		return true;
	return l->device[0] && davy_same_name(plan->device, l->device);
}

static bool alarm_judge_is_about(const struct davy_label *l, const struct davy_plan *plan)
{
	struct davy_subject alarm = { plan->device, plan->pid };
	struct davy_subject failure = { l->device, l->pid };

	return davy_foresight_same_subject((enum davy_log_class)l->class, alarm, failure);
}

static bool alarm_judge_can_lead(const struct davy_label *l, const struct davy_plan *plan)
{
	const struct davy_precursor *p = davy_precursor((enum davy_hazard)plan->hazard);

	return davy_leads_of(p, plan->form) & 1u << l->class && alarm_judge_is_about(l, plan);
}

/* In any form: an engine that hangs is replaced before what may follow. */
static bool alarm_judge_can_prevent(const struct davy_label *l, const struct davy_plan *plan)
{
	const struct davy_precursor *p = davy_precursor((enum davy_hazard)plan->hazard);

	return p->leads & 1u << l->class && alarm_judge_is_about(l, plan);
}

static void alarm_judge_false(struct davy_judge *j, const struct davy_plan *plan)
{
	if (!j->of->labelled)
		return;
	j->score.false_count++;
	if (plan->hazard < DAVY_JUDGE_HAZARDS)
		j->score.false_of[plan->hazard]++;
}

static void alarm_judge_new(struct davy_judge *j, const struct davy_plan *plan)
{
	const struct davy_label *l = &j->of->label;
	bool may_foresee = false;

	if (j->of->failed && plan->at_ns >= l->failure_ns)
		return;
	if (j->of->failed && concerns(j, plan) && plan->at_ns + DAVY_EARLY_NS >= l->cause_ns) {
		may_foresee = alarm_judge_can_lead(l, plan);
		j->score.reported = true;
		j->score.no_credit_count++; /* until the end shows more */
	} else {
		alarm_judge_false(j, plan);
	}
	alarm_judge_raise(j, plan, may_foresee);
}

static uint64_t alarm_judge_duration(const struct davy_core *core, const struct davy_plan *plan)
{
	const struct davy_memory_client *c =
		davy_memory_client_of(&core->world.memory, plan->pid, plan->device);

	if (davy_action_has(plan->action, DAVY_ACTS_FREEZES | DAVY_ACTS_LIMITS))
		return FREEZE_NS;
	if (!davy_action_has(plan->action, DAVY_ACTS_REPLACES) || !c)
		return STOP_NS;
	return STOP_NS + c->bytes / BYTES_PER_MS * DAVY_NS_PER_MS;
}

void davy_judge_act(struct davy_judge *j, const struct davy_core *core,
		    const struct davy_plan *plan)
{
	const struct davy_label *l = &j->of->label;
	uint64_t end_ns = plan->at_ns + alarm_judge_duration(core, plan);

	if (plan->verdict == DAVY_VERDICT_REFUSED ||
	    (j->of->failed && plan->at_ns >= l->failure_ns))
		return;
	if (!j->of->failed || !concerns(j, plan) || plan->at_ns + DAVY_EARLY_NS < l->cause_ns) {
		j->score.false_act_count += j->of->labelled;
		return;
	}
	if (!alarm_judge_can_prevent(l, plan) || (j->act_end_ns && end_ns >= j->act_end_ns))
		return;
	j->act_end_ns = end_ns;
	j->score.act = plan->action;
}

void davy_judge_plan(struct davy_judge *j, const struct davy_plan *plan)
{
	struct davy_raised_alarm *known;

	if (plan->kind != DAVY_PLAN_NOTE && plan->kind != DAVY_PLAN_CLEAR)
		return;
	known = alarm_judge_find(j, plan);
	if (plan->kind == DAVY_PLAN_CLEAR) {
		if (known)
			known->cleared_ns = plan->at_ns;
		return;
	}
	if (plan->level >= DAVY_ALARM_LEVEL && !known)
		alarm_judge_new(j, plan);
}

/* The first failure of the label's incident, which reaches to "window" after its last one. */
static struct davy_incident alarm_judge_incident(const struct davy_label *l,
						 const struct davy_core *core)
{
	uint64_t window_ns = davy_config_ns(&core->config, DAVY_CFG_FORESIGHT_WINDOW_MS);
	struct davy_incident first = { .first_ns = l->failure_ns, .pid = l->pid };
	struct davy_subject failure = { l->device, l->pid };

	for (size_t i = 0; i < DAVY_FORESIGHT_INCIDENTS; i++) {
		const struct davy_incident *e = &core->foresight.incidents[i];
		struct davy_subject of = { e->device, e->pid };

		if (e->used && e->reported && e->first_ns < first.first_ns &&
		    l->failure_ns <= e->last_ns + window_ns &&
		    davy_foresight_same_subject((enum davy_log_class)l->class, of, failure))
			first = *e;
	}
	return first;
}

static bool alarm_judge_foresees(const struct davy_raised_alarm *a, const struct davy_core *core,
				 uint64_t first_ns)
{
	enum davy_config_key horizon;

	if (!a->hazard || !a->may_foresee || a->at_ns >= first_ns)
		return false;
	horizon = davy_precursor((enum davy_hazard)a->hazard)->horizon;
	return !a->cleared_ns || a->cleared_ns + davy_config_ns(&core->config, horizon) >= first_ns;
}

static bool alarm_judge_names(const struct davy_raised_alarm *a, uint32_t pid)
{
	return a->pid == pid || a->victim_pid == pid || a->culprit_pid == pid;
}

static enum davy_named alarm_judge_named(const struct davy_label *l,
					 const struct davy_raised_alarm *first, bool named)
{
	if (l->pid && named)
		return DAVY_NAMED_RIGHT;
	if (!l->pid || !first->met)
		return DAVY_NAMED_UNKNOWN;
	if (first->pid)
		return DAVY_NAMED_WRONG;
	return first->knowable ? DAVY_NAMED_NOBODY : DAVY_NAMED_UNKNOWN;
}

void davy_judge_end(struct davy_judge *j, const struct davy_core *core)
{
	const struct davy_label *l = &j->of->label;
	const struct davy_raised_alarm *best = NULL;
	struct davy_score *s = &j->score;
	struct davy_incident first;
	bool named = false;

	if (!j->of->failed)
		return;
	first = alarm_judge_incident(l, core);
	s->acted = j->act_end_ns && j->act_end_ns < first.first_ns;
	for (size_t i = 0; i < DAVY_ALARMS_MAX; i++) {
		const struct davy_raised_alarm *a = &j->raised[i];

		if (!alarm_judge_foresees(a, core, first.first_ns))
			continue;
		s->no_credit_count--;
		named |= alarm_judge_names(a, l->pid) || (first.pid && a->pid == first.pid);
		if (!best || a->at_ns < best->at_ns)
			best = a;
	}
	if (!best)
		return;
	s->foreseen = true;
	s->lead_time_ns = first.first_ns - best->at_ns;
	s->hazard = best->hazard;
	s->level = best->level;
	s->named = (uint8_t)alarm_judge_named(l, best, named);
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

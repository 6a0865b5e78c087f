/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escalation: the actions against a hazard before a failure, the least destructive first, and
 * the workload that they act on. The next action follows when the hazard is seen again "settle"
 * after the last act. A new hazard of level 3 does not wait. Actions that the workload cannot do
 * are passed over, and the plan says so. Only workloads are acted on, and never the victim of a
 * hazard. If the device itself fails, each of its engines is acted on, one after another.
 */
#include "core/action/acts.h"

#include <assert.h>
#include <string.h>

#define FRESH_NS                                                                                   \
	(5 * DAVY_NS_PER_S) /* an alarm stands longer than that: act only on a recent one */
#define PAYS 250	    /* permille of what is short: from here on a process is acted on */

static const struct davy_escalation *escalation_of(const struct davy_step *s,
						   const struct davy_plan *note)
{
	const struct davy_escalation *all = s->hazards[note->hazard]->escalation, *best = NULL;

	for (size_t i = 0; i < DAVY_ESCALATION_LEVELS && all[i].level; i++)
		if (note->level >= all[i].level && (!all[i].form || all[i].form == note->form))
			best = &all[i];
	return best;
}

/* Engine time counts for hazards of long jobs, memory for all others. */
static uint16_t usage_of_short(const struct davy_step *s, const struct davy_plan *note,
			       const struct davy_usage *usage)
{
	return s->hazards[note->hazard]->of_long_jobs ? usage->engine_permille
						      : usage->memory_permille;
}

/* NULL: no workload, the victim, or a process that an act has replaced since. */
static struct davy_workload *escalation_workload_of(struct davy_step *s,
						    const struct davy_plan *note, uint32_t pid)
{
	const struct davy_process *p = davy_world_process(&s->core->world, pid);
	struct davy_workload *w = p ? davy_world_workload(&s->core->world, p->workload) : NULL;

	if (!w || pid == note->victim_pid || (pid != w->pid && p->met_ns < w->replaced_ns))
		return NULL;
	return w;
}

/* Chooses the candidate if it may be acted on; else keeps the first, for the refusal. */
static bool suits(struct davy_workload *w, struct davy_workload **choice)
{
	if (w && w->adopted && !w->pinned) {
		*choice = w;
		return true;
	}
	if (!*choice)
		*choice = w;
	return false;
}

/* The engines on a device that fails. */
static struct davy_workload *escalation_on_device(struct davy_step *s, const char *device)
{
	struct davy_workload *choice = NULL;

	for (size_t i = 0; device[0] && i < DAVY_WORLD_WORKLOADS; i++) {
		struct davy_workload *w = &s->core->world.workloads[i];

		if (w->id && w->backend != DAVY_BACKEND_CPU && davy_same_name(w->device, device) &&
		    suits(w, &choice))
			break;
	}
	return choice;
}

/*
 * The workload to act on: of the process with most of what is short, else of the subject, else
 * of the other processes by their usage. NULL: none of them is a workload's.
 */
static struct davy_workload *target_of(struct davy_step *s, const struct davy_plan *note)
{
	struct davy_workload *choice = NULL;
	bool named = s->hazards[note->hazard]->names_culprit; /* else the usage tells */

	if (s->hazards[note->hazard]->of_device)
		return escalation_on_device(s, note->device);
	if (named && !note->victim_pid && s->hazards[note->hazard]->subject_suffers)
		return NULL;
	if (!named && suits(escalation_workload_of(s, note, note->culprit_pid), &choice))
		return choice;
	if (suits(escalation_workload_of(s, note, note->pid), &choice) || named)
		return choice;
	for (size_t i = 0; i < note->usage_count && i < DAVY_PLAN_USAGES; i++) {
		const struct davy_usage *usage = &note->usages[i];

		if (usage_of_short(s, note, usage) >= PAYS &&
		    suits(escalation_workload_of(s, note, usage->pid), &choice))
			break;
	}
	return choice;
}

static struct davy_plan plan_of(struct davy_step *s, const struct davy_alarm *a,
				const struct davy_workload *w)
{
	struct davy_plan plan = a->note,
			 own = davy_plan_for(s, w, DAVY_ACTION_NONE, a->note.hazard);

	plan.kind = DAVY_PLAN_ACTION;
	plan.at_ns = s->now_ns;
	plan.workload = w->id;
	plan.pid = own.pid;
	plan.engine = own.engine;
	plan.backend = own.backend;
	plan.port = own.port;
	if (plan.culprit_pid == own.pid)
		plan.culprit_pid = 0;
	memcpy(plan.comm, own.comm, sizeof(plan.comm));
	memcpy(plan.model, own.model, sizeof(plan.model));
	return plan;
}

static enum davy_refusal escalation_refusal(struct davy_step *s, struct davy_workload *w,
					    struct davy_plan *plan)
{
	return davy_measure(s, w, plan) ? davy_admission(s, w, plan) : DAVY_REFUSED_UNABLE;
}

/*
 * The next action of the row that has an effect on the workload and is worth its price; else the
 * last one that is not, to report it. False: none is left.
 */
static bool next_action(struct davy_step *s, struct davy_alarm *a,
			const struct davy_escalation *row, struct davy_workload *w,
			struct davy_plan *ret_plan)
{
	struct davy_plan plan = plan_of(s, a, w), blank = plan, dear = { 0 };
	uint8_t at = a->at;

	if (a->at)
		blank.passed_action = row->action[a->at - 1];
	for (; at < DAVY_ESCALATION_ACTIONS && row->action[at]; at++) {
		enum davy_refusal refusal;

		plan = blank;
		plan.action = row->action[at];
		refusal = escalation_refusal(s, w, &plan);
		if (refusal != DAVY_REFUSED_UNABLE && refusal != DAVY_REFUSED_PRICE) {
			a->at = at;
			*ret_plan = plan;
			return true;
		}
		if (refusal == DAVY_REFUSED_PRICE)
			dear = plan;
		blank.passed_action = plan.action;
		blank.passed_refusal = (uint8_t)refusal;
	}
	if (dear.action)
		*ret_plan = dear;
	else
		a->at = at;
	return dear.action;
}

static bool escalation_is_due(const struct davy_step *s, const struct davy_alarm *a,
			      const struct davy_escalation *row, const struct davy_workload *w)
{
	uint64_t settle_ns = davy_config_ns(&s->core->config, DAVY_CFG_SETTLE_MS);

	if (w->act_plan || a->strong_ns - a->lasting_ns < row->wait_s * DAVY_NS_PER_S)
		return false;
	if (a->hurried)
		return s->now_ns - a->last_ns <= FRESH_NS;
	if (s->now_ns - a->strong_ns > FRESH_NS)
		return false;
	if (!w->act_end_ns || (!a->acted && a->note.level > 2 && a->note.at_ns > w->act_end_ns))
		return true;
	return a->strong_ns >= w->act_end_ns + settle_ns;
}

/* A refusal or an advice is reported once, not on each tick. */
static bool escalation_reported_before(struct davy_step *s, struct davy_alarm *a,
				       struct davy_workload *w, struct davy_plan *plan)
{
	uint8_t refusal = (uint8_t)davy_admission(s, w, plan);

	if (!refusal && davy_mode_for(s, w) == DAVY_MODE_ADVISE)
		refusal = DAVY_REFUSED_COUNT;
	if (refusal && a->reported_action == plan->action && a->reported_refusal == refusal)
		return true;
	a->reported_action = plan->action;
	a->reported_refusal = refusal;
	return false;
}

static void count_failure(struct davy_step *s, struct davy_alarm *a, const struct davy_workload *w)
{
	const struct davy_process *p = davy_world_process(&s->core->world, w->pid);

	if (!a->note.device_class || a->counted || !p)
		return;
	a->counted = true;
	davy_breaker_failure(s, p, &a->note);
}

/* False for an alarm that only stands because it has returned: its precursor is absent. */
static bool escalation_is_seen(const struct davy_step *s, const struct davy_alarm *a)
{
	const struct davy_hazard_row *row = s->hazards[a->note.hazard];

	return !a->returned ||
	       s->now_ns - a->last_ns < davy_config_ns(&s->core->config, DAVY_CFG_CLEAR_MS) ||
	       (row->stands && row->stands(s, &a->note));
}

static void consider(struct davy_step *s, struct davy_alarm *a)
{
	const struct davy_escalation *row = escalation_of(s, &a->note);
	struct davy_workload *w = row ? target_of(s, &a->note) : NULL;
	struct davy_plan plan;

	if (!w)
		return;
	if (a->target != w->id && s->hazards[a->note.hazard]->of_device) {
		a->at = 0; /* the next engine */
		a->acted = false;
	}
	a->target = w->id;
	if (a->note.level > 1)
		davy_effects_troubled(s, w);
	if (s->count + DAVY_PLANS_SPARE > s->max || !escalation_is_due(s, a, row, w) ||
	    !next_action(s, a, row, w, &plan) || escalation_reported_before(s, a, w, &plan))
		return;
	if (!a->reported_refusal && davy_action_replaces(plan.action))
		count_failure(s, a, w);
	davy_propose(s, w, &plan);
	if (plan.verdict == DAVY_VERDICT_REFUSED ||
	    (plan.verdict == DAVY_VERDICT_ADVISED && plan.action != DAVY_ACTION_PAUSE))
		return;
	a->at++;
	a->acted = true;
	a->hurried = plan.verdict == DAVY_VERDICT_ADVISED; /* report what would follow the pause */
}

void davy_escalation_raised(struct davy_step *s, struct davy_alarm *a)
{
	assert(a->used);
	if (s->core->world.workload_count)
		consider(s, a);
}

void davy_escalation_tick(struct davy_step *s)
{
	if (!s->core->world.workload_count || !s->core->alarm_count)
		return;
	for (size_t i = 0; i < DAVY_CORE_ALARMS; i++) {
		struct davy_alarm *a = &s->core->alarms[i];
		struct davy_workload *w;

		if (!a->used || !escalation_is_seen(s, a))
			continue;
		w = davy_world_workload(&s->core->world, a->note.workload);
		if (w && a->note.level > 1 && w->id != a->target)
			davy_effects_troubled(s, w);
		consider(s, a);
	}
}

/* A replacement starts during the pause; a weaker action starts after it. */
static bool follows(const struct davy_step *s, const struct davy_alarm *a, bool paused)
{
	const struct davy_escalation *row = escalation_of(s, &a->note);

	if (!row || !a->at || a->at == DAVY_ESCALATION_ACTIONS ||
	    row->action[a->at - 1] != DAVY_ACTION_PAUSE)
		return false;
	return davy_action_replaces(row->action[a->at]) == paused;
}

static bool acted_on(const struct davy_alarm *a, const struct davy_workload *w)
{
	return a->used && a->target == w->id && a->acted;
}

void davy_escalation_after_pause(struct davy_step *s, struct davy_workload *w, bool paused)
{
	for (size_t i = 0; s->core->alarm_count && i < DAVY_CORE_ALARMS; i++) {
		struct davy_alarm *a = &s->core->alarms[i];

		if (!acted_on(a, w) || !follows(s, a, paused))
			continue;
		a->hurried = true;
		consider(s, a);
		return;
	}
}

void davy_escalation_go_on(struct davy_step *s, struct davy_workload *w, uint8_t hazard)
{
	for (size_t i = 0; s->core->alarm_count && i < DAVY_CORE_ALARMS; i++) {
		struct davy_alarm *a = &s->core->alarms[i];

		if (!acted_on(a, w) || a->note.hazard != hazard)
			continue;
		a->hurried = true;
		consider(s, a);
		return;
	}
}

const struct davy_plan *davy_escalation_throttles(const struct davy_step *s,
						  const struct davy_workload *w)
{
	const struct davy_core *core = s->core;

	for (size_t i = 0; core->alarm_count && i < DAVY_CORE_ALARMS; i++) {
		const struct davy_alarm *a = &core->alarms[i];
		const struct davy_escalation *row =
			a->used && a->target == w->id && escalation_is_seen(s, a)
				? escalation_of(s, &a->note)
				: NULL;

		if (row && (row->action[0] == DAVY_ACTION_THROTTLE ||
			    row->action[1] == DAVY_ACTION_THROTTLE))
			return &a->note;
	}
	return NULL;
}

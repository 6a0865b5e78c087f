/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Effects in force, and their end. A throttle is renewed while its hazard stands. If the hazard
 * comes back soon after the thaw, the next throttle lasts twice as long. Of the other effects
 * the latest is undone after a clean period, one for each period. A hazard that comes back
 * within the period doubles it.
 */
#include "core/action/acts.h"

#include <string.h>

#define RENEW_PARTS 3 /* a lease is renewed when a third of it is left */
#define TIMES_MOST  8
#define LATE_NS	    (5 * DAVY_NS_PER_S) /* after the lease: the report of the thaw is lost */

static uint64_t effects_doubled(uint64_t ns, uint32_t times, uint64_t most)
{
	for (uint32_t i = 0; i < times && ns < most; i++)
		ns *= 2;
	return ns < most ? ns : most;
}

static uint64_t clean_ns(const struct davy_step *s, const struct davy_workload *w)
{
	return effects_doubled(davy_config_ns(&s->core->config, DAVY_CFG_CLEAN_MS), w->clean_times,
			       davy_config_ns(&s->core->config, DAVY_CFG_CLEAN_MAX_MS));
}

static struct davy_effect *one_more(struct davy_workload *w)
{
	struct davy_effect *e;

	if (w->effect_count == DAVY_EFFECTS_MAX) { /* the oldest is never undone */
		memmove(w->effects, w->effects + 1, sizeof(*e) * (DAVY_EFFECTS_MAX - 1));
		w->effect_count--;
	}
	e = &w->effects[w->effect_count++];
	memset(e, 0, sizeof(*e));
	return e;
}

static bool is_tuners(const struct davy_workload *w)
{
	return w->act_tuning.why != DAVY_TUNER_AS_CONFIGURED;
}

static struct davy_effect *tuned(struct davy_workload *w)
{
	for (size_t i = 0; i < w->effect_count; i++)
		if (w->effects[i].tuned)
			return &w->effects[i];
	return NULL;
}

static void take_out_at(struct davy_workload *w, size_t at)
{
	struct davy_effect *e = &w->effects[at];

	memmove(e, e + 1, (w->effect_count - at - 1) * sizeof(*e));
	w->effect_count--;
	memset(&w->effects[w->effect_count], 0, sizeof(*e));
}

/* All settings of the tuner are one effect. It ends when all have their old values. */
static void put_tuned(struct davy_workload *w)
{
	struct davy_effect *e = tuned(w);

	if (!e) {
		e = one_more(w);
		e->action = DAVY_ACTION_SHRINK;
		e->hazard = w->act_hazard;
		e->tuned = 1;
		e->before = w->settings;
		e->backend = w->act_from;
		memcpy(e->device, w->act_device, sizeof(e->device));
	}
	w->settings = w->act_settings;
	if (!memcmp(&w->settings, &e->before, sizeof(w->settings)))
		take_out_at(w, (size_t)(e - w->effects));
}

void davy_effect_add(struct davy_workload *w)
{
	struct davy_effect *e;

	if (is_tuners(w))
		put_tuned(w);
	if (!davy_action_has(w->act_action, DAVY_ACTS_STAYS) ||
	    (is_tuners(w) && w->act_action == DAVY_ACTION_SHRINK))
		return;
	e = one_more(w);
	e->action = w->act_action;
	e->hazard = w->act_hazard;
	e->before = w->settings;
	e->backend = w->act_from;
	e->until_ns = w->act_action == DAVY_ACTION_QUARANTINE ? w->act_until_ns : 0;
	memcpy(e->device, w->act_device, sizeof(e->device));
	if (w->act_action == DAVY_ACTION_SHRINK)
		w->settings = w->act_settings;
}

/* An earlier agent's effect: its clean period begins now. */
void davy_effect_restored(struct davy_step *s)
{
	const struct davy_ev_restored *in = &s->ev->restored;
	struct davy_workload *w = davy_world_workload(&s->core->world, in->workload);
	struct davy_effect *e;

	if (!w || w->act_plan)
		return;
	e = one_more(w);
	e->action = in->action;
	e->hazard = in->hazard;
	e->depth = in->depth;
	e->tuned = in->action == DAVY_ACTION_SHRINK &&
		   s->hazards[in->hazard]->of_failed_engine; /* the tuner's */
	e->before = w->settings;
	e->backend = in->backend;
	memcpy(e->device, in->device, sizeof(e->device));
	if (in->action == DAVY_ACTION_SHRINK)
		w->settings = in->settings;
	w->troubled_ns = s->now_ns;
}

/* The latest effect of the action (none: of any action), or NULL. */
static const struct davy_effect *latest(const struct davy_workload *w, uint8_t action)
{
	for (size_t i = w->effect_count; i-- > 0;)
		if (!action || w->effects[i].action == action)
			return &w->effects[i];
	return NULL;
}

static void effects_take_out(struct davy_workload *w, uint8_t action)
{
	const struct davy_effect *e = latest(w, action);

	if (!e)
		return;
	if (e->action == DAVY_ACTION_SHRINK)
		w->settings = e->before;
	take_out_at(w, (size_t)(e - w->effects));
}

void davy_effect_taken_back(struct davy_step *s, struct davy_workload *w, int32_t result)
{
	const struct davy_effect *e = latest(w, w->act_undo);

	w->undo_reported = 0;
	if (davy_action_freezes(w->act_undo))
		return;
	w->undone_ns = s->now_ns;
	if (result) {
		if (w->clean_times < TIMES_MOST)
			w->clean_times++; /* the next try waits longer */
		return;
	}
	if (is_tuners(w))
		put_tuned(w);
	if (e && e->tuned && w->act_hazard == DAVY_HZ_NONE)
		davy_tuned_forget(s, w); /* the operator overrides what the tuner found */
	if (!is_tuners(w) || w->act_undo != DAVY_ACTION_SHRINK)
		effects_take_out(w, w->act_undo);
}

bool davy_effect_measure_undo(struct davy_step *s, const struct davy_workload *w,
			      struct davy_plan *plan)
{
	const struct davy_effect *e;

	if (!plan->undone && w->freeze_plan)
		plan->undone = w->freeze_action;
	if (davy_action_freezes(plan->undone) || plan->undone == DAVY_ACTION_AWAKE)
		return true; /* the workload loses nothing */
	e = latest(w, plan->undone);
	if (!e)
		return false;
	plan->undone = e->action;
	if (plan->tuning.why == DAVY_TUNER_AS_CONFIGURED)
		plan->settings = e->action == DAVY_ACTION_SHRINK ? e->before : w->settings;
	if (davy_action_has(e->action, DAVY_ACTS_MOVES)) {
		plan->to_backend = e->backend;
		davy_tuned_come_back(s, w, e->backend, plan);
	}
	if (!plan->device[0])
		memcpy(plan->device, e->device, sizeof(plan->device));
	return true;
}

/* A hazard concerns the workload. A recent undo may be its cause. */
void davy_effects_troubled(struct davy_step *s, struct davy_workload *w)
{
	w->troubled_ns = s->now_ns;
	if (!w->undone_ns)
		return;
	if (s->now_ns - w->undone_ns <= clean_ns(s, w) && w->clean_times < TIMES_MOST)
		w->clean_times++;
	w->undone_ns = 0;
}

static uint64_t clean_since_ns(const struct davy_workload *w)
{
	uint64_t since = w->troubled_ns > w->act_end_ns ? w->troubled_ns : w->act_end_ns;

	return w->undone_ns > since ? w->undone_ns : since;
}

/* For an effect of the tuner, fills in the next settings. */
static bool effects_is_due(struct davy_step *s, const struct davy_workload *w,
			   const struct davy_effect *e, struct davy_plan *plan)
{
	bool back = davy_action_has(e->action, DAVY_ACTS_MOVES);

	if (davy_action_row(s, e->action)->ended_by_operators)
		return false;
	if (e->until_ns)
		return s->now_ns >= e->until_ns;
	if (e->tuned && davy_tuned_knows(s, w))
		return davy_tuned_raise(s, w, plan);
	if (s->now_ns - clean_since_ns(w) < clean_ns(s, w) || w->deepest < e->depth)
		return false;
	return !back || !davy_breaker_is_open(s->core, e->device, e->backend, w->model);
}

void davy_effects_tick(struct davy_step *s, struct davy_workload *w)
{
	const struct davy_effect *e = latest(w, 0);
	struct davy_plan plan, due = { 0 };
	uint8_t refusal;

	if (w->undone_ns && !e && s->now_ns - w->undone_ns > clean_ns(s, w))
		w->undone_ns = w->clean_times = 0;
	if (!e || e->hazard == DAVY_HZ_NONE || w->act_plan || w->freeze_plan || w->retry_ns ||
	    s->count + DAVY_PLANS_SPARE > s->max || !effects_is_due(s, w, e, &due))
		return;
	plan = davy_plan_for(s, w, DAVY_ACTION_UNDO, e->hazard);
	plan.settings = due.settings;
	plan.tuning = due.tuning;
	plan.undone = e->action;
	plan.unit = DAVY_UNIT_NS;
	plan.observed = s->now_ns - clean_since_ns(w);
	plan.threshold = e->until_ns ? 0 : clean_ns(s, w);
	plan.first_precursor_ns = s->now_ns;
	davy_measure(s, w, &plan);
	refusal = (uint8_t)davy_admission(s, w, &plan);
	if (davy_mode_for(s, w) == DAVY_MODE_ADVISE && !refusal)
		refusal = DAVY_REFUSED_COUNT; /* an advice is reported once, too */
	if (refusal && refusal == w->undo_reported)
		return;
	w->undo_reported = refusal;
	davy_propose(s, w, &plan);
}

void davy_effect_frozen(struct davy_step *s, struct davy_workload *w)
{
	uint64_t soon = clean_ns(s, w);
	bool again = w->thawed_ns && s->now_ns - w->thawed_ns <= soon;

	if (w->act_action == DAVY_ACTION_THROTTLE && w->act_hazard && !w->freeze_plan) {
		w->freeze_times =
			(uint8_t)(again ? w->freeze_times + (w->freeze_times < TIMES_MOST) : 0);
		w->freeze_good_ns = s->now_ns;
		if (w->freeze_times)
			w->freeze_good_ns +=
				effects_doubled(w->act_lease_ns, w->freeze_times, soon);
	}
	w->freeze_plan = w->act_plan;
	w->freeze_action = w->act_action;
	w->freeze_hazard = w->act_hazard;
	w->freeze_permille = w->act_permille;
	w->freeze_until_ns = s->now_ns + w->act_lease_ns;
}

void davy_effect_thawed(struct davy_step *s, struct davy_workload *w)
{
	if (w->freeze_action == DAVY_ACTION_THROTTLE && w->freeze_hazard)
		w->thawed_ns = s->now_ns;
	w->freeze_plan = 0;
	w->freeze_permille = 0;
	w->freeze_action = w->freeze_hazard = 0;
}

/* The reason is the note of the hazard, or (NULL) that the hazard came back before. */
static struct davy_plan renewal_of(struct davy_step *s, const struct davy_workload *w,
				   const struct davy_plan *note)
{
	struct davy_plan plan = davy_plan_for(s, w, DAVY_ACTION_THROTTLE, w->freeze_hazard);

	plan.on_permille = w->freeze_permille;
	if (!note)
		return plan;
	plan.level = note->level;
	plan.unit = note->unit;
	plan.observed = note->observed;
	plan.threshold = note->threshold;
	plan.victim_pid = note->victim_pid;
	return plan;
}

/* An operator's throttle and a pause are not renewed: they end with their lease. */
void davy_effect_renew(struct davy_step *s, struct davy_workload *w)
{
	uint64_t lease_ns = davy_config_ns(&s->core->config, DAVY_CFG_THROTTLE_LEASE_MS);
	const struct davy_plan *note;
	struct davy_plan plan;

	if (!w->freeze_plan || w->act_plan || s->count + DAVY_PLANS_SPARE > s->max)
		return;
	if (s->now_ns >= w->freeze_until_ns + LATE_NS) {
		davy_effect_thawed(s, w);
		return;
	}
	if (w->freeze_action != DAVY_ACTION_THROTTLE || !w->freeze_hazard ||
	    s->now_ns > w->freeze_until_ns ||
	    w->freeze_until_ns - s->now_ns > lease_ns / RENEW_PARTS)
		return;
	note = davy_escalation_throttles(s, w);
	if (!note && s->now_ns >= w->freeze_good_ns)
		return;
	plan = renewal_of(s, w, note);
	if (davy_measure(s, w, &plan) && !davy_admission(s, w, &plan))
		davy_propose(s, w, &plan);
}

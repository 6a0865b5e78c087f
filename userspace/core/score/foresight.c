/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predictions, their results, and the counts. */
#include <assert.h>
#include <string.h>

#include "core/score/incident.h"

static const struct davy_precursor *foresight_precursor(const struct davy_step *s, uint8_t hazard)
{
	return &s->hazards[hazard]->precursor;
}

static bool foresight_can_lead(const struct davy_step *s, const struct davy_prediction *prediction,
			       enum davy_log_class class)
{
	return foresight_precursor(s, prediction->hazard)->leads & 1 << class;
}

/*
 * Failures of one running process. The others affect the device, where another process may be the
 * cause, or a start: its process did not exist when the precursor came.
 */
#define OF_PROCESS (DAVY_CAN_PAGE_FAULT | DAVY_CAN_WRONG_OUTPUT | DAVY_CAN_OTHER)

bool davy_foresight_same_subject(enum davy_log_class class, struct davy_subject alarm,
				 struct davy_subject failure)
{
	bool pids = alarm.pid && failure.pid, devices = alarm.device[0] && failure.device[0];

	if ((!alarm.device[0] && !alarm.pid) || (!failure.device[0] && !failure.pid))
		return true;
	if (pids && OF_PROCESS & 1 << class) /* it may use several devices */
		return alarm.pid == failure.pid;
	if (devices)
		return davy_same_name(alarm.device, failure.device);
	return pids && alarm.pid == failure.pid;
}

static bool foresight_could_lead(const struct davy_step *s,
				 const struct davy_prediction *prediction,
				 const struct davy_incident *e, enum davy_log_class class)
{
	struct davy_subject alarm = { prediction->device, prediction->pid };
	struct davy_subject failure = { e->device, e->pid };

	return foresight_can_lead(s, prediction, class) &&
	       davy_foresight_same_subject(class, alarm, failure);
}

bool davy_prediction_could_lead(const struct davy_step *s, const struct davy_prediction *prediction,
				const struct davy_incident *e)
{
	return foresight_could_lead(s, prediction, e, (enum davy_log_class)e->class);
}

static uint64_t foresight_horizon_ns(const struct davy_step *s,
				     const struct davy_prediction *prediction)
{
	return davy_config_ns(&s->core->config,
			      foresight_precursor(s, prediction->hazard)->horizon);
}

/* True if the prediction was raised before "at_ns" and was still valid then. */
static bool foresight_before(const struct davy_step *s, const struct davy_prediction *prediction,
			     uint64_t at_ns)
{
	return prediction->used && prediction->at_ns < at_ns &&
	       (prediction->raised || at_ns <= prediction->last_ns ||
		at_ns - prediction->last_ns <= foresight_horizon_ns(s, prediction));
}

static void foresight_confirm(struct davy_step *s, struct davy_prediction *prediction)
{
	struct davy_foresight *f = &s->core->foresight;

	davy_doubt_result(s, prediction, true);
	if (!prediction->confirmed && !prediction->late && !prediction->stranger)
		davy_calibration_result(&f->calibration, prediction, true);
	f->hazard[prediction->hazard].confirmed += !prediction->confirmed;
	f->hazard[prediction->hazard].predictions += prediction->stranger && !prediction->confirmed;
	prediction->confirmed = true;
}

void davy_predictions_before(struct davy_step *s, const struct davy_incident *e)
{
	struct davy_foresight *f = &s->core->foresight;

	for (size_t i = 0; f->prediction_count && i < DAVY_FORESIGHT_PREDICTIONS; i++)
		if (foresight_before(s, &f->predictions[i], e->first_ns) &&
		    davy_prediction_could_lead(s, &f->predictions[i], e))
			foresight_confirm(s, &f->predictions[i]);
}

void davy_predictions_within(struct davy_step *s, const struct davy_incident *e,
			     enum davy_log_class class)
{
	struct davy_foresight *f = &s->core->foresight;

	for (size_t i = 0; f->prediction_count && i < DAVY_FORESIGHT_PREDICTIONS; i++) {
		struct davy_prediction *prediction = &f->predictions[i];

		if (!prediction->used || !foresight_could_lead(s, prediction, e, class))
			continue;
		if (foresight_before(s, prediction, e->first_ns))
			foresight_confirm(s, prediction);
		else if (prediction->at_ns >= e->first_ns)
			prediction->late = true;
	}
}

const struct davy_prediction *davy_predictions_first(const struct davy_step *s,
						     const struct davy_incident *e)
{
	const struct davy_foresight *f = &s->core->foresight;
	const struct davy_prediction *first = NULL;

	for (size_t i = 0; f->prediction_count && i < DAVY_FORESIGHT_PREDICTIONS; i++) {
		const struct davy_prediction *prediction = &f->predictions[i];

		if (foresight_before(s, prediction, e->first_ns) &&
		    davy_prediction_could_lead(s, prediction, e) &&
		    (!first || prediction->at_ns < first->at_ns))
			first = prediction;
	}
	return first;
}

static void foresight_count_lead_time(struct davy_lead_times *lead_time, uint64_t ns)
{
	size_t slot = 0;

	while (slot < DAVY_LEAD_TIME_SLOTS - 1 && ns >= DAVY_LEAD_TIME_SLOT_NS << slot)
		slot++;
	lead_time->slot[slot]++;
	lead_time->min_ns = lead_time->count && lead_time->min_ns < ns ? lead_time->min_ns : ns;
	lead_time->max_ns = lead_time->max_ns > ns ? lead_time->max_ns : ns;
	lead_time->sum_ns += ns;
	lead_time->count++;
}

void davy_scores_failure(struct davy_step *s, const struct davy_incident *e,
			 const struct davy_prediction *first)
{
	struct davy_foresight *f = &s->core->foresight;
	struct davy_class_score *class = &f->class[e->class];

	class->failures++;
	if (!first) {
		class->missed++;
		return;
	}
	foresight_count_lead_time(&class->lead_time, e->first_ns - first->at_ns);
	foresight_count_lead_time(&f->hazard[first->hazard].lead_time, e->first_ns - first->at_ns);
}

static bool foresight_same_alarm(const struct davy_prediction *prediction,
				 const struct davy_plan *note)
{
	return prediction->used && prediction->hazard == note->hazard &&
	       prediction->pid == note->pid && davy_same_name(prediction->device, note->device) &&
	       davy_same_name(prediction->ring, note->ring);
}

static struct davy_prediction *foresight_raised(struct davy_foresight *f,
						const struct davy_plan *note)
{
	for (size_t i = 0; f->prediction_count && i < DAVY_FORESIGHT_PREDICTIONS; i++)
		if (f->predictions[i].raised && foresight_same_alarm(&f->predictions[i], note))
			return &f->predictions[i];
	return NULL;
}

/*
 * Some alarms end with each job. A prediction that is raised again within the clear time is the
 * same prediction, unless it already has a result.
 */
static struct davy_prediction *foresight_recent(struct davy_step *s, const struct davy_plan *note)
{
	struct davy_foresight *f = &s->core->foresight;
	uint64_t clear_ns = davy_config_ns(&s->core->config, DAVY_CFG_CLEAR_MS);

	for (size_t i = 0; f->prediction_count && i < DAVY_FORESIGHT_PREDICTIONS; i++) {
		struct davy_prediction *prediction = &f->predictions[i];

		if (foresight_same_alarm(prediction, note) && !prediction->confirmed &&
		    !prediction->late && s->now_ns - prediction->last_ns <= clear_ns)
			return prediction;
	}
	return NULL;
}

static void foresight_drop(struct davy_foresight *f, struct davy_prediction *prediction)
{
	assert(f->prediction_count > 0);
	memset(prediction, 0, sizeof(*prediction));
	f->prediction_count--;
}

/* Order of replacement: those of ordinary users, ended ones, least recently seen ones. */
static bool foresight_is_worth_less(const struct davy_prediction *prediction,
				    const struct davy_prediction *than)
{
	if (prediction->stranger != than->stranger)
		return prediction->stranger;
	if (prediction->raised != than->raised)
		return than->raised;
	return prediction->last_ns < than->last_ns;
}

static struct davy_prediction *foresight_take(struct davy_core *core)
{
	struct davy_foresight *f = &core->foresight;
	struct davy_prediction *oldest = &f->predictions[0];

	for (size_t i = 0; i < DAVY_FORESIGHT_PREDICTIONS && oldest->used; i++) {
		struct davy_prediction *prediction = &f->predictions[i];

		if (!prediction->used || foresight_is_worth_less(prediction, oldest))
			oldest = prediction;
	}
	if (oldest->used) {
		core->dropped_count++;
		foresight_drop(f, oldest);
	}
	f->prediction_count++;
	return oldest;
}

static struct davy_prediction *foresight_add(struct davy_step *s, const struct davy_plan *note)
{
	struct davy_prediction *prediction = foresight_take(s->core);

	prediction->used = true;
	prediction->raised = true;
	prediction->at_ns = prediction->last_ns = s->now_ns;
	prediction->hazard = note->hazard;
	prediction->pid = note->pid;
	prediction->workload = note->workload;
	prediction->kind = note->evidence_count ? note->evidence[0].kind : s->ev->kind;
	memcpy(prediction->device, note->device, sizeof(prediction->device));
	memcpy(prediction->ring, note->ring, sizeof(prediction->ring));
	memcpy(prediction->comm, note->comm, sizeof(prediction->comm));
	prediction->late = davy_incident_in_progress(s, prediction);
	prediction->stranger = davy_is_stranger(davy_world_process(&s->core->world, note->pid));
	s->core->foresight.hazard[note->hazard].predictions += !prediction->stranger;
	return prediction;
}

static bool foresight_predicts(const struct davy_step *s, const struct davy_plan *note)
{
	return davy_leads_of(foresight_precursor(s, note->hazard), note->form) &&
	       note->level >= davy_config_u64(&s->core->config, DAVY_CFG_FORESIGHT_LEVEL);
}

uint16_t davy_foresight_states(const struct davy_step *s, const struct davy_plan *note)
{
	struct davy_prediction prediction = { .hazard = note->hazard, .pid = note->pid };

	memcpy(prediction.device, note->device, sizeof(prediction.device));
	if (!foresight_predicts(s, note) || davy_incident_in_progress(s, &prediction))
		return 0;
	return (uint16_t)davy_foresight_probability(s, note->hazard, note->level);
}

/* The first statement at a level counts. One after the failure is no prediction of it. */
static void foresight_state(struct davy_prediction *prediction, const struct davy_plan *note)
{
	uint16_t *stated = &prediction->stated_permille[note->level - DAVY_SCORED_FROM];

	if (!*stated && !prediction->confirmed)
		*stated = note->probability_permille;
}

void davy_foresight_raised(struct davy_step *s, const struct davy_plan *note)
{
	const struct davy_precursor *p = foresight_precursor(s, note->hazard);
	struct davy_prediction *prediction;

	if (!davy_leads_of(p, note->form) && p->fails_as &&
	    !davy_is_stranger(davy_world_process(&s->core->world, note->pid)))
		davy_incident_of_alarm(s, note,
				       note->form == DAVY_FORM_FAILING
					       ? DAVY_CLASS_DEVICE_LOST
					       : (enum davy_log_class)p->fails_as);
	if (!foresight_predicts(s, note))
		return;
	prediction = foresight_raised(&s->core->foresight, note);
	if (!prediction)
		prediction = foresight_recent(s, note);
	if (!prediction)
		prediction = foresight_add(s, note);
	prediction->raised = true;
	if (note->probability_permille)
		foresight_state(prediction, note);
}

void davy_foresight_ended(struct davy_step *s, const struct davy_alarm *alarm)
{
	struct davy_prediction *prediction = foresight_raised(&s->core->foresight, &alarm->note);

	if (!prediction)
		return;
	prediction->raised = false;
	prediction->last_ns = alarm->last_ns;
}

/* Counts predictions as averted if the action taken against them succeeded before a failure. */
void davy_foresight_acted(struct davy_step *s, const struct davy_workload *w)
{
	struct davy_foresight *f = &s->core->foresight;

	for (size_t i = 0; f->prediction_count && i < DAVY_FORESIGHT_PREDICTIONS; i++) {
		struct davy_prediction *prediction = &f->predictions[i];

		if (!prediction->used || prediction->workload != w->id ||
		    prediction->at_ns > w->act_ns || prediction->confirmed || prediction->late)
			continue;
		f->hazard[prediction->hazard].averted++;
		foresight_drop(f, prediction);
	}
	davy_samples_acted(s, w);
}

/* Counts a prediction that ends without a failure after it. */
static void foresight_end(struct davy_foresight *f, struct davy_prediction *prediction)
{
	struct davy_hazard_score *score = &f->hazard[prediction->hazard];

	if (!prediction->stranger && !prediction->confirmed) {
		score->late += prediction->late;
		score->false_alarms += !prediction->late;
		if (!prediction->late)
			davy_calibration_result(&f->calibration, prediction, false);
	}
	foresight_drop(f, prediction);
}

void davy_foresight_tick(struct davy_step *s)
{
	struct davy_foresight *f = &s->core->foresight;

	for (size_t i = 0; f->prediction_count && i < DAVY_FORESIGHT_PREDICTIONS; i++) {
		struct davy_prediction *prediction = &f->predictions[i];

		if (prediction->used && !prediction->raised &&
		    s->now_ns - prediction->last_ns > foresight_horizon_ns(s, prediction)) {
			if (!prediction->confirmed && !prediction->late)
				davy_doubt_result(s, prediction, false);
			foresight_end(f, prediction);
		}
	}
}

void davy_foresight_end(struct davy_foresight *f)
{
	for (size_t i = 0; f->prediction_count && i < DAVY_FORESIGHT_PREDICTIONS; i++)
		if (f->predictions[i].used)
			foresight_end(f, &f->predictions[i]);
}

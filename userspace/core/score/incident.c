/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups failures into incidents: failures on one device or of one process, each within "window" of
 * the previous one. During a reset, and for the death of a process, the limit is "death".
 * Consequences extend an incident but never start one. An incident has the time and the class of
 * its first failure, since that causes the others, and is reported immediately. Exception: an
 * incident that begins with an out-of-memory exception is reported only if its process dies of it.
 * Any other failure replaces it.
 */
#include "core/score/incident.h"

#include <assert.h>
#include <string.h>

/* Failures of the whole host, not of a device. */
static bool incident_of_host(enum davy_log_class class)
{
	return class == DAVY_CLASS_OOM_GTT_HOST || class == DAVY_CLASS_HOST_CRASH;
}

static uint64_t incident_window_ns(const struct davy_step *s, const struct davy_incident *e,
				   bool death)
{
	return davy_config_ns(&s->core->config, death || e->resetting
							? DAVY_CFG_FORESIGHT_DEATH_MS
							: DAVY_CFG_FORESIGHT_WINDOW_MS);
}

/* A failure without device and process belongs to the current incident, unless it is the host's. */
static bool incident_belongs(const struct davy_incident *e, const struct davy_failure *f)
{
	bool e_named = e->device[0] || e->pid, f_named = f->device[0] || f->pid;

	if (e_named && f_named)
		return (f->pid && f->pid == e->pid) ||
		       (f->device[0] && davy_same_name(f->device, e->device));
	if (!e_named && !f_named)
		return true;
	return !incident_of_host(e_named ? f->class : e->class);
}

static struct davy_incident *incident_find(struct davy_step *s, const struct davy_failure *f)
{
	struct davy_incident *latest = NULL;

	for (size_t i = 0; i < DAVY_FORESIGHT_INCIDENTS; i++) {
		struct davy_incident *e = &s->core->foresight.incidents[i];

		if (e->used && s->now_ns - e->last_ns <= incident_window_ns(s, e, f->death) &&
		    incident_belongs(e, f) && (!latest || e->last_ns > latest->last_ns))
			latest = e;
	}
	return latest;
}

static void incident_take_name(struct davy_incident *e, const struct davy_failure *f)
{
	if (!e->device[0])
		davy_copy_name(e->device, sizeof(e->device), f->device);
	if (!e->ring[0])
		davy_copy_name(e->ring, sizeof(e->ring), f->ring);
	if (!e->pid)
		e->pid = f->pid;
}

static void incident_report(struct davy_step *s, struct davy_incident *e)
{
	const struct davy_process *p = davy_world_process(&s->core->world, e->pid);
	const struct davy_prediction *first = davy_predictions_first(s, e);
	struct davy_plan plan = davy_plan_about(s, first ? first->hazard : DAVY_HZ_NONE, p);

	e->reported = true;
	plan.kind = DAVY_PLAN_FAILURE;
	plan.level = 3;
	plan.pid = e->pid;
	plan.unit = DAVY_UNIT_NS;
	plan.first_precursor_ns = e->first_ns;
	plan.evidence_count = 0;
	davy_plan_evidence(&plan, e->first_ns, e->kind, 1);
	if (first) {
		plan.lead_time_ns = e->first_ns - first->at_ns;
		davy_plan_evidence(&plan, first->at_ns, first->kind, 1);
	}
	davy_copy_name(plan.device, sizeof(plan.device), e->device);
	davy_copy_name(plan.ring, sizeof(plan.ring), e->ring);
	plan.failure_class = (uint8_t)e->class;
	davy_scores_failure(s, e, first);
	davy_predictions_before(s, e);
	davy_samples_failure(s, e, (enum davy_log_class)e->class, !first);
	davy_emit(s, &plan);
}

static struct davy_incident *incident_take(struct davy_foresight *f)
{
	struct davy_incident *oldest = &f->incidents[0];

	for (size_t i = 0; i < DAVY_FORESIGHT_INCIDENTS && oldest->used; i++)
		if (!f->incidents[i].used || f->incidents[i].last_ns < oldest->last_ns)
			oldest = &f->incidents[i];
	return oldest;
}

static void incident_begin(struct davy_step *s, struct davy_incident *e,
			   const struct davy_failure *f)
{
	memset(e, 0, sizeof(*e));
	e->used = true;
	e->first_ns = e->last_ns = s->now_ns;
	e->class = (uint8_t)f->class;
	e->kind = s->ev->kind;
	e->resetting = f->reset_begun;
	incident_take_name(e, f);
	if (f->part == DAVY_FAILS)
		incident_report(s, e);
}

static void incident_go_on(struct davy_step *s, struct davy_incident *e,
			   const struct davy_failure *f)
{
	e->last_ns = s->now_ns;
	if (f->reset_begun)
		e->resetting = true;
	if (f->reset_ended)
		e->resetting = false;
	incident_take_name(e, f);
	if (f->part != DAVY_FAILS)
		return;
	if (!e->reported) {
		incident_report(s, e);
		return;
	}
	davy_predictions_within(s, e, f->class);
	davy_samples_failure(s, e, f->class, false);
}

static void incident_see(struct davy_step *s, const struct davy_failure *f)
{
	struct davy_incident *e = incident_find(s, f);

	assert(f->part != DAVY_FAILS_AFTER || !f->class);
	if (e && !e->reported && f->part == DAVY_FAILS && !(f->death && f->pid == e->pid))
		incident_begin(s, e, f);
	else if (e)
		incident_go_on(s, e, f);
	else if (f->part != DAVY_FAILS_AFTER)
		incident_begin(s, incident_take(&s->core->foresight), f);
}

static const uint32_t failing_kinds =
	DAVY_SEES(DAVY_EV_JOB_TIMEOUT) | DAVY_SEES(DAVY_EV_RESET) | DAVY_SEES(DAVY_EV_DEVICE) |
	DAVY_SEES(DAVY_EV_THROW) | DAVY_SEES(DAVY_EV_FAULT) | DAVY_SEES(DAVY_EV_KFD) |
	DAVY_SEES(DAVY_EV_LOG) | DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_PROCESS_EXIT);

void davy_foresight_event(struct davy_step *s)
{
	struct davy_failure f;

	if (failing_kinds & DAVY_SEES(s->ev->kind) && davy_failure_read(s, &f))
		incident_see(s, &f);
}

void davy_incident_of_alarm(struct davy_step *s, const struct davy_plan *note,
			    enum davy_log_class class)
{
	struct davy_failure f = { .device = note->device,
				  .ring = note->ring,
				  .pid = note->pid,
				  .part = DAVY_FAILS,
				  .class = class };

	incident_see(s, &f);
}

bool davy_incident_in_progress(const struct davy_step *s, const struct davy_prediction *prediction)
{
	for (size_t i = 0; i < DAVY_FORESIGHT_INCIDENTS; i++) {
		const struct davy_incident *e = &s->core->foresight.incidents[i];

		if (e->used && e->reported &&
		    s->now_ns - e->last_ns <= incident_window_ns(s, e, false) &&
		    davy_prediction_could_lead(s, prediction, e))
			return true;
	}
	return false;
}

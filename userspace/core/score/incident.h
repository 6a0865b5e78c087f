/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface between the core and the foresight counts, and between incidents and the predictions
 * before them. Only core/ includes this.
 */
#ifndef DAVY_INCIDENT_H
#define DAVY_INCIDENT_H

#include "core/score/failure.h"

/* incident.c: true if a failure that the prediction can lead to is in progress on its subject. */
bool davy_incident_in_progress(const struct davy_step *s, const struct davy_prediction *prediction);

/* Records an alarm that is itself a failure of that class. */
void davy_incident_of_alarm(struct davy_step *s, const struct davy_plan *note,
			    enum davy_log_class class);

/* foresight.c: confirms predictions that can lead to the incident and were valid at its start. */
void davy_predictions_before(struct davy_step *s, const struct davy_incident *e);

/*
 * A later failure of the incident confirms the predictions that can lead to it and came before the
 * first one. Those that came after the first one are late.
 */
void davy_predictions_within(struct davy_step *s, const struct davy_incident *e,
			     enum davy_log_class class);

/* The first prediction that can lead to the incident and was valid at its start; NULL: missed. */
const struct davy_prediction *davy_predictions_first(const struct davy_step *s,
						     const struct davy_incident *e);

/* True if the prediction has the same subject and can lead to that class. */
bool davy_prediction_could_lead(const struct davy_step *s, const struct davy_prediction *prediction,
				const struct davy_incident *e);

void davy_scores_failure(struct davy_step *s, const struct davy_incident *e,
			 const struct davy_prediction *first);

/* calibration.c: the result of a prediction, for each level at which it stated a probability. */
void davy_calibration_result(struct davy_calibration *c, const struct davy_prediction *prediction,
			     bool confirmed);
void davy_calibration_add(struct davy_calibration *to, const struct davy_calibration *from);

/* The counts of earlier starts, from DAVY_EV_SCORES. */
void davy_scores_restore(struct davy_step *s);

/* The probability to state with the note; 0: it is no prediction, or comes after the failure. */
uint16_t davy_foresight_states(const struct davy_step *s, const struct davy_plan *note);

/*
 * Foresight counts. Events are processed first: an alarm of the same event is no prediction of the
 * failure in it. Then alarms when raised and ended, successful actions, and time.
 */
void davy_foresight_event(struct davy_step *s);
void davy_foresight_raised(struct davy_step *s, const struct davy_plan *note);
void davy_foresight_ended(struct davy_step *s, const struct davy_alarm *alarm);
void davy_foresight_acted(struct davy_step *s, const struct davy_workload *w);
void davy_foresight_tick(struct davy_step *s);

/*
 * sample.c: an alarm was raised or seen again, at this level now. davy_sample_kept(): its value was
 * observed again, in the unit of the key.
 */
void davy_sample_seen(struct davy_step *s, const struct davy_plan *note, uint32_t level);
void davy_sample_kept(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
		      const char *device, const char *ring, uint64_t value);

/* A failure of the incident; "missed": no prediction came before it. */
void davy_samples_failure(struct davy_step *s, const struct davy_incident *e,
			  enum davy_log_class class, bool missed);
void davy_samples_acted(struct davy_step *s, const struct davy_workload *w);
void davy_samples_tick(struct davy_step *s);

#endif

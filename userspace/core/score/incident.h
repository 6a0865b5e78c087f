/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core tells its record of what was foreseen, and what its two halves tell each other:
 * episodes, and the signs before them. Only core/ includes this.
 */
#ifndef DAVY_INCIDENT_H
#define DAVY_INCIDENT_H

#include "core/score/failure.h"

/* incident.c: whether a failure that the sign could lead to is under way on its subject. */
bool davy_episode_under_way(const struct davy_step *s, const struct davy_sign *sign);

/* The alarm itself is a failure of that class. */
void davy_episode_of_alarm(struct davy_step *s, const struct davy_plan *note,
			   enum davy_log_class class);

/* foresight.c: those that could lead to it, and counted when it began, were right. */
void davy_signs_before(struct davy_step *s, const struct davy_episode *e);

/* So were those that could lead to what comes within it, unless it was under way before them. */
void davy_signs_within(struct davy_step *s, const struct davy_episode *e,
		       enum davy_log_class class);

/* The first that could lead to it and still counted when it began; NULL: it was missed. */
const struct davy_sign *davy_signs_first(const struct davy_step *s, const struct davy_episode *e);

/* Whether it is of the same subject, and can lead to that class. */
bool davy_sign_could_lead(const struct davy_step *s, const struct davy_sign *sign,
			  const struct davy_episode *e);

void davy_scores_failure(struct davy_step *s, const struct davy_episode *e,
			 const struct davy_sign *first);

/*
 * For the record of what was foreseen. Events come first, so that an alarm of the same event is no
 * sign of what it tells; then alarms as they are raised and end, acts that succeeded, time.
 */
void davy_foresight_event(struct davy_step *s);
void davy_foresight_raised(struct davy_step *s, const struct davy_plan *note);
void davy_foresight_ended(struct davy_step *s, const struct davy_alarm *alarm);
void davy_foresight_acted(struct davy_step *s, const struct davy_workload *w);
void davy_foresight_tick(struct davy_step *s);

#endif

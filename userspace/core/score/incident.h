/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the two halves of foresight: episodes, and the signs before them. For core/ only. */
#ifndef DAVY_INCIDENT_H
#define DAVY_INCIDENT_H

#include "core/score/failure.h"

/* episode.c: whether a failure that the sign could lead to is under way on its subject. */
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
bool davy_sign_could_lead(const struct davy_sign *sign, const struct davy_episode *e);

void davy_scores_failure(struct davy_step *s, const struct davy_episode *e,
			 const struct davy_sign *first);

#endif

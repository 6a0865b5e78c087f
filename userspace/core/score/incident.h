/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the two halves of foresight: episodes, and the signs before them. For core/ only. */
#ifndef DL_CORE_EPISODE_H
#define DL_CORE_EPISODE_H

#include "core/score/failure.h"

/* episode.c: whether a failure that the sign could lead to is under way on its subject. */
bool dl_episode_under_way(const struct dl_step *s, const struct dl_sign *sign);

/* The alarm itself is a failure of that class. */
void dl_episode_of_alarm(struct dl_step *s, const struct dl_plan *note, enum dl_log_class class);

/* foresight.c: those that could lead to it, and counted when it began, were right. */
void dl_signs_before(struct dl_step *s, const struct dl_episode *e);

/* So were those that could lead to what comes within it, unless it was under way before them. */
void dl_signs_within(struct dl_step *s, const struct dl_episode *e, enum dl_log_class class);

/* The first that could lead to it and still counted when it began; NULL: it was missed. */
const struct dl_sign *dl_signs_first(const struct dl_step *s, const struct dl_episode *e);

/* Whether it is of the same subject, and can lead to that class. */
bool dl_sign_could_lead(const struct dl_sign *sign, const struct dl_episode *e);

void dl_scores_failure(struct dl_step *s, const struct dl_episode *e, const struct dl_sign *first);

#endif

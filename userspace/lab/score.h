/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replays traces under configurations: each trace is read once for all of them, on every CPU. */
#ifndef DAVY_SCORE_H
#define DAVY_SCORE_H

#include "core/event/config.h"
#include "lab/cases.h"

/*
 * One trace under "count" configurations, into as many scores. The configuration stands for all
 * that the trace itself says of thresholds. -errno; a trace that is cut is -EBADMSG, or, if its
 * failure came before, scored, and 1.
 */
int davy_score_trace(const struct davy_case *of, const struct davy_config *configs, size_t count,
		     struct davy_score *scores);

/*
 * Every trace, by "jobs" processes. *ret_scores: scores of a trace stand together, in the order of
 * the configurations; to be given back by davy_scores_free. -errno, logged: one trace had no
 * scores.
 */
int davy_score_all(const struct davy_cases *cases, const struct davy_config *configs, size_t count,
		   unsigned int jobs, struct davy_score **ret_scores);

/* The same; a trace without scores is logged and left out of the cases. -ENODATA: none is left. */
int davy_score_whole(struct davy_cases *cases, const struct davy_config *configs, size_t count,
		     unsigned int jobs, struct davy_score **ret_scores);
void davy_scores_free(struct davy_score *scores);

#endif

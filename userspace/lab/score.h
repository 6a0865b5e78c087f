/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replays traces under configurations: each trace is read once for all of them, on every CPU. */
#ifndef DL_TUNE_SCORE_H
#define DL_TUNE_SCORE_H

#include "core/event/config.h"
#include "lab/cases.h"

/*
 * One trace under "count" configurations, into as many scores. The configuration stands for all
 * that the trace itself says of thresholds. -errno; a trace that is cut is -EBADMSG, or, if its
 * failure came before, scored, and 1.
 */
int dl_score_trace(const struct dl_case *of, const struct dl_config *configs, size_t count,
		   struct dl_score *scores);

/*
 * Every trace, by "jobs" processes. *ret_scores: scores of a trace stand together, in the order of
 * the configurations; to be given back by dl_scores_free. -errno, logged: one trace had no scores.
 */
int dl_score_all(const struct dl_cases *cases, const struct dl_config *configs, size_t count,
		 unsigned int jobs, struct dl_score **ret_scores);

/* The same; a trace without scores is logged and left out of the cases. -ENODATA: none is left. */
int dl_score_whole(struct dl_cases *cases, const struct dl_config *configs, size_t count,
		   unsigned int jobs, struct dl_score **ret_scores);
void dl_scores_free(struct dl_score *scores);

#endif

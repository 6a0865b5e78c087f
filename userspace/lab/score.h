/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replays traces under several configurations. Reads each trace once; uses all CPUs. */
#ifndef DAVY_SCORE_H
#define DAVY_SCORE_H

#include "core/event/config.h"
#include "lab/cases.h"

/*
 * Scores one trace under "count" configurations. They replace all thresholds of the trace. -errno;
 * -EBADMSG: truncated; 1: truncated after its failure, but scored.
 */
int davy_score_trace(const struct davy_case *of, const struct davy_config *configs, size_t count,
		     struct davy_score *scores);

/*
 * Scores all traces in "jobs" processes. *ret_scores: grouped by trace, in the order of the
 * configurations; free with davy_scores_free. -errno, logged: a trace could not be scored.
 */
int davy_score_all(const struct davy_cases *cases, const struct davy_config *configs, size_t count,
		   unsigned int jobs, struct davy_score **ret_scores);

/* The same, but logs and removes traces that cannot be scored. -ENODATA: none is left. */
int davy_score_whole(struct davy_cases *cases, const struct davy_config *configs, size_t count,
		     unsigned int jobs, struct davy_score **ret_scores);
void davy_scores_free(struct davy_score *scores);

#endif

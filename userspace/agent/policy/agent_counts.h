/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of foresight, kept over restarts of the agent. Only agent/ includes this. */
#ifndef DAVY_AGENT_COUNTS_H
#define DAVY_AGENT_COUNTS_H

#include "store/counts.h"

struct davy_agent;

struct davy_kept_counts {
	struct davy_counts before;   /* of earlier starts */
	struct davy_foresight saved; /* the core's counts at the last write */
	uint64_t saved_ns;
	int unread; /* -errno of reading them: they must not be replaced; 0: they were read */
};

void davy_agent_counts_open(struct davy_agent *a);

/* Writes the counters when they have changed, at most once a minute. */
void davy_agent_counts_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_counts_close(struct davy_agent *a);

/* Returns the counts of earlier starts plus those of this one. */
struct davy_counts davy_agent_counts(const struct davy_agent *a);

#endif

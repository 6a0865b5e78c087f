/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's record of what was foreseen, kept over its starts. Only agent/ includes this. */
#ifndef DAVY_AGENT_COUNTS_H
#define DAVY_AGENT_COUNTS_H

#include "store/counts.h"

struct davy_agent;

struct davy_kept_counts {
	struct davy_counts before;   /* of the starts before this one */
	struct davy_foresight saved; /* what the core had counted when it was written last */
	uint64_t saved_ns;
	int unread; /* why they cannot be read: they must not be replaced; 0: they were read */
};

void davy_agent_counts_open(struct davy_agent *a);

/* Writes them when they have changed, once a minute at most. */
void davy_agent_counts_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_counts_close(struct davy_agent *a);

/* Those before and those since. */
struct davy_counts davy_agent_counts(const struct davy_agent *a);

#endif

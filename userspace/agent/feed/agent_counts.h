/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's record of what was foreseen, kept over its starts. Only agent/ includes this. */
#ifndef DL_AGENT_COUNTS_H
#define DL_AGENT_COUNTS_H

#include "store/counts.h"

struct dl_agent;

struct dl_kept_counts {
	struct dl_counts before;   /* of the starts before this one */
	struct dl_foresight saved; /* what the core had counted when it was written last */
	uint64_t saved_ns;
	int unread; /* why the file cannot be read: it must not be replaced; 0: it was read */
};

void dl_agent_counts_open(struct dl_agent *a);

/* Writes them when they have changed, once a minute at most. */
void dl_agent_counts_tick(struct dl_agent *a, uint64_t now_ns);
void dl_agent_counts_close(struct dl_agent *a);

/* Those before and those since. */
struct dl_counts dl_agent_counts(const struct dl_agent *a);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "../lib/log.h"

#define SAVE_NS (60 * DL_NS_PER_S) /* fsync may take long, and what is lost is a minute's counts */

void dl_agent_counts_open(struct dl_agent *a)
{
	struct dl_kept_counts *k = &a->counts;
	char error[DL_COUNTS_ERROR_LEN];
	int err = dl_counts_load(a->options.state_dir, &k->before, error);

	if (err == -EBADMSG) {
		dl_log("'%s/%s': %s; put aside as %s.bad, counting anew", a->options.state_dir,
		       DL_COUNTS_NAME, error, DL_COUNTS_NAME);
		err = dl_counts_set_aside(a->options.state_dir);
	}
	if (err)
		dl_log("'%s/%s': %s; what is foreseen is counted for this start only",
		       a->options.state_dir, DL_COUNTS_NAME, strerror(-err));
	k->off = err != 0;
	if (!k->before.since_s)
		k->before.since_s = time(NULL);
}

struct dl_counts dl_agent_counts(const struct dl_agent *a)
{
	struct dl_counts counts = a->counts.before;

	dl_foresight_add(&counts.seen, &a->core.foresight);
	return counts;
}

static bool same_counts(const struct dl_foresight *a, const struct dl_foresight *b)
{
	return !memcmp(a->hazard, b->hazard, sizeof(a->hazard)) &&
	       !memcmp(a->class, b->class, sizeof(a->class));
}

static void save(struct dl_agent *a)
{
	struct dl_kept_counts *k = &a->counts;
	struct dl_counts counts;
	int err;

	if (k->off || same_counts(&k->saved, &a->core.foresight))
		return;
	counts = dl_agent_counts(a);
	err = dl_counts_save(a->options.state_dir, &counts);
	if (err)
		dl_log("'%s/%s': cannot be written: %s; tried again in a minute",
		       a->options.state_dir, DL_COUNTS_NAME, strerror(-err));
	else
		k->saved = a->core.foresight;
}

void dl_agent_counts_tick(struct dl_agent *a, uint64_t now_ns)
{
	if (now_ns - a->counts.saved_ns < SAVE_NS)
		return;
	a->counts.saved_ns = now_ns;
	save(a);
}

void dl_agent_counts_close(struct dl_agent *a)
{
	save(a);
}

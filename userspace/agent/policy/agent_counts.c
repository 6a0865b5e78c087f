/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <string.h>
#include <time.h>

#include "lib/log.h"
#include "store/db.h"

#define SAVE_NS                                                                                    \
	(60 * DAVY_NS_PER_S) /* fsync may take long, and a loss is at most a minute's counts */

/* The core states probabilities by the counts of all starts. */
static void counts_tell(struct davy_agent *a)
{
	const struct davy_calibration *c = &a->counts.before.seen.calibration;
	struct davy_event ev = davy_agent_event(DAVY_EV_SCORES, 0);

	for (size_t i = 0; i < (size_t)DAVY_HZ_COUNT * DAVY_SCORED_LEVELS; i++) {
		const struct davy_level_score *score =
			&c->of[i / DAVY_SCORED_LEVELS][i % DAVY_SCORED_LEVELS];

		if (!score->alarms)
			continue;
		ev.scores.hazard = (uint8_t)(i / DAVY_SCORED_LEVELS);
		ev.scores.level = (uint8_t)(DAVY_SCORED_FROM + i % DAVY_SCORED_LEVELS);
		ev.scores.alarms = score->alarms;
		ev.scores.confirmed = score->confirmed;
		davy_agent_feed(a, &ev);
	}
}

static void counts_read(struct davy_agent *a)
{
	struct davy_kept_counts *k = &a->counts;
	int err = davy_counts_load(a->options.state_dir, &k->before);

	if (err && err != k->unread)
		davy_log("'%s/%s': cannot read the counters of foresight: %s; they stay "
			 "unchanged, and the agent reads them again every minute",
			 a->options.state_dir, DAVY_DB_NAME, davy_db_why(err));
	k->unread = err;
	if (!k->before.since_s)
		k->before.since_s = time(NULL);
	if (!err)
		counts_tell(a);
}

void davy_agent_counts_open(struct davy_agent *a)
{
	counts_read(a);
}

struct davy_counts davy_agent_counts(const struct davy_agent *a)
{
	struct davy_counts counts = a->counts.before;

	davy_foresight_add(&counts.seen, &a->core.foresight);
	return counts;
}

static bool same_counts(const struct davy_foresight *a, const struct davy_foresight *b)
{
	return !memcmp(a->hazard, b->hazard, sizeof(a->hazard)) &&
	       !memcmp(a->class, b->class, sizeof(a->class)) &&
	       !memcmp(&a->calibration, &b->calibration, sizeof(a->calibration));
}

static void counts_save(struct davy_agent *a)
{
	struct davy_kept_counts *k = &a->counts;
	struct davy_counts counts;
	int err;

	if (k->unread)
		counts_read(a);
	if (k->unread || same_counts(&k->saved, &a->core.foresight))
		return;
	counts = davy_agent_counts(a);
	err = davy_counts_save(a->options.state_dir, &counts);
	if (err)
		davy_log("'%s/%s': cannot write the counters of foresight: %s; next attempt in "
			 "a minute",
			 a->options.state_dir, DAVY_DB_NAME, davy_db_why(err));
	else
		k->saved = a->core.foresight;
}

void davy_agent_counts_tick(struct davy_agent *a, uint64_t now_ns)
{
	if (now_ns - a->counts.saved_ns < SAVE_NS)
		return;
	a->counts.saved_ns = now_ns;
	counts_save(a);
}

void davy_agent_counts_close(struct davy_agent *a)
{
	counts_save(a);
}

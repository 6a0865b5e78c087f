/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The latest decisions and printed events, for clients that attach later (davylamp top, report). A
 * table each: frequent events do not replace decisions. Only agent/ includes this.
 */
#ifndef DAVY_RECENT_H
#define DAVY_RECENT_H

#include <jansson.h>

#include "core/event/plan.h"

#define DAVY_RECENT_PLANS  128
#define DAVY_RECENT_EVENTS 64

struct davy_recent {
	struct davy_plan plan[DAVY_RECENT_PLANS];
	struct davy_event event[DAVY_RECENT_EVENTS];
	uint64_t plan_count, event_count; /* since the start of the agent */
	struct davy_action_count {
		uint64_t verdict[DAVY_VERDICT_COUNT];
		uint64_t done, failed;
	} action[DAVY_ACTION_COUNT];
};

void davy_recent_add_plan(struct davy_recent *r, const struct davy_plan *plan);

/* Verdicts and outcomes since the start of the agent, by action, without unused actions. */
json_t *davy_recent_actions(const struct davy_recent *r);

/*
 * The decisions from number *at on that are kept and fit a message: number, text, and "json" as
 * --json prints it. *at becomes the number of the next one.
 */
json_t *davy_recent_plans(const struct davy_recent *r, uint64_t *at);
json_t *davy_recent_events(const struct davy_recent *r, uint64_t *at);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: the engine of an adopted workload has ended and is not started again: no action is left,
 *   or the budget of actions is used up. Its supervisor ends with the engine's exit status, so that
 *   a service manager can act. Level 3, without an action.
 * Threshold: budget.acts_per_hour and budget.host_acts_per_hour.
 * False alarms: an engine that a user restarts at once. Not raised for a workload that
 *   davylamp may not act on (mode, pin, another manager): there it promises nothing.
 * Test: tests/unit/test_given_up.c, tests/launch.
 */
#include "core/hazard/hazards.h"

#include <string.h>

static void given_up_raise(struct davy_step *s, struct davy_workload *w)
{
	struct davy_plan note = davy_plan_for(s, w, DAVY_ACTION_NONE, DAVY_HZ_GIVEN_UP);

	note.kind = DAVY_PLAN_NOTE;
	note.level = 3;
	note.passed_action = w->given_up_action;
	note.passed_refusal = w->given_up;
	w->given_up = 0;
	davy_alarm_raise(s, &note);
}

/* The next tick, or the end of the supervisor if that comes first. */
static void given_up_look(struct davy_step *s)
{
	struct davy_world *world = &s->core->world;

	if (s->ev->kind == DAVY_EV_WORKLOAD && s->ev->workload.op != DAVY_WORKLOAD_GONE)
		return;
	for (size_t i = 0; world->workload_count && i < DAVY_WORLD_WORKLOADS; i++)
		if (world->workloads[i].id && world->workloads[i].given_up)
			given_up_raise(s, &world->workloads[i]);
}

static void given_up_reason(const struct davy_plan *p, struct davy_clause *c)
{
	const char *action = davy_action_name((enum davy_action)p->passed_action);

	c->say(c, "has ended and is not started again: ");
	if (p->passed_refusal == DAVY_REFUSED_UNABLE)
		c->say(c, "no action is left after %s", action);
	else
		c->say(c, "%s exceeds the budget of actions per hour", action);
	c->say(c, "; read the engine's log, then start it with 'davylamp exec --backend cpu', or "
		  "let its service manager restart it");
}

const struct davy_hazard_row davy_hazard_given_up = {
	.sees = DAVY_SEES(DAVY_EV_TICK) | DAVY_SEES(DAVY_EV_WORKLOAD),
	.look = given_up_look,
	.reason = given_up_reason,
	.precursor.seen_in_events = true,
};

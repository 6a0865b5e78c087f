/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/plan.h"

#include <assert.h>
#include <string.h>

#define HAZARD_NAME(number, constant, name) [number] = #name,

const char *davy_hazard_name(enum davy_hazard hazard)
{
	static const char *const names[DAVY_HZ_COUNT] = { [DAVY_HZ_NONE] = "none",
							  DAVY_HAZARDS(HAZARD_NAME) };

	assert(hazard < DAVY_HZ_COUNT);
	return names[hazard];
}

int davy_hazard_from_name(const char *name)
{
	for (int i = 0; i < DAVY_HZ_COUNT; i++)
		if (!strcmp(name, davy_hazard_name((enum davy_hazard)i)))
			return i;
	return -1;
}

const char *davy_plan_name(const struct davy_plan *plan)
{
	static const char *const names[DAVY_PLAN_KIND_COUNT] = {
		[DAVY_PLAN_NOTE] = "note",	 [DAVY_PLAN_CHECK] = "check",
		[DAVY_PLAN_CLEAR] = "clear",	 [DAVY_PLAN_BREAKER] = "breaker",
		[DAVY_PLAN_OUTCOME] = "outcome", [DAVY_PLAN_FAILURE] = "failure",
	};

	assert(plan->kind < DAVY_PLAN_KIND_COUNT);
	return plan->kind == DAVY_PLAN_ACTION ? davy_action_name((enum davy_action)plan->action)
					      : names[plan->kind];
}

const char *davy_verdict_name(enum davy_verdict verdict)
{
	static const char *const names[DAVY_VERDICT_COUNT] = {
		[DAVY_VERDICT_GO] = "go",
		[DAVY_VERDICT_ADVISED] = "advised",
		[DAVY_VERDICT_REFUSED] = "refused",
	};

	assert(verdict < DAVY_VERDICT_COUNT);
	return names[verdict];
}

const char *davy_refusal_name(enum davy_refusal refusal)
{
	static const char *const names[DAVY_REFUSED_COUNT] = {
		[DAVY_REFUSED_NOT] = "",
		[DAVY_REFUSED_MODE] = "mode is observe",
		[DAVY_REFUSED_NOT_ADOPTED] = "workload is not adopted",
		[DAVY_REFUSED_BUSY] = "an action on this workload is in progress",
		[DAVY_REFUSED_BACKOFF] = "backing off",
		[DAVY_REFUSED_BUDGET] = "the workload's budget of actions is used up",
		[DAVY_REFUSED_RIVAL] = "another manager controls the workload",
		[DAVY_REFUSED_UNABLE] = "not possible for this workload",
		[DAVY_REFUSED_HOST_BUDGET] = "the host's budget of actions is used up",
		[DAVY_REFUSED_PINNED] = "workload is pinned",
		[DAVY_REFUSED_PRICE] = "it costs more than the failure that may follow",
	};

	assert(refusal < DAVY_REFUSED_COUNT);
	return names[refusal];
}

const char *davy_breaker_state_name(enum davy_breaker_state state)
{
	static const char *const names[DAVY_BREAKER_STATE_COUNT] = {
		[DAVY_BREAKER_CLOSED] = "closed",
		[DAVY_BREAKER_OPEN] = "open",
		[DAVY_BREAKER_HALF_OPEN] = "half-open",
	};

	assert(state < DAVY_BREAKER_STATE_COUNT);
	return names[state];
}

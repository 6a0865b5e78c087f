/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the core decides on each action: one row for each number of DAVY_ACTIONS
 * (core/event/action.h). agent/act/act_table.c has the functions that execute it. Only core/
 * includes this.
 */
#ifndef DAVY_ACTIONS_H
#define DAVY_ACTIONS_H

#include "core/world/emit.h"

struct davy_action_row {
	uint8_t needs; /* enum davy_can: of the workload; 0: none */
	/* In addition to "needs"; NULL: any workload. */
	bool (*able)(const struct davy_workload *w, const struct davy_plan *plan);
	/*
	 * Sets how much of the action the plan does, unless an order sets it. False: it would have
	 * no effect, or a needed value is unknown. NULL: there is nothing to set.
	 */
	bool (*size)(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);
	uint64_t lease_max_ns;	 /* from an operator's order; 0: any */
	enum davy_action next;	 /* after its failure, if nothing serves; none: the hazard's next */
	bool next_at_once;	 /* even if the old process still runs */
	bool ended_by_operators; /* its effect is not undone after a clean period */
};

/* The table; a step has a pointer to it, so that functions of its rows need not include it. */
extern const struct davy_action_row *const davy_action_rows[DAVY_ACTION_COUNT];

static inline const struct davy_action_row *davy_action_row(const struct davy_step *s,
							    uint32_t action)
{
	return s->actions[davy_action_known(action) ? action : DAVY_ACTION_NONE];
}

#endif

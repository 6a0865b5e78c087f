/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/action/acts.h"

static bool able_to_move(const struct davy_workload *w, const struct davy_plan *plan)
{
	(void)plan;
	return w->movable;
}

static bool able_to_stay_awake(const struct davy_workload *w, const struct davy_plan *plan)
{
	(void)w;
	return plan->device[0];
}

static const struct davy_action_row row_restart = {
	.size = davy_size_restart,
	.next = DAVY_ACTION_MIGRATE_CPU,
	.next_at_once = true,
};

static const struct davy_action_row row_migrate_cpu = {
	.able = able_to_move,
	.size = davy_size_migrate_cpu,
	.next = DAVY_ACTION_RESTART,
};

static const struct davy_action_row row_pause = {
	.needs = DAVY_CAN_FREEZE,
	.size = davy_size_pause,
	.lease_max_ns = 60 * DAVY_NS_PER_S,
};

static const struct davy_action_row row_throttle = {
	.needs = DAVY_CAN_FREEZE,
	.size = davy_size_throttle,
};

static const struct davy_action_row row_shrink = {
	.needs = DAVY_CAN_SHRINK,
	.size = davy_size_shrink,
	.next = DAVY_ACTION_RESTART,
};

static const struct davy_action_row row_cap = {
	.needs = DAVY_CAN_CAP,
	.size = davy_size_cap,
};

static const struct davy_action_row row_unload = {
	.needs = DAVY_CAN_UNLOAD,
};

static const struct davy_action_row row_switch = {
	.needs = DAVY_CAN_SWITCH,
	.size = davy_size_switch,
	.next = DAVY_ACTION_RESTART,
};

static const struct davy_action_row row_stop = {
	.ended_by_operators = true,
};

static const struct davy_action_row row_quarantine = { 0 };

static const struct davy_action_row row_undo = {
	.size = davy_effect_measure_undo,
};

static const struct davy_action_row row_awake = {
	.able = able_to_stay_awake,
};

#define ROW_OF(number, constant, name, properties) [number] = &row_##name,

static const struct davy_action_row row_none; /* for a number that is no action */

const struct davy_action_row *const davy_action_rows[DAVY_ACTION_COUNT] = { [DAVY_ACTION_NONE] =
										    &row_none,
									    DAVY_ACTIONS(ROW_OF) };

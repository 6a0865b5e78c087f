/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that execute each action: one row for each number of DAVY_ACTIONS
 * (core/event/action.h). core/action/actions.c has the other half: how the core decides on it.
 */
#include "agent/agent.h"

#include "agent/act/acting.h"
#include "agent/act/units.h"

/* Ollama changes the settings of one model without a restart. Every other service is restarted. */
static bool set_service(struct davy_service *u, const struct davy_plan *plan)
{
	return davy_models_act(u, plan) || davy_unit_act(u, plan);
}

static const struct davy_act_row act_restart = {
	.act = davy_agent_replace,
	.act_on_service = davy_unit_act,
};

static const struct davy_act_row act_migrate_cpu = {
	.act = davy_agent_replace,
	.undo = davy_agent_replace,
	.act_on_service = davy_unit_act,
	.undo_on_service = davy_unit_act,
};

static const struct davy_act_row act_pause = {
	.act = davy_agent_freeze,
	.undo = davy_agent_freeze_undo,
};

static const struct davy_act_row act_throttle = {
	.act = davy_agent_freeze,
	.undo = davy_agent_freeze_undo,
};

static const struct davy_act_row act_shrink = {
	.act = davy_agent_replace,
	.undo = davy_agent_replace,
	.act_on_service = set_service,
	.undo_on_service = set_service,
};

static const struct davy_act_row act_cap = {
	.act = davy_agent_cap,
	.undo = davy_agent_cap_undo,
	.act_on_service = davy_unit_cap,
	.undo_on_service = davy_unit_cap,
};

static const struct davy_act_row act_unload = {
	.act_on_service = davy_models_act,
};

static const struct davy_act_row act_switch = {
	.act = davy_agent_replace,
	.undo = davy_agent_replace,
	.act_on_service = davy_unit_act,
	.undo_on_service = davy_unit_act,
};

static const struct davy_act_row act_stop = {
	.act = davy_agent_stop,
	.undo = davy_agent_replace,
	.act_on_service = davy_unit_act,
	.undo_on_service = davy_unit_act,
};

static const struct davy_act_row act_quarantine = {
	.act = davy_agent_stop,
	.undo = davy_agent_replace,
	.act_on_service = davy_unit_act,
	.undo_on_service = davy_unit_act,
};

static const struct davy_act_row act_undo; /* uses the row of the action that is undone */

static const struct davy_act_row act_awake = {
	.act = davy_agent_awake,
	.undo = davy_agent_cap_undo,
};

#define ROW_OF(number, constant, name, properties) [number] = &act_##name,

static const struct davy_act_row *const rows[DAVY_ACTION_COUNT] = { DAVY_ACTIONS(ROW_OF) };

const struct davy_act_row *davy_act_row(const struct davy_plan *plan)
{
	uint32_t action = davy_acts_on(plan);

	return davy_action_known(action) ? rows[action] : &act_undo;
}

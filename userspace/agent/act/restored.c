/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Effects that an earlier agent left in force. A supervisor keeps those of its engine, the list of
 * adopted units keeps those of a service. The core undoes them after a clean period, like its own.
 */
#include "agent/agent.h"

#include <string.h>

#include "lib/message.h"
#include "agent/act/acting.h"
#include "agent/act/units.h"
#include "agent/policy/agent_policy.h"

#define RESTORED_MAX 4

static enum davy_hazard hazard_named(const char *name)
{
	int hazard = davy_hazard_from_name(name);

	return hazard < 0 ? DAVY_HZ_NONE : (enum davy_hazard)hazard;
}

static struct davy_event restored_begin(uint32_t workload, enum davy_action action,
					enum davy_hazard hazard)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_RESTORED, 0);

	ev.restored.workload = workload;
	ev.restored.action = (uint8_t)action;
	ev.restored.hazard = (uint8_t)hazard;
	return ev;
}

static void restored_tell(struct davy_link *link, const json_t *effect)
{
	int action = davy_action_from_name(davy_message_text(effect, "rung"));
	int backend = davy_backend_from_name(davy_message_text(effect, "backend"));
	struct davy_event ev = restored_begin(link->workload, DAVY_ACTION_NONE,
					      hazard_named(davy_message_text(effect, "hazard")));

	ev.restored.action = action > 0 ? (uint8_t)action : DAVY_ACTION_NONE;
	ev.restored.backend = backend > 0 ? (uint8_t)backend : 0;
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		json_int_t value = davy_message_number(effect, davy_start_setting_name(i), 0);

		if (value > 0 && !davy_start_setting_set(&ev.restored.settings, i, (uint64_t)value))
			return; /* not from a supervisor of davylamp */
	}
	davy_copy_name(ev.restored.device, sizeof(ev.restored.device),
		       davy_message_text(effect, "device"));
	if (ev.restored.hazard && ev.restored.settings.ubatch)
		ev.restored.depth = davy_agent_ledger_depth(link->agent, link->backend, link->model,
							    ev.restored.settings.ubatch);
	if (davy_event_valid(&ev))
		davy_agent_feed(link->agent, &ev);
}

void davy_restored_by_supervisor(struct davy_link *link, const json_t *message)
{
	const json_t *all = json_object_get(message, "left");

	for (size_t i = 0; i < json_array_size(all) && i < RESTORED_MAX; i++)
		restored_tell(link, json_array_get(all, i));
}

static void tell_move(const struct davy_service *u, const struct davy_adopted_unit *of,
		      enum davy_action action)
{
	struct davy_event ev = restored_begin(u->workload, action, of->moved_for);

	ev.restored.backend = (uint8_t)of->moved_from;
	davy_copy_name(ev.restored.device, sizeof(ev.restored.device), of->moved_off);
	davy_agent_feed(u->agent, &ev);
}

void davy_restored_in_unit(const struct davy_service *u)
{
	const struct davy_adopted_unit *of = davy_unit_adopted(u);
	struct davy_event ev;
	bool cpu;

	if (!of)
		return;
	ev = restored_begin(u->workload, DAVY_ACTION_SHRINK, of->shrunk_for);
	ev.restored.settings = of->settings;
	if (of->derived[0] || !davy_start_settings_none(&of->settings))
		davy_agent_feed(u->agent, &ev);
	cpu = of->backend == DAVY_BACKEND_CPU;
	if ((cpu ? of->before_cpu : of->backend) != DAVY_BACKEND_UNKNOWN)
		tell_move(u, of, DAVY_ACTION_SWITCH);
	if (cpu)
		tell_move(u, of, DAVY_ACTION_MIGRATE_CPU);
}

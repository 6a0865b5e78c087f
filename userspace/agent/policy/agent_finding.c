/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of 'davylamp doctor' and 'davylamp trace discovery': an engine's start failed at a
 * stage. The ledger stores them, and the core handles them like any failure. If the engine is
 * adopted, its next start takes them into account.
 */
#include "agent/agent.h"

#include <string.h>

#include "lib/message.h"
#include "lib/text.h"
#include "agent/policy/agent_policy.h"

static bool model_is_adopted(const struct davy_agent *a, const char *model)
{
	for (size_t i = 0; model[0] && i < DAVY_WORLD_WORKLOADS; i++) {
		const struct davy_workload *w = &a->core.world.workloads[i];

		if (w->id && w->adopted && davy_same_name(w->model, model))
			return true;
	}
	return false;
}

static enum davy_engine finding_engine_named(const char *name)
{
	for (uint32_t i = 0; i < DAVY_ENGINE_COUNT; i++)
		if (!strcmp(name, davy_engine_name((enum davy_engine)i)))
			return (enum davy_engine)i;
	return DAVY_ENGINE_NONE;
}

const char *davy_agent_finding(struct davy_agent *a, const json_t *message, bool adopted)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_FINDING, 0);
	struct davy_ev_finding *f = &ev.finding;
	const char *model = davy_message_text(message, "model");
	json_int_t status = davy_message_number(message, "status", 0);
	int backend = davy_backend_from_name(davy_message_text(message, "backend"));

	if (backend <= 0)
		return "the failed backend is missing or unknown";
	if (status < 0 || status > UINT16_MAX)
		return "invalid exit status";
	davy_text_shown(f->where, sizeof(f->where), davy_message_text(message, "where"));
	if (!f->where[0])
		return "the failed stage is missing";
	davy_text_shown(f->device, sizeof(f->device), davy_message_text(message, "device"));
	davy_text_shown(f->model, sizeof(f->model), model);
	f->status = (int32_t)status;
	f->backend = (uint8_t)backend;
	f->engine = (uint8_t)finding_engine_named(davy_message_text(message, "engine"));
	f->adopted = adopted || model_is_adopted(a, model);
	davy_agent_feed(a, &ev);
	davy_agent_ledger_found(a, f);
	return NULL;
}

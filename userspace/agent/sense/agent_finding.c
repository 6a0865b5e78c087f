/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What 'davylamp doctor' and 'davylamp trace discovery' have found out: an engine's start that came
 * no further than a stage. The ledger keeps it, the core hears of it as of any failure; where the
 * engine is in the agent's care, the next start heeds it.
 */
#include "agent/agent.h"

#include <string.h>

#include "lib/message.h"
#include "lib/text.h"
#include "agent/act/units.h"

/* By its unit, or because an engine with that model is. */
static bool is_adopted(struct dl_agent *a, const char *unit, const char *model)
{
	if (unit[0] && a->units && dl_adopted_find(&a->units->adopted, unit))
		return true;
	for (size_t i = 0; model[0] && i < DL_WORLD_WORKLOADS; i++) {
		const struct dl_workload *w = &a->core.world.workloads[i];

		if (w->id && w->adopted && dl_same_name(w->model, model))
			return true;
	}
	return false;
}

static enum dl_engine engine_named(const char *name)
{
	for (uint32_t i = 0; i < DL_ENGINE_COUNT; i++)
		if (!strcmp(name, dl_engine_name((enum dl_engine)i)))
			return (enum dl_engine)i;
	return DL_ENGINE_NONE;
}

const char *dl_agent_finding(struct dl_agent *a, const json_t *message)
{
	struct dl_event ev = dl_agent_event(DL_EV_FINDING, 0);
	struct dl_ev_finding *f = &ev.finding;
	const char *model = dl_message_text(message, "model");
	json_int_t status = dl_message_number(message, "status", 0);
	int backend = dl_backend_from_name(dl_message_text(message, "backend"));

	if (backend <= 0)
		return "which backend has failed?";
	if (status < 0 || status > UINT16_MAX)
		return "that is no status of a process";
	dl_text_shown(f->where, sizeof(f->where), dl_message_text(message, "where"));
	if (!f->where[0])
		return "at which stage has it failed?";
	dl_text_shown(f->device, sizeof(f->device), dl_message_text(message, "device"));
	dl_text_shown(f->model, sizeof(f->model), model);
	f->status = (int32_t)status;
	f->backend = (uint8_t)backend;
	f->engine = (uint8_t)engine_named(dl_message_text(message, "engine"));
	f->adopted = is_adopted(a, dl_message_text(message, "unit"), model);
	dl_agent_feed(a, &ev);
	dl_agent_ledger_found(a, f);
	return NULL;
}

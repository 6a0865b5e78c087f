/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an agent before this one has left in force: a supervisor remembers it of its engine, the
 * list of adopted units of a service. The core takes it back after a clean period, as its own.
 */
#include "agent/agent.h"

#include <string.h>

#include "lib/message.h"

#define LEFT_MAX 4

static enum dl_hazard hazard_named(const char *name)
{
	int hazard = dl_hazard_from_name(name);

	return hazard < 0 ? DL_HZ_NONE : (enum dl_hazard)hazard;
}

static struct dl_event begin(uint32_t workload, enum dl_rung rung, enum dl_hazard hazard)
{
	struct dl_event ev = dl_agent_event(DL_EV_LEFT, 0);

	ev.left.workload = workload;
	ev.left.rung = (uint8_t)rung;
	ev.left.hazard = (uint8_t)hazard;
	return ev;
}

static void tell(struct dl_link *link, const json_t *left)
{
	const char *rung = dl_message_text(left, "rung");
	int backend = dl_backend_from_name(dl_message_text(left, "backend"));
	struct dl_event ev =
		begin(link->workload, DL_RUNG_NOTE, hazard_named(dl_message_text(left, "hazard")));

	for (uint32_t i = 0; i < DL_RUNG_COUNT; i++)
		if (!strcmp(rung, dl_rung_name((enum dl_rung)i)))
			ev.left.rung = (uint8_t)i;
	ev.left.backend = backend > 0 ? (uint8_t)backend : 0;
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++) {
		json_int_t value = dl_message_number(left, dl_knob_name(i), 0);

		if (value > 0 && !dl_knob_set(&ev.left.knobs, i, (uint64_t)value))
			return; /* of no supervisor of ours */
	}
	dl_copy_name(ev.left.device, sizeof(ev.left.device), dl_message_text(left, "device"));
	if (ev.left.hazard && ev.left.knobs.ubatch)
		ev.left.depth = dl_agent_ledger_depth(link->agent, link->backend, link->model,
						      ev.left.knobs.ubatch);
	if (dl_event_valid(&ev))
		dl_agent_feed(link->agent, &ev);
}

void dl_left_by_supervisor(struct dl_link *link, const json_t *message)
{
	const json_t *all = json_object_get(message, "left");

	for (size_t i = 0; i < json_array_size(all) && i < LEFT_MAX; i++)
		tell(link, json_array_get(all, i));
}

static void tell_move(const struct dl_service *u, const struct dl_adopted_unit *of,
		      enum dl_rung rung)
{
	struct dl_event ev = begin(u->workload, rung, of->moved_for);

	ev.left.backend = (uint8_t)of->moved_from;
	dl_copy_name(ev.left.device, sizeof(ev.left.device), of->moved_off);
	dl_agent_feed(u->agent, &ev);
}

void dl_left_in_unit(const struct dl_service *u)
{
	const struct dl_adopted_unit *of = dl_adopted_find(&u->agent->units->adopted, u->name);
	struct dl_event ev;
	bool cpu;

	if (!of)
		return;
	ev = begin(u->workload, DL_RUNG_SHRINK, of->shrunk_for);
	ev.left.knobs = of->knobs;
	if (of->derived[0] || !dl_knobs_none(&of->knobs))
		dl_agent_feed(u->agent, &ev);
	cpu = of->backend == DL_BACKEND_CPU;
	if ((cpu ? of->before_cpu : of->backend) != DL_BACKEND_UNKNOWN)
		tell_move(u, of, DL_RUNG_SWITCH);
	if (cpu)
		tell_move(u, of, DL_RUNG_MIGRATE_CPU);
}

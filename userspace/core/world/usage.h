/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who uses a device: memory and engine time of each of its clients, so that a plan can tell the
 * victim, whose job timed out, from the culprit. Only core/ includes this.
 */
#ifndef DAVY_USAGE_H
#define DAVY_USAGE_H

#include "core/event/plan.h"
#include "core/world/world.h"

/* Time makes the culprit of a job that is late, memory that of a device that is full. */
enum davy_shortage {
	DAVY_SHORT_OF_NOTHING = 0,
	DAVY_SHORT_OF_TIME = 1,
	DAVY_SHORT_OF_MEMORY = 2,
};

/* Takes over what a client event says, and what KFD says of a process. */
void davy_uses_apply(struct davy_world *w, const struct davy_event *ev);
void davy_uses_forget(struct davy_world *w, uint32_t pid);

/* Fills the plan's shares of its device, and its culprit. Nothing is known: nothing is said. */
void davy_plan_shares(const struct davy_world *w, struct davy_plan *plan,
		      enum davy_shortage shortage, uint64_t now_ns);

#endif

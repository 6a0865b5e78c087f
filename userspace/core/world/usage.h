/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory and engine time per process on a device. A plan needs them to distinguish the victim,
 * whose job timed out, from the culprit. Only core/ includes this.
 */
#ifndef DAVY_USAGE_H
#define DAVY_USAGE_H

#include "core/event/plan.h"
#include "core/world/world.h"

/* The culprit of a late job uses most engine time; the culprit of a full device most memory. */
enum davy_shortage {
	DAVY_SHORT_OF_NOTHING = 0,
	DAVY_SHORT_OF_TIME = 1,
	DAVY_SHORT_OF_MEMORY = 2,
};

/* Applies client events and the KFD counters of a process. */
void davy_uses_apply(struct davy_world *w, const struct davy_event *ev);
void davy_uses_forget(struct davy_world *w, uint32_t pid);

/* Fills the plan's usage of its device and its culprit. Leaves both empty if unknown. */
void davy_plan_usage(const struct davy_world *w, struct davy_plan *plan,
		     enum davy_shortage shortage, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who uses a device: memory and engine time of each of its clients, so that a plan can tell the
 * victim, whose job timed out, from the culprit. Only core/ includes this.
 */
#ifndef DL_CORE_SHARE_H
#define DL_CORE_SHARE_H

#include "core/event/plan.h"
#include "core/world/world.h"

/* Takes over what a client event says, and what KFD says of a process. */
void dl_uses_apply(struct dl_world *w, const struct dl_event *ev);
void dl_uses_forget(struct dl_world *w, uint32_t pid);

/* Fills the plan's shares of its device, and its culprit. Nothing is known: nothing is said. */
void dl_plan_shares(const struct dl_world *w, struct dl_plan *plan, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes when the next tick is due. Only agent.c and the tests include this. */
#ifndef DAVY_AGENT_PACE_H
#define DAVY_AGENT_PACE_H

#include "agent/agent.h"

/*
 * Call it after a tick: returns the time to the next one, in us. The agent rests when no engine and
 * no job runs, no alarm stands, no act is pending, and no event came for NEWS_NS.
 */
uint64_t davy_agent_pace_us(struct davy_agent *a, uint64_t now_ns);

/*
 * Call it before each wait of the loop. True: the rest ends now, the next tick is due in *ret_us.
 */
bool davy_agent_pace_wakes(struct davy_agent *a, uint64_t now_ns, uint64_t *ret_us);

#endif

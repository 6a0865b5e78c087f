/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the next tick is due. agent.c alone includes this, and the tests. */
#ifndef DAVY_AGENT_PACE_H
#define DAVY_AGENT_PACE_H

#include "agent/agent.h"

/*
 * After a tick: the time to the next one, in us. The agent rests when no engine and no job runs,
 * nothing stands or is under way, and no event came for some seconds.
 */
uint64_t davy_agent_pace_us(struct davy_agent *a, uint64_t now_ns);

/* Before each wait of the loop: a rest ends now, the next tick is due in *ret_us. */
bool davy_agent_pace_wakes(struct davy_agent *a, uint64_t now_ns, uint64_t *ret_us);

#endif

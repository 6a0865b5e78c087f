/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an engine is told of what the layers say together, by whatever means: its command, its
 * environment, a configuration file of its own. Pure.
 */
#ifndef DAVY_TOLD_H
#define DAVY_TOLD_H

#include "engines/engine.h"
#include "policy/effective.h"

/*
 * Counts are "at most": who asks for less keeps it. Returns the rules' count where "asked" (0: as
 * the engine likes) is more; 0: it stays as it is.
 */
uint32_t davy_policy_limit(const struct davy_effective *effective, enum davy_policy_key key,
			   uint32_t asked);

/* Where a rule has a knob, enum davy_tuner_knob. */
enum davy_policy_key davy_policy_knob_key(uint32_t knob);

/* What of a start's knobs becomes smaller; 0: it stays as it is. */
void davy_policy_limits(const struct davy_effective *effective,
			const struct davy_engine_facts *facts, struct davy_knobs *ret_knobs);

/* The agent's own finding, which it may take back: no people's or shipped rule. */
bool davy_policy_is_agents(const struct davy_effective *effective, enum davy_policy_key key);

/*
 * The backend that must be named, so that the rules' first is taken: "available" (bit 1 << enum
 * davy_backend) are those that the engine would choose from. UNKNOWN: it comes to that by itself,
 * no rule says anything, or what is available is not known; the CPU is told all the same when it is
 * the only one that the rules leave.
 */
enum davy_backend davy_policy_backend(const struct davy_effective *effective, uint32_t available);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of all layers that an engine must get: in its command, its environment, or a
 * configuration file. Pure.
 */
#ifndef DAVY_APPLIED_H
#define DAVY_APPLIED_H

#include "engines/engine.h"
#include "policy/effective.h"

/*
 * Counts are maximums: a smaller request stays. Returns the rules' count if "asked" (0: the
 * engine's default) is larger; 0: unchanged.
 */
uint32_t davy_policy_limit(const struct davy_effective *effective, enum davy_policy_key key,
			   uint32_t asked);

/* The policy key of a setting, enum davy_start_setting. */
enum davy_policy_key davy_policy_setting_key(uint32_t setting);

/* The settings of a start that become smaller; 0: unchanged. */
void davy_policy_limits(const struct davy_effective *effective,
			const struct davy_engine_facts *facts,
			struct davy_start_settings *ret_settings);

/*
 * Whether the agent itself has found the value and may take it back; not an administrator's or
 * shipped rule.
 */
bool davy_policy_is_agents(const struct davy_effective *effective, enum davy_policy_key key);

/*
 * The backend that an option must select to get the rules' first one: "available" (bit 1 << enum
 * davy_backend) are those that the engine would choose from. UNKNOWN: the engine takes it by
 * default, no rule sets backends, or the available ones are unknown. The CPU is selected even then
 * if it is the only one that the rules permit.
 */
enum davy_backend davy_policy_backend(const struct davy_effective *effective, uint32_t available);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of the fleet as the text of the policy layer "fleet", davylamp-backend.conf(5). */
#ifndef DAVY_FLEET_RULES_H
#define DAVY_FLEET_RULES_H

#include "fleet/judge.h"
#include "policy/rule.h"
#include "store/config_file.h"

/*
 * The text of the rules with the verdict DAVY_FLEET_TAKE and "taken"; the caller frees it. "hosts"
 * and "revision" name the evidence. NULL: no memory, or a reader would refuse the text.
 */
char *davy_fleet_rules_text(const struct davy_fleet_rule *rule, const bool *taken, size_t count,
			    uint64_t hosts, int64_t revision);

/*
 * Checks a text of the layer and writes it into the state directory. The number of rules; -errno,
 * and "error" says why nothing has changed.
 */
int davy_fleet_layer_write(const char *state_dir, const char *text, size_t size,
			   char error[DAVY_CONFIG_ERROR_LEN]);

/* "3 hosts failed with ubatch 512 (4 device_lost)": at most a line of a rule. */
void davy_fleet_rule_reason(const struct davy_fleet_rule *rule, char *text, size_t size);

/* "ubatch 256", "backends cuda, cpu" */
void davy_fleet_rule_value(const struct davy_fleet_rule *rule, char *text, size_t size);

#endif

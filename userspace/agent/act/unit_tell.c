/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the environment file of an adopted unit when the rules give other settings for its next
 * start. The unit is never restarted for that. Checked when the unit starts, when rules change, and
 * periodically, since devices and libraries appear later than engines.
 */
#include "agent/agent.h"

#include "lib/log.h"
#include "agent/act/units.h"

#define RETRY_NS (60 * DAVY_NS_PER_S)

/* Without systemd's reply and the start of the process its own settings are unknown. */
static bool unit_is_known(const struct davy_service *u)
{
	return u->state.active[0] && (u->met || !u->main_pid);
}

void davy_unit_tell_rules(struct davy_service *u)
{
	struct davy_agent *a = u->agent;
	struct davy_adopted_unit *of = davy_unit_adopted(u);
	struct davy_environment above;
	uint32_t version = of ? of->version : 0;
	uint64_t sum;

	if (!of || u->act.plan || of->unproven || !unit_is_known(u))
		return;
	if (davy_unit_rules_early(u, of))
		return;
	if (davy_unit_environment(u, of, &above) || davy_unit_files_sum(a, of, &above, &sum) ||
	    (sum == u->rules_sum && davy_boot_ns() < u->rules_retry_ns))
		return;
	u->rules_sum = sum;
	u->rules_retry_ns = UINT64_MAX;
	if (davy_unit_files_check(a, of))
		return; /* the file would have no effect */
	if (davy_unit_files_write(a, of, &above))
		u->rules_retry_ns = davy_boot_ns() + RETRY_NS;
	if (of->version == version)
		return;
	davy_log("%s: rules set %zu variable%s for its next start (%s/%s.env, version %u)", u->name,
		 u->rules_count, u->rules_count == 1 ? "" : "s", a->units->dir, u->name,
		 of->version);
	davy_units_save(a);
}

void davy_units_tell_rules(struct davy_agent *a)
{
	for (size_t i = 0; a->units && i < DAVY_ADOPTED_MAX; i++)
		if (a->units->unit[i].name[0])
			davy_unit_tell_rules(&a->units->unit[i]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the process of a unit has the variables of its environment file. Until that is verified,
 * a change is unproven.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"
#include "agent/act/units.h"

void davy_unit_prove(struct davy_service *u)
{
	struct davy_adopted_unit *of = davy_unit_adopted(u);

	if (!of || !of->unproven)
		return;
	of->unproven = false;
	davy_units_save(u->agent);
}

int davy_unit_applied(const struct davy_service *u, const struct davy_environment *e, bool tell_why)
{
	struct davy_process_start *start = NULL;
	bool all = true;
	int err;

	if (!e->count || !u->pid)
		return u->pid != 0;
	err = davy_reader_start(u->agent, u->pid, &start);
	if (err)
		return err == -EAGAIN ? -EINPROGRESS : -EAGAIN;
	for (size_t i = 0; all && i < e->count; i++) {
		all = davy_process_start_has(start, e->at[i].name, e->at[i].value);
		if (!all && tell_why)
			davy_log("%s: a setting that comes after davylamp's drop-in changes %s; "
				 "see 'systemctl cat %s'",
				 u->name, e->at[i].name, u->name);
	}
	free(start);
	return all;
}

void davy_unit_settle(struct davy_service *u)
{
	struct davy_adopted_unit *of = davy_unit_adopted(u);
	struct davy_environment e;
	int has = 0;

	u->settle_late = false;
	if (!of || !of->unproven || u->act.plan)
		return;
	if (u->pid && !davy_unit_environment(u, of, &e))
		has = davy_unit_applied(u, &e, false);
	if (has == -EINPROGRESS) {
		u->settle_late = true;
		return;
	}
	if (has > 0) {
		davy_unit_prove(u);
		return;
	}
	of->backend = of->was_backend;
	of->settings = of->was_settings;
	if (davy_unit_environment(u, of, &e) || davy_unit_files_write(u->agent, of, &e))
		return; /* the error was logged; the next start tries again */
	davy_log("%s: an earlier agent changed its environment and ended before the change "
		 "took effect; taken back",
		 u->name);
	davy_unit_prove(u);
}

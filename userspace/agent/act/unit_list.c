/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of adopted services. A list that cannot be read (EIO, EMFILE, ENOMEM) is not replaced:
 * no service is adopted or released until it was read.
 */
#include "agent/agent.h"

#include "lib/log.h"
#include "store/db.h"
#include "agent/act/units.h"

#define UNITS_RETRY_NS (5 * DAVY_NS_PER_S)

static void units_begin(struct davy_agent *a)
{
	struct davy_adopted *adopted = &a->units->adopted;

	for (size_t i = 0; i < adopted->count; i++) {
		struct davy_adopted_unit *of = &adopted->unit[i];
		struct davy_service *u =
			davy_unit_name_valid(of->unit) ? davy_unit_add(a, of->unit) : NULL;

		if (!u)
			continue;
		davy_unit_files_check(a, of);
		davy_unit_look(u);
	}
	davy_units_uncap(a); /* caps of an agent that was killed */
}

int davy_units_read(struct davy_agent *a)
{
	struct davy_units *units = a->units;
	int err = davy_adopted_load(a->options.state_dir, &units->adopted);

	if (err && err != units->unread)
		davy_log(
			"'%s/%s': the list of adopted units cannot be read: %s; it stays "
			"unchanged, its units are not watched, the agent reads it again every %d s",
			a->options.state_dir, DAVY_DB_NAME, davy_db_why(err),
			(int)(UNITS_RETRY_NS / DAVY_NS_PER_S));
	else if (!err && units->unread)
		davy_log("'%s/%s': the list of adopted units was read; its units are watched "
			 "again",
			 a->options.state_dir, DAVY_DB_NAME);
	units->unread = err;
	if (!err)
		units_begin(a);
	return err;
}

void davy_units_read_tick(struct davy_agent *a, uint64_t now_ns)
{
	if (!a->units->unread || now_ns - a->units->tried_ns < UNITS_RETRY_NS)
		return;
	a->units->tried_ns = now_ns;
	davy_units_read(a);
}

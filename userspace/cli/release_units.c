/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/release_units.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "act/unit.h"
#include "lib/log.h"
#include "store/adopted.h"
#include "store/db.h"

struct release {
	sd_event *loop;
	struct davy_systemd *systemd;
	unsigned int open; /* pending answers */
	int error;
};

static void release_units_on_answer(void *arg, const struct davy_unit_answer *answer)
{
	struct release *r = arg;

	if (answer->error && !r->error) {
		r->error = answer->error;
		davy_log("systemd: %s", answer->why);
	}
	if (!--r->open)
		sd_event_exit(r->loop, 0);
}

static int open_systemd(struct release *r)
{
	const struct davy_unit_hooks hooks = { 0 };
	int err = sd_event_new(&r->loop);

	return err < 0 ? err : davy_systemd_new(r->loop, &hooks, &r->systemd);
}

static void close_systemd(struct release *r)
{
	if (r->systemd)
		davy_systemd_free(r->systemd);
	sd_event_unref(r->loop);
}

/* The loop ends when systemd has answered, or after the time limit. */
static int release_units_uncap(const struct davy_adopted_unit *u)
{
	struct release r = { .open = 2 };
	int err = open_systemd(&r);

	if (!err)
		err = davy_unit_limits(r.systemd, u->unit, u->memory_high, u->cpu_quota,
				       release_units_on_answer, &r);
	if (!err)
		err = sd_event_loop(r.loop);
	close_systemd(&r);
	return err < 0 ? err : r.error;
}

void davy_release_units(const char *state_dir, struct davy_undone *undone)
{
	struct davy_adopted list;
	int err = davy_adopted_load(state_dir, &list);

	if (err) {
		davy_log("'%s/%s': %s; capped services cannot be restored", state_dir, DAVY_DB_NAME,
			 davy_db_why(err));
		undone->failed++;
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct davy_adopted_unit *u = &list.unit[i];

		if (!u->capped)
			continue;
		err = davy_unit_name_valid(u->unit) ? release_units_uncap(u) : -EINVAL;
		if (err)
			davy_log("'%s': its limits cannot be removed: %s", u->unit, strerror(-err));
		undone->failed += err != 0;
		undone->undone += !err;
		err = err ? 0 : davy_adopted_uncapped(state_dir, u->unit);
		if (err)
			davy_log("'%s/%s': %s", state_dir, DAVY_DB_NAME, davy_db_why(err));
	}
}

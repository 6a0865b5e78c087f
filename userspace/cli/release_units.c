/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/release_units.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "act/unit.h"
#include "lib/file.h"
#include "lib/file_lock.h"
#include "lib/log.h"
#include "store/adopted.h"

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
static int uncap(const struct davy_adopted_unit *u)
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

/* Clears only the marks: another command may have changed the list. */
static int units_uncapped(const char *state_dir, const struct davy_adopted *done)
{
	DAVY_FILE_LOCK lock = { .fd = -1 };
	char path[PATH_MAX];
	struct davy_adopted list;
	int line, err = davy_root_path(path, sizeof(path), "%s/" DAVY_ADOPTED_NAME, state_dir);

	if (!err)
		err = davy_file_lock_take(&lock, path, DAVY_LOCK_COMMAND_MS);
	if (!err)
		err = davy_adopted_load(state_dir, &list, &line);
	for (size_t i = 0; !err && i < done->count; i++) {
		struct davy_adopted_unit *u = davy_adopted_find(&list, done->unit[i].unit);

		if (u && !done->unit[i].capped)
			u->capped = false;
	}
	return err ? err : davy_adopted_save(state_dir, &list);
}

void davy_release_units(const char *state_dir, struct davy_undone *undone)
{
	struct davy_adopted list;
	bool changed = false;
	int line, err = davy_adopted_load(state_dir, &list, &line);

	if (err) {
		davy_log("'%s/%s', line %d: %s; capped services cannot be restored", state_dir,
			 DAVY_ADOPTED_NAME, line, strerror(-err));
		undone->failed++;
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		struct davy_adopted_unit *u = &list.unit[i];

		if (!u->capped)
			continue;
		err = davy_unit_name_valid(u->unit) ? uncap(u) : -EINVAL;
		if (err)
			davy_log("'%s': its limits cannot be removed: %s", u->unit, strerror(-err));
		u->capped = err != 0;
		changed |= !err;
		undone->failed += err != 0;
		undone->undone += !err;
	}
	err = changed ? units_uncapped(state_dir, &list) : 0;
	if (err)
		davy_log("'%s/%s': %s", state_dir, DAVY_ADOPTED_NAME, strerror(-err));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/event/plan.h"
#include "lib/file.h"
#include "act/caps.h"
#include "act/cgroup.h"
#include "act/freeze.h"

#define THAW_LOOKS 20
#define LOOK_NS	   5000000

static int undo_nothing(char why[DAVY_REASON_LEN], const char *text)
{
	snprintf(why, DAVY_REASON_LEN, "%s", text);
	return 1;
}

/* The freezer of an ancestor may keep it frozen; that is not ours. */
static int see_thawed(int dir_fd)
{
	DAVY_FD events_fd = openat(dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	const struct timespec look = { .tv_nsec = LOOK_NS };
	struct davy_cgroup_events events = { 0 };

	for (int i = 0; i < THAW_LOOKS; i++) {
		int err = events_fd < 0 ? -errno : davy_cgroup_events_read(events_fd, &events);

		if (err)
			return err;
		if (!events.frozen)
			return 0;
		nanosleep(&look, NULL);
	}
	return -EBUSY;
}

static int undo_thaw(int dir_fd, const struct davy_intent *intent, char why[DAVY_REASON_LEN])
{
	int err = davy_cgroup_wants_frozen(dir_fd);

	if (!err)
		return undo_nothing(why, "not frozen");
	if (err > 0 && intent->old_value[0] == '1')
		return undo_nothing(why, "another program had frozen it before");
	if (err > 0)
		err = davy_cgroup_freeze(dir_fd, false);
	if (!err)
		err = see_thawed(dir_fd);
	return err == -ENODEV ? undo_nothing(why, "its cgroup was removed") : err;
}

static int undo_go_on(const struct davy_intent *intent, char why[DAVY_REASON_LEN])
{
	struct davy_tree tree;
	int err = davy_tree_open(&tree, intent->pid, intent->start_ticks);

	if (err == -ESRCH)
		return undo_nothing(why, "its process has ended");
	if (err)
		return err;
	err = davy_tree_root_stopped(&tree);
	if (err == 1) {
		davy_tree_find(&tree);
		davy_tree_continue(&tree);
	}
	davy_tree_close(&tree);
	return err == 1 ? 0 : undo_nothing(why, err ? "its process has ended" : "not stopped");
}

/* The guard freezes the cgroup if it has a freezer, else the processes. */
static int undo_release(const struct davy_intent *intent, char why[DAVY_REASON_LEN])
{
	int fd = intent->cgroup[0] ? davy_cgroup_open(intent->cgroup) : -ENOENT;
	int err = -ENOENT;

	if (fd >= 0) {
		err = undo_thaw(fd, intent, why);
		close(fd);
	}
	if (fd < 0 || err == -ENOENT || err == -ENOTSUP)
		err = undo_go_on(intent, why);
	return err;
}

int davy_undo(const struct davy_intent *intent, const char *boot_id, char why[DAVY_REASON_LEN])
{
	int err;

	why[0] = 0;
	if (boot_id[0] && intent->boot_id[0] && strcmp(boot_id, intent->boot_id) != 0)
		return undo_nothing(why, "the host was rebooted since");
	if (intent->file[0]) {
		err = davy_value_undo(intent);
		return err == 1 ? undo_nothing(why, "another program changed the value") : err;
	}
	if (davy_action_freezes(intent->action))
		return undo_release(intent, why);
	return undo_nothing(why, "its supervisor completes it");
}

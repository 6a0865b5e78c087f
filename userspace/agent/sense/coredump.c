/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves a device coredump and then releases it. A child does this, because a driver may take long
 * to print the dump. The kernel keeps one dump per device for five minutes. After the release, the
 * next failure can write its dump.
 */
#include "agent/agent.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "act/watch.h"
#include "lib/child.h"
#include "lib/file.h"
#include "lib/log.h"
#include "store/incident_dir.h"
#include "agent/sense/tracker.h"

struct saving {
	struct davy_agent *agent;
	const char *name; /* in the child only */
	struct davy_child child;
	sd_event_source *source;
	struct davy_event ev; /* fed when the dump is saved */
};

static void coredump_save(struct davy_event *ev, const char *state_dir, const char *name)
{
	char path[PATH_MAX], prefix[96];
	int64_t kept;

	snprintf(prefix, sizeof(prefix), "%s-%s.devcoredump",
		 ev->device.device[0] ? ev->device.device : "device", name);
	if (davy_root_path(path, sizeof(path), "/sys/class/devcoredump/%s/data", name))
		return;
	kept = davy_incident_keep(state_dir, path, prefix, ev->device.detail,
				  sizeof(ev->device.detail));
	ev->device.value = kept < 0 ? (int32_t)kept : (int32_t)((kept + 1023) >> 10);
	if (kept >= 0)
		davy_write_file(path, "1");
}

static int coredump_run(void *arg)
{
	struct saving *saving = arg;

	coredump_save(&saving->ev, saving->agent->options.state_dir, saving->name);
	return write(STDOUT_FILENO, &saving->ev, sizeof(saving->ev)) < 0;
}

static int on_saved(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct saving *saving = arg;
	struct davy_event ev;

	(void)source;
	(void)events;
	if (read(fd, &ev, sizeof(ev)) == sizeof(ev) && ev.kind == DAVY_EV_DEVICE)
		saving->ev = ev;
	if (saving->ev.device.value < 0)
		davy_log("coredump of '%s': not saved: %s", saving->ev.device.device,
			 strerror(-saving->ev.device.value));
	sd_event_source_disable_unref(saving->source);
	davy_child_leave(&saving->child); /* it is about to exit */
	davy_agent_feed(saving->agent, &saving->ev);
	free(saving);
	return 0;
}

static int coredump_start(struct saving *saving)
{
	const struct davy_child_spec spec = {
		.run = coredump_run, .arg = saving, .death_signal = SIGKILL, .name = "davylamp-dump"
	};
	int err, fd = davy_child_start_piped(&spec, 0, &saving->child);

	if (fd < 0)
		return fd;
	err = davy_watch(saving->agent->loop, &saving->source, fd, on_saved, saving);
	if (err < 0)
		davy_child_leave(&saving->child);
	return err;
}

void davy_agent_coredump(struct davy_agent *a, const char *name, const char *device, uint64_t at_ns)
{
	struct saving *saving = calloc(1, sizeof(*saving));
	int err;

	if (!saving)
		return;
	saving->agent = a;
	saving->name = name;
	saving->ev = davy_agent_event(DAVY_EV_DEVICE, 0);
	saving->ev.at_ns = at_ns;
	saving->ev.device.change = DAVY_DEVICE_COREDUMP;
	saving->ev.device.value = -EIO; /* unless the child reports another result */
	davy_copy_name(saving->ev.device.device, sizeof(saving->ev.device.device), device);
	err = coredump_start(saving);
	if (err < 0) {
		davy_log("coredump of '%s': not saved: %s", device, strerror(-err));
		free(saving);
	}
}

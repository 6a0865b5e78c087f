/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads uevents of the kernel from the event loop. */
#include "agent/agent.h"

#include <string.h>

#include "act/watch.h"
#include "lib/log.h"
#include "agent/sense/tracker.h"

static void on_device(void *arg, const struct davy_event *ev)
{
	davy_agent_feed(arg, ev);
}

static void uevents_on_changed(void *arg, bool leaving)
{
	davy_agent_kfd_changed(arg, leaving); /* first: the driver does not wait */
	davy_agent_gpus_changed(arg);
}

static void on_coredump(void *arg, const char *name, const char *device, uint64_t at_ns)
{
	davy_agent_coredump(arg, name, device, at_ns);
}

static int uevents_on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;

	(void)source;
	(void)fd;
	(void)events;
	davy_uevents_read(a->uevents, davy_boot_ns());
	return 0;
}

void davy_agent_uevents_open(struct davy_agent *a)
{
	struct davy_uevents_hooks hooks = { on_device, uevents_on_changed, on_coredump, a };
	int err = davy_uevents_new(&hooks, &a->uevents);

	if (!err)
		err = davy_watch_copy(a->loop, NULL, davy_uevents_fd(a->uevents),
				      uevents_on_readable, a);
	if (err < 0)
		davy_log("uevents: %s; the agent lists devices every ten seconds instead",
			 strerror(-err));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's announcements, on their way into the loop; coredumps are kept and released. */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/file.h"
#include "../lib/log.h"
#include "../store/incident.h"

static void on_device(void *arg, const struct dl_event *ev)
{
	dl_agent_feed(arg, ev);
}

static void on_changed(void *arg, bool leaving)
{
	dl_agent_kfd_changed(arg, leaving); /* first: the driver goes on meanwhile */
	dl_agent_gpus_changed(arg);
}

struct saving {
	struct dl_agent *agent;
	pid_t pid;
	struct dl_event ev; /* as it is to be told */
};

/*
 * Of a child process: a driver may take long to print what it kept. The kernel holds one dump
 * per device, for five minutes: released, the next failure leaves its own.
 */
static void save(struct dl_event *ev, const char *state_dir, const char *name)
{
	char path[PATH_MAX], prefix[96];
	int64_t kept;

	snprintf(prefix, sizeof(prefix), "%s-%s.devcoredump",
		 ev->device.device[0] ? ev->device.device : "device", name);
	if (dl_root_path(path, sizeof(path), "/sys/class/devcoredump/%s/data", name))
		return;
	kept = dl_incident_keep(state_dir, path, prefix, ev->device.detail,
				sizeof(ev->device.detail));
	ev->device.value = kept < 0 ? (int32_t)kept : (int32_t)((kept + 1023) >> 10);
	if (kept >= 0)
		dl_write_file(path, "1");
}

static int on_saved(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct saving *saving = arg;
	struct dl_event ev;

	(void)events;
	if (read(fd, &ev, sizeof(ev)) == sizeof(ev) && ev.kind == DL_EV_DEVICE)
		saving->ev = ev;
	if (saving->ev.device.value < 0)
		dl_log("coredump of '%s': not kept: %s", saving->ev.device.device,
		       strerror(-saving->ev.device.value));
	dl_agent_feed(saving->agent, &saving->ev);
	close(fd);
	waitpid(saving->pid, NULL, 0); /* its pipe is closed: it is about to end */
	free(saving);
	sd_event_source_disable_unref(source);
	return 0;
}

static int start_saving(struct saving *saving, const char *name)
{
	struct dl_agent *a = saving->agent;
	sd_event_source *source;
	int fd[2], err;

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	saving->pid = fork();
	if (!saving->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		save(&saving->ev, a->options.state_dir, name);
		_exit(write(fd[1], &saving->ev, sizeof(saving->ev)) < 0);
	}
	err = saving->pid < 0 ? -errno : 0;
	close(fd[1]);
	if (!err)
		err = sd_event_add_io(a->loop, &source, fd[0], EPOLLIN, on_saved, saving);
	if (err < 0)
		close(fd[0]);
	return err < 0 ? err : 0;
}

static void on_coredump(void *arg, const char *name, const char *device, uint64_t at_ns)
{
	struct saving *saving = calloc(1, sizeof(*saving));
	int err;

	if (!saving)
		return;
	saving->agent = arg;
	saving->ev = dl_agent_event(DL_EV_DEVICE, 0);
	saving->ev.at_ns = at_ns;
	saving->ev.device.change = DL_DEVICE_COREDUMP;
	saving->ev.device.value = -EIO; /* unless the child says better */
	dl_copy_name(saving->ev.device.device, sizeof(saving->ev.device.device), device);
	err = start_saving(saving, name);
	if (err) {
		dl_log("coredump of '%s': not kept: %s", device, strerror(-err));
		free(saving);
	}
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct dl_agent *a = arg;

	(void)source;
	(void)fd;
	(void)events;
	dl_uevents_read(a->uevents, dl_boot_ns());
	return 0;
}

void dl_agent_uevents_open(struct dl_agent *a)
{
	struct dl_uevents_hooks hooks = { on_device, on_changed, on_coredump, a };
	int err = dl_uevents_new(&hooks, &a->uevents);

	if (!err)
		err = sd_event_add_io(a->loop, NULL, dl_uevents_fd(a->uevents), EPOLLIN,
				      on_readable, a);
	if (err < 0)
		dl_log("uevents: %s; devices are looked for every ten seconds instead",
		       strerror(-err));
}

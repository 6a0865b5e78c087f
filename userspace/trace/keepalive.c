/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/keepalive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/file.h"
#include "sensors/proc/elf_site.h"

#define GROUP	  "davylamp_%d"
#define NS_PER_MS 1000000
#define END_MS	  1000

struct davy_keepalive {
	int tracefs;		 /* a detached mount of tracefs */
	int first;		 /* the event in our process that keeps the probe defined */
	int second;		 /* the event in the other process; -1: none */
	struct davy_child other; /* a process that only waits */
	unsigned int id;
};

/* The place of the probe. Exported for it, never called. */
__attribute__((noinline, used, visibility("default"))) void davy_keepalive_place(void)
{
	__asm__ volatile("nop");
}

/* A detached mount: some hosts have tracefs elsewhere or not mounted. */
static int mount_tracefs(void)
{
	DAVY_FD fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -errno;
	fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static int keepalive_tell(const struct davy_keepalive *w, const char *text)
{
	DAVY_FD fd = openat(w->tracefs, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return davy_write_all(fd, text, strlen(text));
}

/* The file offset of davy_keepalive_place in our executable. */
static int place_offset(uint64_t *ret_offset)
{
	unsigned long begin, end, offset, at = (unsigned long)(uintptr_t)davy_keepalive_place;
	char *line = NULL;
	size_t size = 0;
	DAVY_FILE maps = fopen("/proc/self/maps", "re");
	int err = -ENOENT;

	while (err && maps && getline(&line, &size, maps) > 0) {
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) != 3 || at < begin ||
		    at >= end)
			continue;
		*ret_offset = at - begin + offset;
		err = 0;
	}
	free(line);
	return err;
}

static int keepalive_define(struct davy_keepalive *w)
{
	char text[128], name[128], number[32] = "";
	uint64_t offset;
	int err = place_offset(&offset);
	DAVY_FD fd = -1;

	if (err)
		return err;
	snprintf(text, sizeof(text), "p:" GROUP "/warm /proc/self/exe:0x%llx\n", getpid(),
		 (unsigned long long)offset);
	err = keepalive_tell(w, text);
	if (err)
		return err;
	snprintf(name, sizeof(name), "events/" GROUP "/warm/id", getpid());
	fd = openat(w->tracefs, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || davy_read_fd(fd, number, sizeof(number)) <= 0)
		return -ENOENT;
	w->id = (unsigned int)strtoul(number, NULL, 10);
	return w->id ? 0 : -ENOENT;
}

/*
 * For one process only: with an event for all processes, or a second one in the same address space,
 * the probe would not be applied again (kernel/trace/trace_uprobe.c, __uprobe_perf_filter).
 */
static int keepalive_open_event(const struct davy_keepalive *w, pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = w->id,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int keepalive_wait(void *arg)
{
	while (!arg)
		pause();
	return 0;
}

/* Ends with us. In its own session: a terminal's signals must not reach it. */
static int keepalive_start_other(struct davy_child *ret_child)
{
	const struct davy_child_spec spec = { .run = keepalive_wait,
					      .stdio = { 0, 0, DAVY_CHILD_NULL },
					      .own_session = true,
					      .death_signal = SIGKILL };

	return davy_child_start(&spec, ret_child);
}

int davy_keepalive_open(struct davy_keepalive **ret_keepalive)
{
	struct davy_keepalive *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->first = w->second = -1;
	w->tracefs = mount_tracefs();
	err = w->tracefs < 0 ? w->tracefs : keepalive_define(w);
	if (!err)
		err = w->first = keepalive_open_event(w, 0);
	if (err >= 0)
		err = keepalive_start_other(&w->other);
	if (err < 0) {
		davy_keepalive_close(w);
		return err;
	}
	*ret_keepalive = w;
	return 0;
}

void davy_keepalive_close(struct davy_keepalive *w)
{
	char text[64];

	if (!w)
		return;
	davy_child_end(&w->other, END_MS);
	if (w->second >= 0)
		close(w->second);
	if (w->first >= 0)
		close(w->first);
	if (w->id) {
		snprintf(text, sizeof(text), "-:" GROUP "/warm\n", getpid());
		(void)keepalive_tell(w, text);
	}
	if (w->tracefs >= 0)
		close(w->tracefs);
	free(w);
}

void davy_keepalive_again(struct davy_keepalive *w)
{
	if (w->second >= 0) {
		close(w->second);
		w->second = -1;
		return;
	}
	w->second = keepalive_open_event(w, w->other.pid);
}

/* One tick: the resolution of the coarse clock. */
long davy_keepalive_every_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec < NS_PER_MS)
		return NS_PER_MS;
	return tick.tv_nsec;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/uprobes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/file.h"

#define LINKS_MAX  400 /* each has up to two descriptors */
#define TAKERS	   16  /* threads */
#define EVENT_TYPE "/sys/bus/event_source/devices/uprobe/type"

struct probe {
	int link;
	int event; /* -1: link only */
};

struct davy_uprobes {
	uint32_t type; /* perf event type of uprobes */
	bool singly;   /* Linux before 6.6 */
	struct probe probe[LINKS_MAX];
	size_t count;
	atomic_size_t taken;
};

/* link_create of bpf_attr since Linux 6.6 (include/uapi/linux/bpf.h, uprobe_multi). */
struct multi {
	uint32_t program;
	uint32_t target;
	uint32_t type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_counters;
	uint64_t cookies;
	uint32_t count;
	uint32_t probe_flags;
	uint32_t pid; /* 0: all */
	uint32_t pad;
};

int davy_uprobes_new(struct davy_uprobes **ret_uprobes)
{
	struct davy_uprobes *u;
	char type[16] = "";

	if (davy_read_file(EVENT_TYPE, type, sizeof(type)) <= 0)
		return -ENOENT;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->type = (uint32_t)strtoul(type, NULL, 10);
	*ret_uprobes = u;
	return 0;
}

static void *take_away(void *arg)
{
	struct davy_uprobes *u = arg;
	size_t i;

	while ((i = atomic_fetch_add(&u->taken, 1)) < u->count) {
		close(u->probe[i].link);
		if (u->probe[i].event >= 0)
			close(u->probe[i].event);
	}
	return NULL;
}

/* Each removal waits for RCU grace periods; threads wait for them in parallel. */
void davy_uprobes_free(struct davy_uprobes *u)
{
	pthread_t thread[TAKERS];
	size_t threads = 0;

	if (!u)
		return;
	while (threads < TAKERS && threads < u->count &&
	       !pthread_create(&thread[threads], NULL, take_away, u))
		threads++;
	(void)take_away(u);
	while (threads)
		pthread_join(thread[--threads], NULL);
	free(u);
}

static int uprobes_keep(struct davy_uprobes *u, int link, int event)
{
	u->probe[u->count].link = link;
	u->probe[u->count++].event = event;
	return 0;
}

static int put_multi(struct davy_uprobes *u, int program, const char *path, const uint64_t *offsets,
		     const uint64_t *cookies, size_t count)
{
	struct multi attr = { .program = (uint32_t)program,
			      .type = DAVY_UPROBE_MULTI,
			      .path = (uint64_t)(uintptr_t)path,
			      .offsets = (uint64_t)(uintptr_t)offsets,
			      .cookies = (uint64_t)(uintptr_t)cookies,
			      .count = (uint32_t)count };
	int link;

	if (u->count == LINKS_MAX)
		return -ENOSPC;
	link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return link < 0 ? -errno : uprobes_keep(u, link, -1);
}

static int put_event(struct davy_uprobes *u, int program, const char *path, uint64_t offset,
		     uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	struct perf_event_attr attr = { .type = u->type,
					.size = sizeof(attr),
					.uprobe_path = (uint64_t)(uintptr_t)path,
					.probe_offset = offset };
	int event, link, err;

	if (u->count == LINKS_MAX)
		return -ENOSPC;
	event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	link = bpf_link_create(program, event, BPF_PERF_EVENT, &opts);
	if (link >= 0)
		return uprobes_keep(u, link, event);
	err = -errno;
	close(event);
	return err;
}

/* One by one: uprobe_multi fails as a whole if one place fails. */
static int put_one(struct davy_uprobes *u, int program, const char *path, uint64_t offset,
		   uint64_t cookie)
{
	int err;

	if (u->singly)
		return put_event(u, program, path, offset, cookie);
	err = put_multi(u, program, path, &offset, &cookie, 1);
	if (err != -EINVAL)
		return err;
	err = put_event(u, program, path, offset, cookie);
	u->singly = !err; /* no kernel accepts both for the same program */
	return err;
}

int davy_uprobes_put(struct davy_uprobes *u, int program, const char *path, const uint64_t *offsets,
		     const uint64_t *cookies, size_t count)
{
	int put = 0, err = 0, first = 0;

	if (!u->singly && count > 1 && !put_multi(u, program, path, offsets, cookies, count))
		return (int)count;
	for (size_t i = 0; i < count; i++) {
		err = put_one(u, program, path, offsets[i], cookies[i]);
		if (!err)
			put++;
		else if (!first)
			first = err;
	}
	return put ? put : first;
}

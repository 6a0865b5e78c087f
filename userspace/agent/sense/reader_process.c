/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers' processes: starting, replacing, and their status. */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"

#define FAILURES_MAX  6 /* failed starts that double the pause */
#define ADDRESS_SPACE ((rlim_t)256 << 20)
#define FILES_MAX     64

#ifdef __SANITIZE_ADDRESS__
#define LIMITS_FROM 1 /* its shadow memory needs terabytes of address space */
#else
#define LIMITS_FROM 0
#endif

static int reader_process_on_answer(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;

	(void)source;
	(void)events;
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (a->readers.at[i].worker.fd == fd) {
			davy_reader_receive(a, &a->readers.at[i]);
			break;
		}
	davy_readers_go_on(a);
	return 0;
}

static int reader_begin(struct davy_agent *a, struct davy_reader *r)
{
	static const struct davy_child_limit limits[] = { { RLIMIT_AS, ADDRESS_SPACE },
							  { RLIMIT_NOFILE, FILES_MAX },
							  { RLIMIT_CORE, 0 },
							  { RLIMIT_FSIZE, 0 } };
	char root[PATH_MAX] = "";
	char *argv[] = { (char *)"davylamp-reader", (char *)"look", (char *)DAVY_LOOK_VERSION, root,
			 NULL };
	char *envp[] = { NULL };
	struct davy_child_spec spec = { .path = a->readers.path,
					.argv = argv,
					.envp = envp,
					.limits = limits + LIMITS_FROM,
					.limit_count =
						sizeof(limits) / sizeof(limits[0]) - LIMITS_FROM };
	int err;

	if (davy_root_path(root, sizeof(root), "%s", "") || !root[0])
		argv[3] = NULL;
	err = davy_worker_begin(a->loop, &r->worker, &spec, sizeof(struct davy_look_start),
				reader_process_on_answer, a);
	if (err)
		return err;
	r->begun_ns = 0;
	r->answered = false;
	return 0;
}

static void readers_say_off(struct davy_agent *a, int err)
{
	if (!a->readers.off_reported)
		davy_log("cannot start '%s': %s; until it can, no process is inspected",
			 a->readers.path, strerror(-err));
	a->readers.off_reported = true;
}

void davy_readers_keep(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_readers *p = &a->readers;
	int err;

	davy_workers_reap(&p->stuck);
	if (!p->path[0] || now_ns < p->retry_ns)
		return;
	for (size_t i = 0; i < DAVY_READERS; i++) {
		if (p->at[i].worker.fd >= 0 || davy_workers_stuck(&p->stuck) >= DAVY_WORKERS_STUCK)
			continue;
		err = reader_begin(a, &p->at[i]);
		p->failures++;
		if (err)
			readers_say_off(a, err);
		if (err || p->failures > DAVY_READERS) /* otherwise a lost reader is replaced */
			p->retry_ns = now_ns + davy_worker_pause_ns(
						       p->failures - (err != 0 ? 0 : DAVY_READERS),
						       FAILURES_MAX);
		if (err)
			return;
	}
}

static void readers_find(struct davy_agent *a)
{
	struct davy_readers *p = &a->readers;
	int err = p->given ? 0 : davy_program_path("davylamp-reader", p->path, sizeof(p->path));

	if (!err)
		return;
	davy_log("'%s' is missing (%s): no engine can be recognised; install it beside davylamp",
		 p->path, strerror(-err));
	p->path[0] = 0;
}

void davy_readers_open(struct davy_agent *a)
{
	struct davy_readers *p = &a->readers;

	for (size_t i = 0; i < DAVY_READERS; i++)
		p->at[i].worker = DAVY_WORKER_NONE;
	readers_find(a);
	davy_readers_tick(a, davy_boot_ns());
}

void davy_readers_close(struct davy_agent *a)
{
	struct davy_readers *p = &a->readers;

	if (p->scan)
		closedir(p->scan);
	p->scan = NULL;
	for (size_t i = 0; i < DAVY_STARTS_ASKED; i++)
		free(p->asked[i].start);
	memset(p->asked, 0, sizeof(p->asked));
	p->path[0] = 0;
	for (size_t i = 0; i < DAVY_READERS; i++) {
		if (p->at[i].worker.fd >= 0)
			davy_worker_end(&p->at[i].worker, &p->stuck);
	}
	davy_workers_wait(&p->stuck);
}

static size_t readers_live(const struct davy_readers *p)
{
	size_t count = 0;

	for (size_t i = 0; i < DAVY_READERS; i++)
		count += p->at[i].worker.fd >= 0;
	return count;
}

void davy_readers_sensor(const struct davy_agent *a, struct davy_ev_sensor *ret_sensor)
{
	const struct davy_readers *p = &a->readers;
	size_t live = readers_live(p);

	memset(ret_sensor, 0, sizeof(*ret_sensor));
	davy_copy_name(ret_sensor->name, sizeof(ret_sensor->name), "reader");
	ret_sensor->state = live ? DAVY_SENSOR_LIVE : DAVY_SENSOR_REFUSED;
	ret_sensor->count = live;
	if (!live)
		snprintf(ret_sensor->reason, sizeof(ret_sensor->reason), "%s",
			 p->path[0] ? "cannot be started, or hangs; see the agent's log"
				    : "davylamp-reader is missing: install it beside davylamp");
	else if (p->lost_count || p->queue.evicted_count)
		snprintf(
			ret_sensor->reason, sizeof(ret_sensor->reason),
			"%llu inspections lost to readers that hung or died, %llu for lack of room",
			(unsigned long long)p->lost_count,
			(unsigned long long)p->queue.evicted_count);
}

json_t *davy_readers_status(const struct davy_agent *a)
{
	const struct davy_readers *p = &a->readers;

	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "live", (json_int_t)readers_live(p), "stuck",
			 (json_int_t)davy_workers_stuck(&p->stuck), "waiting",
			 (json_int_t)p->queue.count, "lost", (json_int_t)p->lost_count, "evicted",
			 (json_int_t)p->queue.evicted_count);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers' processes: starting, ending, replacing, and their status. */
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "act/watch.h"
#include "lib/file.h"
#include "lib/log.h"

#define RETRY_NS      DAVY_NS_PER_S
#define FAILURES_MAX  6 /* failed starts that double the pause */
#define END_MS	      500
#define ADDRESS_SPACE ((rlim_t)256 << 20)
#define FILES_MAX     64
#define PACKET_BYTES  ((int)sizeof(struct davy_look_start) + 4096)

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
		if (a->readers.at[i].fd == fd) {
			davy_reader_receive(a, &a->readers.at[i]);
			break;
		}
	davy_readers_go_on(a);
	return 0;
}

static int reader_spawn(const struct davy_agent *a, int fd, struct davy_child *ret_child)
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
					.fds = &fd,
					.fd_count = 1,
					.limits = limits + LIMITS_FROM,
					.limit_count =
						sizeof(limits) / sizeof(limits[0]) - LIMITS_FROM };

	if (davy_root_path(root, sizeof(root), "%s", "") || !root[0])
		argv[3] = NULL;
	return davy_child_start(&spec, ret_child);
}

static int reader_begin(struct davy_agent *a, struct davy_reader *r)
{
	int pair[2], size = PACKET_BYTES, err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	err = reader_spawn(a, pair[1], &r->child);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	err = davy_watch(a->loop, &r->source, pair[0], reader_process_on_answer, a);
	if (err) {
		davy_child_end(&r->child, END_MS);
		return err;
	}
	r->fd = pair[0];
	r->begun_ns = 0;
	r->answered = false;
	return 0;
}

void davy_reader_end(struct davy_agent *a, struct davy_reader *r)
{
	struct davy_readers *p = &a->readers;

	r->source = sd_event_source_disable_unref(r->source); /* closes the socket */
	r->fd = -1;
	davy_child_kill(&r->child, SIGKILL);
	/* A killed process may stay in the kernel for long: it is counted, not waited for. */
	for (size_t i = 0; r->child.pid > 0 && i < DAVY_READERS_STUCK; i++)
		if (p->stuck[i].pid <= 0) {
			p->stuck[i] = r->child;
			r->child = DAVY_CHILD_NONE;
		}
	davy_child_leave(&r->child);
}

static size_t readers_stuck(struct davy_readers *p)
{
	size_t count = 0;

	for (size_t i = 0; i < DAVY_READERS_STUCK; i++) {
		davy_child_reap(&p->stuck[i], NULL);
		count += p->stuck[i].pid > 0;
	}
	return count;
}

static void readers_say_off(struct davy_agent *a, int err)
{
	if (!a->readers.off_told)
		davy_log("cannot start '%s': %s; until it can, no process is inspected",
			 a->readers.path, strerror(-err));
	a->readers.off_told = true;
}

void davy_readers_keep(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_readers *p = &a->readers;
	size_t stuck = readers_stuck(p);
	int err;

	if (!p->path[0] || now_ns < p->retry_ns)
		return;
	for (size_t i = 0; i < DAVY_READERS; i++) {
		if (p->at[i].fd >= 0 || stuck >= DAVY_READERS_STUCK)
			continue;
		err = reader_begin(a, &p->at[i]);
		p->failures++;
		if (err)
			readers_say_off(a, err);
		if (err || p->failures > DAVY_READERS) { /* otherwise a lost reader is replaced */
			uint32_t times = p->failures - (err != 0 ? 0 : DAVY_READERS);

			p->retry_ns = now_ns +
				      (RETRY_NS << (times < FAILURES_MAX ? times : FAILURES_MAX));
		}
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

	for (size_t i = 0; i < DAVY_READERS; i++) {
		p->at[i].fd = -1;
		p->at[i].child = DAVY_CHILD_NONE;
	}
	for (size_t i = 0; i < DAVY_READERS_STUCK; i++)
		p->stuck[i] = DAVY_CHILD_NONE;
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
		if (p->at[i].fd >= 0)
			davy_reader_end(a, &p->at[i]);
	}
	for (size_t i = 0; i < DAVY_READERS_STUCK; i++)
		davy_child_wait(&p->stuck[i], p->stuck[i].pid > 0 ? END_MS : 0, NULL);
}

static size_t readers_live(const struct davy_readers *p)
{
	size_t count = 0;

	for (size_t i = 0; i < DAVY_READERS; i++)
		count += p->at[i].fd >= 0;
	return count;
}

static size_t readers_stuck_now(const struct davy_readers *p)
{
	size_t count = 0;

	for (size_t i = 0; i < DAVY_READERS_STUCK; i++)
		count += p->stuck[i].pid > 0;
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
			 (json_int_t)readers_stuck_now(p), "waiting", (json_int_t)p->queue.count,
			 "lost", (json_int_t)p->lost_count, "evicted",
			 (json_int_t)p->queue.evicted_count);
}

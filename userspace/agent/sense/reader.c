/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schedules the readers' work. reader_process.c has the processes, reader_answer.c the replies. */
#include "agent/agent.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"
#include "sensors/proc/process_account.h"
#include "agent/sense/tracker.h"

#define DEADLINE_NS    (2 * DAVY_NS_PER_S)
#define BUSY_NS	       (10 * DAVY_NS_PER_S)
#define PATIENCE_NS    (25 * DAVY_NS_PER_MS) /* until the next tick */
#define SCAN_AT_ONCE   128		     /* jobs; leaves room in the queue */
#define ASKED_FOR_NS   (5 * DAVY_NS_PER_S)   /* then a reply is dropped */
#define EVICTED_SAY_NS (10 * DAVY_NS_PER_S)

struct turn {
	struct davy_agent *agent;
	uint64_t now_ns;
	size_t idle_count;
};

static bool reader_idle(const struct davy_reader *r)
{
	return r->worker.fd >= 0 && !r->begun_ns;
}

static bool reader_at_pid(const struct davy_readers *p, uint32_t pid)
{
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (p->at[i].begun_ns && p->at[i].job.pid == pid)
			return true;
	return false;
}

static bool reader_at_user(const struct davy_readers *p, uint32_t uid)
{
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (p->at[i].begun_ns && p->at[i].job.uid == uid)
			return true;
	return false;
}

/*
 * The last idle reader is reserved for workloads whose user has not hung one, so that one reader
 * always works. Users other than root have at most one reader at a time, and wait after they have
 * hung one.
 */
static bool reader_may(void *arg, const struct davy_look_job *job)
{
	const struct turn *t = arg;
	const struct davy_readers *p = &t->agent->readers;
	bool workload = job->class == DAVY_LOOKS_WORKLOAD;
	const struct davy_penalty *user = davy_penalty_of(&p->penalties, job->uid, 0, t->now_ns);
	const struct davy_penalty *own = davy_penalty_of(&p->penalties, 0, job->pid, t->now_ns);

	if (reader_at_pid(p, job->pid))
		return false;
	if (t->idle_count < 2 && (!workload || user))
		return false;
	if (!workload && job->uid && (user || reader_at_user(p, job->uid)))
		return false;
	/* A reused pid belongs to another process, which has no penalty. */
	return !own || davy_process_start(job->pid) != own->start_ticks;
}

static void reader_ask(struct davy_agent *a, struct davy_reader *r, const struct davy_look_job *job,
		       uint64_t now_ns)
{
	memset(&r->request, 0, sizeof(r->request));
	r->request.serial = ++a->readers.serial;
	r->request.pid = job->pid;
	r->request.look = job->look;
	r->request.start_ticks = davy_process_start(job->pid);
	if (!r->request.start_ticks)
		return; /* the process has exited, so the job is done */
	davy_tracker_wants(a, job, &r->request);
	r->job = *job;
	r->dropped = false;
	r->begun_ns = now_ns;
	if (send(r->worker.fd, &r->request, sizeof(r->request), MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    sizeof(r->request))
		davy_reader_lose(a, r, "does not accept requests");
}

/* Gives each idle reader a job that it may have. */
static void readers_give(struct davy_agent *a)
{
	struct davy_readers *p = &a->readers;
	struct turn t = { .agent = a, .now_ns = davy_boot_ns() };
	struct davy_look_job job;

	for (size_t i = 0; p->queue.count && i < DAVY_READERS; i++) {
		struct davy_reader *r = &p->at[i];

		t.idle_count = 0;
		for (size_t j = 0; j < DAVY_READERS; j++)
			t.idle_count += reader_idle(&p->at[j]);
		while (reader_idle(r) && davy_look_queue_take(&p->queue, reader_may, &t, &job))
			reader_ask(a, r, &job, t.now_ns);
	}
}

static void readers_fill(struct davy_agent *a)
{
	struct davy_readers *p = &a->readers;
	struct dirent *entry;

	while (p->scan && p->queue.count < SCAN_AT_ONCE) {
		struct davy_look_job job = { .class = DAVY_LOOKS_OTHER, .look = DAVY_LOOK_DEVICES };

		entry = readdir(p->scan);
		if (!entry) {
			closedir(p->scan);
			p->scan = NULL;
			return;
		}
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		job.pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		job.uid = davy_process_account(job.pid);
		davy_look_queue_put(&p->queue, &job);
	}
}

void davy_reader_submit(struct davy_agent *a, const struct davy_look_job *job)
{
	if (!a->readers.path[0])
		return;
	davy_look_queue_put(&a->readers.queue, job);
	readers_give(a);
}

void davy_reader_drop(struct davy_agent *a, uint32_t pid)
{
	davy_look_queue_drop(&a->readers.queue, pid);
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (a->readers.at[i].begun_ns && a->readers.at[i].job.pid == pid)
			a->readers.at[i].dropped = true;
}

void davy_readers_go_on(struct davy_agent *a)
{
	readers_fill(a);
	readers_give(a);
}

/*
 * A reader that runs, or waits for a CPU on a busy host, gets more time; RLIMIT_CPU ends its work.
 */
static bool reader_late(const struct davy_reader *r, uint64_t now_ns)
{
	if (!r->begun_ns || now_ns - r->begun_ns < DEADLINE_NS)
		return false;
	return now_ns - r->begun_ns >= BUSY_NS ||
	       davy_process_state((uint32_t)r->worker.child.pid) != 'R';
}

static void readers_end_late(struct davy_agent *a, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_READERS; i++) {
		struct davy_reader *r = &a->readers.at[i];

		if (reader_late(r, now_ns))
			davy_reader_receive(a, r); /* the agent itself may have been late */
		if (reader_late(r, now_ns))
			davy_reader_lose(a, r, "hung");
	}
}

static void readers_say_evicted(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_readers *p = &a->readers;
	struct davy_event ev;

	if (p->queue.evicted_count == p->evicted_reported ||
	    now_ns - p->reported_ns < EVICTED_SAY_NS)
		return;
	ev = davy_agent_event(DAVY_EV_SENSOR, 0);
	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), "reader");
	ev.sensor.state = DAVY_SENSOR_LOST;
	ev.sensor.count = p->queue.evicted_count - p->evicted_reported;
	snprintf(ev.sensor.reason, sizeof(ev.sensor.reason),
		 "processes of user %u were not inspected: too many at once", p->queue.evicted_uid);
	p->evicted_reported = p->queue.evicted_count;
	p->reported_ns = now_ns;
	davy_agent_feed(a, &ev);
}

void davy_readers_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_readers *p = &a->readers;

	p->patience_ns = PATIENCE_NS;
	readers_end_late(a, now_ns);
	davy_readers_keep(a, now_ns);
	for (size_t i = 0; i < DAVY_STARTS_ASKED; i++)
		if (p->asked[i].pid && now_ns - p->asked[i].asked_ns >= ASKED_FOR_NS) {
			free(p->asked[i].start);
			memset(&p->asked[i], 0, sizeof(p->asked[i]));
		}
	readers_say_evicted(a, now_ns);
	davy_readers_go_on(a);
}

/* Waits at most "ms" for a reply of these readers. */
static void readers_poll(struct davy_agent *a, const struct davy_reader *only, int ms)
{
	struct pollfd at[DAVY_READERS];

	for (size_t i = 0; i < DAVY_READERS; i++) {
		const struct davy_reader *r = &a->readers.at[i];

		at[i] = (struct pollfd){ .fd = r->begun_ns && (!only || only == r) ? r->worker.fd
										   : -1,
					 .events = POLLIN };
	}
	if (poll(at, DAVY_READERS, ms) <= 0)
		return;
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (at[i].fd >= 0 && at[i].revents)
			davy_reader_receive(a, &a->readers.at[i]);
}

bool davy_reader_wait(struct davy_agent *a, uint32_t pid, unsigned int limit_ms)
{
	struct davy_readers *p = &a->readers;
	uint64_t begun_ns = davy_boot_ns(), spent_ns = 0, serial;
	uint64_t limit_ns = limit_ms * DAVY_NS_PER_MS;
	struct davy_reader *r = NULL;

	for (size_t i = 0; i < DAVY_READERS; i++)
		if (p->at[i].begun_ns && p->at[i].job.pid == pid)
			r = &p->at[i];
	if (!r)
		return false;
	if (limit_ns > p->patience_ns)
		limit_ns = p->patience_ns;
	serial = r->request.serial;
	for (; r->begun_ns && r->request.serial == serial && spent_ns < limit_ns;
	     spent_ns = davy_boot_ns() - begun_ns)
		readers_poll(a, r, (int)((limit_ns - spent_ns) / DAVY_NS_PER_MS) + 1);
	p->patience_ns -= spent_ns < p->patience_ns ? spent_ns : p->patience_ns;
	davy_readers_go_on(a);
	return !r->begun_ns || r->request.serial != serial;
}

static bool readers_busy(const struct davy_readers *p)
{
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (p->at[i].begun_ns)
			return true;
	return false;
}

void davy_readers_scan(struct davy_agent *a, unsigned int limit_ms)
{
	struct davy_readers *p = &a->readers;
	uint64_t now_ns = davy_boot_ns(), end_ns = now_ns + limit_ms * DAVY_NS_PER_MS;
	char path[PATH_MAX];

	if (!p->path[0] || davy_root_path(path, sizeof(path), "/proc"))
		return;
	p->scan = opendir(path);
	/* If no reader is busy, the remaining jobs wait for the end of their penalties. */
	for (; now_ns < end_ns; now_ns = davy_boot_ns()) {
		readers_end_late(a, now_ns);
		davy_readers_go_on(a);
		if (!readers_busy(p))
			break;
		readers_poll(a, NULL, (int)(DEADLINE_NS / DAVY_NS_PER_MS / 10));
	}
	if (readers_busy(p))
		davy_log("not all processes were inspected within %u ms; the agent continues",
			 limit_ms);
}

static struct davy_start_asked *start_place(struct davy_readers *p, uint32_t pid)
{
	struct davy_start_asked *place = &p->asked[0];

	for (size_t i = 0; i < DAVY_STARTS_ASKED; i++) {
		if (p->asked[i].pid == pid)
			return &p->asked[i];
		if (p->asked[i].asked_ns < place->asked_ns)
			place = &p->asked[i];
	}
	free(place->start);
	memset(place, 0, sizeof(*place));
	return place;
}

int davy_reader_start(struct davy_agent *a, uint32_t pid, struct davy_process_start **ret_start)
{
	const struct davy_look_job job = { .pid = pid,
					   .uid = davy_process_account(pid),
					   .class = DAVY_LOOKS_WORKLOAD,
					   .look = DAVY_LOOK_START };
	struct davy_start_asked *s = start_place(&a->readers, pid);
	int err;

	if (!s->pid) {
		s->pid = pid;
		s->asked_ns = davy_boot_ns();
		davy_reader_submit(a, &job);
		davy_reader_wait(a, pid, PATIENCE_NS / DAVY_NS_PER_MS);
	}
	if (!s->answered)
		return davy_process_start(pid) ? -EAGAIN : -ESRCH;
	err = s->error;
	if (!err)
		*ret_start = s->start;
	memset(s, 0, sizeof(*s));
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replies of readers: validated, then passed to the requester. Nothing here blocks. */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/sense/tracker.h"

#define TRIES_MAX 3 /* attempts of one job that costs a reader each time */

/* A reply of the size that the request implies; "start" is allocated if one is expected. */
struct packet {
	struct davy_look_reply reply;
	struct davy_look_start *start;
	size_t file_count;
	int files[DAVY_LOOK_FILES];
};

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(DAVY_LOOK_FILES * sizeof(int))];
};

/* Takes unexpected descriptors too, so that they are closed. */
static size_t answer_files(struct msghdr *m, int files[DAVY_LOOK_FILES])
{
	size_t count = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t n = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS
				   ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int)
				   : 0;

		for (size_t i = 0; i < n && count < DAVY_LOOK_FILES; i++)
			memcpy(&files[count++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
	return count;
}

static void answer_start(struct davy_agent *a, const struct davy_reader *r,
			 const struct davy_look_start *s)
{
	for (size_t i = 0; i < DAVY_STARTS_ASKED; i++) {
		struct davy_start_asked *asked = &a->readers.asked[i];

		if (asked->pid != s->pid || asked->answered)
			continue;
		asked->answered = true;
		asked->error = r->dropped ? -ESRCH : s->error;
		if (!asked->error)
			asked->start =
				davy_process_start_of(s->command, s->command_size, s->environment,
						      s->environment_size, s->exe);
		if (!asked->error && !asked->start)
			asked->error = -ENOMEM;
	}
}

static bool answer_valid(const struct davy_reader *r, const struct packet *p, ssize_t size)
{
	if (p->start)
		return size == sizeof(*p->start) && !p->file_count &&
		       davy_look_start_valid(p->start, &r->request);
	return size == sizeof(p->reply) &&
	       davy_look_reply_valid(&p->reply, &r->request, p->file_count);
}

static void answer_take(struct davy_agent *a, struct davy_reader *r, const struct packet *p)
{
	const struct davy_look_job job = r->job;

	r->begun_ns = 0; /* the calls below may submit again */
	r->answered = true;
	a->readers.failures = 0;
	if (p->start)
		answer_start(a, r, p->start);
	else if (!r->dropped)
		davy_tracker_take(a, &job, &p->reply, p->files);
}

/* The number of bytes; 0: no reply is pending; or -errno. */
static ssize_t answer_receive(const struct davy_reader *r, struct packet *p)
{
	struct iovec part = { &p->reply, sizeof(p->reply) };
	union control control;
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n;

	if (p->start)
		part = (struct iovec){ p->start, sizeof(*p->start) };
	n = recvmsg(r->worker.fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n)
		return -ECONNRESET;
	p->file_count = answer_files(&m, p->files);
	return m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -EMSGSIZE : n;
}

void davy_reader_receive(struct davy_agent *a, struct davy_reader *r)
{
	struct packet p = { .file_count = 0 };
	ssize_t n;

	if (r->begun_ns && r->request.look == DAVY_LOOK_START) {
		p.start = malloc(sizeof(*p.start));
		if (!p.start)
			return; /* try again later, or when it is late */
	}
	n = answer_receive(r, &p);
	if (n < 0 && n != -EMSGSIZE)
		davy_reader_lose(a, r, "has ended");
	else if (n && (!r->begun_ns || !answer_valid(r, &p, n)))
		davy_reader_lose(a, r, "sent an invalid reply");
	else if (n)
		answer_take(a, r, &p);
	for (size_t i = 0; i < p.file_count; i++)
		close(p.files[i]);
	free(p.start);
}

static void lost_say(struct davy_agent *a, const struct davy_look_job *job, const char *why)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_SENSOR, 0);

	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), "reader");
	ev.sensor.state = DAVY_SENSOR_LOST;
	ev.sensor.count = 1;
	snprintf(ev.sensor.reason, sizeof(ev.sensor.reason),
		 "an inspection of process %u of user %u: its reader %s", job->pid, job->uid, why);
	davy_agent_feed(a, &ev);
}

static void lost_start(struct davy_agent *a, uint32_t pid)
{
	for (size_t i = 0; i < DAVY_STARTS_ASKED; i++)
		if (a->readers.asked[i].pid == pid && !a->readers.asked[i].answered)
			memset(&a->readers.asked[i], 0, sizeof(a->readers.asked[i]));
}

void davy_reader_lose(struct davy_agent *a, struct davy_reader *r, const char *why)
{
	struct davy_readers *p = &a->readers;
	uint64_t now_ns = davy_boot_ns();
	struct davy_look_job job = r->job;
	bool busy = r->begun_ns, dropped = r->dropped;
	/* A reader that never worked was not hung by its first process. */
	bool works = r->answered || now_ns - r->begun_ns >= DAVY_NS_PER_S;

	r->begun_ns = 0;
	davy_worker_end(&r->worker, &p->stuck);
	if (!busy) {
		p->retry_ns = now_ns; /* it had no job: the next tick starts a new one */
		return;
	}
	p->lost_count++;
	if (works) {
		davy_penalty_add(&p->penalties, job.uid, job.pid, r->request.start_ticks, now_ns);
		davy_penalty_add(&p->penalties, job.uid, 0, 0, now_ns);
	}
	if (job.look == DAVY_LOOK_START)
		lost_start(a, job.pid);
	else if (!dropped && ++job.tries < TRIES_MAX)
		davy_look_queue_put(&p->queue, &job);
	davy_readers_keep(a, now_ns);
	lost_say(a, &job, why);
}

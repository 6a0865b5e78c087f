/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../core/types.h"
#include "../lib/file.h"
#include "guard_hold.h"
#include "guard_twin.h"

#define FILES_MAX 4096 /* a pidfd for each process of each hold, and some */

enum {
	AT_SOCKET,
	AT_SIGNAL,
	AT_TIMER,
	AT_AGENT,
	AT_HOLDS
};

struct guard {
	int fd; /* of the agent */
	int signal_fd;
	int timer_fd;
	int agent_pidfd; /* a child of the agent's may have inherited its end of the socket */
	struct dl_twin twin;
	struct dl_hold *holds; /* DL_GUARD_HOLDS, shared with the twin */
	bool ends;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * DL_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* An agent that does not read loses answers, never a thaw. */
static void answer(const struct guard *g, const struct dl_guard_answer *a)
{
	if (a->stage)
		send(g->fd, a, sizeof(*a), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void refuse(const struct guard *g, const struct dl_guard_order *o, int err)
{
	const struct dl_guard_answer a = { .stage = DL_GUARD_FAILED,
					   .id = o->id,
					   .plan = o->plan,
					   .result = err,
					   .at_ns = now_ns() };

	answer(g, &a);
}

static void arm(const struct guard *g)
{
	uint64_t due_ns = UINT64_MAX;
	struct itimerspec at = { 0 };

	for (size_t i = 0; i < DL_GUARD_HOLDS; i++) {
		uint64_t one_ns = dl_hold_due_ns(&g->holds[i]);

		due_ns = one_ns < due_ns ? one_ns : due_ns;
	}
	if (due_ns != UINT64_MAX) {
		at.it_value.tv_sec = (time_t)(due_ns / DL_NS_PER_S);
		at.it_value.tv_nsec = (long)(due_ns % DL_NS_PER_S);
		if (!due_ns)
			at.it_value.tv_nsec = 1;
	}
	timerfd_settime(g->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static struct dl_hold *find(const struct guard *g, uint32_t id)
{
	for (size_t i = 0; i < DL_GUARD_HOLDS; i++)
		if (g->holds[i].state != DL_HOLD_FREE && g->holds[i].id == id)
			return &g->holds[i];
	return NULL;
}

static struct dl_hold *free_slot(const struct guard *g)
{
	for (size_t i = 0; i < DL_GUARD_HOLDS; i++)
		if (g->holds[i].state == DL_HOLD_FREE)
			return &g->holds[i];
	return NULL;
}

static void hold(struct guard *g, const struct dl_guard_order *o, int dir_fd)
{
	struct dl_hold *h = find(g, o->id);
	int err = dl_hold_valid(o);

	if (!err && h && !dl_hold_same(h, o, dir_fd))
		err = -EBUSY; /* another target under this id: the first is to be released before */
	if (err || h) {
		if (dir_fd >= 0)
			close(dir_fd);
		if (err)
			refuse(g, o, err);
		else
			dl_hold_renew(h, o, now_ns());
		return;
	}
	h = free_slot(g);
	if (!h && dir_fd >= 0)
		close(dir_fd);
	err = h ? dl_hold_open(h, o, dir_fd, now_ns()) : -ENOSPC;
	if (err) {
		refuse(g, o, err);
		return;
	}
	arm(g); /* whatever happens from here on, somebody wakes up and thaws */
	dl_twin_poke(&g->twin);
	dl_hold_begin(h, now_ns());
}

/* One order and the descriptor that came with it, if any; -EAGAIN, -ECONNRESET. */
static int receive(const struct guard *g, struct dl_guard_order *ret_order, int *ret_fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec data = { ret_order, sizeof(*ret_order) };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control.buf,
				  .msg_controllen = sizeof(control.buf) };
	ssize_t n = recvmsg(g->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c;

	*ret_fd = -1;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -ECONNRESET;
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	if (n == sizeof(*ret_order))
		return 0;
	if (*ret_fd >= 0)
		close(*ret_fd);
	return n ? -EBADMSG : -ECONNRESET;
}

static void on_order(struct guard *g)
{
	struct dl_guard_order o;
	struct dl_hold *h;
	int dir_fd, err = receive(g, &o, &dir_fd);

	g->ends |= err == -ECONNRESET;
	if (err)
		return;
	if (o.op == DL_GUARD_HOLD) {
		hold(g, &o, dir_fd);
		return;
	}
	if (dir_fd >= 0)
		close(dir_fd);
	h = find(g, o.id);
	if (h)
		dl_hold_end(h, 0, now_ns());
}

static void on_signal(struct guard *g)
{
	struct signalfd_siginfo info;

	if (read(g->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo != SIGCHLD) {
		g->ends = true;
		return;
	}
	if (dl_twin_reap(&g->twin))
		dl_twin_start(&g->twin, g->holds);
}

static void step(struct guard *g)
{
	for (size_t i = 0; i < DL_GUARD_HOLDS; i++) {
		dl_hold_news news;

		if (g->holds[i].state == DL_HOLD_FREE)
			continue;
		news = dl_hold_step(&g->holds[i], now_ns());
		answer(g, &news);
	}
	arm(g);
}

static void wait_for_any(struct guard *g)
{
	struct pollfd waits[AT_HOLDS + DL_GUARD_HOLDS] = {
		[AT_SOCKET] = { .fd = g->fd, .events = POLLIN },
		[AT_SIGNAL] = { .fd = g->signal_fd, .events = POLLIN },
		[AT_TIMER] = { .fd = g->timer_fd, .events = POLLIN },
		[AT_AGENT] = { .fd = g->agent_pidfd, .events = POLLIN },
	};
	uint64_t expired;

	for (size_t i = 0; i < DL_GUARD_HOLDS; i++) {
		const struct dl_hold *h = &g->holds[i];
		bool tree = h->dir_fd < 0 && h->tree.count;
		struct pollfd *w = &waits[AT_HOLDS + i];

		*w = (struct pollfd){ .fd = -1 };
		if (h->state != DL_HOLD_HELD)
			continue; /* the others look every millisecond */
		w->fd = tree ? h->tree.process[0].pidfd : h->events_fd;
		w->events = tree ? POLLIN : POLLPRI;
	}
	if (poll(waits, AT_HOLDS + DL_GUARD_HOLDS, -1) < 0)
		return;
	if (waits[AT_TIMER].revents)
		(void)!read(g->timer_fd, &expired, sizeof(expired));
	if (waits[AT_SIGNAL].revents)
		on_signal(g);
	if (waits[AT_SOCKET].revents)
		on_order(g);
	g->ends |= waits[AT_AGENT].revents != 0;
}

/* The agent reads no more: all thaw, and then it is seen to. */
static void thaw_all(struct guard *g)
{
	bool left = true;

	for (size_t i = 0; i < DL_GUARD_HOLDS; i++)
		if (g->holds[i].state != DL_HOLD_FREE)
			dl_hold_end(&g->holds[i], 0, now_ns());
	while (left) { /* no longer than a thaw is looked for */
		left = false;
		for (size_t i = 0; i < DL_GUARD_HOLDS; i++) {
			dl_hold_news news = dl_hold_step(&g->holds[i], now_ns());

			answer(g, &news);
			left |= g->holds[i].state != DL_HOLD_FREE;
		}
		if (left)
			usleep(1000);
	}
}

/* What helps it to be there in time; without the right to it, it goes on without. */
static void harden(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	const struct rlimit files = { FILES_MAX, FILES_MAX };

	prctl(PR_SET_NAME, "davylamp-guard");
	dl_write_file("/proc/self/oom_score_adj", "-1000");
	setrlimit(RLIMIT_NOFILE, &files);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		setpriority(PRIO_PROCESS, 0, -20);
}

static int open_all(struct guard *g)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);
	g->holds = mmap(NULL, DL_GUARD_HOLDS * sizeof(*g->holds), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (g->holds == MAP_FAILED)
		return -ENOMEM;
	g->agent_pidfd = (int)syscall(SYS_pidfd_open, getppid(), 0);
	g->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	g->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (g->agent_pidfd < 0 || g->signal_fd < 0 || g->timer_fd < 0)
		return -errno;
	harden();
	return dl_twin_start(&g->twin, g->holds);
}

int dl_guard_run(int fd)
{
	static struct guard g;
	int err;

	g.fd = fd;
	err = open_all(&g);
	if (err)
		return 1;
	while (!g.ends) {
		wait_for_any(&g);
		step(&g);
	}
	thaw_all(&g);
	return 0;
}

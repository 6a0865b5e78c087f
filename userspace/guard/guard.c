/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard/guard.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/file.h"
#include "guard/guard_freeze.h"
#include "guard/guard_standby.h"
#include "guard/guard_wait.h"

#define FILES_MAX     4096 /* a pidfd for each process of each freeze, and spare ones */
#define THAW_MOST     (400 * DAVY_GUARD_MS_NS) /* time limit for the verification of a thaw */
#define RT_SOFT_US    1000000		       /* CPU time at SCHED_FIFO without a wait */
#define RT_HARD_US    2000000
#define VAIN_WAKES    100 /* useless wake-ups in a row before it rests for: */
#define VAIN_PAUSE_US 5000

enum {
	AT_SOCKET,
	AT_AGENT,
	AT_FREEZES
};

struct guard {
	int fd;		 /* socket of the agent */
	int agent_pidfd; /* needed: a child of the agent may have its end of the socket */
	pid_t agent;
	struct davy_standby standby;
	struct davy_freeze *freezes; /* DAVY_GUARD_FREEZES, shared with the standby */
	uint32_t vain;		     /* useless wake-ups in a row */
	bool ends;
};

/* Drops the answer if the agent does not read: a thaw must never wait. */
static void guard_answer(const struct guard *g, const struct davy_guard_answer *a)
{
	if (a->stage)
		send(g->fd, a, sizeof(*a), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void guard_refuse(const struct guard *g, const struct davy_guard_order *o, int err)
{
	const struct davy_guard_answer a = { .stage = DAVY_GUARD_FAILED,
					     .id = o->id,
					     .plan = o->plan,
					     .result = err,
					     .at_ns = davy_guard_now_ns() };

	guard_answer(g, &a);
}

static uint64_t guard_due_ns(const struct guard *g)
{
	uint64_t due = g->standby.again_ns;

	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++) {
		uint64_t one = davy_freeze_due_ns(&g->freezes[i]);

		due = one < due ? one : due;
	}
	return due;
}

static struct davy_freeze *guard_find(const struct guard *g, uint32_t id)
{
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++)
		if (g->freezes[i].state != DAVY_FREEZE_FREE && g->freezes[i].id == id)
			return &g->freezes[i];
	return NULL;
}

static struct davy_freeze *guard_free_slot(const struct guard *g)
{
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++)
		if (g->freezes[i].state == DAVY_FREEZE_FREE)
			return &g->freezes[i];
	return NULL;
}

static void guard_freeze(struct guard *g, const struct davy_guard_order *o, int dir_fd)
{
	struct davy_freeze *h = guard_find(g, o->id);
	int err = davy_freeze_valid(o);

	if (!err && h && !davy_freeze_same(h, o, dir_fd))
		err = -EBUSY; /* the id has another target, which must be released first */
	if (err || h) {
		if (dir_fd >= 0)
			close(dir_fd);
		if (err)
			guard_refuse(g, o, err);
		else
			davy_freeze_renew(h, o, davy_guard_now_ns());
		return;
	}
	h = guard_free_slot(g);
	if (!h || !g->standby.pid) { /* never freeze without a standby */
		if (dir_fd >= 0)
			close(dir_fd);
		guard_refuse(g, o, h ? -EAGAIN : -ENOSPC);
		return;
	}
	err = davy_freeze_open(h, o, dir_fd, davy_guard_now_ns());
	if (err) {
		guard_refuse(g, o, err);
		return;
	}
	davy_standby_poke(&g->standby); /* from here on the standby thaws if the guard fails */
	davy_freeze_begin(h, davy_guard_now_ns());
}

/*
 * Receives one order and its descriptor, if any; -EMFILE: no room for the descriptor. -EAGAIN,
 * -ECONNRESET.
 */
static int guard_receive(const struct guard *g, struct davy_guard_order *ret_order, int *ret_fd)
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
	else if (message.msg_flags & MSG_CTRUNC)
		*ret_fd = -EMFILE;
	if (n == sizeof(*ret_order))
		return 0;
	if (*ret_fd >= 0)
		close(*ret_fd);
	return n ? -EBADMSG : -ECONNRESET;
}

static void guard_on_order(struct guard *g)
{
	struct davy_guard_order o = { 0 };
	struct davy_freeze *h;
	int dir_fd, err = guard_receive(g, &o, &dir_fd);

	g->ends |= err == -ECONNRESET;
	if (err)
		return;
	g->vain = 0;
	if (o.op == DAVY_GUARD_FREEZE && dir_fd == -EMFILE) {
		guard_refuse(g, &o,
			     dir_fd); /* without its descriptor the order has another target */
		return;
	}
	if (o.op == DAVY_GUARD_FREEZE) {
		guard_freeze(g, &o, dir_fd);
		return;
	}
	if (dir_fd >= 0)
		close(dir_fd);
	h = guard_find(g, o.id);
	if (h)
		davy_freeze_end(h, 0, davy_guard_now_ns());
}

static void guard_step(struct guard *g)
{
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++) {
		davy_freeze_news news;

		if (g->freezes[i].state == DAVY_FREEZE_FREE)
			continue;
		news = davy_freeze_step(&g->freezes[i], davy_guard_now_ns());
		guard_answer(g, &news);
	}
}

/* Descriptors of frozen targets; the other states are polled every millisecond. */
static size_t guard_watch(const struct guard *g, struct pollfd *waits)
{
	size_t count = AT_FREEZES;

	waits[AT_SOCKET] = (struct pollfd){ .fd = g->fd, .events = POLLIN };
	waits[AT_AGENT] = (struct pollfd){ .fd = g->agent_pidfd, .events = POLLIN };
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++) {
		const struct davy_freeze *f = &g->freezes[i];
		bool tree = f->events_fd < 0;

		if (f->state != DAVY_FREEZE_FROZEN)
			continue;
		waits[count++] =
			(struct pollfd){ .fd = tree ? f->tree.process[0].pidfd : f->events_fd,
					 .events = tree ? POLLIN : POLLPRI };
	}
	return count; /* at most the open ones: poll() refuses more than RLIMIT_NOFILE */
}

/* Rests if a descriptor stays ready without effect, to avoid a busy loop. */
static void guard_rest(struct guard *g, int ready)
{
	if (ready > 0 && ++g->vain <= VAIN_WAKES)
		return;
	if (ready > 0)
		usleep(VAIN_PAUSE_US);
	else
		g->vain = 0;
}

static void wait_for_any(struct guard *g)
{
	struct pollfd waits[AT_FREEZES + DAVY_GUARD_FREEZES];
	int ready = davy_guard_wait(waits, guard_watch(g, waits), guard_due_ns(g));

	guard_on_order(g); /* without poll() it must try */
	g->ends |= ready < 0 || waits[AT_AGENT].revents || getppid() != g->agent ||
		   davy_guard_end_requested();
	guard_rest(g, ready);
	davy_standby_tend(&g->standby, davy_guard_now_ns());
}

/* The agent has ended: thaw all, then verify. */
static void thaw_all(struct guard *g)
{
	uint64_t end_ns = davy_guard_now_ns() + THAW_MOST;
	bool left = true;

	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++)
		if (g->freezes[i].state != DAVY_FREEZE_FREE)
			davy_freeze_end(&g->freezes[i], 0, davy_guard_now_ns());
	while (left && davy_guard_now_ns() < end_ns) {
		left = false;
		guard_step(g);
		for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++)
			left |= g->freezes[i].state != DAVY_FREEZE_FREE;
		if (left)
			usleep(1000);
	}
}

/* Raises the soft limit of descriptors. */
static void guard_raise_files(void)
{
	struct rlimit files = { FILES_MAX, FILES_MAX };

	if (!setrlimit(RLIMIT_NOFILE, &files) || getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max < FILES_MAX ? files.rlim_max : FILES_MAX;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* Locks memory and raises the priority. Without the rights it continues without. */
static void guard_harden(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	const struct rlimit cpu = { RT_SOFT_US, RT_HARD_US };

	prctl(PR_SET_NAME, DAVY_GUARD_PROGRAM);
	davy_write_file("/proc/self/oom_score_adj", "-1000");
	guard_raise_files();
	mlockall(MCL_CURRENT | MCL_FUTURE);
	if (setrlimit(RLIMIT_RTTIME, &cpu) ||
	    syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first)) /* musl's function refuses */
		setpriority(PRIO_PROCESS, 0, -20);
}

static int guard_open_all(struct guard *g, int fd, int agent_pidfd)
{
	int err = davy_guard_signals_open();

	if (err)
		return err;
	g->fd = fd;
	g->agent_pidfd = agent_pidfd;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	g->agent = getppid(); /* if the agent has ended already, its pidfd shows it */
	g->freezes = mmap(NULL, DAVY_GUARD_FREEZES * sizeof(*g->freezes), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (g->freezes == MAP_FAILED)
		return -ENOMEM;
	guard_harden();
	davy_standby_open(&g->standby, g->freezes, agent_pidfd);
	davy_standby_tend(&g->standby, davy_guard_now_ns());
	return 0;
}

int davy_guard_run(int fd, int agent_pidfd)
{
	static struct guard g;

	if (guard_open_all(&g, fd, agent_pidfd))
		return 1;
	while (!g.ends) {
		wait_for_any(&g);
		guard_step(&g);
	}
	thaw_all(&g);
	return 0;
}

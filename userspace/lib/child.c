/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"

#define STDIO_COUNT 3
#define PLACES_MAX  (STDIO_COUNT + DAVY_CHILD_FDS_MAX + 1) /* the last entry is the report pipe */
#define END_MS	    1000
#define LEFT_MAX    64
#define READY	    1 /* in place of an error, which is negative */

extern char **environ;

static pid_t left[LEFT_MAX]; /* pids of killed children that did not end in time; 0: free entry */

/* Closes all descriptors above stderr except those in "keep". Sorts "keep". */
static int child_close_all_but(int *keep, size_t count)
{
	unsigned int first = STDIO_COUNT;

	for (size_t i = 1; i < count; i++)
		for (size_t j = i; j && keep[j - 1] > keep[j]; j--) {
			int higher = keep[j - 1];

			keep[j - 1] = keep[j];
			keep[j] = higher;
		}
	for (size_t i = 0; i < count; i++) {
		if (keep[i] < (int)first)
			continue;
		if (keep[i] > (int)first && close_range(first, (unsigned int)keep[i] - 1, 0))
			return -errno;
		first = (unsigned int)keep[i] + 1;
	}
	return close_range(first, ~0U, 0) ? -errno : 0;
}

/* Moves descriptor source[i] to number i. Numbers and sources may overlap. */
static int child_arrange(int *source, int count)
{
	for (int i = 0; i < count; i++) {
		int spare = -1;

		if (source[i] == i) {
			if (fcntl(i, F_SETFD, 0))
				return -errno;
			continue;
		}
		for (int j = i + 1; j < count; j++) {
			if (source[j] != i)
				continue;
			if (spare < 0)
				spare = fcntl(i, F_DUPFD_CLOEXEC, count);
			if (spare < 0)
				return -errno;
			source[j] = spare;
		}
		if (dup2(source[i], i) < 0)
			return -errno;
	}
	return 0;
}

/* Resolves the special values in "stdio". The descriptor of /dev/null stays open. */
static int child_fill_stdio(const struct davy_child_spec *spec, int source[STDIO_COUNT])
{
	int nowhere = -1;

	for (int i = 0; i < STDIO_COUNT; i++) {
		int wanted = spec->stdio[i];

		if (wanted == DAVY_CHILD_DEFAULT)
			wanted = i == STDERR_FILENO ? DAVY_CHILD_KEEP : DAVY_CHILD_NULL;
		if (wanted == DAVY_CHILD_KEEP)
			wanted = fcntl(i, F_GETFD) < 0 ? DAVY_CHILD_NULL : i;
		if (wanted == DAVY_CHILD_NULL && nowhere < 0)
			nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (wanted == DAVY_CHILD_NULL && nowhere < 0)
			return -errno;
		source[i] = wanted == DAVY_CHILD_NULL ? nowhere : wanted;
	}
	return 0;
}

/* Closes before it opens, so that a full descriptor table does not stop the child. */
static int child_set_descriptors(const struct davy_child_spec *spec, int *report)
{
	int keep[PLACES_MAX], source[PLACES_MAX] = { 0 }, err = 0;
	int moved = spec->path ? (int)spec->fd_count + 1 : 0; /* descriptors above stderr */
	size_t count = 0;

	for (int i = 0; i < STDIO_COUNT; i++)
		if (spec->stdio[i] > 0)
			keep[count++] = spec->stdio[i];
	for (size_t i = 0; i < spec->fd_count; i++)
		keep[count++] = source[STDIO_COUNT + i] = spec->fds[i];
	if (spec->path)
		keep[count++] = source[STDIO_COUNT + spec->fd_count] = *report;
	if (!spec->inherit_fds)
		err = child_close_all_but(keep, count);
	if (!err)
		err = child_fill_stdio(spec, source);
	if (!err)
		err = child_arrange(source, STDIO_COUNT + (spec->inherit_fds ? 0 : moved));
	if (err || spec->inherit_fds)
		return err;
	if (!spec->path) {
		for (size_t i = 0; i < spec->fd_count; i++)
			keep[i] = spec->fds[i];
		return child_close_all_but(keep, spec->fd_count);
	}
	*report = STDIO_COUNT + (int)spec->fd_count;
	if (fcntl(*report, F_SETFD, FD_CLOEXEC))
		return -errno;
	return close_range((unsigned int)*report + 1, ~0U, 0) ? -errno : 0;
}

static void child_set_signals(const struct davy_child_spec *spec)
{
	struct sigaction action;
	sigset_t none;

	for (int i = 1; i < NSIG; i++) {
		if (spec->keep_ignored && i != SIGPIPE && i != SIGCHLD &&
		    !sigaction(i, NULL, &action) && action.sa_handler == SIG_IGN)
			continue;
		signal(i, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, spec->mask ? spec->mask : &none, NULL);
}

static int child_set_limits(const struct davy_child_spec *spec)
{
	struct rlimit now;

	for (size_t i = 0; i < spec->limit_count; i++) {
		const struct davy_child_limit *limit = &spec->limits[i];

		/* In C, the first parameter has an enum type. */
		if (getrlimit((__rlimit_resource_t)limit->resource, &now))
			return -errno;
		now.rlim_max = now.rlim_max < limit->value ? now.rlim_max : limit->value;
		now.rlim_cur = now.rlim_cur < limit->value ? now.rlim_cur : limit->value;
		if (setrlimit((__rlimit_resource_t)limit->resource, &now))
			return -errno;
	}
	return 0;
}

static int child_set_up(const struct davy_child_spec *spec, pid_t parent, int *report)
{
	int err = child_set_descriptors(spec, report);

	if (err)
		return err;
	if (spec->own_session && setsid() < 0)
		return -errno;
	if (spec->own_group && !spec->own_session && setpgid(0, 0))
		return -errno;
	if (spec->name && !spec->path)
		prctl(PR_SET_NAME, spec->name);
	if (spec->death_signal && prctl(PR_SET_PDEATHSIG, spec->death_signal))
		return -errno;
	if (spec->death_signal && getppid() != parent)
		return -EOWNERDEAD; /* the parent died before prctl() */
	child_set_signals(spec);
	return child_set_limits(spec);
}

/* The pipes of a start. The parent writes nothing into "gate": it closes it. */
struct start {
	int report[2]; /* error of the exec, or READY before it */
	int gate[2];
};

/* Until the parent has closed the gate; it does so, too, if it ends. */
static void child_pass_gate(const struct start *s)
{
	static const int ready = READY;
	char none;

	close(s->gate[1]);
	if (write(s->report[1], &ready, sizeof(ready)) == sizeof(ready))
		while (read(s->gate[0], &none, 1) < 0 && errno == EINTR)
			;
	close(s->gate[0]);
}

static __attribute__((noreturn)) void child_main(const struct davy_child_spec *spec, pid_t parent,
						 const struct start *s)
{
	int report = s->report[1], err = child_set_up(spec, parent, &report);

	if (!err && !spec->path)
		_exit(spec->run(spec->arg));
	if (!err && spec->run)
		err = spec->run(spec->arg);
	if (!err && spec->before_exec)
		child_pass_gate(s);
	if (!err) {
		execvpe(spec->path, spec->argv, spec->envp ? spec->envp : environ);
		err = -errno;
	}
	if (spec->path)
		(void)!write(report, &err, sizeof(err));
	_exit(DAVY_CHILD_FAILED);
}

/* The report pipe closes when the exec succeeds. */
static int child_await_report(int report)
{
	struct pollfd wait = { .fd = report, .events = POLLIN };
	uint64_t began_ms = davy_now_ms(), spent_ms = 0;
	int err = 0;

	for (; spent_ms < DAVY_CHILD_START_MS; spent_ms = davy_now_ms() - began_ms)
		if (poll(&wait, 1, (int)(DAVY_CHILD_START_MS - spent_ms)) > 0)
			return read(report, &err, sizeof(err)) == sizeof(err) ? err : 0;
	return 0; /* still in progress */
}

static int child_await_exec(const struct davy_child_spec *spec, struct start *s, pid_t pid)
{
	int err = child_await_report(s->report[0]);

	if (err != READY)
		return err;
	spec->before_exec(spec->arg, pid);
	close(s->gate[1]);
	s->gate[1] = -1;
	return child_await_report(s->report[0]);
}

/* Blocks all signals: the parent's handlers must not run in the child. */
static pid_t child_fork(const struct davy_child_spec *spec, const struct start *s)
{
	pid_t pid, parent = getpid();
	struct sigaction action;
	sigset_t all, before;
	int err;

	/* An ignored SIGCHLD is inherited and discards the child's exit status. */
	if (!sigaction(SIGCHLD, NULL, &action) && action.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	err = -errno;
	if (!pid) {
		close(s->report[0]);
		child_main(spec, parent, s);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? err : pid;
}

/* The pipe also reserves a descriptor number for the pidfd before the child exists. */
static int child_open_start(const struct davy_child_spec *spec, struct start *s)
{
	int err;

	s->gate[0] = s->gate[1] = -1;
	if (pipe2(s->report, O_CLOEXEC))
		return -errno;
	if (!spec->before_exec || !pipe2(s->gate, O_CLOEXEC))
		return 0;
	err = -errno;
	close(s->report[0]);
	close(s->report[1]);
	return err;
}

static void child_close_start(const struct start *s)
{
	close(s->report[0]);
	if (s->gate[1] >= 0)
		close(s->gate[1]);
}

int davy_child_start(const struct davy_child_spec *spec, struct davy_child *ret_child)
{
	struct davy_child child = DAVY_CHILD_NONE;
	struct start s;
	int err;

	if (spec->fd_count > DAVY_CHILD_FDS_MAX || (spec->fd_count && spec->inherit_fds) ||
	    (spec->before_exec && (!spec->path || !spec->inherit_fds)))
		return -EINVAL;
	davy_child_reap_left();
	err = child_open_start(spec, &s);
	if (err)
		return err;
	child.pid = child_fork(spec, &s);
	close(s.report[1]);
	if (s.gate[0] >= 0)
		close(s.gate[0]);
	if (child.pid < 0) {
		child_close_start(&s);
		return child.pid;
	}
	if (spec->own_group && !spec->own_session)
		setpgid(child.pid, child.pid); /* in case the child has not run yet */
	child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	if (child.pidfd < 0)
		err = -errno;
	else if (spec->path)
		err = child_await_exec(spec, &s, child.pid);
	child_close_start(&s);
	if (err) {
		davy_child_end(&child, END_MS);
		return err;
	}
	*ret_child = child;
	return 0;
}

int davy_child_start_piped(const struct davy_child_spec *spec, int flags,
			   struct davy_child *ret_child)
{
	struct davy_child_spec piped = *spec;
	int fd[2], err;

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	fcntl(fd[0], F_SETFL, flags);
	piped.stdio[STDOUT_FILENO] = fd[1];
	err = fd[1] ? davy_child_start(&piped, ret_child) : -EBADF; /* 0 is no stdout: child.h */
	close(fd[1]);
	if (!err)
		return fd[0];
	close(fd[0]);
	return err;
}

/* The pid and the process group number of a child cannot be reused before it is reaped. */
void davy_child_kill(const struct davy_child *child, int signal)
{
	if (child->pid <= 0)
		return;
	kill(-child->pid, signal);
	kill(child->pid, signal);
}

int davy_child_take_pidfd(struct davy_child *child)
{
	int fd = child->pidfd;

	child->pidfd = -1;
	return fd;
}

static void child_forget(struct davy_child *child)
{
	if (child->pid > 0 && child->pidfd >= 0)
		close(child->pidfd);
	*child = DAVY_CHILD_NONE;
}

/* True if the process has ended or is not a child of this process. A ptrace stop is not an end. */
static bool child_reap(pid_t pid, int *ret_status)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT))
		return errno == ECHILD;
	if (info.si_code != CLD_EXITED && info.si_code != CLD_KILLED && info.si_code != CLD_DUMPED)
		return false;
	return waitpid(pid, ret_status, WNOHANG) == pid;
}

int davy_child_reap(struct davy_child *child, int *ret_status)
{
	int status = DAVY_CHILD_FAILED << 8;

	if (child->pid <= 0 || !child_reap(child->pid, &status))
		return 0;
	child_forget(child);
	if (ret_status)
		*ret_status = status;
	return 1;
}

int davy_child_wait(struct davy_child *child, int timeout_ms, int *ret_status)
{
	uint64_t began_ms = davy_now_ms(), spent_ms = 0;
	struct pollfd end = { .events = POLLIN };

	if (child->pid > 0 && child->pidfd < 0)
		child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	end.fd = child->pidfd;
	while (child->pid > 0 && !davy_child_reap(child, ret_status)) {
		if (spent_ms >= (uint64_t)timeout_ms)
			return 0;
		poll(&end, 1, timeout_ms - (int)spent_ms);
		spent_ms = davy_now_ms() - began_ms;
	}
	return 1;
}

int davy_child_end(struct davy_child *child, int timeout_ms)
{
	davy_child_kill(child, SIGKILL);
	if (davy_child_wait(child, timeout_ms, NULL))
		return 0;
	davy_child_leave(child);
	return -ETIMEDOUT;
}

void davy_child_leave(struct davy_child *child)
{
	/* If no entry is free, the child stays a zombie until this process ends. */
	for (size_t i = 0; child->pid > 0 && i < LEFT_MAX; i++) {
		if (left[i])
			continue;
		left[i] = child->pid;
		break;
	}
	child_forget(child);
}

size_t davy_child_reap_left(void)
{
	size_t count = 0;

	for (size_t i = 0; i < LEFT_MAX; i++) {
		if (left[i] && child_reap(left[i], NULL))
			left[i] = 0;
		count += left[i] != 0;
	}
	return count;
}

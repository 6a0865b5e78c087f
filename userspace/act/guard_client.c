/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/file.h"

#define STOP_MS 1000

extern char **environ;

/* In a session of its own: what a terminal or kill(-group) does to the agent is not for it. */
static int spawn(const char *program, int fd, int own_pidfd, pid_t *ret_pid)
{
	char *argv[] = { (char *)DL_GUARD_PROGRAM, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	int err;

	sigemptyset(&set);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	posix_spawn_file_actions_init(&files);
	err = posix_spawn_file_actions_adddup2(&files, fd, DL_GUARD_FD);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, own_pidfd, DL_GUARD_AGENT_FD);
	for (int i = 0; !err && i < DL_GUARD_FD; i++)
		err = posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
	if (!err)
		err = posix_spawn_file_actions_addclosefrom_np(&files, DL_GUARD_AGENT_FD + 1);
	if (!err)
		err = posix_spawn(ret_pid, program, &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -err;
}

/* Not among the descriptors that the guard gets, since a dup2 onto itself keeps CLOEXEC. */
static int client_move_up(int fd)
{
	int far = fd < 0 ? -errno : fcntl(fd, F_DUPFD_CLOEXEC, DL_GUARD_AGENT_FD + 1);

	if (fd >= 0 && far < 0)
		far = -errno;
	if (fd >= 0)
		close(fd);
	return far;
}

int dl_guard_start(struct dl_guard *guard, const char *program)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	DL_FD far = client_move_up(pair[1]);
	DL_FD own = client_move_up((int)syscall(SYS_pidfd_open, getpid(), 0));

	err = far < 0 ? far : own < 0 ? own : spawn(program, far, own, &guard->pid);
	if (err) {
		close(pair[0]);
		return err;
	}
	guard->fd = pair[0];
	guard->pidfd = (int)syscall(SYS_pidfd_open, guard->pid, 0);
	if (guard->pidfd >= 0)
		return 0;
	err = -errno;
	dl_guard_stop(guard);
	return err;
}

int dl_guard_send(const struct dl_guard *guard, const struct dl_guard_order *order, int dir_fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec data = { (void *)order, sizeof(*order) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (guard->fd < 0)
		return -ENOTCONN;
	if (dir_fd >= 0) {
		struct cmsghdr *c;

		message.msg_control = control.buf;
		message.msg_controllen = sizeof(control.buf);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &dir_fd, sizeof(int));
	}
	return sendmsg(guard->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int dl_guard_receive(const struct dl_guard *guard, struct dl_guard_answer *ret_answer)
{
	ssize_t n = recv(guard->fd, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -ECONNRESET;
	return n == sizeof(*ret_answer) ? 0 : -ECONNRESET;
}

void dl_guard_stop(struct dl_guard *guard)
{
	struct pollfd end = { .fd = guard->pidfd, .events = POLLIN };

	if (guard->fd >= 0) {
		shutdown(guard->fd, SHUT_RDWR); /* a child of ours may have a copy of it */
		close(guard->fd);
	}
	if (guard->pidfd >= 0) {
		poll(&end, 1, STOP_MS);
		close(guard->pidfd);
	}
	if (guard->pid > 0)
		waitpid(guard->pid, NULL, WNOHANG);
	guard->fd = guard->pidfd = -1;
	guard->pid = 0;
}

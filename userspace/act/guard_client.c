/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/guard_order.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/file.h"

#define STOP_MS 1000

int davy_guard_start(struct davy_guard *guard, const char *program)
{
	char *argv[] = { (char *)DAVY_GUARD_PROGRAM, NULL };
	struct davy_child child;
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	DAVY_FD far = pair[1];
	DAVY_FD own = (int)syscall(SYS_pidfd_open, getpid(), 0);
	const int fds[] = { far, own }; /* become DAVY_GUARD_FD and DAVY_GUARD_AGENT_FD */
	/* In its own session: no signals of a terminal, no kill(-group) meant for the agent. */
	const struct davy_child_spec spec = { .path = program,
					      .argv = argv,
					      .stdio = { DAVY_CHILD_NULL, DAVY_CHILD_NULL,
							 DAVY_CHILD_NULL },
					      .fds = fds,
					      .fd_count = 2,
					      .own_session = true,
					      .death_signal = SIGTERM };

	err = own < 0 ? -errno : davy_child_start(&spec, &child);
	if (err) {
		close(pair[0]);
		return err;
	}
	*guard = (struct davy_guard){ .fd = pair[0], .pidfd = child.pidfd, .pid = child.pid };
	return 0;
}

int davy_guard_send(const struct davy_guard *guard, const struct davy_guard_order *order,
		    int dir_fd)
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

int davy_guard_receive(const struct davy_guard *guard, struct davy_guard_answer *ret_answer)
{
	ssize_t n = recv(guard->fd, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -ECONNRESET;
	return n == sizeof(*ret_answer) ? 0 : -ECONNRESET;
}

void davy_guard_stop(struct davy_guard *guard)
{
	struct davy_child child = { .pid = guard->pid, .pidfd = guard->pidfd };

	if (guard->fd >= 0) {
		shutdown(guard->fd, SHUT_RDWR); /* a child of ours may have a copy */
		close(guard->fd);
	}
	if (!davy_child_wait(&child, STOP_MS, NULL))
		davy_child_leave(&child);
	guard->fd = guard->pidfd = -1;
	guard->pid = 0;
}

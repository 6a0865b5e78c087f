/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kfd_opener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/file.h"

/*
 * As linux/kfd_ioctl.h has it since 5.8. That header cannot be included: it wants <drm/drm.h>,
 * which Debian has in another place.
 */
struct smi_events {
	uint32_t gpu_id;
	uint32_t fd; /* out */
};

#define SMI_EVENTS _IOWR('K', 0x1f, struct smi_events)
_Static_assert(SMI_EVENTS == 0xc0084b1f, "AMDKFD_IOC_SMI_EVENTS");

#define END_MS 200 /* until a child that was killed is gone, unless it hangs in the kernel */

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

static void answer(int sock, uint32_t gpu_id, int error, int fd)
{
	struct dl_kfd_answer a = { gpu_id, error };
	struct iovec data = { &a, sizeof(a) };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1 };
	union control control = { 0 };

	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	if (sendmsg(sock, &m, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static void open_gpu(int sock, int kfd, uint32_t gpu_id)
{
	struct smi_events args = { .gpu_id = gpu_id };

	if (ioctl(kfd, SMI_EVENTS, &args)) {
		answer(sock, gpu_id, -errno, -1);
		return;
	}
	answer(sock, gpu_id, 0, (int)args.fd);
	close((int)args.fd);
}

/* The agent's files are not for it, nor are its signals: SIGBUS is to end it. */
static void settle(int *sock)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "davylamp-kfd");
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(*sock, 3) == 3) {
		*sock = 3;
		close_range(4, ~0U, 0);
	}
}

static void serve(int sock, const uint32_t *gpu_ids, size_t count, bool stay)
{
	char path[PATH_MAX], end;
	int kfd;

	settle(&sock);
	kfd = dl_root_path(path, sizeof(path), "/dev/kfd") ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (kfd < 0) {
		answer(sock, 0, -errno, -1);
		return;
	}
	for (size_t i = 0; i < count; i++)
		open_gpu(sock, kfd, gpu_ids[i]);
	close(kfd);
	answer(sock, 0, 0, -1);
	while (stay && recv(sock, &end, 1, 0) < 0 && errno == EINTR)
		;
}

int dl_kfd_opener_start(struct dl_kfd_opener *o, const uint32_t *gpu_ids, size_t count, bool stay)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (pid < 0) {
		int err = -errno;

		close(pair[0]);
		close(pair[1]);
		return err;
	}
	if (!pid) {
		close(pair[0]);
		serve(pair[1], gpu_ids, count, stay);
		_exit(0);
	}
	close(pair[1]);
	o->pid = pid;
	o->fd = pair[0];
	return 0;
}

int dl_kfd_opener_next(struct dl_kfd_opener *o, struct dl_kfd_answer *ret_answer, int *ret_fd)
{
	struct dl_kfd_answer a;
	struct iovec data = { &a, sizeof(a) };
	union control control;
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t n = recvmsg(o->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != sizeof(a))
		return -ENODATA;
	*ret_fd = -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	*ret_answer = a;
	return 1;
}

int dl_kfd_opener_done(struct dl_kfd_opener *o)
{
	struct pollfd end = { .events = POLLIN };

	if (!o->pid)
		return 0;
	close(o->fd);
	o->fd = -1;
	kill(o->pid, SIGKILL);
	end.fd = (int)syscall(SYS_pidfd_open, o->pid, 0);
	if (end.fd >= 0) {
		poll(&end, 1, END_MS);
		close(end.fd);
	}
	return dl_kfd_opener_reap(o) ? 0 : -ETIMEDOUT;
}

bool dl_kfd_opener_reap(struct dl_kfd_opener *o)
{
	if (o->pid && waitpid(o->pid, NULL, WNOHANG) == o->pid)
		o->pid = 0;
	return !o->pid;
}

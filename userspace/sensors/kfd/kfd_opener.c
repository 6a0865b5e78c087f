/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kfd/kfd_opener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/rights.h"

/* As in linux/kfd_ioctl.h since 5.8, which includes <drm/drm.h>; Debian has that elsewhere. */
struct smi_events {
	uint32_t gpu_id;
	uint32_t fd; /* out */
};

#define SMI_EVENTS _IOWR('K', 0x1f, struct smi_events)
_Static_assert(SMI_EVENTS == 0xc0084b1f, "AMDKFD_IOC_SMI_EVENTS");

#define END_MS 200 /* limit for a killed child to end, unless it is blocked in the kernel */

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

static void kfd_opener_answer(int sock, uint32_t gpu_id, int error, int fd)
{
	struct davy_kfd_answer a = { gpu_id, error };
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

static void kfd_opener_open_gpu(int sock, int kfd, uint32_t gpu_id)
{
	struct smi_events args = { .gpu_id = gpu_id };

	if (ioctl(kfd, SMI_EVENTS, &args)) {
		kfd_opener_answer(sock, gpu_id, -errno, -1);
		return;
	}
	kfd_opener_answer(sock, gpu_id, 0, (int)args.fd);
	close((int)args.fd);
}

struct serving {
	const uint32_t *gpu_ids;
	size_t count;
	bool stay;
};

/* Stdin is the socket. */
static int kfd_serve(void *arg)
{
	/* without CAP_SYS_ADMIN, KFD reports only own events (kfd_smi_events.c, "suser") */
	const struct davy_rights rights = { .capabilities = 1ULL << CAP_SYS_ADMIN,
					    .stays_root = true,
					    .devices = true };
	const struct serving *s = arg;
	char path[PATH_MAX], end;
	int kfd, err = davy_rights_keep(&rights, getppid());

	if (err) {
		kfd_opener_answer(STDIN_FILENO, 0, err, -1);
		return 0;
	}
	kfd = davy_root_path(path, sizeof(path), "/dev/kfd") ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (kfd < 0) {
		kfd_opener_answer(STDIN_FILENO, 0, -errno, -1);
		return 0;
	}
	for (size_t i = 0; i < s->count; i++)
		kfd_opener_open_gpu(STDIN_FILENO, kfd, s->gpu_ids[i]);
	close(kfd);
	kfd_opener_answer(STDIN_FILENO, 0, 0, -1);
	while (s->stay && recv(STDIN_FILENO, &end, 1, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int davy_kfd_opener_start(struct davy_kfd_opener *o, const uint32_t *gpu_ids, size_t count,
			  bool stay)
{
	struct serving serving = { gpu_ids, count, stay };
	struct davy_child_spec spec = {
		.run = kfd_serve, .arg = &serving, .death_signal = SIGKILL, .name = "davylamp-kfd"
	};
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	spec.stdio[STDIN_FILENO] = pair[1];
	err = davy_child_start(&spec, &o->child);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	o->fd = pair[0];
	return 0;
}

int davy_kfd_opener_next(struct davy_kfd_opener *o, struct davy_kfd_answer *ret_answer, int *ret_fd)
{
	struct davy_kfd_answer a;
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

int davy_kfd_opener_done(struct davy_kfd_opener *o)
{
	if (!o->child.pid)
		return 0;
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	davy_child_kill(&o->child, SIGKILL);
	return davy_child_wait(&o->child, END_MS, NULL) ? 0 : -ETIMEDOUT;
}

bool davy_kfd_opener_reap(struct davy_kfd_opener *o)
{
	davy_child_reap(&o->child, NULL);
	return !o->child.pid;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define TRIES 3 /* the holder may end between F_SETLK and F_GETLK */

int davy_lock_take(const char *path, pid_t *ret_holder)
{
	int err = 0, fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);

	if (fd < 0)
		return -errno;
	for (int i = 0; i < TRIES; i++) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

		if (!fcntl(fd, F_SETLK, &lock))
			return fd;
		err = errno == EACCES || errno == EAGAIN ? -EWOULDBLOCK : -errno;
		if (err != -EWOULDBLOCK || fcntl(fd, F_GETLK, &lock))
			break;
		*ret_holder = lock.l_type == F_UNLCK || lock.l_pid < 0 ? 0 : lock.l_pid;
		if (lock.l_type != F_UNLCK)
			break;
	}
	close(fd);
	return err;
}

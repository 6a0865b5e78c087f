/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/clock.h"

#define LOCK_LOOK_US 5000

static int lock_path(char path[PATH_MAX], const char *of)
{
	const char *slash = strrchr(of, '/'), *name = slash ? slash + 1 : of;
	int n = snprintf(path, PATH_MAX, "%.*s.%s.lock", (int)(name - of), of, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* The holder deletes the file on release: a waiting process may have locked a deleted file. */
static bool lock_is_there(int fd, const char *path)
{
	struct stat held, there;

	return !fstat(fd, &held) && !lstat(path, &there) && held.st_dev == there.st_dev &&
	       held.st_ino == there.st_ino;
}

/* 0 and the descriptor; -EAGAIN: another process holds the lock. */
static int lock_try(const char *path, int *ret_fd)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600), err = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EAGAIN : -errno;
	else if (!lock_is_there(fd, path))
		err = -EAGAIN;
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

int davy_file_lock_take(struct davy_file_lock *lock, const char *path, uint32_t wait_ms)
{
	uint64_t until_ms = davy_now_ms() + wait_ms;
	int err;

	lock->fd = -1;
	err = lock_path(lock->path, path);
	if (err)
		return err;
	while ((err = lock_try(lock->path, &lock->fd)) == -EAGAIN) {
		if (davy_now_ms() >= until_ms)
			return -EBUSY;
		usleep(LOCK_LOOK_US);
	}
	return err;
}

void davy_file_lock_drop(struct davy_file_lock *lock)
{
	if (lock->fd < 0)
		return;
	unlink(lock->path);
	close(lock->fd);
	lock->fd = -1;
}

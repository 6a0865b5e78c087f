/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"

int davy_freezer_open(int dir_fd)
{
	int fd = openat(dir_fd, "cgroup.freeze", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int davy_freezer_write(int fd, bool freeze)
{
	return pwrite(fd, freeze ? "1" : "0", 1, 0) == 1 ? 0 : -errno;
}

int davy_freezer_wants_frozen(int fd)
{
	char text = 0;
	ssize_t n = pread(fd, &text, 1, 0);

	return n < 0 ? -errno : text == '1';
}

int davy_cgroup_freeze(int dir_fd, bool freeze)
{
	DAVY_FD fd = davy_freezer_open(dir_fd);

	return fd < 0 ? fd : davy_freezer_write(fd, freeze);
}

int davy_cgroup_wants_frozen(int dir_fd)
{
	DAVY_FD fd = openat(dir_fd, "cgroup.freeze", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : davy_freezer_wants_frozen(fd);
}

int davy_cgroup_events_read(int events_fd, struct davy_cgroup_events *ret_events)
{
	char text[128];
	ssize_t n = lseek(events_fd, 0, SEEK_SET);

	if (n < 0)
		return -errno;
	n = davy_read_fd(events_fd, text, sizeof(text));
	if (n < 0)
		return (int)n;
	if (!strstr(text, "frozen ")) /* since 5.2 */
		return -ENOTSUP;
	ret_events->frozen = strstr(text, "frozen 1") != NULL;
	ret_events->populated = strstr(text, "populated 1") != NULL;
	return 0;
}

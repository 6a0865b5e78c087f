/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/standard_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int davy_standard_fds_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", O_RDWR | O_NOCTTY) != fd) /* the lowest number is used */
			return -EBADF;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

int davy_watch(sd_event *loop, sd_event_source **ret_source, int fd, sd_event_io_handler_t handler,
	       void *arg)
{
	sd_event_source *source;
	int err = sd_event_add_io(loop, &source, fd, EPOLLIN, handler, arg);

	if (err < 0) {
		close(fd);
		return err;
	}
	sd_event_source_set_io_fd_own(source, true);
	if (ret_source) {
		*ret_source = source;
		return 0;
	}
	err = sd_event_source_set_floating(source, true);
	sd_event_source_unref(source);
	return err < 0 ? err : 0;
}

int davy_watch_copy(sd_event *loop, sd_event_source **ret_source, int fd,
		    sd_event_io_handler_t handler, void *arg)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return copy < 0 ? -errno : davy_watch(loop, ret_source, copy, handler, arg);
}

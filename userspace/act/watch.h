/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way to have a descriptor watched by the loop. The event source owns the descriptor and
 * removes it from epoll before closing it. A descriptor that is closed earlier stays registered
 * while a child process has a copy of it, and epoll then names a source that is freed.
 * tests/lint/layers refuses sd_event_add_io() elsewhere.
 */
#ifndef DAVY_WATCH_H
#define DAVY_WATCH_H

#include <systemd/sd-event.h>

/*
 * Takes "fd" over, also on failure. It is closed when the source is freed: no close() elsewhere.
 * "ret_source" may be NULL: the source lives as long as the loop. 0 or -errno.
 */
int davy_watch(sd_event *loop, sd_event_source **ret_source, int fd, sd_event_io_handler_t handler,
	       void *arg);

/* Watches a copy of "fd", which keeps its owner; for descriptors that an object closes. */
int davy_watch_copy(sd_event *loop, sd_event_source **ret_source, int fd,
		    sd_event_io_handler_t handler, void *arg);

#endif

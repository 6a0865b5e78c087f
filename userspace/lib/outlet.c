/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int davy_outlet_open(struct davy_outlet *o, int fd)
{
	char path[32];

	memset(o, 0, sizeof(*o));
	o->fd = fd;
	if (!isatty(fd))
		return 0;
	o->own = true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o->fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return o->fd < 0 ? -errno : 0;
}

void davy_outlet_close(struct davy_outlet *o)
{
	if (o->own && o->fd >= 0)
		close(o->fd);
	free(o->rest);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
}

/* Returns the number of bytes written; 0 if the descriptor is not writable or fails. */
static size_t outlet_write_some(struct davy_outlet *o, const char *text, size_t size)
{
	struct pollfd out = { .fd = o->fd, .events = POLLOUT };
	ssize_t n;

	if (o->fd < 0 || poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
		return 0;
	n = write(o->fd, text, size);
	return n > 0 ? (size_t)n : 0;
}

bool davy_outlet_flush(struct davy_outlet *o)
{
	if (!o->rest)
		return true;
	o->done += outlet_write_some(o, o->rest + o->done, o->size - o->done);
	if (o->done < o->size)
		return false;
	free(o->rest);
	o->rest = NULL;
	return true;
}

bool davy_outlet_put(struct davy_outlet *o, const char *text, size_t size)
{
	size_t done;

	if (!davy_outlet_flush(o))
		return false;
	done = outlet_write_some(o, text, size);
	if (done == size || !done)
		return done == size;
	o->size = size - done;
	o->done = 0;
	o->rest = malloc(o->size);
	if (o->rest)
		memcpy(o->rest, text + done, o->size);
	return true;
}

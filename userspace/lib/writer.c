/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int davy_writer_open(struct davy_writer *o, int fd)
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

void davy_writer_close(struct davy_writer *o)
{
	if (o->own && o->fd >= 0)
		close(o->fd);
	free(o->rest);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
}

static bool writer_has_room(const struct davy_writer *o)
{
	struct pollfd out = { .fd = o->fd, .events = POLLOUT };

	return o->fd >= 0 && poll(&out, 1, 0) == 1 && out.revents & POLLOUT;
}

/*
 * Returns the number of bytes written, 0 if the descriptor is not writable or fails. A pipe that is
 * reported as writable takes PIPE_BUF bytes; a larger write would wait for the reader.
 */
static size_t writer_write_some(struct davy_writer *o, const char *text, size_t size)
{
	size_t done = 0;

	while (done < size && writer_has_room(o)) {
		ssize_t n =
			write(o->fd, text + done, size - done < PIPE_BUF ? size - done : PIPE_BUF);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

bool davy_writer_flush(struct davy_writer *o)
{
	if (!o->rest)
		return true;
	o->done += writer_write_some(o, o->rest + o->done, o->size - o->done);
	if (o->done < o->size)
		return false;
	free(o->rest);
	o->rest = NULL;
	return true;
}

bool davy_writer_put(struct davy_writer *o, const char *text, size_t size)
{
	size_t done;

	if (!davy_writer_flush(o))
		return false;
	done = writer_write_some(o, text, size);
	if (done == size || !done)
		return done == size;
	o->size = size - done;
	o->done = 0;
	o->rest = malloc(o->size);
	if (o->rest)
		memcpy(o->rest, text + done, o->size);
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/* The injector's device: commands, results, and plain memory. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fire.h"

#define DEVICE "/dev/davylamp-inject"

int fire_open(struct fire_session *s)
{
	s->fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (s->fd < 0)
		fire_fail(s, -ENODEV, "cannot open '%s': %s; load davylamp-inject.ko", DEVICE,
			  strerror(errno));
	return s->err;
}

void fire_close(struct fire_session *s)
{
	if (s->fd >= 0)
		close(s->fd);
}

/* Keeps and prints the first failure only. */
void fire_fail(struct fire_session *s, int err, const char *format, ...)
{
	va_list args;

	if (s->err)
		return;
	s->err = err;
	fputs("fire: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void fire_send(struct fire_session *s, const char *format, ...)
{
	char line[1024];
	va_list args;
	int len;

	if (s->err)
		return;
	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(line))
		fire_fail(s, -E2BIG, "the command is longer than %zu bytes", sizeof(line));
	else if (write(s->fd, line, (size_t)len) != len)
		fire_fail(s, -errno, "'%s' failed: %s", line, strerror(errno));
}

/* The result of the last command; 0 after a failure. */
uint64_t fire_result(struct fire_session *s)
{
	char text[32];
	ssize_t len;

	if (s->err)
		return 0;
	len = read(s->fd, text, sizeof(text) - 1);
	if (len < 0) {
		fire_fail(s, -errno, "cannot read '%s': %s", DEVICE, strerror(errno));
		return 0;
	}
	text[len] = '\0';
	return strtoull(text, NULL, 0);
}

/* Kernel memory at an address; 0 after a failure. */
uint64_t fire_load(struct fire_session *s, uint32_t size, uint64_t address)
{
	fire_send(s, "load %u 0x%" PRIx64, size, address);
	return fire_result(s);
}

/* Zeroed memory that lives as long as the session. */
uint32_t fire_bytes_new(struct fire_session *s, uint32_t size)
{
	uint32_t id = ++s->next_id;

	fire_send(s, "object %u %u", id, size);
	return id;
}

/* Stores "len" bytes, eight at a time. */
void fire_put_text(struct fire_session *s, uint32_t object, uint32_t offset, const char *text,
		   size_t len)
{
	while (len) {
		uint32_t size = len >= 8 ? 8 : len >= 4 ? 4 : len >= 2 ? 2 : 1;
		uint64_t value = 0;

		memcpy(&value, text, size);
		fire_send(s, "put %u %u %u 0x%" PRIx64, object, offset, size, value);
		text += size;
		offset += size;
		len -= size;
	}
}

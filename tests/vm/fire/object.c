// SPDX-License-Identifier: GPL-2.0
/* The injector's device: commands, results, and objects built by them. */
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
	if (s->fd < 0) {
		fprintf(stderr, "fire: cannot open '%s': %s; load davylamp-inject.ko\n", DEVICE,
			strerror(errno));
		return -ENODEV;
	}
	return 0;
}

void fire_close(struct fire_session *s)
{
	if (s->fd >= 0)
		close(s->fd);
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
	if (len < 0 || (size_t)len >= sizeof(line)) {
		fprintf(stderr, "fire: the command is longer than %zu bytes\n", sizeof(line));
		s->err = -E2BIG;
		return;
	}
	if (write(s->fd, line, (size_t)len) != len) {
		s->err = -errno;
		fprintf(stderr, "fire: '%s' failed: %s\n", line, strerror(errno));
	}
}

/* What the last command gave; 0 after a failure. */
uint64_t fire_result(struct fire_session *s)
{
	char text[32];
	ssize_t len;

	if (s->err)
		return 0;
	len = read(s->fd, text, sizeof(text) - 1);
	if (len < 0) {
		s->err = -errno;
		fprintf(stderr, "fire: cannot read '%s': %s\n", DEVICE, strerror(errno));
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

struct fire_object fire_bytes_new(struct fire_session *s, uint32_t size)
{
	struct fire_object o = { .s = s, .id = ++s->next_id };

	fire_send(s, "object %u %u", o.id, size);
	return o;
}

struct fire_object fire_object_new(struct fire_session *s, const char *type)
{
	struct fire_object o = fire_bytes_new(s, fire_size_of(s, type));

	o.type = type;
	return o;
}

void fire_set(struct fire_object o, const char *path, uint64_t value)
{
	struct fire_field f = fire_field_of(o.s, o.type, path);

	fire_send(o.s, "put %u %u %u 0x%" PRIx64, o.id, f.offset, f.size, value);
}

/* For an array of characters inside the structure; too long a text is cut. */
void fire_set_text(struct fire_object o, const char *path, const char *text)
{
	struct fire_field f = fire_field_of(o.s, o.type, path);

	if (f.size)
		fire_send(o.s, "text %u %u %.*s", o.id, f.offset, (int)f.size - 1, text);
}

void fire_set_symbol(struct fire_object o, const char *path, const char *symbol)
{
	struct fire_field f = fire_field_of(o.s, o.type, path);

	fire_send(o.s, "put %u %u 8 sym:%s", o.id, f.offset, symbol);
}

void fire_point(struct fire_object o, const char *path, struct fire_object to, const char *to_path)
{
	struct fire_field f = fire_field_of(o.s, o.type, path);
	uint32_t offset = to.type ? fire_field_of(o.s, to.type, to_path).offset : 0;

	fire_send(o.s, "put %u %u 8 &%u+%u", o.id, f.offset, to.id, offset);
}

void fire_point_text(struct fire_object o, const char *path, const char *text)
{
	struct fire_object bytes = fire_bytes_new(o.s, (uint32_t)strlen(text) + 1);

	fire_send(o.s, "text %u 0 %s", bytes.id, text);
	fire_point(o, path, bytes, "");
}

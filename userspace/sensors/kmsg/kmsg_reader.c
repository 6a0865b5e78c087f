/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_SIZE 8192 /* PRINTK_MESSAGE_MAX of Linux 6.1 to 7.2 is 2048; 8192 before 6.4 */

struct davy_kmsg_reader {
	int fd;
	bool seen; /* next_seq is valid */
	uint64_t next_seq;
	struct davy_kmsg_sinks sinks;
	struct davy_log_blocks blocks;
	struct davy_kmsg_line line;
	char record[RECORD_SIZE];
};

int davy_kmsg_reader_of_fd(int fd, const struct davy_kmsg_sinks *sinks,
			   struct davy_kmsg_reader **ret_reader)
{
	struct davy_kmsg_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		close(fd);
		return -ENOMEM;
	}
	r->fd = fd;
	r->sinks = *sinks;
	davy_log_blocks_init(&r->blocks, sinks->event, sinks->arg);
	r->blocks.named = sinks->named;
	*ret_reader = r;
	return 0;
}

int davy_kmsg_reader_open(const char *path, enum davy_kmsg_from from,
			  const struct davy_kmsg_sinks *sinks, struct davy_kmsg_reader **ret_reader)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	/* a FIFO has no end to seek to, and no old data */
	if (lseek(fd, 0, from == DAVY_KMSG_FROM_START ? SEEK_SET : SEEK_END) < 0 &&
	    errno != ESPIPE) {
		int err = -errno;

		close(fd);
		return err;
	}
	return davy_kmsg_reader_of_fd(fd, sinks, ret_reader);
}

int davy_kmsg_reader_fd(const struct davy_kmsg_reader *r)
{
	return r->fd;
}

/* A gap means lost records. A sequence that goes back is from another kernel and restarts. */
static void kmsg_reader_follow_sequence(struct davy_kmsg_reader *r, uint64_t seq)
{
	if (r->seen && seq > r->next_seq)
		r->sinks.lost(r->sinks.arg, seq - r->next_seq);
	r->seen = true;
	r->next_seq = seq == UINT64_MAX ? seq : seq + 1;
}

/* A pipe may return several records: each ends before a line without a leading blank. */
static size_t kmsg_reader_record_size(const char *data, size_t size)
{
	size_t at = 0;

	while (at < size) {
		const char *end = memchr(data + at, '\n', size - at);

		at = end ? (size_t)(end - data) + 1 : size;
		if (at == size || data[at] != ' ')
			break;
	}
	return at;
}

static void kmsg_reader_take(struct davy_kmsg_reader *r, const char *data, size_t size)
{
	int err = davy_kmsg_record_parse(data, size, &r->line);

	if (err == -EINVAL)
		return;
	kmsg_reader_follow_sequence(r, r->line.seq);
	if (!err && r->line.len)
		davy_log_blocks_feed(&r->blocks, &r->line);
}

int davy_kmsg_read(struct davy_kmsg_reader *r)
{
	ssize_t size = read(r->fd, r->record, sizeof(r->record));

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (size < 0 && errno == EPIPE) {
		/* overwritten before it was read; the next sequence number gives the count */
		if (!r->seen)
			r->sinks.lost(r->sinks.arg, 1);
		return 1;
	}
	if (size < 0 && errno == EINVAL) {
		/* longer than a record of any known kernel: the kernel has skipped it */
		r->sinks.lost(r->sinks.arg, 1);
		r->next_seq++;
		return 1;
	}
	if (size <= 0)
		return size ? -errno : -ENODATA;
	for (size_t at = 0, used; at < (size_t)size; at += used) {
		used = kmsg_reader_record_size(r->record + at, (size_t)size - at);
		kmsg_reader_take(r, r->record + at, used);
	}
	return 1;
}

void davy_kmsg_know(struct davy_kmsg_reader *r, const char *device, const char *driver)
{
	if (driver)
		davy_log_blocks_know(&r->blocks, device, davy_kmsg_driver_of(driver));
	else
		davy_log_blocks_forget(&r->blocks, device);
}

uint64_t davy_kmsg_stamp_ns(const struct davy_kmsg_reader *r)
{
	return r->line.at_ns;
}

void davy_kmsg_tick(struct davy_kmsg_reader *r, uint64_t printk_ns)
{
	davy_log_blocks_tick(&r->blocks, printk_ns, DAVY_KMSG_PRINTK);
}

bool davy_kmsg_waits(const struct davy_kmsg_reader *r)
{
	return davy_log_blocks_open(&r->blocks);
}

void davy_kmsg_reader_free(struct davy_kmsg_reader *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

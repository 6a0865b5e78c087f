/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kfd/kfd_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL_BUFFER 1024 /* MAX_KFIFO_SIZE of 6.1 and 6.12 */
#define LARGE_BUFFER 8192 /* of 7.2 */
#define STORM_LINES  500  /* in a second */

/*
 * Like KFD_SMI_EVENT_MASK_FROM_INDEX of linux/kfd_ioctl.h; the last is KFD_SMI_EVENT_ALL_PROCESS.
 */
#define ALL_EVENTS    ((1ULL << (DAVY_KFD_EVENT_COUNT - 1)) - 1)
#define EVERY_PROCESS (1ULL << 63)

struct davy_kfd_reader {
	int fd;
	struct davy_kfd_sinks sinks;
	struct davy_kfd_smi text;
	uint64_t second_ns;  /* start of the second */
	size_t line_count;   /* in that second */
	bool calm;	     /* the hot events are disabled */
	bool large;	     /* the buffer is known to be large */
	uint64_t full_count; /* reads of a possibly full buffer since the last report */
	char data[LARGE_BUFFER];
};

static int kfd_reader_request(struct davy_kfd_reader *r, uint64_t events)
{
	ssize_t n = write(r->fd, &events, sizeof(events));

	if (n == sizeof(events))
		return 0;
	return n < 0 ? -errno : -EIO;
}

/* Events that may arrive in thousands. */
static uint64_t kfd_reader_hot_events(void)
{
	static const uint32_t hot[] = { DAVY_KFD_MIGRATE_BEGIN, DAVY_KFD_MIGRATE_END,
					DAVY_KFD_PAGE_FAULT_BEGIN, DAVY_KFD_PAGE_FAULT_END,
					DAVY_KFD_UNMAPPED };
	uint64_t mask = 0;

	for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++)
		mask |= 1ULL << (hot[i] - 1);
	return mask;
}

int davy_kfd_reader_of_fd(int fd, const struct davy_kfd_sinks *sinks,
			  struct davy_kfd_reader **ret_reader)
{
	struct davy_kfd_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->fd = fd;
	r->sinks = *sinks;
	err = fcntl(fd, F_SETFL, O_NONBLOCK) ? -errno
					     : kfd_reader_request(r, ALL_EVENTS | EVERY_PROCESS);
	if (err) {
		davy_kfd_reader_free(r);
		return err;
	}
	*ret_reader = r;
	return 0;
}

void davy_kfd_reader_free(struct davy_kfd_reader *r)
{
	free(r);
}

/* True if another line might not have fit into the buffer. */
static bool kfd_reader_was_full(struct davy_kfd_reader *r, size_t size)
{
	if (size > SMALL_BUFFER)
		r->large = true;
	return size > (r->large ? LARGE_BUFFER : SMALL_BUFFER) - DAVY_KFD_LINE_MAX;
}

int davy_kfd_read(struct davy_kfd_reader *r)
{
	ssize_t n = read(r->fd, r->data, sizeof(r->data));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n)
		return -ENODATA;
	r->full_count += kfd_reader_was_full(r, (size_t)n);
	r->line_count +=
		davy_kfd_smi_feed(&r->text, r->data, (size_t)n, r->sinks.said, r->sinks.arg);
	if (r->line_count > STORM_LINES && !r->calm)
		r->calm = !kfd_reader_request(r, (ALL_EVENTS & ~kfd_reader_hot_events()) |
							 EVERY_PROCESS);
	return 1;
}

void davy_kfd_reader_tick(struct davy_kfd_reader *r, uint64_t now_ns)
{
	uint64_t full_count = r->full_count;

	if (now_ns - r->second_ns < DAVY_NS_PER_S)
		return;
	r->second_ns = now_ns;
	r->line_count = 0;
	r->full_count = 0;
	if (full_count)
		r->sinks.lost(r->sinks.arg, full_count, "the buffer of KFD's SMI events was full");
	if (!r->calm)
		return;
	r->sinks.lost(
		r->sinks.arg, 1,
		"more than 500 SMI events of KFD in a second: page faults and migrations were "
		"left out until its end");
	r->calm = kfd_reader_request(r, ALL_EVENTS | EVERY_PROCESS) != 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's log as it grows: /dev/kmsg, a record a read, without waiting. Made for an event
 * loop: watch the descriptor for input, call davy_kmsg_read() until it returns 0, and
 * davy_kmsg_tick() from a timer, so that the last block is told too.
 *
 * What userspace wrote to /dev/kmsg is not believed (its facility is not the kernel's). Times are
 * printk's: nanoseconds since boot without suspend, not CLOCK_BOOTTIME.
 */
#ifndef DAVY_KMSG_READER_H
#define DAVY_KMSG_READER_H

#include "sensors/kmsg/kmsg_block.h"

enum davy_kmsg_from {
	DAVY_KMSG_FROM_NOW = 0,
	DAVY_KMSG_FROM_START = 1, /* what the kernel's buffer still holds */
};

struct davy_kmsg_sinks {
	void (*event)(void *arg, const struct davy_log_event *ev);
	void (*lost)(void *arg, uint64_t count); /* records overwritten before they were read */
	void *arg;
};

struct davy_kmsg_reader;

/* "path" is opened for reading, nonblocking: /dev/kmsg, or what a test puts there. -errno. */
int davy_kmsg_reader_open(const char *path, enum davy_kmsg_from from,
			  const struct davy_kmsg_sinks *sinks,
			  struct davy_kmsg_reader **ret_reader);

/* The same over a descriptor, which the reader owns from then on, also on failure. */
int davy_kmsg_reader_of_fd(int fd, const struct davy_kmsg_sinks *sinks,
			   struct davy_kmsg_reader **ret_reader);

int davy_kmsg_reader_fd(const struct davy_kmsg_reader *r);

/*
 * Reads at most one record: 1 read, 0 nothing there now, -errno. -ENODATA: the other end is closed
 * (never of /dev/kmsg). A record that is none, or somebody else's, counts as read.
 */
int davy_kmsg_read(struct davy_kmsg_reader *r);

/* A device is there under that kernel module, or (NULL) is gone. */
void davy_kmsg_know(struct davy_kmsg_reader *r, const char *device, const char *driver);

/* The time of the record read last, in the log's own time; 0 before the first. */
uint64_t davy_kmsg_stamp_ns(const struct davy_kmsg_reader *r);

/* Tells the blocks that were silent for DAVY_LOG_BLOCK_NS at "printk_ns", in the log's own time. */
void davy_kmsg_tick(struct davy_kmsg_reader *r, uint64_t printk_ns);

void davy_kmsg_reader_free(struct davy_kmsg_reader *r);

#endif

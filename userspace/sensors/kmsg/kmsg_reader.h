/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's log as it grows: /dev/kmsg, a record a read, without waiting. Made for an event
 * loop: watch the descriptor for input, call dl_kmsg_read() until it returns 0, and
 * dl_kmsg_tick() from a timer, so that the last block is told too.
 *
 * What userspace wrote to /dev/kmsg is not believed (its facility is not the kernel's). Times are
 * printk's: nanoseconds since boot without suspend, not CLOCK_BOOTTIME.
 */
#ifndef DL_SENSORS_KMSG_READER_H
#define DL_SENSORS_KMSG_READER_H

#include "sensors/kmsg/kmsg_block.h"

enum dl_kmsg_from {
	DL_KMSG_FROM_NOW = 0,
	DL_KMSG_FROM_START = 1, /* what the kernel's buffer still holds */
};

struct dl_kmsg_sinks {
	void (*event)(void *arg, const struct dl_log_event *ev);
	void (*lost)(void *arg, uint64_t count); /* records overwritten before they were read */
	void *arg;
};

struct dl_kmsg_reader;

/* "path" is opened for reading, nonblocking: /dev/kmsg, or what a test puts there. -errno. */
int dl_kmsg_reader_open(const char *path, enum dl_kmsg_from from, const struct dl_kmsg_sinks *sinks,
			struct dl_kmsg_reader **ret_reader);

/* The same over a descriptor, which the reader owns from then on, also on failure. */
int dl_kmsg_reader_of_fd(int fd, const struct dl_kmsg_sinks *sinks,
			 struct dl_kmsg_reader **ret_reader);

int dl_kmsg_reader_fd(const struct dl_kmsg_reader *r);

/*
 * Reads at most one record: 1 read, 0 nothing there now, -errno. -ENODATA: the other end is closed
 * (never of /dev/kmsg). A record that is none, or somebody else's, counts as read.
 */
int dl_kmsg_read(struct dl_kmsg_reader *r);

/* A device is there under that kernel module, or (NULL) is gone. */
void dl_kmsg_know(struct dl_kmsg_reader *r, const char *device, const char *driver);

/* The time of the record read last, in the log's own time; 0 before the first. */
uint64_t dl_kmsg_stamp_ns(const struct dl_kmsg_reader *r);

/* Tells the blocks that were silent for DL_LOG_BLOCK_NS at "printk_ns", in the log's own time. */
void dl_kmsg_tick(struct dl_kmsg_reader *r, uint64_t printk_ns);

void dl_kmsg_reader_free(struct dl_kmsg_reader *r);

#endif

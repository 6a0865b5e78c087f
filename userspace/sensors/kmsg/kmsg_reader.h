/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel log from /dev/kmsg, one record per read, without blocking. For an event loop:
 * watch the descriptor for input and call davy_kmsg_read() until it returns 0. Call
 * davy_kmsg_tick() from a timer to report the last block.
 *
 * Records that userspace wrote to /dev/kmsg (facility not kern) are ignored. Times are printk's:
 * nanoseconds since boot without suspend, not CLOCK_BOOTTIME.
 */
#ifndef DAVY_KMSG_READER_H
#define DAVY_KMSG_READER_H

#include "sensors/kmsg/kmsg_block.h"

enum davy_kmsg_from {
	DAVY_KMSG_FROM_NOW = 0,
	DAVY_KMSG_FROM_START = 1, /* everything in the kernel's buffer */
};

struct davy_kmsg_sinks {
	void (*event)(void *arg, const struct davy_log_event *ev);
	void (*named)(void *arg, struct davy_log_event *ev); /* see davy_log_blocks; may be NULL */
	void (*lost)(void *arg, uint64_t count); /* records overwritten before they were read */
	void *arg;
};

struct davy_kmsg_reader;

/* Opens "path" nonblocking: /dev/kmsg, or a test's file. 0 or -errno. */
int davy_kmsg_reader_open(const char *path, enum davy_kmsg_from from,
			  const struct davy_kmsg_sinks *sinks,
			  struct davy_kmsg_reader **ret_reader);

/* The same for a descriptor. Takes ownership of it, also on failure. */
int davy_kmsg_reader_of_fd(int fd, const struct davy_kmsg_sinks *sinks,
			   struct davy_kmsg_reader **ret_reader);

int davy_kmsg_reader_fd(const struct davy_kmsg_reader *r);

/*
 * Reads at most one record. 1: read; 0: no record; or -errno. -ENODATA: end of file (never on
 * /dev/kmsg). Invalid and foreign records also return 1.
 */
int davy_kmsg_read(struct davy_kmsg_reader *r);

/* Adds a device with its kernel module, or removes it (NULL). */
void davy_kmsg_know(struct davy_kmsg_reader *r, const char *device, const char *driver);

/* Time of the last record, on the log's clock; 0 before the first record. */
uint64_t davy_kmsg_stamp_ns(const struct davy_kmsg_reader *r);

/* Reports blocks without a line for DAVY_LOG_BLOCK_NS at "printk_ns", on the log's clock. */
void davy_kmsg_tick(struct davy_kmsg_reader *r, uint64_t printk_ns);

/* A block waits for such a tick. */
bool davy_kmsg_waits(const struct davy_kmsg_reader *r);

void davy_kmsg_reader_free(struct davy_kmsg_reader *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one GPU's SMI descriptor: requests all events of all processes (format: kfd_smi.h). The
 * driver's buffer has 1024 bytes, 8192 since 7.2. The driver silently drops events that do not fit,
 * so a read of a possibly full buffer is reported as a loss. During a storm, page faults,
 * migrations and unmaps are disabled until the second is over, so that evictions and resets fit.
 *
 * The descriptor pins the module but not the GPU (client->dev in kfd_smi_events.c is a plain
 * pointer, also in 7.2). Close it before the driver releases the GPU. A later close writes to freed
 * kernel memory.
 */
#ifndef DAVY_KFD_READER_H
#define DAVY_KFD_READER_H

#include "sensors/kfd/kfd_smi.h"

struct davy_kfd_reader;

struct davy_kfd_sinks {
	davy_kfd_said_fn *said;
	/* At least "count" events are missing, for "reason". */
	void (*lost)(void *arg, uint64_t count, const char *reason);
	void *arg;
};

/* The caller keeps the descriptor and closes it after the last use of the reader. 0 or -errno. */
int davy_kfd_reader_of_fd(int fd, const struct davy_kfd_sinks *sinks,
			  struct davy_kfd_reader **ret_reader);
void davy_kfd_reader_free(struct davy_kfd_reader *r);

/* Reads at most one driver buffer. 1: read; 0: no data; -errno: the descriptor is unusable. */
int davy_kfd_read(struct davy_kfd_reader *r);

/* Call periodically: reports losses, and ends a storm after its second. */
void davy_kfd_reader_tick(struct davy_kfd_reader *r, uint64_t now_ns);

#endif

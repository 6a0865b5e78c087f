/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One GPU's SMI descriptor: asks for every event of every process and reads them (the formats:
 * kfd_smi.h). The driver keeps what is not read yet in a buffer of 1024 bytes, 8192 since 7.2, and
 * drops what finds no room, without a word: a read of a buffer that may have been full is told as
 * a loss. In a storm page faults, migrations and unmaps are turned off until the second is over, so
 * that evictions and resets find room.
 *
 * The descriptor pins the module and not the GPU (client->dev in kfd_smi_events.c is a plain
 * pointer, also in 7.2): it has to be closed before the driver lets go of the GPU. Whoever closes
 * it later writes into freed memory of the kernel.
 */
#ifndef DAVY_KFD_READER_H
#define DAVY_KFD_READER_H

#include "sensors/kfd/kfd_smi.h"

struct davy_kfd_reader;

struct davy_kfd_sinks {
	davy_kfd_said_fn *said;
	/* Events are missing, and why; at least "count" of them. */
	void (*lost)(void *arg, uint64_t count, const char *reason);
	void *arg;
};

/* The descriptor stays the caller's, who closes it when the reader is not used any more. -errno. */
int davy_kfd_reader_of_fd(int fd, const struct davy_kfd_sinks *sinks,
			  struct davy_kfd_reader **ret_reader);
void davy_kfd_reader_free(struct davy_kfd_reader *r);

/* At most one buffer of the driver's. 1: read; 0: nothing was there; -errno: it is of no use. */
int davy_kfd_read(struct davy_kfd_reader *r);

/* Now and then: what was lost is told, and a storm ends with its second. */
void davy_kfd_reader_tick(struct davy_kfd_reader *r, uint64_t now_ns);

#endif

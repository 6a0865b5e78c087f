/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A lock for files that are read, changed and replaced by several processes. The lock is a file of
 * mode 0600 beside the other one, ".NAME.lock", and exists only while it is held. A directory or
 * the file itself is no lock: flock needs no more than a descriptor, so every user who may read
 * either one could hold it for ever.
 */
#ifndef DAVY_FILE_LOCK_H
#define DAVY_FILE_LOCK_H

#include <limits.h>
#include <stdint.h>

/* For a command, which people wait for; and for the agent's loop. */
#define DAVY_LOCK_COMMAND_MS 10000
#define DAVY_LOCK_LOOP_MS    200

struct davy_file_lock {
	int fd; /* -1: not held */
	char path[PATH_MAX];
};

#define DAVY_FILE_LOCK __attribute__((cleanup(davy_file_lock_drop))) struct davy_file_lock

/* Waits at most "wait_ms" for the lock of "path"; -EBUSY when it is held longer, or -errno. */
int davy_file_lock_take(struct davy_file_lock *lock, const char *path, uint32_t wait_ms);

/* Also when it is not held. */
void davy_file_lock_drop(struct davy_file_lock *lock);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A lock for files that several processes read, change and replace. The lock is a file ".NAME.lock"
 * of mode 0600 in the same directory. It exists only while the lock is held. The directory or the
 * file cannot be the lock: flock needs only a descriptor, so each user with read access could hold
 * the lock forever.
 */
#ifndef DAVY_FILE_LOCK_H
#define DAVY_FILE_LOCK_H

#include <limits.h>
#include <stdint.h>

/* Limits for an interactive command and for the agent's loop. */
#define DAVY_LOCK_COMMAND_MS 10000
#define DAVY_LOCK_LOOP_MS    200

struct davy_file_lock {
	int fd; /* -1: not held */
	char path[PATH_MAX];
};

#define DAVY_FILE_LOCK __attribute__((cleanup(davy_file_lock_drop))) struct davy_file_lock

/* Waits at most "wait_ms" for the lock of "path". -EBUSY on timeout, or another -errno. */
int davy_file_lock_take(struct davy_file_lock *lock, const char *path, uint32_t wait_ms);

/* No effect if the lock is not held. */
void davy_file_lock_drop(struct davy_file_lock *lock);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file lock for one process at a time. It is a record lock (fcntl), not flock(2). A child does
 * not inherit it, so a child in D state does not keep it after its parent's death. The kernel
 * reports the holder. A process that closes any descriptor of the file loses the lock: only lock.c
 * may open the file.
 */
#ifndef DAVY_LOCK_H
#define DAVY_LOCK_H

#include <sys/types.h>

/*
 * Creates the file (mode 0600) if it is missing. Returns a descriptor; closing it or ending the
 * process releases the lock. -EWOULDBLOCK: *ret_holder has the lock. *ret_holder is 0 if the
 * holder's pid is unknown here (another pid namespace).
 */
int davy_lock_take(const char *path, pid_t *ret_holder);

#endif

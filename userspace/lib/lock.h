/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A lock on a file, for one process at a time. It is a record lock (fcntl) and not flock(2): a
 * child does not inherit it, so a child in D state does not keep it when its parent is killed, and
 * the kernel tells who holds it. A process that closes any descriptor of the file loses the lock:
 * only lock.c may open it.
 */
#ifndef DAVY_LOCK_H
#define DAVY_LOCK_H

#include <sys/types.h>

/*
 * Makes the file (mode 0600) where it is missing. Returns a descriptor: the lock is held until it
 * is closed or the process ends. -EWOULDBLOCK: *ret_holder has the lock, 0 when its pid is not
 * known here (another pid namespace).
 */
int davy_lock_take(const char *path, pid_t *ret_holder);

#endif

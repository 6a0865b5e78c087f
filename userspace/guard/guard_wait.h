/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How guard and standby wait for descriptors, signals and a time. Signals and times need no
 * descriptors; if poll() fails, waiting becomes sleeping. Only userspace/guard includes this.
 */
#ifndef DAVY_GUARD_WAIT_H
#define DAVY_GUARD_WAIT_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_GUARD_MS_NS ((uint64_t)1000000)
#define DAVY_GUARD_NEVER UINT64_MAX

/* CLOCK_BOOTTIME: it counts suspend time. */
uint64_t davy_guard_now_ns(void);

/* Delivers SIGTERM, SIGINT, SIGHUP, SIGCHLD and SIGUSR1 only in davy_guard_wait. -errno. */
int davy_guard_signals_open(void);

/* Whether SIGTERM, SIGINT or SIGHUP came since the start. */
int davy_guard_end_requested(void);

/*
 * Waits until a descriptor is ready (> 0), a signal came or "until_ns" is reached (0). If poll()
 * fails, it sleeps for at most 100 ms and returns 0: the caller checks everything. -errno: it
 * cannot wait.
 */
int davy_guard_wait(struct pollfd *fds, size_t count, uint64_t until_ns);

#endif

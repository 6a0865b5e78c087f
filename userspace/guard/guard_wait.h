/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How guard and standby wait: for descriptors, signals and a time, with as little as possible that
 * can fail. Signals need no descriptor, times need none, and without poll() waiting becomes
 * sleeping. Only userspace/guard includes this.
 */
#ifndef DAVY_GUARD_WAIT_H
#define DAVY_GUARD_WAIT_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_GUARD_MS_NS ((uint64_t)1000000)
#define DAVY_GUARD_NEVER UINT64_MAX

/* CLOCK_BOOTTIME, which goes on while the host is suspended. */
uint64_t davy_guard_now_ns(void);

/* SIGTERM, SIGINT, SIGHUP, SIGCHLD and SIGUSR1 come during davy_guard_wait only. -errno. */
int davy_guard_signals_open(void);

/* Whether SIGTERM, SIGINT or SIGHUP came since the start. */
int davy_guard_told_to_end(void);

/*
 * Waits until a descriptor is ready (> 0), a signal came or "until_ns" is over (0). Where poll()
 * fails, it sleeps for 100 ms at most and returns 0: the caller looks at everything. -errno: there
 * is no way to wait.
 */
int davy_guard_wait(struct pollfd *fds, size_t count, uint64_t until_ns);

#endif

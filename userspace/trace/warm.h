/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the attaching of uprobes fast. It takes a semaphore (dup_mmap_sem, kernel/events/uprobes.c)
 * whose first writer after a pause waits for an RCU grace period: 20 ms, half a second under load,
 * while an engine waits for us. A writer within a grace period of another does not wait. So a dummy
 * probe is added to or removed from a process in every tick, which is shorter than a grace period.
 */
#ifndef DAVY_WARM_H
#define DAVY_WARM_H

struct davy_warm;

/* -errno: attaching stays slow; -ENOENT, -ENOTSUP: no tracefs with uprobes. */
int davy_warm_open(struct davy_warm **ret_warm);
void davy_warm_close(struct davy_warm *w);

/* Call davy_warm_again() at this interval. */
long davy_warm_every_ns(void);
void davy_warm_again(struct davy_warm *w);

#endif

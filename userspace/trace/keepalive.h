/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the attaching of uprobes fast. It takes a semaphore (dup_mmap_sem, kernel/events/uprobes.c)
 * whose first writer after a pause waits for an RCU grace period: 20 ms, half a second under load,
 * while an engine waits for us. A writer within a grace period of another does not wait. So a dummy
 * probe is added to or removed from a process in every tick, which is shorter than a grace period.
 */
#ifndef DAVY_KEEPALIVE_H
#define DAVY_KEEPALIVE_H

struct davy_keepalive;

/* -errno: attaching stays slow; -ENOENT, -ENOTSUP: no tracefs with uprobes. */
int davy_keepalive_open(struct davy_keepalive **ret_keepalive);
void davy_keepalive_close(struct davy_keepalive *w);

/* Call davy_keepalive_again() at this interval. */
long davy_keepalive_every_ns(void);
void davy_keepalive_again(struct davy_keepalive *w);

#endif

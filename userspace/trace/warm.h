/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps uprobes quick to put. Each is put under a semaphore (dup_mmap_sem of
 * kernel/events/uprobes.c) whose first writer after a pause waits for a grace period of RCU, 20
 * ms or half a second under load, while an engine waits for us; one that follows within a grace
 * period does not. So a probe of our own, which nobody meets, is put into a process or taken out
 * of it in every tick; hardly a grace period is shorter.
 */
#ifndef DAVY_WARM_H
#define DAVY_WARM_H

struct davy_warm;

/* -errno: uprobes are put as they are; -ENOENT, -ENOTSUP: no tracefs with uprobes. */
int davy_warm_open(struct davy_warm **ret_warm);
void davy_warm_close(struct davy_warm *w);

/* To be called every so often while it is needed. */
long davy_warm_every_ns(void);
void davy_warm_again(struct davy_warm *w);

#endif

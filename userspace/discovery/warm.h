/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps uprobes quick to put. Each is put under a semaphore (dup_mmap_sem of
 * kernel/events/uprobes.c) whose first writer after a pause waits for a grace period of RCU, 20
 * ms or half a second under load, while an engine waits for us; one that follows within a grace
 * period does not. So a probe of our own, which nobody meets, is applied every two milliseconds.
 */
#ifndef DL_DISCOVERY_WARM_H
#define DL_DISCOVERY_WARM_H

struct dl_warm;

/* -errno: uprobes are put as they are; -ENOENT, -ENOTSUP: no tracefs with uprobes. */
int dl_warm_open(struct dl_warm **ret_warm);
void dl_warm_close(struct dl_warm *w);

/* To be called every DL_WARM_MS while it is needed. */
#define DL_WARM_MS 2
void dl_warm_again(const struct dl_warm *w);

#endif

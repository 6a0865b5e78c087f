/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD memory and queues per process, from /sys/class/kfd/kfd/proc. The files read here print the
 * driver's counters without a lock or the hardware, so no child process is needed: kfd_procfs_show
 * (vram_), kfd_procfs_stats_show (evicted_ms), kfd_sysfs_counters_show, kfd_procfs_queue_show in
 * kfd_process.c of 6.1, 6.12 and 7.2. sdma_* waits for work on the GPU and cu_occupancy reads its
 * registers: never open either.
 */
#ifndef DAVY_KFD_USE_H
#define DAVY_KFD_USE_H

#include "core/event/types.h"

#define DAVY_KFD_GPUS_MAX 64 /* per process */

struct davy_kfd_use { /* cumulative, except vram and queues */
	uint32_t gpu_id;
	uint32_t queue_count;
	uint64_t vram; /* bytes */
	uint64_t evicted_ms;
	uint64_t fault_count;
	uint64_t pages_in;
	uint64_t pages_out;
};

/* Processes that have KFD open; pids of the first namespace, as in the driver. */
size_t davy_kfd_use_pids(uint32_t *list, size_t max);

/* Returns a row for each GPU that the process may use; -ESRCH if the process is gone. */
int davy_kfd_use_read(uint32_t pid, struct davy_kfd_use *list, size_t max);

#endif

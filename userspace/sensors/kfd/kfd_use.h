/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who computes by KFD and with how much, from /sys/class/kfd/kfd/proc. What is read here is printed
 * from the driver's own counters without a lock or the hardware, so it is read without a child of
 * one's own: kfd_procfs_show (vram_), kfd_procfs_stats_show (evicted_ms), kfd_sysfs_counters_show,
 * kfd_procfs_queue_show in kfd_process.c of 6.1, 6.12 and 7.2. sdma_* waits for work on the GPU and
 * cu_occupancy reads its registers: neither is ever opened.
 */
#ifndef DAVY_KFD_USE_H
#define DAVY_KFD_USE_H

#include "core/event/types.h"

#define DAVY_KFD_GPUS_MAX 64 /* of one process */

struct davy_kfd_use { /* cumulative but for vram and queues */
	uint32_t gpu_id;
	uint32_t queue_count;
	uint64_t vram; /* bytes */
	uint64_t evicted_ms;
	uint64_t fault_count;
	uint64_t pages_in;
	uint64_t pages_out;
};

/* Processes that have KFD open, as the driver names them: pids of the first namespace. */
size_t davy_kfd_use_pids(uint32_t *list, size_t max);

/* A row for each GPU that the process may use; -ESRCH when it is gone. */
int davy_kfd_use_read(uint32_t pid, struct davy_kfd_use *list, size_t max);

#endif

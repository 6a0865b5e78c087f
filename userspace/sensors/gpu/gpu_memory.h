/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How full a GPU's memory is. amdgpu: sysfs, and its INFO ioctl for counters; i915 and xe: their
 * query ioctls. On a device without memory of its own the host's is the device's.
 */
#ifndef DAVY_GPU_MEMORY_H
#define DAVY_GPU_MEMORY_H

#include "core/event/event.h"
#include "sensors/gpu/gpus.h"

/*
 * Bytes; what the driver does not tell is 0. -errno when it tells nothing at all. "counters":
 * also those that cost amdgpu a new client with an address space of its own; else they stay as
 * "memory" has them.
 */
int davy_gpu_memory_read(const struct davy_gpu *gpu, bool counters, struct davy_ev_memory *memory);

/*
 * The same by the device's own ioctls alone, for drivers whose row has them; wakes a sleeping
 * device.
 */
int davy_gpu_query(const struct davy_gpu *gpu, struct davy_ev_memory *ret_memory);

/*
 * When to look again, ns: seldom while it is far from full, often when it is close or will be at
 * the rate at which it fills. "before" is the sample before, "ago_ns" its age; NULL: none.
 */
uint64_t davy_gpu_memory_interval(const struct davy_ev_memory *now,
				  const struct davy_ev_memory *before, uint64_t ago_ns);

#endif

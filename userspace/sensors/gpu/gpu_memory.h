/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory use of a GPU. amdgpu: sysfs, and its INFO ioctl for counters; i915 and xe: their query
 * ioctls. A device without memory of its own uses host memory.
 */
#ifndef DAVY_GPU_MEMORY_H
#define DAVY_GPU_MEMORY_H

#include "core/event/event.h"
#include "sensors/gpu/gpus.h"

/*
 * Values in bytes; 0 if the driver does not report them. -errno if it reports nothing. "counters":
 * also read those that require a new amdgpu client with its own address space; otherwise their
 * values in "memory" stay.
 */
int davy_gpu_memory_read(const struct davy_gpu *gpu, bool counters, struct davy_ev_memory *memory);

/* The same with ioctls only, for drivers that have them. Wakes a suspended device. */
int davy_gpu_query(const struct davy_gpu *gpu, struct davy_ev_memory *ret_memory);

/*
 * Time until the next sample, ns: long if the memory is far from full, short if it is nearly full
 * or will be at the current rate. "before" is the previous sample, "ago_ns" its age; NULL: none.
 */
uint64_t davy_gpu_memory_interval(const struct davy_ev_memory *now,
				  const struct davy_ev_memory *before, uint64_t ago_ns);

#endif

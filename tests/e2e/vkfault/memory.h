/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device memory that the process holds, so that a faked heap size can be enforced and reported.
 * Knows nothing of rules. Thread-safe.
 */
#ifndef VKFAULT_MEMORY_H
#define VKFAULT_MEMORY_H

#include <stdint.h>

/* Memory that cannot be noted down (no memory left for that) does not count. */
void memory_note(uint64_t handle, uint64_t bytes);
void memory_forget(uint64_t handle);
uint64_t memory_used_bytes(void);

#endif

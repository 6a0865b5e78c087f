/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a cgroup, and other values set by writing a kernel file: check and plan (davy_cap_plan,
 * into an intent), set and verify (davy_value_set), undo (davy_value_undo). The intent is stored
 * after the first step.
 *
 * Effect of the limits (Linux 6.1 to 7.2): memory.high limits an engine's own memory and page
 * cache, but no GTT, because buffers of GPU drivers are not charged. dmem.max limits VRAM
 * (kernel/cgroup/dmem.c, since 6.14 with CONFIG_CGROUP_DMEM). cpu.max slows what feeds a GPU.
 */
#ifndef DAVY_CAPS_H
#define DAVY_CAPS_H

#include "core/event/intent.h"

enum davy_cap {
	DAVY_CAP_DMEM_MAX = 0, /* bytes of one region, "drm/0000:03:00.0/vram0" */
	DAVY_CAP_DMEM_LOW = 1, /* protected memory: evicted last */
	DAVY_CAP_MEMORY_HIGH = 2,
	DAVY_CAP_CPU_MAX = 3, /* permille of one CPU's time */
	DAVY_CAP_COUNT = 4,
};

/*
 * Fills in file, key, old and new value for this limit of "cgroup", a path as in /proc/PID/cgroup.
 * "region" is for dmem; this controller is enabled for the cgroup if it is not. For memory.high,
 * amount 0 means the current use. -EALREADY: a stricter limit exists and stays. -ENOTSUP: not
 * available in the kernel or in this cgroup; -ENOENT: no such cgroup or region; -EDEADLK: the agent
 * is in the cgroup; -EINVAL. "why" is a message, or "".
 */
int davy_cap_plan(const char *cgroup, enum davy_cap cap, const char *region, uint64_t amount,
		  struct davy_intent *intent, char why[DAVY_REASON_LEN]);

/* Whether any of the limits can be set for the cgroup: DAVY_CAN_CAP or 0. */
uint8_t davy_caps_possible(const char *cgroup);

/* The current value: of the line that begins with "key", or of the only line. */
int davy_value_read(const char *file, const char *key, char ret_value[DAVY_INTENT_VALUE]);

/* Writes the intent's new value and reads it back. -EIO: another value is in force. */
int davy_value_set(const struct davy_intent *intent);

/*
 * Writes the old value back and verifies it. 1: the value is no longer ours (changed by others, or
 * the file is gone); nothing is written.
 */
int davy_value_undo(const struct davy_intent *intent);

#endif

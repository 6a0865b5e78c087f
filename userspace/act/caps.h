/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a cgroup, and any other value that is set by writing to a file of the kernel: check
 * and plan (davy_cap_plan, into an intent), do and read back (davy_value_set), undo
 * (davy_value_undo). Between the first two the intent is written down.
 *
 * What a limit is worth (Linux 6.1 to 7.2): memory.high bounds an engine's own memory and page
 * cache; buffers of GPU drivers are charged to nobody, so it bounds no GTT. dmem.max bounds VRAM
 * (kernel/cgroup/dmem.c, since 6.14 with CONFIG_CGROUP_DMEM). cpu.max slows what feeds a GPU.
 */
#ifndef DAVY_CAPS_H
#define DAVY_CAPS_H

#include "core/event/intent.h"

enum davy_cap {
	DAVY_CAP_DMEM_MAX = 0, /* bytes of one region, "drm/0000:03:00.0/vram0" */
	DAVY_CAP_DMEM_LOW = 1, /* protected: evicted only when nothing else is left */
	DAVY_CAP_MEMORY_HIGH = 2,
	DAVY_CAP_CPU_MAX = 3, /* permille of one CPU's time */
	DAVY_CAP_COUNT = 4,
};

/*
 * Fills in file, key, old and new value for this limit of the cgroup that /proc/PID/cgroup tells
 * as "cgroup". "region" is for dmem; of memory.high an amount of 0 is what it has now. A limit that
 * is stricter already stays: -EALREADY. -ENOTSUP: the kernel has not, or has not in this cgroup,
 * what it takes; -ENOENT: no such cgroup or region; -EDEADLK: the agent lives in it; -EINVAL. "why"
 * is for people, "" when the error says it all.
 */
int davy_cap_plan(const char *cgroup, enum davy_cap cap, const char *region, uint64_t amount,
		  struct davy_intent *intent, char why[DAVY_REASON_LEN]);

/* Whether any of the limits can be set for the cgroup: DAVY_CAN_CAP or 0. */
uint8_t davy_caps_possible(const char *cgroup);

/* The value in force; of the line that begins with "key", or without one the only line. */
int davy_value_read(const char *file, const char *key, char ret_value[DAVY_INTENT_VALUE]);

/* Writes the intent's new value and reads it back: -EIO when another one is in force then. */
int davy_value_set(const struct davy_intent *intent);

/*
 * Writes the old value back and reads it; 1 when it is no longer ours: somebody has set another
 * one, or the file is gone. It stays then.
 */
int davy_value_undo(const struct davy_intent *intent);

#endif

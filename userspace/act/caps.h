/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a cgroup, and any other value that is set by writing to a file of the kernel: check
 * and plan (dl_cap_plan, into an intent), do and read back (dl_value_set), undo (dl_value_undo).
 * Between the first two the intent is written down.
 *
 * What a limit is worth (Linux 6.1 to 7.2): memory.high bounds an engine's own memory and page
 * cache; buffers of GPU drivers are charged to nobody, so it bounds no GTT. dmem.max bounds VRAM
 * (kernel/cgroup/dmem.c, since 6.14 with CONFIG_CGROUP_DMEM). cpu.max slows what feeds a GPU.
 */
#ifndef DL_ACT_CAPS_H
#define DL_ACT_CAPS_H

#include "core/event/intent.h"

enum dl_cap {
	DL_CAP_DMEM_MAX = 0, /* bytes of one region, "drm/0000:03:00.0/vram0" */
	DL_CAP_DMEM_LOW = 1, /* protected: evicted only when nothing else is left */
	DL_CAP_MEMORY_HIGH = 2,
	DL_CAP_CPU_MAX = 3, /* permille of one CPU's time */
	DL_CAP_COUNT = 4,
};

/*
 * Fills in file, key, old and new value for this limit of the cgroup that /proc/PID/cgroup tells
 * as "cgroup". "region" is for dmem; of memory.high an amount of 0 is what it has now. A limit that
 * is stricter already stays: -EALREADY. -ENOTSUP: the kernel has not, or has not in this cgroup,
 * what it takes; -ENOENT: no such cgroup or region; -EDEADLK: the agent lives in it; -EINVAL. "why"
 * is for people, "" when the error says it all.
 */
int dl_cap_plan(const char *cgroup, enum dl_cap cap, const char *region, uint64_t amount,
		struct dl_intent *intent, char why[DL_REASON_LEN]);

/* Whether any of the limits can be set for the cgroup: DL_CAN_CAP or 0. */
uint8_t dl_caps_possible(const char *cgroup);

/* The value in force; of the line that begins with "key", or without one the only line. */
int dl_value_read(const char *file, const char *key, char ret_value[DL_INTENT_VALUE]);

/* Writes the intent's new value and reads it back: -EIO when another one is in force then. */
int dl_value_set(const struct dl_intent *intent);

/*
 * Writes the old value back and reads it; 1 when it is no longer ours: somebody has set another
 * one, or the file is gone. It stays then.
 */
int dl_value_undo(const struct dl_intent *intent);

#endif

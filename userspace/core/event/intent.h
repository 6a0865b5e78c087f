/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent is about to do, in terms that let somebody else undo it: written down before an
 * act (intents.h), and taken back by undo.h when the agent did not live to do so itself.
 * An intent is open as long as its effect may stand: a replacement's until the new engine serves, a
 * hold's until it is released, a cap's until the old value is back.
 */
#ifndef DL_CORE_INTENT_H
#define DL_CORE_INTENT_H

#include "core/event/types.h"

#define DL_INTENT_PATH	512
#define DL_INTENT_KEY	64
#define DL_INTENT_VALUE 64
#define DL_INTENT_TEXT	160
#define DL_BOOT_ID_LEN	40

/* Unused fields are 0 and "". */
struct dl_intent {
	int64_t id; /* given by dl_intent_begin */
	uint32_t plan;
	uint32_t workload;
	uint32_t rung; /* enum dl_rung */
	uint32_t pid;  /* of the engine at that time, with its start time */
	uint64_t start_ticks;
	uint64_t lease_until_ns; /* CLOCK_BOOTTIME of the boot below; 0: no lease */
	int64_t begun_s;	 /* wall clock; given by dl_intent_begin */
	char boot_id[DL_BOOT_ID_LEN];
	char cgroup[DL_INTENT_PATH]; /* as /proc/PID/cgroup has it */
	/* A value written to a file of the kernel; "key" where the file has a line for each. */
	char file[DL_INTENT_PATH]; /* absolute, in /sys */
	char key[DL_INTENT_KEY];
	char old_value[DL_INTENT_VALUE]; /* of a hold: cgroup.freeze before it */
	char new_value[DL_INTENT_VALUE];
	char unit[DL_UNIT_LEN];
	char text[DL_INTENT_TEXT]; /* why, for people */
};

#endif

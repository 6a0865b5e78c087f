/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A planned change of the agent, described so that another program can undo it: stored before an
 * act (intents.h), and undone by undo.h if the agent did not live to do so. An intent is open while
 * its effect may be in force: a replacement's until the new engine serves, a freeze's until the
 * thaw, a cap's until the old value is restored.
 */
#ifndef DAVY_INTENT_H
#define DAVY_INTENT_H

#include "core/event/types.h"

#define DAVY_INTENT_PATH  512
#define DAVY_INTENT_KEY	  64
#define DAVY_INTENT_VALUE 64
#define DAVY_INTENT_TEXT  160
#define DAVY_BOOT_ID_LEN  40

/* Unused fields are 0 and "". */
struct davy_intent {
	int64_t id; /* set by davy_intent_begin() */
	uint32_t plan;
	uint32_t workload;
	uint32_t action; /* enum davy_action; the column "rung" */
	uint32_t pid;	 /* the engine's at that time, with its start time */
	uint64_t start_ticks;
	uint64_t lease_until_ns; /* CLOCK_BOOTTIME of the boot below; 0: no lease */
	int64_t begun_s;	 /* wall clock; set by davy_intent_begin() */
	char boot_id[DAVY_BOOT_ID_LEN];
	char cgroup[DAVY_INTENT_PATH]; /* as in /proc/PID/cgroup */
	/* A value written to a file of the kernel; "key" if the file has a line for each. */
	char file[DAVY_INTENT_PATH]; /* absolute, in /sys */
	char key[DAVY_INTENT_KEY];
	char old_value[DAVY_INTENT_VALUE]; /* of a freeze: the previous cgroup.freeze */
	char new_value[DAVY_INTENT_VALUE];
	char unit[DAVY_UNIT_LEN];
	char text[DAVY_INTENT_TEXT]; /* the reason, as text */
};

/* A value that a rule asks for, of no workload: not an action, and set while the rule stands. */
static inline bool davy_intent_is_rule(const struct davy_intent *intent)
{
	return intent->file[0] && !intent->plan;
}

#endif

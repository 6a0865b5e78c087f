/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internals of the core: the table of hazards and their alarms. A hazard is one file that ends with
 * its row (see emit.h), and a line of DAVY_HAZARDS. Only core/ includes this.
 */
#ifndef DAVY_HAZARDS_H
#define DAVY_HAZARDS_H

#include "core/action/acts.h"

#define DAVY_HAZARD_ROW(number, constant, name)                                                    \
	extern const struct davy_hazard_row davy_hazard_##name;
DAVY_HAZARDS(DAVY_HAZARD_ROW)

extern const struct davy_hazard_row *const davy_hazard_rows[DAVY_HZ_COUNT];

/* Failure classes that several hazards share. */
#define DAVY_CAN_FIND_NO_ROOM (DAVY_CAN_OOM_VRAM | DAVY_CAN_OOM_GTT_HOST | DAVY_CAN_EVICTION_THRASH)
#define DAVY_CAN_NOT_ANSWER                                                                        \
	(DAVY_CAN_RING_TIMEOUT | DAVY_CAN_GPU_RESET | DAVY_CAN_HANG | DAVY_CAN_DEVICE_LOST)
#define DAVY_CAN_END (DAVY_CAN_RUNNER_CRASH_INIT | DAVY_CAN_OTHER)

/*
 * Raises or refreshes the alarm of (hazard, pid, device, ring). Emits the note and returns true
 * only if the alarm is new or its level rose.
 */
bool davy_alarm_raise(struct davy_step *s, struct davy_plan *note);

/* Refreshes an alarm whose precursor still exists at the same level. */
void davy_alarm_keep(struct davy_step *s, enum davy_hazard hazard, uint32_t pid, const char *device,
		     const char *ring);

/* Ends the alarm immediately: its subject has recovered or ended. */
void davy_alarm_clear(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
		      const char *device, const char *ring);
void davy_alarms_tick(struct davy_step *s);

/*
 * For rows' "stands": an alarm of level 3 about a device stands until an engine has computed there.
 * In amd-hang-004 the next one started two hours after a flood of faults, and got no queue.
 */
bool davy_device_unproven(const struct davy_step *s, const struct davy_plan *note);

/* Level of the active alarm; 0: none. */
uint32_t davy_alarm_level(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
			  const char *device, const char *ring);

#endif

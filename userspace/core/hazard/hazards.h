/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the core: the table of hazards and their alarms. A hazard is one file with its row at
 * the end (emit.h says what is in one) and a line of DAVY_HAZARDS. Only core/ includes this.
 */
#ifndef DAVY_HAZARDS_H
#define DAVY_HAZARDS_H

#include "core/action/acts.h"

#define DAVY_HAZARD_ROW(number, constant, name)                                                    \
	extern const struct davy_hazard_row davy_hazard_##name;
DAVY_HAZARDS(DAVY_HAZARD_ROW)

extern const struct davy_hazard_row *const davy_hazard_rows[DAVY_HZ_COUNT];

/* Classes that many hazards lead to together. */
#define DAVY_CAN_FIND_NO_ROOM (DAVY_CAN_OOM_VRAM | DAVY_CAN_OOM_GTT_HOST | DAVY_CAN_EVICTION_THRASH)
#define DAVY_CAN_NOT_ANSWER                                                                        \
	(DAVY_CAN_RING_TIMEOUT | DAVY_CAN_GPU_RESET | DAVY_CAN_HANG | DAVY_CAN_DEVICE_LOST)
#define DAVY_CAN_END (DAVY_CAN_RUNNER_CRASH_INIT | DAVY_CAN_OTHER)

/*
 * Raises or refreshes the alarm of (hazard, pid, device, ring). Puts the note out and returns true
 * only when it is new or its level rose.
 */
bool davy_alarm_raise(struct davy_step *s, struct davy_plan *note);

/* The sign is still there, though no stronger. */
void davy_alarm_keep(struct davy_step *s, enum davy_hazard hazard, uint32_t pid, const char *device,
		     const char *ring);

/* Ends the alarm at once, when its subject is known to be well or gone. */
void davy_alarm_clear(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
		      const char *device, const char *ring);
void davy_alarms_tick(struct davy_step *s);

/* The level at which the alarm stands; 0: it does not. */
uint32_t davy_alarm_level(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
			  const char *device, const char *ring);

#endif

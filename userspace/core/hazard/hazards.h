/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the core: the table of hazards and their alarms. A hazard is one file and one row: it
 * looks at each event of the kinds it names, after the world has taken it over. Only core/ includes
 * this.
 */
#ifndef DAVY_HAZARDS_H
#define DAVY_HAZARDS_H

#include "core/action/acts.h"

struct davy_hazard_row {
	enum davy_hazard hazard;
	uint64_t sees; /* DAVY_SEES of the event kinds it wants */
	void (*look)(struct davy_step *s);
};

void davy_look_engine_exception(struct davy_step *s);
void davy_look_engine_wedged(struct davy_step *s);
void davy_look_runner_crash(struct davy_step *s);
void davy_look_job_stall(struct davy_step *s);
void davy_look_fault_storm(struct davy_step *s);
void davy_look_eviction_storm(struct davy_step *s);
void davy_look_reset(struct davy_step *s);
void davy_look_alloc_failure(struct davy_step *s);
void davy_look_exhaustion(struct davy_step *s);
void davy_look_silent_spill(struct davy_step *s);
void davy_look_host_pressure(struct davy_step *s);
void davy_look_silent_cpu(struct davy_step *s);
void davy_look_hardware(struct davy_step *s);
void davy_look_driver_warning(struct davy_step *s);
void davy_look_job_headroom(struct davy_step *s);
void davy_look_restore_hog(struct davy_step *s);
void davy_look_queue_thrash(struct davy_step *s);

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

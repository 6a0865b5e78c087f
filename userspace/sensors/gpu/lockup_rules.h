/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses lockup timeouts: names of rings, descriptions and values of module parameters, i915's
 * engine properties. Pure text processing of untrusted input.
 */
#ifndef DAVY_LOCKUP_RULES_H
#define DAVY_LOCKUP_RULES_H

#include "core/event/event.h"

#define DAVY_LOCKUPS_MAX 12 /* kinds of queues per device */

struct davy_lockup {
	char queue[DAVY_RING_NAME_LEN];
	uint64_t timeout_ns; /* 0: never or unknown */
	uint32_t origin;     /* enum davy_lockup_origin */
};

struct davy_lockups {
	struct davy_lockup at[DAVY_LOCKUPS_MAX];
	size_t count;
};

/* In the order of amdgpu's parameter (amdgpu_drv.c, lockup_timeout). */
enum davy_lockup_kind {
	DAVY_LOCKUP_GFX,
	DAVY_LOCKUP_COMPUTE,
	DAVY_LOCKUP_SDMA,
	DAVY_LOCKUP_VIDEO,
	DAVY_LOCKUP_KINDS,
};

#define DAVY_LOCKUP_UNREPORTED UINT64_MAX

/* Defaults in the description of lockup_timeout, in ms. */
struct davy_lockup_defaults {
	uint64_t ms[DAVY_LOCKUP_KINDS]; /* 0: never */
	bool one_for_all;		/* a single value also applies to compute */
	bool one_for_all_guest;		/* only in a virtual machine */
};

/* False if the description contains no default. */
bool davy_lockup_defaults_parse(const char *description, struct davy_lockup_defaults *ret_defaults);

/*
 * amdgpu: from the parameter's value in sysfs and the value configured for modprobe (either may be
 * ""). 6.1 and 6.12 truncate the value at its first comma while parsing it
 * (amdgpu_device_get_job_timeout_settings). Therefore a value that is the beginning of the
 * configured one counts as the configured one. Only the first device got all of it; a ring's
 * scheduler has the real value. "defaults" is NULL if no description is readable. Always
 * DAVY_LOCKUP_KINDS entries.
 */
void davy_lockup_amdgpu(const char *value, const char *configured,
			const struct davy_lockup_defaults *defaults, bool guest,
			struct davy_lockups *ret_lockups);

/* radeon: one value for all rings, 0: never (radeon_fence_check_lockup, radeon_drv.c). */
void davy_lockup_radeon(const char *value, const struct davy_lockup_defaults *defaults,
			struct davy_lockups *ret_lockups);

/*
 * i915 has no job timeout. Returns the shortest time after which it ends a job that does not yield,
 * ms; 0: never. It sends a heartbeat every "heartbeat_ms" and raises its priority each time, until
 * the second one preempts. The job then has "preempt_ms" to yield. The fourth heartbeat always
 * resets (heartbeat() in gt/intel_engine_heartbeat.c, 6.1 to 7.2). A request also ends after
 * "request_ms" (intel_context_set_gem in gem/i915_gem_context.c). 0 disables each of them.
 */
uint64_t davy_lockup_i915_ms(uint64_t heartbeat_ms, uint64_t preempt_ms, uint64_t request_ms);

/*
 * The queue kind of a ring: for amdgpu as in amdgpu_device_init_schedulers; for xe's "ccs3" it is
 * "ccs"; "all" for drivers without kinds.
 */
void davy_lockup_queue_of(const char *driver, const char *ring, char *ret_queue, size_t size);

/* Adds an entry if there is room. ms: DAVY_LOCKUP_UNREPORTED if unknown. */
void davy_lockups_add(struct davy_lockups *l, const char *queue, uint64_t ms, uint32_t origin);
struct davy_lockup *davy_lockups_find(struct davy_lockups *l, const char *queue);

/*
 * Updates the entry of "now"; false if nothing changed. Priority: sysfs values, then observed rings
 * (xe's queues have individual timeouts), then parameters. Of two rings, the shorter timeout wins.
 */
bool davy_lockups_update(struct davy_lockups *l, const struct davy_lockup *now);

#endif

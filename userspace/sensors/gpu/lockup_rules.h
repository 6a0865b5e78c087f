/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long drivers let a job run, in their own words: names of rings, descriptions and values of
 * module parameters, i915's engine properties. Text and numbers only; both are outside input.
 */
#ifndef DAVY_LOCKUP_RULES_H
#define DAVY_LOCKUP_RULES_H

#include "core/event/event.h"

#define DAVY_LOCKUPS_MAX 12 /* kinds of queues of one device */

struct davy_lockup {
	char queue[DAVY_RING_NAME_LEN];
	uint64_t timeout_ns; /* 0: never, or not known */
	uint32_t origin;     /* enum davy_lockup_origin */
};

struct davy_lockups {
	struct davy_lockup at[DAVY_LOCKUPS_MAX];
	size_t count;
};

/* The order of amdgpu's parameter (amdgpu_drv.c, lockup_timeout). */
enum davy_lockup_kind {
	DAVY_LOCKUP_GFX,
	DAVY_LOCKUP_COMPUTE,
	DAVY_LOCKUP_SDMA,
	DAVY_LOCKUP_VIDEO,
	DAVY_LOCKUP_KINDS,
};

#define DAVY_LOCKUP_UNTOLD UINT64_MAX

/* What the description of a lockup_timeout says; all numbers in ms. */
struct davy_lockup_defaults {
	uint64_t ms[DAVY_LOCKUP_KINDS]; /* 0: never */
	bool one_for_all;		/* a single value is compute's too */
	bool one_for_all_guest;		/* only in a virtual machine */
};

/* False when it names no default. */
bool davy_lockup_defaults_parse(const char *description, struct davy_lockup_defaults *ret_defaults);

/*
 * amdgpu, from the value of its parameter as sysfs has it and as modprobe was told to set it
 * (either may be ""). 6.1 and 6.12 cut the value at its first comma while they read it
 * (amdgpu_device_get_job_timeout_settings), so that one that is the beginning of the configured one
 * is taken for that. The first device alone got all of it; a ring's scheduler tells the truth.
 * "defaults" is NULL when no description could be read. Always DAVY_LOCKUP_KINDS entries.
 */
void davy_lockup_amdgpu(const char *value, const char *configured,
			const struct davy_lockup_defaults *defaults, bool guest,
			struct davy_lockups *ret_lockups);

/* radeon: one for all rings, and 0 never (radeon_fence_check_lockup, radeon_drv.c). */
void davy_lockup_radeon(const char *value, const struct davy_lockup_defaults *defaults,
			struct davy_lockups *ret_lockups);

/*
 * i915 has no timeout of a job; the shortest time after which it ends one that does not yield, ms;
 * 0 never. A heartbeat is sent every "heartbeat_ms" and raised on each further one until it
 * preempts, on the second; the job then has "preempt_ms" to yield, and the fourth resets whatever
 * comes (heartbeat() in gt/intel_engine_heartbeat.c, 6.1 to 7.2). Any request ends after
 * "request_ms" (intel_context_set_gem in gem/i915_gem_context.c). 0 turns each off.
 */
uint64_t davy_lockup_i915_ms(uint64_t heartbeat_ms, uint64_t preempt_ms, uint64_t request_ms);

/*
 * The kind of queue that a ring is: for amdgpu as amdgpu_device_init_schedulers has it; "ccs" of
 * xe's "ccs3"; "all" of a driver that makes no difference.
 */
void davy_lockup_queue_of(const char *driver, const char *ring, char *ret_queue, size_t size);

/* Adds one; what finds no room is left out. ms: DAVY_LOCKUP_UNTOLD for not known. */
void davy_lockups_add(struct davy_lockups *l, const char *queue, uint64_t ms, uint32_t origin);
struct davy_lockup *davy_lockups_find(struct davy_lockups *l, const char *queue);

/*
 * Takes "now" over; false when nothing is new. What sysfs says of a kind goes before what one ring
 * had (xe's queues have a timeout each), that before parameters; of two rings the shorter one.
 */
bool davy_lockups_update(struct davy_lockups *l, const struct davy_lockup *now);

#endif

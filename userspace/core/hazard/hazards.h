/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the core: the table of hazards and what they share. A hazard is one file and one row:
 * it looks at each event of the kinds it names, after the world has taken it over. Only core/
 * includes this.
 */
#ifndef DAVY_HAZARDS_H
#define DAVY_HAZARDS_H

#include "core/core.h"

/* One step's output. */
struct davy_step {
	struct davy_core *core;
	const struct davy_event *ev;
	uint64_t now_ns;
	struct davy_plan *plans;
	size_t max;
	size_t count;
};

#define DAVY_PLANS_SPARE 4 /* room a decision may need; who has less waits for the next tick */

#define DAVY_SEES(kind) (1ull << (kind))

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

/* A plan about process "p" (NULL: about nobody known), stamped, with the event as evidence. */
struct davy_plan davy_plan_about(const struct davy_step *s, enum davy_hazard hazard,
				 const struct davy_process *p);
void davy_plan_evidence(struct davy_plan *plan, uint64_t at_ns, uint32_t kind, uint32_t count);

/* Gives the plan its number and puts it out; or, as an act, the number that is asked for. */
void davy_emit(struct davy_step *s, struct davy_plan *plan);
void davy_emit_as(struct davy_step *s, struct davy_plan *plan, uint32_t id);

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

/* Of the workload by people's rules, else of the host; "w" may be NULL. */
enum davy_mode davy_mode_for(const struct davy_step *s, const struct davy_workload *w);

/* A start on this backend that was only tried has failed: as if it were the device's failure. */
void davy_breaker_found(struct davy_step *s, const struct davy_plan *note);

/* Whether an act that is under way has stopped the process. */
bool davy_ended_by_us(const struct davy_step *s, const struct davy_process *p);

/*
 * For the record of what was foreseen. Events come first, so that an alarm of the same event is no
 * sign of what it tells; then alarms as they are raised and end, acts that succeeded, time.
 */
void davy_foresight_event(struct davy_step *s);
void davy_foresight_raised(struct davy_step *s, const struct davy_plan *note);
void davy_foresight_ended(struct davy_step *s, const struct davy_alarm *alarm);
void davy_foresight_acted(struct davy_step *s, const struct davy_workload *w);
void davy_foresight_tick(struct davy_step *s);

/* Whether the process is known to have done nothing of late: what it loses it does not miss yet. */
bool davy_is_idle(const struct davy_step *s, uint32_t pid);

/* The level at which the alarm stands; 0: it does not. */
uint32_t davy_alarm_level(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
			  const char *device, const char *ring);

/*
 * The engine process of "note" has failed. Counts it in the breaker, chooses the rung, checks
 * consent and budgets, and puts the plan out, refused or not.
 */
void davy_decide_failure(struct davy_step *s, const struct davy_process *p,
			 const struct davy_plan *note);
void davy_decide_act(struct davy_step *s);
void davy_decide_exit(struct davy_step *s);
void davy_decide_tick(struct davy_step *s);
void davy_decide_order(struct davy_step *s);

/* Records a failure; true when the breaker of the process's (device, backend, model) is now open.
 */
bool davy_breaker_failure(struct davy_step *s, const struct davy_process *p,
			  const struct davy_plan *note);
void davy_breaker_restore(struct davy_step *s);
void davy_breaker_probation(struct davy_step *s);
void davy_breakers_tick(struct davy_step *s);

/*
 * The key's value for "device" (NULL or "": that of "p") and the model of "p" (NULL: nobody
 * known). Without any override it costs one look.
 */
int64_t davy_threshold_for(const struct davy_step *s, enum davy_config_key key, const char *device,
			   const struct davy_process *p);

/* Whose model may have thresholds of its own; NULL where that needs no look. */
static inline const struct davy_process *davy_scoped_process(const struct davy_step *s,
							     uint32_t pid)
{
	return s->core->config.override_count ? davy_world_process(&s->core->world, pid) : NULL;
}

static inline uint64_t davy_threshold(const struct davy_step *s, enum davy_config_key key,
				      const char *device, const struct davy_process *p)
{
	if (!s->core->config.override_count)
		return davy_config_u64(&s->core->config, key);
	return (uint64_t)davy_threshold_for(s, key, device, p);
}

static inline uint64_t davy_threshold_ns(const struct davy_step *s, enum davy_config_key key,
					 const char *device, const struct davy_process *p)
{
	return davy_threshold(s, key, device, p) * DAVY_NS_PER_MS;
}

/* When asked, or by itself: either shows that it is well. */
static inline bool davy_gave_token(const struct davy_process *p, uint64_t since_ns)
{
	return p->checked_ok_ns >= since_ns || p->life.made_ns >= since_ns;
}

static inline bool davy_is_device_lost(const char *type)
{
	return davy_same_name(type, "N2vk15DeviceLostErrorE");
}

static inline bool davy_is_out_of_memory(const char *type)
{
	return davy_same_name(type, "N2vk22OutOfDeviceMemoryErrorE") ||
	       davy_same_name(type, "N2vk20OutOfHostMemoryErrorE");
}

#endif

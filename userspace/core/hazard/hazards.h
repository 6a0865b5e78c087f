/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the core: the table of hazards and what they share. A hazard is one file and one row:
 * it looks at each event of the kinds it names, after the world has taken it over. Only core/
 * includes this.
 */
#ifndef DL_CORE_HAZARDS_H
#define DL_CORE_HAZARDS_H

#include "core/core.h"

/* One step's output. */
struct dl_step {
	struct dl_core *core;
	const struct dl_event *ev;
	uint64_t now_ns;
	struct dl_plan *plans;
	size_t max;
	size_t count;
};

#define DL_PLANS_SPARE 4 /* room a decision may need; who has less waits for the next tick */

#define DL_SEES(kind) (1ull << (kind))

struct dl_hazard_row {
	enum dl_hazard hazard;
	uint64_t sees; /* DL_SEES of the event kinds it wants */
	void (*look)(struct dl_step *s);
};

void dl_look_engine_exception(struct dl_step *s);
void dl_look_engine_wedged(struct dl_step *s);
void dl_look_runner_crash(struct dl_step *s);
void dl_look_job_stall(struct dl_step *s);
void dl_look_fault_storm(struct dl_step *s);
void dl_look_eviction_storm(struct dl_step *s);
void dl_look_reset(struct dl_step *s);
void dl_look_alloc_failure(struct dl_step *s);
void dl_look_exhaustion(struct dl_step *s);
void dl_look_silent_spill(struct dl_step *s);
void dl_look_host_pressure(struct dl_step *s);
void dl_look_silent_cpu(struct dl_step *s);
void dl_look_hardware(struct dl_step *s);
void dl_look_driver_warning(struct dl_step *s);
void dl_look_job_headroom(struct dl_step *s);
void dl_look_restore_hog(struct dl_step *s);
void dl_look_queue_thrash(struct dl_step *s);

/* A plan about process "p" (NULL: about nobody known), stamped, with the event as evidence. */
struct dl_plan dl_plan_about(const struct dl_step *s, enum dl_hazard hazard,
			     const struct dl_process *p);
void dl_plan_evidence(struct dl_plan *plan, uint64_t at_ns, uint32_t kind, uint32_t count);

/* Gives the plan its number and puts it out; or, as an act, the number that is asked for. */
void dl_emit(struct dl_step *s, struct dl_plan *plan);
void dl_emit_as(struct dl_step *s, struct dl_plan *plan, uint32_t id);

/*
 * Raises or refreshes the alarm of (hazard, pid, device, ring). Puts the note out and returns true
 * only when it is new or its level rose.
 */
bool dl_alarm_raise(struct dl_step *s, struct dl_plan *note);

/* The sign is still there, though no stronger. */
void dl_alarm_keep(struct dl_step *s, enum dl_hazard hazard, uint32_t pid, const char *device,
		   const char *ring);

/* Ends the alarm at once, when its subject is known to be well or gone. */
void dl_alarm_clear(struct dl_step *s, enum dl_hazard hazard, uint32_t pid, const char *device,
		    const char *ring);
void dl_alarms_tick(struct dl_step *s);

/* Of the workload by people's rules, else of the host; "w" may be NULL. */
enum dl_mode dl_mode_for(const struct dl_step *s, const struct dl_workload *w);

/* A start on this backend that was only tried has failed: as if it were the device's failure. */
void dl_breaker_found(struct dl_step *s, const struct dl_plan *note);

/* Whether an act that is under way has stopped the process. */
bool dl_ended_by_us(const struct dl_step *s, const struct dl_process *p);

/*
 * For the record of what was foreseen. Events come first, so that an alarm of the same event is no
 * sign of what it tells; then alarms as they are raised and end, acts that succeeded, time.
 */
void dl_foresight_event(struct dl_step *s);
void dl_foresight_raised(struct dl_step *s, const struct dl_plan *note);
void dl_foresight_ended(struct dl_step *s, const struct dl_alarm *alarm);
void dl_foresight_acted(struct dl_step *s, const struct dl_workload *w);
void dl_foresight_tick(struct dl_step *s);

/* Whether the process is known to have done nothing of late: what it loses it does not miss yet. */
bool dl_is_idle(const struct dl_step *s, uint32_t pid);

/* The level at which the alarm stands; 0: it does not. */
uint32_t dl_alarm_level(struct dl_step *s, enum dl_hazard hazard, uint32_t pid, const char *device,
			const char *ring);

/*
 * The engine process of "note" has failed. Counts it in the breaker, chooses the rung, checks
 * consent and budgets, and puts the plan out, refused or not.
 */
void dl_decide_failure(struct dl_step *s, const struct dl_process *p, const struct dl_plan *note);
void dl_decide_act(struct dl_step *s);
void dl_decide_exit(struct dl_step *s);
void dl_decide_tick(struct dl_step *s);
void dl_decide_order(struct dl_step *s);

/* Records a failure; true when the breaker of the process's (device, backend, model) is now open.
 */
bool dl_breaker_failure(struct dl_step *s, const struct dl_process *p, const struct dl_plan *note);
void dl_breaker_restore(struct dl_step *s);
void dl_breaker_probation(struct dl_step *s);
void dl_breakers_tick(struct dl_step *s);

/*
 * The key's value for "device" (NULL or "": that of "p") and the model of "p" (NULL: nobody
 * known). Without any override it costs one look.
 */
int64_t dl_threshold_for(const struct dl_step *s, enum dl_config_key key, const char *device,
			 const struct dl_process *p);

/* Whose model may have thresholds of its own; NULL where that needs no look. */
static inline const struct dl_process *dl_scoped_process(const struct dl_step *s, uint32_t pid)
{
	return s->core->config.override_count ? dl_world_process(&s->core->world, pid) : NULL;
}

static inline uint64_t dl_threshold(const struct dl_step *s, enum dl_config_key key,
				    const char *device, const struct dl_process *p)
{
	if (!s->core->config.override_count)
		return dl_config_u64(&s->core->config, key);
	return (uint64_t)dl_threshold_for(s, key, device, p);
}

static inline uint64_t dl_threshold_ns(const struct dl_step *s, enum dl_config_key key,
				       const char *device, const struct dl_process *p)
{
	return dl_threshold(s, key, device, p) * DL_NS_PER_MS;
}

/* When asked, or by itself: either shows that it is well. */
static inline bool dl_gave_token(const struct dl_process *p, uint64_t since_ns)
{
	return p->checked_ok_ns >= since_ns || p->life.made_ns >= since_ns;
}

static inline bool dl_is_device_lost(const char *type)
{
	return dl_same_name(type, "N2vk15DeviceLostErrorE");
}

static inline bool dl_is_out_of_memory(const char *type)
{
	return dl_same_name(type, "N2vk22OutOfDeviceMemoryErrorE") ||
	       dl_same_name(type, "N2vk20OutOfHostMemoryErrorE");
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internals of the core: the current step, the plans that it emits, and thresholds per device and
 * process. Only core/ includes this.
 */
#ifndef DAVY_EMIT_H
#define DAVY_EMIT_H

#include "core/core.h"
#include "core/world/usage.h"

struct davy_action_row;
struct davy_hazard_row;

/* One event being processed, and the resulting plans. */
struct davy_step {
	struct davy_core *core;
	const struct davy_event *ev;
	uint64_t now_ns;
	struct davy_plan *plans;
	size_t max;
	size_t count;
	const struct davy_hazard_row *const *hazards; /* by enum davy_hazard */
	const struct davy_action_row *const *actions; /* by enum davy_action */
};

#define DAVY_SEES(kind)		(1ull << (kind))
#define DAVY_ESCALATION_ACTIONS 6
#define DAVY_ESCALATION_LEVELS	4

/* The actions that are allowed from a level on, least destructive first. */
struct davy_escalation {
	uint8_t level; /* 0: end of the list */
	uint8_t action[DAVY_ESCALATION_ACTIONS];
	uint8_t form;	/* enum davy_form of the note; plain: any */
	uint8_t wait_s; /* the alarm must have lasted for so long, without a pause */
};

/* A hazard. It sees each event of its kinds after the world has applied the event. */
struct davy_hazard_row {
	uint64_t sees; /* DAVY_SEES() of the event kinds */
	void (*look)(struct davy_step *s);
	void (*reason)(const struct davy_plan *p, struct davy_clause *c);
	struct davy_precursor precursor;
	struct davy_escalation escalation[DAVY_ESCALATION_LEVELS]; /* ascending levels */
	enum davy_shortage shortage; /* of the device; the largest user is the culprit */
	bool of_device;		     /* each engine on the device is acted on */
	bool names_culprit;	     /* the precursor itself distinguishes culprit and victim */
	bool of_long_jobs;	     /* a smaller batch helps */
	bool of_failed_engine;	     /* the engine must be replaced immediately */
	bool subject_suffers;	     /* the process is the victim: no action without a culprit */
	bool finds_ubatch;	     /* its note has the ubatch that fits */
	bool outlives_restart;	     /* a restart does not end it */
	bool until_token;	     /* its process survives; the next token ends it */
	bool weakens;		     /* while it stands, its level may fall */
	bool repeats;		     /* for hours before a failure: false alarms mean little */
	uint8_t device_fails;	     /* from this level the device does not serve; 0: never */
	uint8_t engine_fails;	     /* from this level the engine does not serve; 0: never */
	/* Whether it stands without a recent precursor; NULL: no. */
	bool (*stands)(const struct davy_step *s, const struct davy_plan *note);
};

#define DAVY_PLANS_SPARE 4 /* free slots for a decision; with fewer, wait for the next tick */

/* A plan about process "p" (NULL: unknown), with the event's time and the event as evidence. */
struct davy_plan davy_plan_about(const struct davy_step *s, enum davy_hazard hazard,
				 const struct davy_process *p);
void davy_plan_evidence(struct davy_plan *plan, uint64_t at_ns, uint32_t kind, uint32_t count);

/* Assigns the plan's number and emits it. davy_emit_as() uses the number of an action. */
void davy_emit(struct davy_step *s, struct davy_plan *plan);
void davy_emit_as(struct davy_step *s, struct davy_plan *plan, uint32_t id);

/* When the process last worked, as far as is known; 0: never. */
uint64_t davy_worked_ns(const struct davy_step *s, uint32_t pid);
uint64_t davy_process_worked_ns(const struct davy_process *p);

/* True if the process is known to be idle: it does not use the memory that it loses. */
bool davy_is_idle(const struct davy_step *s, uint32_t pid);

/* True if an engine that has run for a while computed on the device ("": any) within that time. */
bool davy_engine_computes(const struct davy_step *s, const char *device, uint64_t within_ns);

/*
 * The key's value for "device" (NULL or "": the device of "p") and the model of "p" (NULL:
 * unknown). Cheap if there are no overrides.
 */
int64_t davy_threshold_for(const struct davy_step *s, enum davy_config_key key, const char *device,
			   const struct davy_process *p);

/* The process whose model may have its own thresholds; NULL if there are no overrides. */
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

/*
 * True if a health check or the engine's own progress shows a token since then. Progress is counted
 * where a graph begins: it shows nothing while all graphs fail.
 */
static inline bool davy_gave_token(const struct davy_process *p, uint64_t since_ns)
{
	return p->checked_ok_ns >= since_ns || (!p->failing_ns && p->life.made_ns >= since_ns);
}

static inline bool davy_is_device_lost(const char *type)
{
	return davy_same_name(type, "N2vk15DeviceLostErrorE");
}

/*
 * Whether the process has computed nothing yet and did not get device memory, by the engine's
 * exception, the driver's error or davylamp's refusal, in the last ten seconds: its load fails.
 */
bool davy_load_refused(const struct davy_step *s, const struct davy_process *p);

static inline bool davy_is_out_of_memory(const char *type)
{
	return davy_same_name(type, "N2vk22OutOfDeviceMemoryErrorE") ||
	       davy_same_name(type, "N2vk20OutOfHostMemoryErrorE");
}

#endif

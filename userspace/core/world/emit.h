/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the core: one step, the plans it puts out, and the thresholds it reads for a device and
 * a process. Only core/ includes this.
 */
#ifndef DAVY_EMIT_H
#define DAVY_EMIT_H

#include "core/core.h"
#include "core/world/usage.h"

struct davy_hazard_row;

/* One event's way through the core, and its output. */
struct davy_step {
	struct davy_core *core;
	const struct davy_event *ev;
	uint64_t now_ns;
	struct davy_plan *plans;
	size_t max;
	size_t count;
	const struct davy_hazard_row *const *hazards; /* by enum davy_hazard */
};

#define DAVY_SEES(kind)		(1ull << (kind))
#define DAVY_ESCALATION_ACTIONS 6
#define DAVY_ESCALATION_LEVELS	3

/* What is done from a level on, the least first. */
struct davy_escalation {
	uint8_t level; /* 0: the list has ended */
	uint8_t action[DAVY_ESCALATION_ACTIONS];
	uint8_t form; /* enum davy_form of the note; plain: any */
};

/* A hazard: it looks at each event of the kinds it sees, after the world has taken it over. */
struct davy_hazard_row {
	uint64_t sees; /* DAVY_SEES of the event kinds */
	void (*look)(struct davy_step *s);
	void (*because)(const struct davy_plan *p, struct davy_clause *c);
	struct davy_precursor precursor;
	struct davy_escalation escalation[DAVY_ESCALATION_LEVELS]; /* in the order of the levels */
	enum davy_shortage shortage; /* of the device: who has most of it is the culprit */
	bool names_culprit;	     /* the sign itself tells who did it from who suffers */
	bool of_long_jobs;	     /* a smaller batch makes it better */
	bool of_failed_engine;	     /* the engine is to be replaced at once */
	bool subject_suffers;	     /* without a victim: nobody is made to pay for it */
	bool finds_ubatch;	     /* its note has the ubatch that would fit */
	bool outlives_restart;	     /* a new process soon brings it about again */
	bool until_token;	     /* its process lives on; a token shows that it is well */
	bool weakens;		     /* kept, it is not seen as strong as it was raised */
	uint8_t device_fails;	     /* from this level on: its device does not serve; 0: never */
	uint8_t engine_fails;	     /* the same of its engine */
	/* Whether it stands although its sign was not seen of late; NULL: it does not. */
	bool (*stands)(const struct davy_step *s, const struct davy_plan *note);
};

#define DAVY_PLANS_SPARE 4 /* room a decision may need; who has less waits for the next tick */

/* A plan about process "p" (NULL: about nobody known), stamped, with the event as evidence. */
struct davy_plan davy_plan_about(const struct davy_step *s, enum davy_hazard hazard,
				 const struct davy_process *p);
void davy_plan_evidence(struct davy_plan *plan, uint64_t at_ns, uint32_t kind, uint32_t count);

/* Gives the plan its number and puts it out; or, as an act, the number that is asked for. */
void davy_emit(struct davy_step *s, struct davy_plan *plan);
void davy_emit_as(struct davy_step *s, struct davy_plan *plan, uint32_t id);

/* Whether the process is known to have done nothing of late: what it loses it does not miss yet. */
bool davy_is_idle(const struct davy_step *s, uint32_t pid);

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

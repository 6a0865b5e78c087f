/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Job times: how long the jobs of a process on a ring take, how this grows with the depth of a load
 * (a model with its ubatch on a device), and when a driver times a job out. Part of world.h.
 */
#ifndef DAVY_WORLD_JOBS_H
#define DAVY_WORLD_JOBS_H

#include "core/event/event.h"
#include "core/world/growth.h"

#define DAVY_WORLD_TIMES_SETS 32
#define DAVY_WORLD_TIMES_WAYS 8
#define DAVY_WORLD_LOADS      64
#define DAVY_WORLD_LOCKUPS    64
#define DAVY_LOAD_SLOW	      8
#define DAVY_USUAL_NS	      (600 * DAVY_NS_PER_S)
#define DAVY_USUAL_JOBS	      32
#define DAVY_USUAL_FEW	      8 /* enough if the next period has as many: they may grow */
#define DAVY_TIMEOUT_MAX_NS   (UINT64_MAX / 1000000) /* 5 h; a longer timeout never fires */

struct davy_times_state { /* finished jobs of a process on a ring */
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t count;	  /* last cumulative values */
	uint64_t sum_ns;
	uint64_t max_ns;
	uint32_t slot[DAVY_TIME_SLOTS];
	uint32_t pid;
	uint32_t slow_count;  /* new jobs that took about slowest_ns */
	uint64_t fresh_count; /* new jobs in the last event; 0 also at the first event */
	uint64_t slowest_ns;
};

struct davy_load { /* the jobs of a model with its ubatch on a device, for any process */
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t hash;
	uint64_t began_ns; /* start time of the current run; began_depth is its initial depth */
	uint64_t last_ns;  /* last job */
	uint32_t ubatch;
	uint8_t backend;
	uint8_t by_depth; /* the axis is tokens; otherwise ms since the run began */
	uint8_t slow_next;
	uint8_t pad;
	uint32_t began_depth;
	uint32_t depth;
	struct davy_growth growth; /* job time as part of the timeout, in millionths */
	uint64_t slow_ns[DAVY_LOAD_SLOW];
	uint32_t slow[DAVY_LOAD_SLOW]; /* timeout parts of the last slow jobs, in millionths */
	uint64_t period_ns;	       /* start of the current period of DAVY_USUAL_NS */
	uint32_t period_most;	       /* of the slow jobs in it */
	uint32_t period_count;
	uint32_t usual;	   /* most in any period that had enough of them; 0: unknown */
	uint32_t few_most; /* in the period before, which had DAVY_USUAL_FEW; 0: it had not */
};

struct davy_lockup_state {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	char queue[DAVY_RING_NAME_LEN];
	uint64_t used_ns;
	uint64_t timeout_ns; /* 0: never */
};

struct davy_jobs {
	struct davy_times_state times[DAVY_WORLD_TIMES_SETS][DAVY_WORLD_TIMES_WAYS];
	struct davy_load loads[DAVY_WORLD_LOADS];
	struct davy_lockup_state lockups[DAVY_WORLD_LOCKUPS];
};

struct davy_world;
struct davy_process;

enum davy_queue_kind {
	DAVY_QUEUE_COMPUTE = 0, /* also graphics and rings with their own name */
	DAVY_QUEUE_COPY = 1,
	DAVY_QUEUE_VIDEO = 2,
};

/* Purpose of a ring, from the names in amdgpu, i915 and xe. */
enum davy_queue_kind davy_ring_kind(const char *ring);

/* NULL if nothing is known. */
struct davy_times_state *davy_world_times(struct davy_world *w, const char *device,
					  const char *ring, uint32_t pid);

/* The load that "p" runs on "device". Created if missing; may replace the oldest. */
struct davy_load *davy_world_load_get(struct davy_world *w, const struct davy_process *p,
				      const char *device, uint64_t now_ns);

/* A hash of the name of the model of "p". Without a model: of the process's name. */
uint32_t davy_model_key(const struct davy_process *p);

/* NULL: nothing is known. */
const struct davy_load *davy_world_load(const struct davy_world *w, const struct davy_process *p,
					const char *device);

/* A job of the load has ended that took a noticeable part of its timeout, in millionths. */
void davy_load_add(struct davy_load *l, uint32_t share, uint64_t now_ns);

/*
 * The threshold for a load whose jobs have long been slow: not below what "usual" jobs take, and
 * one tenth above it, but low enough to act before the timeout. Any unit.
 */
uint64_t davy_load_threshold(const struct davy_load *l, uint64_t threshold, uint64_t timeout);

/* Maximum time of a job on that ring; 0: unlimited or unknown. */
uint64_t davy_world_timeout(const struct davy_world *w, const char *device, const char *ring);

/* Apply the facts of an event; called by davy_world_apply(). */
void davy_jobs_apply_times(struct davy_world *w, const struct davy_event *ev);
void davy_jobs_apply_ring(struct davy_world *w, const struct davy_event *ev);
void davy_jobs_apply_timeout(struct davy_world *w, const struct davy_event *ev);
void davy_jobs_apply_lockup(struct davy_world *w, const struct davy_event *ev);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core remembers: bounded tables of processes, workloads, GPU clients, rings, movers and
 * breakers. When a table is full the oldest idle entry goes and a counter says so. Only core/ may
 * include this; others see the world through plans.
 */
#ifndef DAVY_WORLD_H
#define DAVY_WORLD_H

#include "core/event/event.h"
#include "core/world/memory.h"
#include "core/world/pace.h"
#include "core/world/world_jobs.h"
#include "core/world/world_life.h"
#include "core/world/world_signs.h"

#define DAVY_WORLD_PROCESS_SETS 64
#define DAVY_WORLD_WAYS		8
#define DAVY_WORLD_CLIENT_SETS	64
#define DAVY_WORLD_WORKLOADS	64
#define DAVY_WORLD_RINGS	64
#define DAVY_WORLD_MOVERS	128
#define DAVY_WORLD_DEVICES	16
#define DAVY_WORLD_ALLOCS	64
#define DAVY_WORLD_USES		256

struct davy_process {
	uint32_t pid; /* 0: empty */
	uint32_t uid; /* who answers for it: a full set is shared among users */
	uint32_t workload;
	uint64_t start_ticks;
	uint64_t used_ns;
	uint64_t exception_ns;	   /* last vk::DeviceLostError, 0: none */
	uint64_t out_of_memory_ns; /* last vk::OutOf*MemoryError */
	uint32_t lost_batch;	   /* tokens at most of the batch that lost it */
	uint32_t lost_depth;
	uint64_t check_due_ns; /* when to ask whether it survived; 0: no question open */
	uint64_t checked_ok_ns;
	uint64_t stood_ns; /* last time that a pause of ours kept it from going on */
	struct davy_ev_graph graph;
	uint16_t port;
	uint8_t engine;
	uint8_t backend;
	char comm[DAVY_COMM_LEN];
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	char exception[DAVY_TYPE_NAME_LEN];
	uint64_t oom_killed_ns; /* the OOM killer chose it; 0: not */
	uint64_t met_ns;	/* first seen, or since its last exec */
	uint64_t worked_ns;	/* last sign that it computes; 0: none yet */
	uint64_t refused_ns;	/* a GPU's node was refused to it, and it has none; 0: no */
	uint64_t model_bytes;	/* of its file, 0 unknown */
	uint32_t ppid;
	int32_t gpu_layers;    /* asked for; DAVY_LAYERS_AUTO: nobody asked */
	uint16_t flags;	       /* enum davy_process_flag */
	uint8_t role;	       /* enum davy_role */
	uint8_t on_cpu;	       /* silent_cpu stands */
	uint32_t ubatch;       /* tokens computed at once, 0 unknown */
	uint32_t slot_context; /* tokens of one slot, 0 unknown */
	uint32_t context_size; /* of all together */
	uint32_t parallel;
	uint32_t layer_count; /* of the model, 0 unknown */
	uint32_t cache_type;  /* enum davy_tuner_cache; 0: unknown, or another */
	struct davy_life life;
};

/* What an act has left in force: what is taken back with it. */
struct davy_effect {
	struct davy_knobs before;
	uint64_t until_ns; /* of a quarantine: nothing is tried before */
	uint8_t action;
	uint8_t hazard;	 /* none: an operator's, who takes it back himself */
	uint8_t backend; /* that it ran on */
	uint8_t tuned;	 /* by the tuner: its soaks say when, and to what, it is taken back */
	uint32_t depth;	 /* tokens that it must have computed before it is undone; 0: any */
	char device[DAVY_DEVICE_LEN];
};

#define DAVY_EFFECTS_MAX 8

struct davy_workload {
	uint32_t id; /* 0: empty */
	uint32_t pid;
	uint64_t used_ns;
	uint64_t check_ns;	/* check asked for, answer not here yet */
	uint64_t checked_ns;	/* last time one was asked for */
	uint64_t decided_ns;	/* last time a failure of it was decided on */
	uint64_t retry_set_ns;	/* when the waiting retry was set */
	uint64_t first_sign_ns; /* of the episode under way */
	uint64_t act_ns;	/* act under way since */
	uint64_t stopped_ns;
	uint64_t last_act_ns;
	uint64_t retry_ns; /* a refused plan is tried again then; 0: none */
	uint64_t hour_ns;
	uint32_t act_plan;  /* 0: none under way */
	uint32_t act_count; /* of all time */
	uint32_t hour_count;
	uint32_t restart_count;
	uint32_t hold_plan; /* 0: nothing holds it */
	uint16_t port;
	uint8_t adopted;
	uint8_t movable;
	uint8_t engine;
	uint8_t backend;
	uint8_t act_action;
	uint8_t act_hazard;
	uint8_t act_started; /* the replacement runs: its end is the act's failure, not ours */
	uint8_t retry_action;
	uint8_t retry_hazard;
	uint8_t asked; /* backend asked for; "backend" is what was seen in use */
	uint8_t can;   /* enum davy_can */
	uint8_t pinned;
	uint8_t rival;
	uint8_t mode;	     /* enum davy_mode + 1; 0: that of the host */
	uint8_t fixed;	     /* bits of enum davy_tuner_knob that people have pinned */
	uint8_t hold_action; /* pause or throttle that is in force */
	uint8_t hold_hazard;
	uint8_t hold_times;	/* how often it came back soon after it was let go */
	uint8_t act_from;	/* backend before it */
	uint8_t act_to;		/* that it is to have; unknown: the same */
	uint8_t act_undo;	/* the action whose effect the act under way takes back */
	uint8_t act_renews;	/* a hold that is in force already */
	uint8_t undo_reported;	/* refusal of an undo that is due, told once */
	uint8_t clean_times;	/* so often was the clean period doubled */
	uint16_t hold_permille; /* of a throttle */
	uint16_t act_permille;
	uint32_t act_pid_before; /* serves on if the act fails, as long as it lives */
	uint32_t effect_count;
	struct davy_knobs knobs; /* in force; 0: as its command says */
	struct davy_knobs act_knobs;
	struct davy_tuner_reason act_tuning; /* as told: the knobs are not the tuner's */
	struct davy_knobs retry_knobs;	     /* of a shrink */
	struct davy_tuner_reason retry_tuning;
	char act_device[DAVY_DEVICE_LEN]; /* before it */
	uint64_t act_lease_ns;
	uint64_t act_until_ns;
	uint32_t ubatch_floor; /* of people's; 0: the host's */
	uint32_t lost_depth;   /* at which the device was lost, the last time */
	uint32_t lost_count;   /* smaller settings tried since it came deeper than that */
	uint32_t deepest;      /* tokens of a context, since the last act ended */
	uint64_t act_end_ns;   /* the last one's, whatever came of it */
	uint64_t replaced_ns;
	uint64_t hold_until_ns; /* its lease */
	uint64_t hold_good_ns;	/* renewed until then, even if nothing is seen any more */
	uint64_t let_go_ns;	/* end of the last throttle that a hazard brought about */
	uint64_t troubled_ns;	/* last time a hazard stood that could be laid at its door */
	uint64_t undone_ns;	/* 0: no undo that could be to blame for what comes */
	struct davy_effect effects[DAVY_EFFECTS_MAX]; /* latest last */
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
};

struct davy_client {	/* a PASID's owner */
	uint32_t pasid; /* 0: empty */
	uint32_t pid;
	uint64_t used_ns;
	uint64_t window_ns; /* faults are counted from here */
	uint64_t fault_count;
	uint64_t storm_ns; /* since when each window has had too many; 0: this one has not */
	uint32_t pad;
};

struct davy_ring_state {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	char ring[DAVY_RING_NAME_LEN];
	uint64_t used_ns;
	uint64_t fence_context;
	uint64_t fence_seqno;
	uint64_t first_sign_ns; /* first stall of this job */
	uint32_t pid;
	uint32_t level;
	uint64_t timeout_ns; /* as last told; 0: never */
	uint64_t age_ns;     /* of the job that ran when it last spoke, 0: none */
	uint64_t age_context;
	uint64_t age_seqno;
	uint64_t ended_ns; /* how old the job became that ended since, 0: none */
	uint32_t age_pid;
	uint32_t ended_pid;
	uint32_t timeout_told;
	uint32_t pad;
};

struct davy_mover_state {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	uint32_t evictor_pid;
	uint32_t owner_pid;
	uint64_t used_ns;
	uint64_t out_bytes; /* last cumulative values seen */
	uint64_t in_bytes;
	uint64_t window_ns;
	uint64_t full_windows; /* in a row, before this one, with too much */
	uint64_t run_bytes;    /* out, since the first of them */
	uint64_t window_out_bytes;
	uint64_t window_in_bytes;
	uint64_t first_sign_ns;
};

struct davy_alloc_state {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	uint64_t used_ns;
	uint64_t window_ns;
	uint32_t pid;
	uint32_t pad;
	uint64_t window_count;
};

/* One open file of a device, or (client 0) what KFD says of a process there. */
struct davy_use {
	char device[DAVY_DEVICE_LEN];
	uint64_t client_id;
	uint64_t used_ns;
	uint64_t memory_bytes;
	uint64_t busy_ns;      /* cumulative */
	uint64_t window_ns[2]; /* when this window and the one before it began */
	uint64_t window_busy_ns[2];
	uint32_t pid; /* 0: empty */
	uint32_t pad;
};

/* What one owner lost from VRAM and got back, whoever moved it. */
struct davy_moved_owner {
	uint32_t pid; /* 0: empty */
	uint32_t evictor_pid;
	uint64_t window_ns;
	uint64_t out_bytes;
	uint64_t in_bytes;
};

#define DAVY_MOVED_OWNERS 8

struct davy_device_state {
	char device[DAVY_DEVICE_LEN];
	char driver[24]; /* "": not told yet, or none */
	uint64_t used_ns;
	uint64_t first_sign_ns;
	struct davy_process
		timed_out; /* whose job timed out last, as he was: he may be gone at the reset */
	struct davy_moved_owner owners[DAVY_MOVED_OWNERS];
	uint32_t thrash_pid; /* of the standing alarm: two that evict each other are one thrash */
	uint32_t corrected;  /* errors that hardware corrected, within the window */
	uint64_t corrected_ns;
	uint64_t timed_out_ns; /* 0: nobody's has */
	uint64_t reset_ns;     /* last reset that succeeded, and the one before */
	uint64_t before_reset_ns;
	uint64_t resetting_ns; /* a reset is under way since then */
	struct davy_told told[DAVY_TOLD_COUNT][DAVY_TELLERS];
};

#define DAVY_WORLD_PROCESSES ((size_t)DAVY_WORLD_PROCESS_SETS * DAVY_WORLD_WAYS)

struct davy_world {
	uint64_t process_map[DAVY_WORLD_PROCESSES / 64]; /* which entries are in use */
	struct davy_process processes[DAVY_WORLD_PROCESS_SETS][DAVY_WORLD_WAYS];
	struct davy_client clients[DAVY_WORLD_CLIENT_SETS][DAVY_WORLD_WAYS];
	struct davy_workload workloads[DAVY_WORLD_WORKLOADS];
	struct davy_ring_state rings[DAVY_WORLD_RINGS];
	struct davy_mover_state movers[DAVY_WORLD_MOVERS];
	struct davy_device_state devices[DAVY_WORLD_DEVICES];
	struct davy_alloc_state allocs[DAVY_WORLD_ALLOCS];
	struct davy_use uses[DAVY_WORLD_USES];
	uint64_t evicted_count; /* entries that had to go for want of room */
	uint32_t workload_count;
	uint32_t pad;
	struct davy_memory memory;
	struct davy_paces paces;
	uint64_t cpu_looked_ns; /* when silent_cpu last looked at all processes */
	struct davy_jobs jobs;
	struct davy_busy busy;
	struct davy_signs signs;
};

/* Finders return NULL when absent; the _get forms make an entry, at the cost of the oldest. */
struct davy_process *davy_world_process(struct davy_world *w, uint32_t pid);

/* The next one at or behind place *at, which is moved behind it; NULL: there is none. */
struct davy_process *davy_world_process_next(struct davy_world *w, size_t *at);
struct davy_process *davy_world_process_get(struct davy_world *w, uint32_t pid, uint32_t uid,
					    uint64_t now_ns);
struct davy_client *davy_world_client(struct davy_world *w, uint32_t pasid);
struct davy_client *davy_world_client_get(struct davy_world *w, uint32_t pasid, uint64_t now_ns);
struct davy_workload *davy_world_workload(struct davy_world *w, uint32_t id);
struct davy_workload *davy_world_workload_get(struct davy_world *w, uint32_t id, uint64_t now_ns);
struct davy_ring_state *davy_world_ring_get(struct davy_world *w, const char *device,
					    const char *ring, uint64_t now_ns);
struct davy_mover_state *davy_world_mover_get(struct davy_world *w, const char *device,
					      uint32_t evictor_pid, uint32_t owner_pid,
					      uint64_t now_ns);
struct davy_alloc_state *davy_world_alloc_get(struct davy_world *w, const char *device,
					      uint32_t pid, uint64_t now_ns);
const struct davy_device_state *davy_world_device(const struct davy_world *w, const char *device);
struct davy_device_state *davy_world_device_get(struct davy_world *w, const char *device,
						uint64_t now_ns);

/* Takes an event's facts over before the hazards look at it. */
void davy_world_apply(struct davy_world *w, const struct davy_event *ev);

/* Forgets what ends with the event, after the hazards have looked. */
void davy_world_settle(struct davy_world *w, const struct davy_event *ev);

#endif

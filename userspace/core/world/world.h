/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the core: bounded tables of processes, workloads, GPU clients, rings, movers and
 * breakers. When a table is full, a new entry replaces the oldest idle one and a counter reports
 * it. Only core/ includes this. Other folders see the world through plans.
 */
#ifndef DAVY_WORLD_H
#define DAVY_WORLD_H

#include "core/event/event.h"
#include "core/world/memory.h"
#include "core/world/pace.h"
#include "core/world/world_jobs.h"
#include "core/world/world_life.h"
#include "core/world/world_precursors.h"

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
	uint32_t uid; /* owner: a full set is shared fairly among users */
	uint32_t workload;
	uint64_t start_ticks;
	uint64_t used_ns;
	uint64_t exception_ns;	   /* last vk::DeviceLostError, 0: none */
	uint64_t xid_ns;	   /* last Xid 13 or 31 of this process */
	uint64_t out_of_memory_ns; /* last vk::OutOf*MemoryError */
	uint64_t vram_refused_ns;  /* last allocation that the driver or davylamp refused */
	uint64_t vram_limit;	   /* its quota, if that was the reason; 0: not */
	uint64_t failing_ns;	   /* first of the graphs that fail without a success; 0: none */
	uint32_t lost_batch;	   /* upper limit of the tokens in the batch that lost the device */
	uint32_t lost_depth;
	uint64_t check_due_ns; /* when to check whether the engine survived; 0: no check pending */
	uint64_t checked_ok_ns;
	uint64_t paused_ns; /* last time that a pause by davylamp stopped it */
	struct davy_ev_graph graph;
	uint16_t port;
	uint8_t engine;
	uint8_t backend;
	char comm[DAVY_COMM_LEN];
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	char exception[DAVY_TYPE_NAME_LEN];
	uint64_t oom_killed_ns;	   /* killed by the OOM killer; 0: no */
	uint64_t met_ns;	   /* first seen, or last exec */
	uint64_t worked_ns;	   /* last evidence of computation; 0: none */
	uint64_t refused_ns;	   /* access to a GPU node was denied and it has no GPU; 0: no */
	uint64_t channels_lost_ns; /* first Xid 43 or 45 of it; 0: none, or reported */
	uint64_t model_bytes;	   /* size of the model file, 0: unknown */
	uint32_t ppid;
	int32_t gpu_layers;    /* requested; DAVY_LAYERS_AUTO: not set */
	uint16_t flags;	       /* enum davy_process_flag */
	uint8_t role;	       /* enum davy_role */
	uint8_t on_cpu;	       /* silent_cpu is active */
	uint32_t ubatch;       /* tokens per computation, 0: unknown */
	uint32_t slot_context; /* tokens of one slot, 0: unknown */
	uint32_t context_size; /* of all slots together */
	uint32_t parallel;
	uint32_t layer_count; /* of the model, 0: unknown */
	uint32_t cache_type;  /* enum davy_tuner_cache; 0: unknown or other */
	struct davy_life life;
};

/* An action in force, and what undo needs. */
struct davy_effect {
	struct davy_start_settings before;
	uint64_t until_ns; /* of a quarantine: no retry before */
	uint8_t action;
	uint8_t hazard;	 /* none: ordered by an operator, who undoes it */
	uint8_t backend; /* backend before the action */
	uint8_t tuned;	 /* set by the tuner, which decides when and how to undo it */
	uint32_t depth;	 /* undo only after a context of so many tokens; 0: any */
	char device[DAVY_DEVICE_LEN];
};

#define DAVY_EFFECTS_MAX 8

struct davy_workload {
	uint32_t id; /* 0: empty */
	uint32_t pid;
	uint64_t used_ns;
	uint64_t check_ns;	     /* a check is pending since then */
	uint64_t checked_ns;	     /* last check request */
	uint64_t decided_ns;	     /* last decision about a failure */
	uint64_t retry_set_ns;	     /* when the pending retry was set */
	uint64_t first_precursor_ns; /* first precursor of the current incident */
	uint64_t act_ns;	     /* start of the running action */
	uint64_t stopped_ns;
	uint64_t last_act_ns;
	uint64_t retry_ns; /* when to retry a refused plan; 0: never */
	uint64_t hour_ns;
	uint32_t act_plan;  /* running action; 0: none */
	uint32_t act_count; /* total */
	uint32_t hour_count;
	uint32_t restart_count;
	uint32_t freeze_plan; /* freeze in force; 0: none */
	uint16_t port;
	uint8_t adopted;
	uint8_t movable;
	uint8_t engine;
	uint8_t backend;
	uint8_t act_action;
	uint8_t act_hazard;
	uint8_t act_started; /* the replacement runs: its exit is a failure of the action */
	uint8_t retry_action;
	uint8_t retry_hazard;
	uint8_t asked; /* requested backend; "backend" is the one in use */
	uint8_t can;   /* enum davy_can */
	uint8_t pinned;
	uint8_t rival;
	uint8_t mode;	       /* enum davy_mode + 1; 0: mode of the host */
	uint8_t fixed;	       /* bits of enum davy_start_setting, pinned by the administrator */
	uint8_t freeze_action; /* pause or throttle in force */
	uint8_t freeze_hazard;
	uint8_t freeze_times;	  /* how often the hazard returned soon after the release */
	uint8_t act_from;	  /* backend before the action */
	uint8_t act_to;		  /* backend after the action; unknown: unchanged */
	uint8_t act_undo;	  /* the action that the running action undoes */
	uint8_t act_renews;	  /* the running action renews a freeze */
	uint8_t undo_reported;	  /* the refusal of a due undo is reported once */
	uint8_t given_up;	  /* enum davy_refusal: why its ended engine is not started again */
	uint8_t given_up_action;  /* the refused action */
	uint8_t clean_times;	  /* how often the clean period was doubled */
	uint16_t freeze_permille; /* duty of a throttle */
	uint16_t act_permille;
	uint32_t act_pid_before; /* old process; keeps serving if the action fails */
	uint32_t effect_count;
	struct davy_start_settings settings; /* settings in force; 0: as in its command line */
	struct davy_start_settings act_settings;
	struct davy_tuner_reason act_tuning;	   /* AS_CONFIGURED: not from the tuner */
	struct davy_start_settings retry_settings; /* settings of a shrink to retry */
	struct davy_tuner_reason retry_tuning;
	char act_device[DAVY_DEVICE_LEN]; /* device before the action */
	uint64_t act_lease_ns;
	uint64_t act_until_ns;
	int32_t crash_status;  /* how its process ended at the last crash, as from wait(2) */
	uint32_t ubatch_floor; /* administrator's minimum; 0: the host's */
	uint32_t lost_depth;   /* context depth at the last device loss */
	uint32_t lost_count;   /* smaller settings tried since it last exceeded that depth */
	uint32_t deepest;      /* maximum context depth since the last action ended */
	uint64_t act_end_ns;   /* end of the last action, successful or not */
	uint64_t replaced_ns;
	uint64_t start_ns;	  /* duration of its last replacement; 0: unknown */
	uint64_t freeze_until_ns; /* lease of the freeze */
	uint64_t freeze_good_ns;  /* renew until then, even without new events */
	uint64_t thawed_ns;	  /* end of the last throttle that a hazard caused */
	uint64_t troubled_ns;	  /* last time when a hazard could be attributed to it */
	uint64_t undone_ns;	  /* last undo that may have caused new hazards; 0: none */
	struct davy_effect effects[DAVY_EFFECTS_MAX]; /* latest last */
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
};

struct davy_client {	/* the owner of a PASID */
	uint32_t pasid; /* 0: empty */
	uint32_t pid;
	uint64_t used_ns;
	uint64_t window_ns; /* start of the window for counting faults */
	uint64_t fault_count;
	uint64_t storm_ns; /* start of consecutive windows above the threshold; 0: none */
	uint32_t pad;
};

struct davy_ring_state {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	char ring[DAVY_RING_NAME_LEN];
	uint64_t used_ns;
	uint64_t fence_context;
	uint64_t fence_seqno;
	uint64_t first_precursor_ns; /* first stall of this job */
	uint32_t pid;
	uint32_t level;
	uint64_t timeout_ns; /* last reported; 0: never */
	uint64_t age_ns;     /* age of the running job at the last report, 0: none */
	uint64_t age_context;
	uint64_t age_seqno;
	uint64_t ended_ns; /* final age of a job that ended since, 0: none */
	uint64_t slow_ns;  /* end of the last job that used half of the timeout; 0: none */
	bool slow;	   /* the running job has used half of it */
	uint32_t age_pid;
	uint32_t ended_pid;
	uint32_t timeout_reported;
	uint32_t pad;
};

struct davy_mover_state {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	uint32_t evictor_pid;
	uint32_t owner_pid;
	uint64_t used_ns;
	uint64_t out_bytes; /* last cumulative values */
	uint64_t in_bytes;
	uint64_t window_ns;
	uint64_t full_windows; /* consecutive earlier windows above the threshold */
	uint64_t run_bytes;    /* bytes evicted since the first of these windows */
	uint64_t window_out_bytes;
	uint64_t window_in_bytes;
	uint64_t first_precursor_ns;
};

struct davy_alloc_state {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	uint64_t used_ns;
	uint64_t window_ns;
	uint32_t pid;
	uint32_t pad;
	uint64_t window_count;
};

/* One open file of a device; client 0 holds the KFD counters of a process. */
struct davy_use {
	char device[DAVY_DEVICE_LEN];
	uint64_t client_id;
	uint64_t used_ns;
	uint64_t memory_bytes;
	uint64_t busy_ns;      /* cumulative */
	uint64_t window_ns[2]; /* start of the current window and of the previous one */
	uint64_t window_busy_ns[2];
	uint32_t pid; /* 0: empty */
	uint32_t pad;
};

/* Bytes that one owner lost from VRAM and got back, for any evictor. */
struct davy_moved_owner {
	uint32_t pid; /* 0: empty */
	uint32_t evictor_pid;
	uint64_t window_ns;
	uint64_t out_bytes;
	uint64_t in_bytes;
	uint64_t again_bytes; /* out again after as much had come back in */
};

#define DAVY_MOVED_OWNERS 8

struct davy_device_state {
	char device[DAVY_DEVICE_LEN];
	char driver[24]; /* "": unknown or none */
	uint64_t used_ns;
	uint64_t first_precursor_ns;
	struct davy_process
		/*
		 * a copy of the owner of the last job that timed out; it may be gone at the reset
		 */
		timed_out;
	struct davy_moved_owner owners[DAVY_MOVED_OWNERS];
	uint32_t thrash_pid; /* of the active alarm: mutual eviction is one thrash */
	uint32_t corrected;  /* corrected hardware errors within the window */
	uint64_t corrected_ns;
	uint64_t timed_out_ns; /* 0: no job timed out */
	uint64_t reset_ns;     /* the last successful reset; before_reset_ns is the one before it */
	uint64_t before_reset_ns;
	uint64_t resetting_ns; /* start of a running reset */
	uint64_t reset_count;
	struct davy_report reports[DAVY_REPORT_COUNT][DAVY_REPORTERS];
};

#define DAVY_WORLD_PROCESSES ((size_t)DAVY_WORLD_PROCESS_SETS * DAVY_WORLD_WAYS)

struct davy_world {
	uint64_t process_map[DAVY_WORLD_PROCESSES / 64]; /* bitmap of used entries */
	struct davy_process processes[DAVY_WORLD_PROCESS_SETS][DAVY_WORLD_WAYS];
	struct davy_client clients[DAVY_WORLD_CLIENT_SETS][DAVY_WORLD_WAYS];
	struct davy_workload workloads[DAVY_WORLD_WORKLOADS];
	struct davy_ring_state rings[DAVY_WORLD_RINGS];
	struct davy_mover_state movers[DAVY_WORLD_MOVERS];
	struct davy_device_state devices[DAVY_WORLD_DEVICES];
	struct davy_alloc_state allocs[DAVY_WORLD_ALLOCS];
	struct davy_use uses[DAVY_WORLD_USES];
	uint64_t evicted_count; /* entries replaced because a table was full */
	uint32_t workload_count;
	uint32_t pad;
	struct davy_memory memory;
	struct davy_paces paces;
	uint64_t cpu_looked_ns; /* last silent_cpu scan of all processes */
	struct davy_jobs jobs;
	struct davy_busy busy;
	struct davy_precursors precursors;
};

/* Finders return NULL if absent. The _get forms create an entry and may replace the oldest. */
struct davy_process *davy_world_process(struct davy_world *w, uint32_t pid);

/* Returns the next process at or after *at and advances *at; NULL: none. */
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

/* Applies the facts of an event before the hazards see it. */
void davy_world_apply(struct davy_world *w, const struct davy_event *ev);

/* Removes what ends with the event, after the hazards have seen it. */
void davy_world_settle(struct davy_world *w, const struct davy_event *ev);

#endif

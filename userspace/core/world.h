/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core remembers: bounded tables of processes, workloads, GPU clients, rings, movers and
 * breakers. When a table is full the oldest idle entry goes and a counter says so. Only core/ may
 * include this; others see the world through plans.
 */
#ifndef DL_CORE_WORLD_H
#define DL_CORE_WORLD_H

#include "event.h"

#define DL_WORLD_PROCESS_SETS 64
#define DL_WORLD_WAYS	      8
#define DL_WORLD_CLIENT_SETS  64
#define DL_WORLD_WORKLOADS    64
#define DL_WORLD_RINGS	      64
#define DL_WORLD_MOVERS	      128
#define DL_WORLD_DEVICES      16
#define DL_WORLD_ALLOCS	      64

struct dl_process {
	uint32_t pid; /* 0: empty */
	uint32_t workload;
	uint64_t start_ticks;
	uint64_t used_ns;
	uint64_t exception_ns;	   /* last vk::DeviceLostError, 0: none */
	uint64_t out_of_memory_ns; /* last vk::OutOf*MemoryError */
	uint64_t check_due_ns;	   /* when to ask whether it survived; 0: no question open */
	uint64_t checked_ok_ns;
	struct dl_ev_graph graph;
	uint16_t port;
	uint8_t engine;
	uint8_t backend;
	char comm[DL_COMM_LEN];
	char device[DL_DEVICE_LEN];
	char model[DL_MODEL_LEN];
	char exception[DL_TYPE_NAME_LEN];
};

struct dl_workload {
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
	uint32_t act_plan; /* 0: none under way */
	uint32_t hour_count;
	uint32_t restart_count;
	uint16_t port;
	uint8_t adopted;
	uint8_t movable;
	uint8_t engine;
	uint8_t backend;
	uint8_t act_rung;
	uint8_t act_hazard;
	uint8_t act_started; /* the replacement runs: its end is the act's failure, not ours */
	uint8_t retry_rung;
	uint8_t retry_hazard;
	char device[DL_DEVICE_LEN];
	char model[DL_MODEL_LEN];
};

struct dl_client {	/* a PASID's owner */
	uint32_t pasid; /* 0: empty */
	uint32_t pid;
	uint64_t used_ns;
	uint64_t window_ns; /* faults are counted from here */
	uint64_t fault_count;
	uint32_t pad;
};

struct dl_ring_state {
	char device[DL_DEVICE_LEN]; /* "": empty */
	char ring[DL_RING_NAME_LEN];
	uint64_t used_ns;
	uint64_t fence_context;
	uint64_t fence_seqno;
	uint64_t first_sign_ns; /* first stall of this job */
	uint32_t pid;
	uint32_t level;
};

struct dl_mover_state {
	char device[DL_DEVICE_LEN]; /* "": empty */
	uint32_t evictor_pid;
	uint32_t owner_pid;
	uint64_t used_ns;
	uint64_t out_bytes; /* last cumulative values seen */
	uint64_t in_bytes;
	uint64_t window_ns;
	uint64_t window_out_bytes;
	uint64_t window_in_bytes;
	uint64_t first_sign_ns;
};

struct dl_alloc_state {
	char device[DL_DEVICE_LEN]; /* "": empty */
	uint64_t used_ns;
	uint64_t window_ns;
	uint32_t pid;
	uint32_t pad;
	uint64_t window_count;
};

struct dl_device_state {
	char device[DL_DEVICE_LEN];
	uint64_t used_ns;
	uint64_t first_sign_ns;
	struct dl_process
		timed_out; /* whose job timed out last, as he was: he may be gone at the reset */
};

struct dl_world {
	struct dl_process processes[DL_WORLD_PROCESS_SETS][DL_WORLD_WAYS];
	struct dl_client clients[DL_WORLD_CLIENT_SETS][DL_WORLD_WAYS];
	struct dl_workload workloads[DL_WORLD_WORKLOADS];
	struct dl_ring_state rings[DL_WORLD_RINGS];
	struct dl_mover_state movers[DL_WORLD_MOVERS];
	struct dl_device_state devices[DL_WORLD_DEVICES];
	struct dl_alloc_state allocs[DL_WORLD_ALLOCS];
	uint64_t evicted_count; /* entries that had to go for want of room */
};

/* Finders return NULL when absent; the _get forms make an entry, at the cost of the oldest. */
struct dl_process *dl_world_process(struct dl_world *w, uint32_t pid);
struct dl_process *dl_world_process_get(struct dl_world *w, uint32_t pid, uint64_t now_ns);
struct dl_client *dl_world_client(struct dl_world *w, uint32_t pasid);
struct dl_client *dl_world_client_get(struct dl_world *w, uint32_t pasid, uint64_t now_ns);
struct dl_workload *dl_world_workload(struct dl_world *w, uint32_t id);
struct dl_workload *dl_world_workload_get(struct dl_world *w, uint32_t id, uint64_t now_ns);
struct dl_ring_state *dl_world_ring_get(struct dl_world *w, const char *device, const char *ring,
					uint64_t now_ns);
struct dl_mover_state *dl_world_mover_get(struct dl_world *w, const char *device,
					  uint32_t evictor_pid, uint32_t owner_pid,
					  uint64_t now_ns);
struct dl_alloc_state *dl_world_alloc_get(struct dl_world *w, const char *device, uint32_t pid,
					  uint64_t now_ns);
struct dl_device_state *dl_world_device_get(struct dl_world *w, const char *device,
					    uint64_t now_ns);

/* Takes an event's facts over before the hazards look at it. */
void dl_world_apply(struct dl_world *w, const struct dl_event *ev);

/* Forgets what ends with the event, after the hazards have looked. */
void dl_world_settle(struct dl_world *w, const struct dl_event *ev);

#endif

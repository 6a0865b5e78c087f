/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every event that can enter the core. An event is a fact with its own time (CLOCK_BOOTTIME, ns);
 * the core has no other clock. Sensors create events, traces store them, replay feeds them again.
 *
 * Kinds are append-only; the size of a payload is part of the trace format and pinned below. A
 * caller that feeds an event with a pid has fed a DAVY_EV_PROCESS for it before, if the process
 * could be read. A new field is a member here and a line in fields.c; a new kind is also a number,
 * a member of the union, and a row in fields.c.
 */
#ifndef DAVY_EVENT_H
#define DAVY_EVENT_H

#include "core/tuner/tuner.h"
#include "core/event/types.h"

enum davy_event_kind {
	DAVY_EV_TICK = 1,
	DAVY_EV_CONFIG = 2,
	DAVY_EV_PROCESS = 3,
	DAVY_EV_PROCESS_EXIT = 4,
	DAVY_EV_THROW = 5,
	DAVY_EV_GRAPH = 6,
	DAVY_EV_FAULT = 7,
	DAVY_EV_PASID = 8,
	DAVY_EV_BO_MOVED = 9,
	DAVY_EV_RING = 10,
	DAVY_EV_JOB_TIMEOUT = 11,
	DAVY_EV_RESET = 12,
	DAVY_EV_WORKLOAD = 13,
	DAVY_EV_PROBE = 14,
	DAVY_EV_ACT = 15,
	DAVY_EV_BREAKER = 16,
	DAVY_EV_SENSOR = 17,
	DAVY_EV_ALLOC_FAILED = 18,
	DAVY_EV_FACT = 19,
	DAVY_EV_JOB_TIMES = 20,
	DAVY_EV_MEMORY = 21,
	DAVY_EV_CLIENT = 22,
	DAVY_EV_DEVICE = 23,
	DAVY_EV_LOG = 24,
	DAVY_EV_KFD = 25,
	DAVY_EV_KFD_USE = 26,
	DAVY_EV_LOCKUP = 27,
	DAVY_EV_DMEM = 28,
	DAVY_EV_CONFIG_FOR = 29,
	DAVY_EV_PROGRESS = 30,
	DAVY_EV_ORDER = 31,
	DAVY_EV_RESTORED = 32,
	DAVY_EV_CLOCK = 33,
	DAVY_EV_TUNING = 34,
	DAVY_EV_RULES = 35,
	DAVY_EV_FINDING = 36,
	DAVY_EV_OWNER = 37,
	DAVY_EV_CLOCKS = 38,
	DAVY_EV_SCORES = 39,
	DAVY_EV_VRAM = 40,
	DAVY_EV_COUNT = 41,
};

struct davy_ev_config {
	char key[48];  /* a name of davy_config_keys */
	int64_t value; /* in the key's unit */
};

enum davy_scope {
	DAVY_SCOPE_DRIVER = 1,
	DAVY_SCOPE_DEVICE = 2,
	DAVY_SCOPE_MODEL = 3,
	DAVY_SCOPE_COUNT = 4,
};

/* A value for one driver, device or model. */
struct davy_ev_config_for {
	struct davy_ev_config config;
	char name[DAVY_MODEL_LEN]; /* "amdgpu", "0000:03:00.0", "qwen3*" */
	uint32_t scope;		   /* enum davy_scope */
	uint32_t pad;
};

enum davy_process_flag {
	DAVY_PROCESS_CONTEXT_ASSUMED = 1, /* assumed: the model's own, unless memory is short */
	DAVY_PROCESS_USER_UNIT = 2,
	DAVY_PROCESS_PARTIAL = 4,      /* parts of it could not be read */
	DAVY_PROCESS_PORT_ASSUMED = 8, /* the engine's default, not yet seen listening */
	DAVY_PROCESS_LOGIN_USER = 16,  /* neither root's nor a service's: it may fail on purpose */
};

/* Numbers are 0 and strings empty if unknown. */
struct davy_ev_process {
	uint64_t start_ticks; /* /proc/PID/stat field 22: identity together with the pid */
	uint32_t ppid;
	uint32_t workload; /* 0: none */
	uint8_t engine;	   /* enum davy_engine */
	uint8_t backend;   /* enum davy_backend: in use, not merely mapped */
	uint16_t port;	   /* its listening port, 0: unknown */
	uint8_t role;	   /* enum davy_role */
	uint8_t runtime;   /* enum davy_runtime of its container */
	uint16_t flags;	   /* enum davy_process_flag */
	char comm[DAVY_COMM_LEN];
	char device[DAVY_DEVICE_LEN]; /* the device with most of its memory */
	char model[DAVY_MODEL_LEN];
	uint64_t model_bytes;
	uint32_t context_size; /* tokens, of all slots together */
	uint32_t batch;
	uint32_t ubatch; /* tokens computed at once */
	uint32_t parallel;
	int32_t gpu_layers;   /* as requested; DAVY_LAYERS_AUTO, DAVY_LAYERS_ALL */
	uint32_t layer_count; /* of the model */
	uint32_t trained_context;
	uint32_t inner_pid; /* in its own pid namespace, 0: the same */
	char architecture[DAVY_ARCH_LEN];
	char quantisation[DAVY_QUANT_LEN];
	char cache_k[DAVY_QUANT_LEN];
	char cache_v[DAVY_QUANT_LEN];
	char unit[DAVY_UNIT_LEN];
	char container[DAVY_CONTAINER_LEN];
	char pod[DAVY_POD_LEN];
	char more_devices[DAVY_DEVICES_MAX - 1][DAVY_DEVICE_LEN];
};

/* pid: a process whose event follows. Not sent for root's. */
struct davy_ev_owner {
	uint32_t uid; /* the responsible user */
	uint32_t pad;
};

struct davy_ev_process_exit {
	uint64_t start_ticks; /* 0: unknown */
	int32_t status;	      /* as from wait(2) */
	uint32_t pad;
};

struct davy_ev_throw {
	char type[DAVY_TYPE_NAME_LEN]; /* mangled, "N2vk15DeviceLostErrorE" */
};

struct davy_ev_graph {
	uint64_t entered_ns; /* latest entry of a running call; 0: idle */
	uint64_t graph_count;
	uint64_t failed_count;
	uint64_t last_ns;
	uint64_t max_ns;
	uint32_t may_end_unseen; /* a copy, or an engine that synchronizes only once a batch */
	uint32_t failing;	 /* graphs that failed since the last one that succeeded */
};

struct davy_ev_fault {
	char device[DAVY_DEVICE_LEN];
	uint64_t addr;
	uint32_t pasid;
	uint32_t vmid;
	uint16_t client_id;
	uint16_t src_id;
	uint16_t fault_class; /* enum davy_fault_class */
	uint16_t flags;
	uint64_t count; /* of this (device, pasid, vmid, client, source), cumulative */
	uint64_t fresh; /* since the last such event */
};

struct davy_ev_pasid {
	uint32_t pasid; /* of the event's pid */
	uint32_t freed;
};

struct davy_ev_bo_moved { /* pid: the evictor */
	char device[DAVY_DEVICE_LEN];
	uint32_t owner_pid; /* 0: unknown */
	uint32_t owner_pasid;
	uint64_t out_bytes; /* cumulative for (device, evictor, owner) */
	uint64_t in_bytes;
	uint32_t out_count;
	uint32_t in_count;
};

struct davy_ev_ring { /* pid: the process that queued the oldest running job; 0: unknown */
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	uint64_t timeout_ns; /* effective, 0: never */
	uint64_t age_ns;     /* of the oldest running job, 0: none */
	uint64_t fence_context;
	uint64_t fence_seqno;
	uint32_t running_count;
	uint32_t pad;
};

struct davy_ev_job_timeout { /* pid: owner of the job */
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	uint64_t fence_context;
	uint64_t fence_seqno;
	uint64_t age_ns;
	uint32_t pasid;
	uint32_t pad;
};

struct davy_ev_reset {
	char device[DAVY_DEVICE_LEN];
	int32_t result; /* 0 or -errno, at the end */
	uint32_t begun;
};

struct davy_ev_alloc_failed { /* pid: the process that requested the memory */
	char device[DAVY_DEVICE_LEN];
	uint64_t bytes; /* of the last one; 0: unknown */
	uint32_t count; /* of (device, pid, stage, what, error), cumulative */
	int32_t error;
	uint32_t what;	/* memory type, or the ioctl's number */
	uint32_t stage; /* enum davy_alloc_stage */
	uint32_t fresh; /* of count since the last such event */
	uint32_t pad;
};

/* The account of VRAM has refused an allocation, or saw one that it would have. pid: who asked. */
struct davy_ev_vram {
	char device[DAVY_DEVICE_LEN];
	char cgroup[DAVY_VRAM_NAME_LEN]; /* last component of its path */
	uint64_t bytes;			 /* of the allocation; 0: "high" */
	uint64_t used;			 /* by the cgroup before it */
	uint64_t limit; /* of the cgroup, or what the reserve leaves of the device */
	uint64_t count; /* refused, or raced, in this cgroup: cumulative; 0: "high" */
	uint8_t why;	/* enum davy_vram_why */
	uint8_t pad[7];
};

/* enum davy_fact defines the meaning of each number; unused fields are 0. */
struct davy_ev_fact { /* pid: the process concerned */
	char device[DAVY_DEVICE_LEN];
	char name[DAVY_FACT_NAME_LEN];
	uint64_t bytes; /* cumulative for a hot fact, like count */
	uint64_t addr;
	uint64_t duration_ns;
	uint64_t fence_context;
	uint64_t fence_seqno;
	uint64_t count;
	uint64_t fresh;	 /* of count since the last such event */
	uint32_t by_pid; /* the process in whose context it happened */
	uint32_t pasid;
	int32_t error;
	uint32_t detail;
	uint16_t fact; /* enum davy_fact */
	uint16_t what;
	uint32_t pad;
};

struct davy_ev_job_times { /* pid: owner of the jobs; 0: queued before the agent started */
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	uint64_t count; /* all cumulative */
	uint64_t sum_ns;
	uint64_t max_ns;
	uint32_t slot[DAVY_TIME_SLOTS]; /* slot n: below DAVY_TIME_SLOT_NS << (n + 1) */
};

#define DAVY_MEMORY_SHARED	1u /* an integrated GPU: it uses the host's memory */
#define DAVY_MEMORY_MAY_SUSPEND 2u /* in suspend, its VRAM must fit into the host's memory */

struct davy_ev_memory { /* bytes; 0 where the driver reports none */
	char device[DAVY_DEVICE_LEN];
	uint64_t vram_total;
	uint64_t vram_used;
	uint64_t visible_total; /* the part of VRAM that the CPU can map */
	uint64_t visible_used;
	uint64_t gtt_total;
	uint64_t gtt_used;
	uint64_t eviction_count; /* the driver's own counter */
	uint64_t vram_lost_count;
	uint64_t host_total;
	uint64_t host_available;
	uint32_t pressure_permille; /* PSI: all tasks waited for memory, last 10 s */
	uint32_t flags;
};

struct davy_ev_client { /* pid: the process that has the device open */
	char device[DAVY_DEVICE_LEN];
	uint64_t client_id; /* drm-client-id, of one open file */
	uint64_t vram;	    /* bytes resident */
	uint64_t gtt;
	uint64_t system;
	uint64_t evicted; /* bytes that should be in VRAM but are not */
	uint64_t busy_ns; /* sum over its engines, cumulative */
	uint32_t gone;
	uint32_t pad;
};

enum davy_device_change {
	DAVY_DEVICE_ADDED = 1,
	DAVY_DEVICE_REMOVED = 2,
	DAVY_DEVICE_WEDGED = 3,	  /* uevent WEDGED=, detail: its value */
	DAVY_DEVICE_ERROR = 4,	  /* i915: ERROR=1 or 0 */
	DAVY_DEVICE_RESET = 5,	  /* i915: RESET=1 */
	DAVY_DEVICE_COREDUMP = 6, /* saved, detail: the file's name */
	DAVY_DEVICE_CHANGE_COUNT = 7,
};

struct davy_ev_device { /* pid: if the kernel names one */
	char device[DAVY_DEVICE_LEN];
	char driver[24];
	char detail[DAVY_DETAIL_LEN];
	uint32_t change; /* enum davy_device_change */
	int32_t value;
};

/* A line of the kernel's log. pid: the named process in the agent's namespace; 0: none. */
struct davy_ev_log {
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	char comm[DAVY_COMM_LEN]; /* unchanged from the line */
	uint64_t addr;		  /* of a fault, 0: unknown */
	uint32_t named_pid;	  /* unchanged from the line: may be a thread's */
	uint32_t code;		  /* Xid, SXid, "N times" */
	int32_t error;		  /* 0 or -errno */
	uint16_t kind;		  /* enum davy_log_kind */
	uint16_t leads;		  /* of a precursor: bits of enum davy_log_class_bit */
	uint8_t log_class;	  /* enum davy_log_class */
	uint8_t role;		  /* enum davy_log_role */
	uint8_t hazard;		  /* enum davy_log_hazard, of a precursor */
	uint8_t weight;		  /* of a precursor, 1 to 3 */
	uint32_t repeats;	  /* number of repeats since the last report */
};

/* The numbers of enum kfd_smi_event (include/uapi/linux/kfd_ioctl.h of 7.2). */
enum davy_kfd_event {
	DAVY_KFD_VM_FAULT = 1,
	DAVY_KFD_THERMAL_THROTTLE = 2,
	DAVY_KFD_RESET_BEGIN = 3,
	DAVY_KFD_RESET_END = 4,
	DAVY_KFD_MIGRATE_BEGIN = 5,
	DAVY_KFD_MIGRATE_END = 6,
	DAVY_KFD_PAGE_FAULT_BEGIN = 7,
	DAVY_KFD_PAGE_FAULT_END = 8,
	DAVY_KFD_QUEUES_EVICTED = 9,
	DAVY_KFD_QUEUES_RESTORED = 10,
	DAVY_KFD_UNMAPPED = 11,
	DAVY_KFD_PROCESS_BEGIN = 12,
	DAVY_KFD_PROCESS_END = 13,
	DAVY_KFD_EVENT_COUNT = 14,
};

enum davy_kfd_flag {
	DAVY_KFD_WRITE = 1,	  /* of a page fault */
	DAVY_KFD_MIGRATED = 2,	  /* a page fault resolved by moving the page */
	DAVY_KFD_RESCHEDULED = 4, /* a failed restore that is tried again */
};

/* An event of KFD's SMI descriptor. pid: in the agent's namespace. */
struct davy_ev_kfd {
	char device[DAVY_DEVICE_LEN];
	char detail[DAVY_DETAIL_LEN]; /* a reset's cause, or a process's name */
	uint64_t driver_ns;	      /* KFD's timestamp: CLOCK_BOOTTIME; 0: unknown */
	uint64_t addr;		      /* bytes */
	uint64_t bytes;
	uint64_t mask;	/* of thermal throttling */
	uint32_t event; /* enum davy_kfd_event */
	uint32_t trigger;
	uint32_t from; /* node or gpu_id, of a migration */
	uint32_t to;
	int32_t error;
	uint32_t flags; /* enum davy_kfd_flag */
};

/*
 * pid: a process that uses KFD. /sys/class/kfd/kfd/proc/PID, cumulative except for vram and queues.
 * Without a device: it has KFD open and uses no GPU.
 */
struct davy_ev_kfd_use {
	char device[DAVY_DEVICE_LEN];
	uint64_t vram; /* bytes */
	uint64_t evicted_ms;
	uint64_t fault_count;
	uint64_t pages_in;
	uint64_t pages_out;
	uint32_t queue_count;
	uint32_t gone;
};

enum davy_lockup_origin {
	DAVY_LOCKUP_UNKNOWN = 0,
	DAVY_LOCKUP_SCHEDULER = 1, /* the driver's own state, as seen on a ring */
	DAVY_LOCKUP_SYSFS = 2,
	DAVY_LOCKUP_PARAMETER = 3, /* of the module, set by an administrator */
	DAVY_LOCKUP_DEFAULT = 4,   /* documented by the module */
	DAVY_LOCKUP_NONE = 5,	   /* this kind of queue has none */
	DAVY_LOCKUP_ORIGIN_COUNT = 6,
};

/* How long a job may run before the driver considers it hung. */
struct davy_ev_lockup {
	char device[DAVY_DEVICE_LEN];
	char queue[DAVY_RING_NAME_LEN]; /* "gfx", "compute", "sdma", "video", "ccs" */
	uint64_t timeout_ns;		/* 0: never */
	uint32_t origin;		/* enum davy_lockup_origin */
	uint32_t pad;
};

/* A region of device memory and a cgroup: the dmem controller. pid: one of its processes. */
struct davy_ev_dmem {
	char device[DAVY_DEVICE_LEN];
	char region[16]; /* "vram0" */
	char unit[DAVY_UNIT_LEN];
	uint64_t capacity; /* bytes */
	uint64_t current;
	uint64_t max; /* UINT64_MAX: no limit */
	uint64_t low;
};

/* An engine's report of its own work. pid: the engine. */
struct davy_ev_progress {
	uint64_t prompt_count;	  /* tokens of prompts computed, cumulative */
	uint64_t generated_count; /* tokens generated, cumulative */
	uint32_t depth;		  /* tokens in the fullest active slot */
	uint32_t context_size;	  /* of that slot */
	uint32_t busy_slots;
	uint32_t slots;
};

enum davy_workload_op {
	DAVY_WORKLOAD_REGISTERED = 0,
	DAVY_WORKLOAD_STARTED = 1, /* pid: the new engine process */
	DAVY_WORKLOAD_GONE = 2,
};

/* The abilities of a workload, from which the escalation chooses. */
enum davy_can {
	DAVY_CAN_FREEZE = 1, /* freeze it, completely or in a duty cycle */
	DAVY_CAN_SHRINK = 2, /* start it with smaller settings */
	DAVY_CAN_CAP = 4,
	DAVY_CAN_UNLOAD = 8,  /* unload its idle models, one by one */
	DAVY_CAN_SWITCH = 16, /* to another backend of a GPU */
	DAVY_CAN_KEEP = 32,   /* replace it without losing a context or a client */
};

struct davy_ev_workload {
	uint32_t workload; /* not 0 */
	uint8_t op;	   /* enum davy_workload_op */
	uint8_t adopted;
	uint8_t engine;
	uint8_t backend; /* asked for */
	uint16_t port;
	uint8_t movable; /* it can run on the CPU only */
	uint8_t can;	 /* enum davy_can */
	uint8_t pinned;	 /* an administrator wants it unchanged */
	uint8_t rival;	 /* another program starts, stops and unloads it */
	uint8_t pad[2];
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
};

/* Settings with which an engine can be started; 0: as in its command. */
struct davy_start_settings {
	uint32_t ubatch;	 /* tokens computed at once */
	uint32_t context;	 /* tokens of all slots together */
	uint32_t parallel;	 /* slots */
	uint16_t gpu_layers_off; /* number of layers to move off the GPU */
	uint16_t cache_type;	 /* enum davy_tuner_cache, of keys and values */
};

/* By enum davy_start_setting; for layers: those off the GPU. */
const char *davy_start_setting_name(uint32_t setting);
uint32_t davy_start_setting_get(const struct davy_start_settings *k, uint32_t setting);
bool davy_start_setting_set(struct davy_start_settings *k, uint32_t setting,
			    uint64_t value); /* false: out of its range */
bool davy_start_settings_none(const struct davy_start_settings *k);

/* "q8_0"; "" and 0 for an unknown one. */
const char *davy_cache_name(uint32_t type);
uint32_t davy_cache_named(const char *name);

#define DAVY_ORDER_LEASE_MAX_NS (3600 * DAVY_NS_PER_S)

/*
 * An act ordered by an operator. It needs what any act needs (mode, adoption, abilities of the
 * workload), but no budget. Fields that the action does not use are 0.
 */
struct davy_ev_order {
	uint32_t workload;    /* not 0 */
	uint8_t action;	      /* enum davy_action, not none */
	uint8_t to_backend;   /* of a switch; unknown: the core chooses */
	uint16_t on_permille; /* of a throttle; 0: the core chooses */
	uint64_t lease_ns;    /* of a pause or a throttle; 0: the configured one */
	uint64_t cap_bytes;   /* of a cap */
	struct davy_start_settings settings;
	uint8_t undo; /* of an undo: the action to be undone; 0: the latest */
	uint8_t heap; /* of a cap: DAVY_OF_VRAM; 0: of VRAM if dmem can limit it, else of memory */
	uint8_t pad[6];
};

/*
 * An effect that an earlier agent's act left in force, from the workload's supervisor or the record
 * of an adopted unit. Sent after DAVY_WORKLOAD_REGISTERED, the oldest first.
 */
struct davy_ev_restored {
	uint32_t workload; /* not 0 */
	uint8_t action;	   /* shrink, switch or migrate_cpu */
	uint8_t hazard;	   /* its reason; none: an operator */
	uint8_t backend;   /* previous backend */
	uint8_t pad;
	struct davy_start_settings settings; /* in force, of a shrink; before it: of the command */
	char device[DAVY_DEVICE_LEN];	     /* previous device; "": unknown */
	uint32_t depth; /* tokens; not undone before this depth was reached; 0: any */
	uint32_t pad2;
};

struct davy_ev_clock {
	uint64_t wall_s; /* since 1970, at at_ns: dates what outlives a boot */
};

enum davy_tuning_flag {
	DAVY_TUNING_FIRST = 1,	/* earlier events about the workload are void */
	DAVY_TUNING_LAST = 2,	/* with the current environment */
	DAVY_TUNING_FORGET = 4, /* newer findings are void too */
};

#define DAVY_TUNER_HEAD offsetof(struct davy_tuner, of)

/*
 * Findings of an earlier agent about a workload's settings (tuner.h), one event for each backend
 * with findings; the head is the same in all.
 */
struct davy_ev_tuning {
	uint32_t workload; /* not 0 */
	uint16_t flags;	   /* enum davy_tuning_flag */
	uint16_t backend;
	uint64_t stamp;				  /* of the environment; 0: unknown */
	uint32_t configured[DAVY_TUNER_SETTINGS]; /* in its command; 0: unknown */
	uint32_t layers_asked;
	uint64_t head[DAVY_TUNER_HEAD / sizeof(uint64_t)]; /* of struct davy_tuner */
	struct davy_tuner_backend of;
};

/* The part of the administrator's rules for a workload that binds the core. */
struct davy_ev_rules {
	uint32_t workload; /* not 0 */
	uint8_t mode;	   /* enum davy_mode + 1; 0: the host's */
	uint8_t fixed;	   /* bits of enum davy_start_setting that are pinned */
	uint16_t pad;
	uint32_t ubatch_floor; /* 0: the host's */
	uint32_t pad2;
};

/*
 * A failed start of an engine, reported by 'davylamp doctor' or 'davylamp trace discovery'. pid: 0,
 * it has exited.
 */
struct davy_ev_finding {
	char device[DAVY_DEVICE_LEN]; /* "": any */
	char model[DAVY_MODEL_LEN];   /* "": no model was loaded yet */
	char where[DAVY_DETAIL_LEN];  /* "init in libamdhip64.so.6": the stage, and the library */
	int32_t status;		      /* as from wait(2) */
	uint8_t engine;
	uint8_t backend;
	uint8_t adopted; /* counts for the backend's breaker */
	uint8_t pad;
};

/* completion_status of an engine that generates no token: it is alive with its port open. */
#define DAVY_PROBE_ALIVE 204

enum davy_probe_flag {
	DAVY_PROBE_COMPUTE_FAILED = 1, /* the answer says that a graph failed */
};

struct davy_ev_probe {
	uint32_t workload;
	uint16_t health_status;	    /* HTTP status of /health, 0: no reply */
	uint16_t completion_status; /* HTTP status of a one-token completion, 0: no reply in time */
	uint32_t token_count;
	uint32_t completion_ms;
	uint32_t flags; /* enum davy_probe_flag */
	uint32_t pad;
};

enum davy_act_stage {
	DAVY_ACT_STOPPED = 0, /* the old process has exited */
	DAVY_ACT_STARTED = 1, /* the new one runs; pid is its pid */
	DAVY_ACT_SERVING = 2, /* the new one generated a token */
	DAVY_ACT_FAILED = 3,
	DAVY_ACT_IN_FORCE = 4, /* frozen, throttled or capped, and verified */
	DAVY_ACT_RELEASED = 5, /* ended: by its lease, or undone */
	DAVY_ACT_STAGE_COUNT = 6,
};

struct davy_ev_act {
	uint32_t plan; /* davy_plan.id */
	uint32_t workload;
	uint8_t stage; /* enum davy_act_stage */
	uint8_t pad[3];
	int32_t result; /* 0 or -errno */
};

enum davy_breaker_state {
	DAVY_BREAKER_CLOSED = 0,
	DAVY_BREAKER_OPEN = 1,
	DAVY_BREAKER_HALF_OPEN = 2,
	DAVY_BREAKER_STATE_COUNT = 3,
};

struct davy_ev_breaker { /* state of the learned policy at the start */
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	uint8_t backend;
	uint8_t state;
	uint16_t open_count; /* number of openings: the exponent of the back-off */
	uint32_t pad;
	uint64_t remaining_ns; /* until half-open, from at_ns */
};

enum davy_sensor_state {
	DAVY_SENSOR_LIVE = 0,
	DAVY_SENSOR_ABSENT = 1,	 /* the hook does not exist here (yet) */
	DAVY_SENSOR_REFUSED = 2, /* refused by the kernel */
	DAVY_SENSOR_RELEASED = 3,
	DAVY_SENSOR_LOST = 4, /* events lost, "count" of them */
	DAVY_SENSOR_STATE_COUNT = 5,
};

/* Why the clocks of a GPU are lower than requested. */
enum davy_clock_reason {
	DAVY_CLOCK_SW_POWER_CAP = 0,
	DAVY_CLOCK_HW_SLOWDOWN = 1,
	DAVY_CLOCK_SYNC_BOOST = 2,
	DAVY_CLOCK_SW_THERMAL = 3,
	DAVY_CLOCK_HW_THERMAL = 4,
	DAVY_CLOCK_HW_POWER_BRAKE = 5,
	DAVY_CLOCK_REASON_COUNT = 6,
};

struct davy_ev_clocks { /* they have been lowered for this reason since the last sample */
	char device[DAVY_DEVICE_LEN];
	uint32_t reason; /* enum davy_clock_reason */
	uint32_t pad;
};

/* Alarms are scored at the levels 2 and 3. */
#define DAVY_SCORED_FROM   2
#define DAVY_SCORED_LEVELS 2
#define DAVY_SCORES_MAX	   1000000000

/* The scored alarms of a hazard at one level in earlier starts of the agent (foresight.h). */
struct davy_ev_scores {
	uint64_t alarms;
	uint64_t confirmed;
	uint8_t hazard;
	uint8_t level;
	uint8_t pad[6];
};

struct davy_ev_sensor {
	char name[32];
	char reason[DAVY_REASON_LEN];
	uint64_t count;	 /* programs live, or events lost */
	uint64_t gap_ns; /* LIVE again: length of the gap */
	uint32_t state;
	uint32_t pad;
};

struct davy_event {
	uint64_t at_ns;
	uint32_t kind;
	uint32_t pid;
	union {
		struct davy_ev_config config;
		struct davy_ev_process process;
		struct davy_ev_process_exit process_exit;
		struct davy_ev_throw thrown;
		struct davy_ev_graph graph;
		struct davy_ev_fault fault;
		struct davy_ev_pasid pasid;
		struct davy_ev_bo_moved bo_moved;
		struct davy_ev_ring ring;
		struct davy_ev_job_timeout job_timeout;
		struct davy_ev_reset reset;
		struct davy_ev_workload workload;
		struct davy_ev_probe probe;
		struct davy_ev_act act;
		struct davy_ev_breaker breaker;
		struct davy_ev_sensor sensor;
		struct davy_ev_alloc_failed alloc_failed;
		struct davy_ev_fact fact;
		struct davy_ev_job_times job_times;
		struct davy_ev_memory memory;
		struct davy_ev_client client;
		struct davy_ev_device device;
		struct davy_ev_log log;
		struct davy_ev_kfd kfd;
		struct davy_ev_kfd_use kfd_use;
		struct davy_ev_lockup lockup;
		struct davy_ev_dmem dmem;
		struct davy_ev_config_for config_for;
		struct davy_ev_progress progress;
		struct davy_ev_order order;
		struct davy_ev_restored restored;
		struct davy_ev_clock clock;
		struct davy_ev_tuning tuning;
		struct davy_ev_rules rules;
		struct davy_ev_finding finding;
		struct davy_ev_owner owner;
		struct davy_ev_clocks clocks;
		struct davy_ev_scores scores;
		struct davy_ev_vram vram;
	};
};

_Static_assert(sizeof(struct davy_ev_config) == 56, "trace format");
_Static_assert(sizeof(struct davy_ev_process) == 696, "trace format");
_Static_assert(sizeof(struct davy_ev_owner) == 8, "trace format");
_Static_assert(sizeof(struct davy_ev_process_exit) == 16, "trace format");
_Static_assert(sizeof(struct davy_ev_throw) == 64, "trace format");
_Static_assert(sizeof(struct davy_ev_graph) == 48, "trace format");
_Static_assert(sizeof(struct davy_ev_fault) == 72, "trace format");
_Static_assert(sizeof(struct davy_ev_pasid) == 8, "trace format");
_Static_assert(sizeof(struct davy_ev_bo_moved) == 64, "trace format");
_Static_assert(sizeof(struct davy_ev_ring) == 88, "trace format");
_Static_assert(sizeof(struct davy_ev_job_timeout) == 80, "trace format");
_Static_assert(sizeof(struct davy_ev_reset) == 40, "trace format");
_Static_assert(sizeof(struct davy_ev_workload) == 144, "trace format");
_Static_assert(sizeof(struct davy_ev_probe) == 24, "trace format");
_Static_assert(sizeof(struct davy_ev_act) == 16, "trace format");
_Static_assert(sizeof(struct davy_ev_breaker) == 144, "trace format");
_Static_assert(sizeof(struct davy_ev_sensor) == 184, "trace format");
_Static_assert(sizeof(struct davy_ev_alloc_failed) == 64, "trace format");
_Static_assert(sizeof(struct davy_ev_fact) == 136, "trace format");
_Static_assert(sizeof(struct davy_ev_job_times) == 168, "trace format");
_Static_assert(sizeof(struct davy_ev_memory) == 120, "trace format");
_Static_assert(sizeof(struct davy_ev_client) == 88, "trace format");
_Static_assert(sizeof(struct davy_ev_device) == 128, "trace format");
_Static_assert(sizeof(struct davy_ev_log) == 96, "trace format");
_Static_assert(sizeof(struct davy_ev_kfd) == 152, "trace format");
_Static_assert(sizeof(struct davy_ev_kfd_use) == 80, "trace format");
_Static_assert(sizeof(struct davy_ev_lockup) == 64, "trace format");
_Static_assert(sizeof(struct davy_ev_dmem) == 160, "trace format");
_Static_assert(sizeof(struct davy_ev_config_for) == 160, "trace format");
_Static_assert(sizeof(struct davy_ev_progress) == 32, "trace format");
_Static_assert(sizeof(struct davy_ev_order) == 48, "trace format");
_Static_assert(sizeof(struct davy_ev_restored) == 32 + DAVY_DEVICE_LEN, "trace format");
_Static_assert(sizeof(struct davy_ev_clock) == 8, "trace format");
_Static_assert(sizeof(struct davy_ev_tuning) == 664, "trace format");
_Static_assert(sizeof(struct davy_ev_rules) == 16, "trace format");
_Static_assert(sizeof(struct davy_ev_clocks) == DAVY_DEVICE_LEN + 8, "trace format");
_Static_assert(sizeof(struct davy_ev_scores) == 24, "trace format");
_Static_assert(sizeof(struct davy_ev_vram) == DAVY_DEVICE_LEN + 88, "trace format");
_Static_assert(sizeof(struct davy_ev_finding) ==
		       8 + DAVY_DEVICE_LEN + DAVY_MODEL_LEN + DAVY_DETAIL_LEN,
	       "trace format");

/* The payload size of a kind; 0 for a tick, and for an unknown kind. */
size_t davy_event_payload_size(uint32_t kind);
const char *davy_event_kind_name(uint32_t kind);
const char *davy_device_change_name(uint32_t change);
const char *davy_kfd_event_name(uint32_t event);

/* As nvidia-smi names it. */
const char *davy_clock_reason_name(uint32_t reason);

/* True: a fault or heat, not a limit that is normal under load. */
bool davy_clock_reason_bad(uint32_t reason);
const char *davy_lockup_origin_name(uint32_t origin);

/*
 * Whether the core accepts it: known kind, enums in range, strings terminated. Traces are untrusted
 * input; the agent's own events satisfy it by construction.
 */
bool davy_event_valid(const struct davy_event *ev);

#endif

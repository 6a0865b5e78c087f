/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core says: hazards raised and cleared, checks wanted, acts planned or refused, breakers
 * turned, outcomes. A plan names its hazard, what was observed against which threshold, the events
 * it rests on, and why a lesser action was not enough. Numbers are append-only.
 */
#ifndef DAVY_PLAN_H
#define DAVY_PLAN_H

#include "core/event/action.h"
#include "core/event/config.h"
#include "core/event/event.h"

#define DAVY_PLAN_EVIDENCE 4
#define DAVY_PLANS_MAX	   32 /* one step never says more; what exceeds it is counted */

/*
 * The hazards: number, constant, and the name in texts, in policies/hazards.conf, of the file
 * core/hazard/hazard_NAME.c and of its row davy_hazard_NAME.
 */
#define DAVY_HAZARDS(X)                                                                            \
	X(1, ENGINE_EXCEPTION, engine_exception)                                                   \
	X(2, ENGINE_WEDGED, engine_wedged)                                                         \
	X(3, RUNNER_CRASH, runner_crash)                                                           \
	X(4, JOB_STALL, job_stall)                                                                 \
	X(5, FAULT_STORM, fault_storm)                                                             \
	X(6, EVICTION_STORM, eviction_storm)                                                       \
	X(7, RESET, reset)                                                                         \
	X(8, ALLOC_FAILURE, alloc_failure)                                                         \
	X(9, EXHAUSTION, exhaustion)                                                               \
	X(10, SILENT_SPILL, silent_spill)                                                          \
	X(11, HOST_PRESSURE, host_pressure)                                                        \
	X(12, SILENT_CPU, silent_cpu)                                                              \
	X(13, HARDWARE, hardware)                                                                  \
	X(14, DRIVER_WARNING, driver_warning)                                                      \
	X(15, JOB_HEADROOM, job_headroom)                                                          \
	X(16, RESTORE_HOG, restore_hog)                                                            \
	X(17, QUEUE_THRASH, queue_thrash)

#define DAVY_HAZARD_NUMBER(number, constant, name) DAVY_HZ_##constant = (number),

enum davy_hazard {
	DAVY_HZ_NONE = 0,
	DAVY_HAZARDS(DAVY_HAZARD_NUMBER) DAVY_HZ_COUNT,
};

/* Which form of its hazard a note is about, where they differ in text or in actions. */
enum davy_form {
	DAVY_FORM_PLAIN = 0,
	DAVY_FORM_SILENT = 1,  /* engine_wedged: busy, and nothing comes of it */
	DAVY_FORM_REFUSED = 2, /* silent_cpu: it may not open the GPU's node */
	DAVY_FORM_LAYERS = 3,  /* silent_cpu: only its arguments ask for the GPU */
	DAVY_FORM_SUSPEND = 4, /* host_pressure: the device may suspend */
	DAVY_FORM_RETRIED = 5, /* fault_storm, restore_hog: the driver tries again and again */
	DAVY_FORM_XID = 6,     /* hardware */
	DAVY_FORM_SXID = 7,
	DAVY_FORM_COUNT = 8,
};

/* The memory that is short. */
enum davy_plan_heap {
	DAVY_OF_NO_HEAP = 0,
	DAVY_OF_VRAM = 1,
	DAVY_OF_GTT = 2,
	DAVY_OF_HOST = 3,
	DAVY_OF_CGROUP = 4, /* device memory, within the limit of a cgroup */
	DAVY_OF_HEAP_COUNT = 5,
};

/* What a plan says. Only an action is carried out. */
enum davy_plan_kind {
	DAVY_PLAN_NOTE = 0,    /* a hazard is raised */
	DAVY_PLAN_CHECK = 1,   /* ask the engine for one token */
	DAVY_PLAN_CLEAR = 2,   /* a hazard has ended */
	DAVY_PLAN_BREAKER = 3, /* the backend policy changes */
	DAVY_PLAN_OUTCOME = 4, /* how an action ended */
	DAVY_PLAN_FAILURE = 5, /* something failed; hazard: that of its first sign, or none */
	DAVY_PLAN_ACTION = 6,  /* something is to be done to a workload */
	DAVY_PLAN_KIND_COUNT = 7,
};

enum davy_verdict {
	DAVY_VERDICT_GO = 0,
	DAVY_VERDICT_ADVISED = 1,
	DAVY_VERDICT_REFUSED = 2,
	DAVY_VERDICT_COUNT = 3,
};

enum davy_refusal {
	DAVY_REFUSED_NOT = 0,
	DAVY_REFUSED_MODE = 1,
	DAVY_REFUSED_NOT_ADOPTED = 2,
	DAVY_REFUSED_BUSY = 3,	  /* an act on this workload is under way */
	DAVY_REFUSED_BACKOFF = 4, /* will be done later */
	DAVY_REFUSED_BUDGET = 5,
	DAVY_REFUSED_RIVAL = 6,	      /* somebody else controls it */
	DAVY_REFUSED_UNABLE = 7,      /* it cannot be done to this workload, or has no effect */
	DAVY_REFUSED_HOST_BUDGET = 8, /* of all workloads together */
	DAVY_REFUSED_PINNED = 9,
	DAVY_REFUSED_COUNT = 10,
};

#define DAVY_PLAN_SHARES 8

/* What one process has of a device, at the moment of the plan. */
struct davy_share {
	uint32_t pid;		  /* 0: all others together */
	uint16_t memory_permille; /* of what all clients of the device have */
	uint16_t engine_permille; /* of the device's engine time of the last seconds */
	uint64_t memory_bytes;
};

struct davy_evidence {
	uint64_t at_ns;
	uint32_t kind; /* enum davy_event_kind */
	uint32_t count;
};

struct davy_plan {
	uint64_t at_ns;
	uint32_t id; /* 1, 2, ...; of an act to be carried out: its workload << 16 + 1, 2, ... */
	uint32_t pid;
	uint32_t workload;
	uint8_t kind;	/* enum davy_plan_kind */
	uint8_t action; /* to be carried out; of an outcome: that has ended; else none */
	uint8_t undone; /* of an undo: the action whose effect is taken back */
	uint8_t verdict;
	uint8_t refusal;
	uint8_t hazard;
	uint8_t level; /* of the hazard, 1 to 3; 0: an action without one */
	uint8_t engine;
	uint8_t backend;
	uint8_t unit; /* of observed and threshold, enum davy_unit */
	uint64_t observed;
	uint64_t threshold;
	uint64_t first_sign_ns; /* the earliest event of this episode; at_ns less this is the delay
				 */
	uint64_t stopped_ns;	/* outcome: old process gone; 0 unknown */
	uint64_t until_ns; /* breaker: opens a probation; refused for back-off: when it is tried;
			      a note: when it is expected to fail, 0 unknown */
	uint16_t open_count;
	uint8_t breaker_state;
	uint8_t evidence_count;
	int32_t result;		/* outcome: 0 or -errno */
	uint16_t health_status; /* what the last check saw, HTTP; 0 no answer or no check */
	uint16_t completion_status;
	uint16_t port;
	uint8_t device_class; /* the failure is the device's or its driver's, not a plain bug */
	uint8_t form;	      /* enum davy_form */
	uint32_t victim_pid;  /* who suffers, where that is another; 0: nobody known */
	uint32_t culprit_pid; /* who has most of what is short, where it is not "pid"; 0: nobody */
	uint32_t share_count;
	uint32_t ubatch;	  /* tokens computed at once; 0 unknown */
	uint32_t fitting_ubatch;  /* what would stay under the threshold; 0: not known, or none */
	uint32_t predicted_depth; /* tokens at which it fails if it goes on so; 0: not foreseen */
	struct davy_share shares[DAVY_PLAN_SHARES]; /* of the device's clients, largest first */
	struct davy_evidence evidence[DAVY_PLAN_EVIDENCE];
	char comm[DAVY_COMM_LEN];
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN]; /* of an exhaustion the name of the heap */
	char model[DAVY_MODEL_LEN];
	char detail[DAVY_DETAIL_LEN]; /* for the text only */
	uint64_t rate;		      /* exhaustion: bytes a second */
	/* Of an act: what is to be done. */
	uint64_t lease_ns; /* pause, throttle: it ends by itself after so long */
	uint64_t cap_bytes;
	struct davy_knobs knobs;	 /* shrink, undo of it */
	struct davy_tuner_reason tuning; /* why these; as told: they are not the tuner's */
	uint16_t on_permille;		 /* throttle: of each period */
	uint8_t to_backend;		 /* switch */
	uint8_t keeps;			 /* the old one serves on: nothing is lost */
	uint8_t passed_action;		 /* the lesser one before it; note: none */
	uint8_t passed_refusal;		 /* enum davy_refusal; none: done, and no help */
	uint8_t heap;			 /* enum davy_plan_heap, of an exhaustion */
	uint8_t failure_class;		 /* of a failure, enum davy_log_class */
	uint64_t lead_time_ns;		 /* of a failure: from its first sign to it */
};

const char *davy_hazard_name(enum davy_hazard hazard);
/* As decisions name it: an action by its own name, else the kind of the plan. */
const char *davy_plan_name(const struct davy_plan *plan);

int davy_hazard_from_name(const char *name); /* -1: it is none */
const char *davy_verdict_name(enum davy_verdict verdict);
const char *davy_refusal_name(enum davy_refusal refusal);
const char *davy_breaker_state_name(enum davy_breaker_state state);

#endif

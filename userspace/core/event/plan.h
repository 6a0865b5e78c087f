/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of the core: hazards raised and cleared, requested checks, planned or refused acts,
 * changes of breakers, outcomes. A plan has its hazard, what was observed against which threshold,
 * the events on which it is based, and why a lesser action was not enough. Numbers are append-only.
 */
#ifndef DAVY_PLAN_H
#define DAVY_PLAN_H

#include "core/event/action.h"
#include "core/event/config.h"
#include "core/event/event.h"

#define DAVY_PLAN_EVIDENCE 4
#define DAVY_PLANS_MAX	   32 /* maximum of one step; further ones are counted */

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
	X(17, QUEUE_THRASH, queue_thrash)                                                          \
	X(18, GIVEN_UP, given_up)                                                                  \
	X(19, VRAM_HIGH, vram_high)

#define DAVY_HAZARD_NUMBER(number, constant, name) DAVY_HZ_##constant = (number),

enum davy_hazard {
	DAVY_HZ_NONE = 0,
	DAVY_HAZARDS(DAVY_HAZARD_NUMBER) DAVY_HZ_COUNT,
};

/* The form of a note's hazard, if forms differ in text or in actions. */
enum davy_form {
	DAVY_FORM_PLAIN = 0,
	DAVY_FORM_SILENT = 1,  /* engine_wedged: busy without a result */
	DAVY_FORM_REFUSED = 2, /* silent_cpu: it may not open the GPU's node */
	DAVY_FORM_LAYERS = 3,  /* silent_cpu: only its arguments request the GPU */
	DAVY_FORM_SUSPEND = 4, /* host_pressure: the device may suspend */
	DAVY_FORM_RETRIED = 5, /* fault_storm, restore_hog: the driver repeats it */
	DAVY_FORM_XID = 6,     /* hardware */
	DAVY_FORM_SXID = 7,
	DAVY_FORM_FAILING = 8,	   /* engine_wedged: its graphs fail */
	DAVY_FORM_HEAT = 9,	   /* hardware: too hot */
	DAVY_FORM_HOST_STALL = 10, /* driver_warning: the kernel itself hangs next */
	DAVY_FORM_GROWING = 11,	   /* job_headroom: jobs take longer and longer */
	DAVY_FORM_SLOW = 12,	   /* engine_wedged: one graph takes unusually long */
	DAVY_FORM_REPEATED = 13,   /* runner_crash: not the first one */
	DAVY_FORM_LOAD = 14,	   /* exhaustion: of a load, which may fit */
	DAVY_FORM_HINT = 15,	   /* a first sign, for which no action is taken */
	DAVY_FORM_COUNT = 16,
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

/* The kind of a plan. Only an action is executed. */
enum davy_plan_kind {
	DAVY_PLAN_NOTE = 0,    /* a hazard is raised */
	DAVY_PLAN_CHECK = 1,   /* request one token from the engine */
	DAVY_PLAN_CLEAR = 2,   /* a hazard has ended */
	DAVY_PLAN_BREAKER = 3, /* the backend policy changes */
	DAVY_PLAN_OUTCOME = 4, /* how an action ended */
	DAVY_PLAN_FAILURE = 5, /* a failure; hazard: that of its first precursor, or none */
	DAVY_PLAN_ACTION = 6,  /* an act on a workload is planned */
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
	DAVY_REFUSED_BUSY = 3,	  /* another act on this workload is in progress */
	DAVY_REFUSED_BACKOFF = 4, /* deferred */
	DAVY_REFUSED_BUDGET = 5,
	DAVY_REFUSED_RIVAL = 6,	      /* another program controls it */
	DAVY_REFUSED_UNABLE = 7,      /* the workload cannot do it, or it has no effect */
	DAVY_REFUSED_HOST_BUDGET = 8, /* of all workloads together */
	DAVY_REFUSED_PINNED = 9,
	DAVY_REFUSED_PRICE = 10, /* it costs more than the failure that may follow */
	DAVY_REFUSED_COUNT = 11,
};

#define DAVY_PLAN_USAGES 8

/* The usage of a device by one process, at the time of the plan. */
struct davy_usage {
	uint32_t pid;		  /* 0: all others together */
	uint16_t memory_permille; /* part of the memory of all clients of the device */
	uint16_t engine_permille; /* part of the device's engine time in the last seconds */
	uint64_t memory_bytes;
};

struct davy_evidence {
	uint64_t at_ns;
	uint32_t kind; /* enum davy_event_kind */
	uint32_t count;
};

struct davy_plan {
	uint64_t at_ns;
	uint32_t id; /* 1, 2, ...; for an act: its workload << 16 + 1, 2, ... */
	uint32_t pid;
	uint32_t workload;
	uint8_t kind;	/* enum davy_plan_kind */
	uint8_t action; /* to be executed; for an outcome: that has ended; else none */
	uint8_t undone; /* of an undo: the action that is undone */
	uint8_t verdict;
	uint8_t refusal;
	uint8_t hazard;
	uint8_t level; /* of the hazard, 1 to 3; 0: an action without one */
	uint8_t engine;
	uint8_t backend;
	uint8_t unit; /* of observed and threshold, enum davy_unit */
	uint64_t observed;
	uint64_t threshold;
	uint64_t first_precursor_ns; /* earliest event of this incident */
	uint64_t stopped_ns;	     /* outcome: exit of the old process; 0: unknown */
	uint64_t until_ns;	     /* breaker: start of a probation; refused for back-off: next
			       attempt; a note: expected failure, 0: unknown */
	uint16_t open_count;
	uint8_t breaker_state;
	uint8_t evidence_count;
	int32_t result;		/* outcome: 0 or -errno */
	uint16_t health_status; /* HTTP status of the last check; 0: no reply or no check */
	uint16_t completion_status;
	uint16_t port;
	uint8_t device_class; /* a failure of the device or its driver, not a plain bug */
	uint8_t form;	      /* enum davy_form */
	uint32_t victim_pid;  /* the affected process, if it is another; 0: unknown */
	uint32_t culprit_pid; /* the process with most of what is short, if not "pid"; 0: none */
	uint32_t usage_count;
	uint32_t ubatch;	  /* tokens computed at once; 0: unknown */
	uint32_t fitting_ubatch;  /* a value that stays under the threshold; 0: unknown, or none */
	uint32_t predicted_depth; /* tokens of the expected failure; 0: none is foreseen */
	struct davy_usage usages[DAVY_PLAN_USAGES]; /* of the device's clients, largest first */
	struct davy_evidence evidence[DAVY_PLAN_EVIDENCE];
	char comm[DAVY_COMM_LEN];
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN]; /* the name of an exhausted heap */
	char model[DAVY_MODEL_LEN];
	char detail[DAVY_DETAIL_LEN]; /* for the text only */
	uint64_t rate;		      /* exhaustion: bytes a second */
	/* For an act: what to do. */
	uint64_t lease_ns; /* pause, throttle: it ends after this time */
	uint64_t cap_bytes;
	struct davy_start_settings settings; /* shrink, undo of it */
	struct davy_tuner_reason tuning;     /* their reason; AS_CONFIGURED: not set by the tuner */
	uint16_t on_permille;		     /* throttle: part of each period */
	uint8_t to_backend;		     /* switch */
	uint8_t keeps;			     /* the old process serves meanwhile: nothing is lost */
	uint8_t passed_action;		     /* the lesser action before it; note: none */
	uint8_t passed_refusal;		     /* enum davy_refusal; none: done, without success */
	uint8_t heap;			     /* enum davy_plan_heap, of an exhaustion */
	uint8_t failure_class;		     /* of a failure, enum davy_log_class */
	uint16_t probability_permille;	     /* note: that a failure follows; 0: not stated */
	uint64_t lead_time_ns;		     /* of a failure: time since its first precursor */
	uint32_t price_ms;		     /* of an action before a failure, price.c; else 0 */
	uint32_t harm_ms;		     /* of that failure, times its probability */
};

const char *davy_hazard_name(enum davy_hazard hazard);
/* The name in decisions: for an action its own, else that of the kind. */
const char *davy_plan_name(const struct davy_plan *plan);

int davy_hazard_from_name(const char *name); /* -1: unknown name */
const char *davy_verdict_name(enum davy_verdict verdict);
const char *davy_refusal_name(enum davy_refusal refusal);
const char *davy_breaker_state_name(enum davy_breaker_state state);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precursors that several sensors report: how often each occurred within a window, which source
 * reported a device recently, and what KFD does with a process's queues. Part of world.h.
 */
#ifndef DAVY_WORLD_PRECURSORS_H
#define DAVY_WORLD_PRECURSORS_H

#include "core/event/event.h"

#define DAVY_WORLD_TALLY_SETS 32
#define DAVY_WORLD_TALLY_WAYS 8
#define DAVY_WORLD_KFD_SETS   32
#define DAVY_WORLD_KFD_WAYS   8
/* maximum delay between the fastest and the slowest source */
#define DAVY_REPORT_DELAY_NS (2 * DAVY_NS_PER_S)

enum davy_tally_kind { /* one sensor each, so that nothing is counted twice */
	DAVY_TALLY_EVICTED = 1,
	DAVY_TALLY_EVICTED_SMI = 2,
	DAVY_TALLY_RETRIED_SMI = 3,
	DAVY_TALLY_HOGGED = 4,
	DAVY_TALLY_RESTORE_LINE = 5,
	DAVY_TALLY_FAULT = 6,
	DAVY_TALLY_FAULT_SMI = 7,
	DAVY_TALLY_FAULT_LINE = 8,
	DAVY_TALLY_RETRY = 9,
	DAVY_TALLY_RETRY_SMI = 10,
	DAVY_TALLY_ALLOC_LINE = 11,
	DAVY_TALLY_ALLOC_HINT = 12,
	DAVY_TALLY_WARNING = 13,
	DAVY_TALLY_EXIT = 14, /* by manager, or by model */
	DAVY_TALLY_ALLOC_LIMIT = 15,
	DAVY_TALLY_ALLOC_BIND = 16,
	DAVY_TALLY_REBIND = 17,
	DAVY_TALLY_SWAPPED = 18, /* counts bytes */
	DAVY_TALLY_SHRUNK = 19,	 /* counts bytes */
	DAVY_TALLY_ALLOC_IOCTL = 20,
	DAVY_TALLY_RETRY_LASTS = 21,  /* served faults, "first" is the start of the storm */
	DAVY_TALLY_REBIND_LASTS = 22, /* xe's rebinds, the same */
	DAVY_TALLY_HOGGED_DAY = 25,   /* "first" is the first count of the day */
	DAVY_TALLY_HEAT = 24,	      /* "first" is the start of the throttling */
	DAVY_TALLY_FALLBACK = 26,     /* fences that amdgpu's timer found */
	DAVY_TALLY_CRASH = 23,	      /* before the first graph, as DAVY_TALLY_EXIT */
};

struct davy_tally { /* count in a window that begins with the first occurrence */
	char device[DAVY_DEVICE_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t window_ns;
	uint64_t count;
	uint64_t first; /* value at the start of the window, if the precursor has one */
	uint32_t pid;
	uint32_t kind;
};

/* Sources, best first: BPF programs, announcements of the driver, kernel log. */
enum davy_reporter {
	DAVY_BY_PROGRAM = 0,
	DAVY_BY_DRIVER = 1,
	DAVY_BY_LOG = 2,
	DAVY_REPORTERS = 3,
};

enum davy_report_kind {
	DAVY_REPORT_FAULT = 0,
	DAVY_REPORT_RETRY = 1,
	DAVY_REPORT_RESET = 2,
	DAVY_REPORT_ALLOC = 3,
	DAVY_REPORT_COUNT = 4,
};

struct davy_report {
	uint64_t at_ns; /* 0: never */
	uint32_t level;
	uint32_t pad;
};

struct davy_kfd_state { /* a process that uses KFD on a device */
	char device[DAVY_DEVICE_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t sample_ns;
	uint64_t evicted_ms;  /* at the sample */
	uint64_t excused_ns;  /* last time when a suspend or a checkpoint stopped its queues */
	uint64_t evictor_ns;  /* last time when another process needed its memory */
	uint64_t pages_out;   /* of its memory that were moved from the device to the host */
	uint64_t paged_ns;    /* last time when that was seen to grow; 0: never */
	uint32_t evictor_pid; /* that process */
	uint32_t still_count; /* consecutive samples above the threshold */
	uint32_t queue_count;
	uint32_t pid;
};

struct davy_precursors {
	uint64_t line_ns[DAVY_LOG_KIND_COUNT]; /* the last line of that kind; 0: none yet */
	struct davy_tally tallies[DAVY_WORLD_TALLY_SETS][DAVY_WORLD_TALLY_WAYS];
	struct davy_kfd_state kfd[DAVY_WORLD_KFD_SETS][DAVY_WORLD_KFD_WAYS];
};

struct davy_world;

/* Created if missing; may replace the oldest. Resets the count when the window is over. */
struct davy_tally *davy_world_tally(struct davy_world *w, enum davy_tally_kind kind,
				    const char *device, uint32_t pid, uint64_t now_ns,
				    uint64_t window_ns);

/* Records that "reporter" reports "device" now, at that level. */
void davy_world_report(struct davy_world *w, const char *device, enum davy_report_kind what,
		       enum davy_reporter reporter, uint32_t level, uint64_t now_ns);

/*
 * True if a better source than "reporter" recently reported the same at that level or above. Device
 * "" matches all devices.
 */
bool davy_world_reported(const struct davy_world *w, const char *device, enum davy_report_kind what,
			 enum davy_reporter reporter, uint32_t level, uint64_t now_ns);

struct davy_kfd_state *davy_world_kfd_get(struct davy_world *w, const char *device, uint32_t pid,
					  uint64_t now_ns);

/* The latest entry of a process on any device; NULL if it does not use KFD. */
struct davy_kfd_state *davy_world_kfd(struct davy_world *w, uint32_t pid);

/* The only process with queues on the device; 0: none or several. "" is any device. */
uint32_t davy_world_kfd_only(const struct davy_world *w, const char *device);

/* Applies the facts of an event; called by davy_world_apply(). */
void davy_precursors_apply_kfd_use(struct davy_world *w, const struct davy_event *ev);

/* Whether no such line of the kernel log came for half a day. Records it. */
bool davy_world_line_is_new(struct davy_world *w, uint16_t kind, uint64_t now_ns);

/* Removes the data of a process that ended. */
void davy_precursors_forget(struct davy_world *w, uint32_t pid);

#endif

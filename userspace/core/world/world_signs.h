/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core remembers of signs that several senses tell: how often each came within a window,
 * who told of a device lately, and what KFD does with a process's queues. Inner part of world.h.
 */
#ifndef DAVY_WORLD_SIGNS_H
#define DAVY_WORLD_SIGNS_H

#include "core/event/event.h"

#define DAVY_WORLD_TALLY_SETS 32
#define DAVY_WORLD_TALLY_WAYS 8
#define DAVY_WORLD_KFD_SETS   32
#define DAVY_WORLD_KFD_WAYS   8
#define DAVY_TOLD_NS	      (2 * DAVY_NS_PER_S) /* from the fastest to the slowest teller */

enum davy_tally_kind { /* of one sense each, so that nothing is counted twice */
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
};

struct davy_tally { /* how often within a window that begins with the first */
	char device[DAVY_DEVICE_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t window_ns;
	uint64_t count;
	uint64_t first; /* the value that the window began with, where the sign has one */
	uint32_t pid;
	uint32_t kind;
};

/* Who tells of it: the kernel programs, then announcements of the driver, then lines of the log. */
enum davy_teller {
	DAVY_BY_PROGRAM = 0,
	DAVY_BY_DRIVER = 1,
	DAVY_BY_LOG = 2,
	DAVY_TELLERS = 3,
};

enum davy_told_what {
	DAVY_TOLD_FAULT = 0,
	DAVY_TOLD_RETRY = 1,
	DAVY_TOLD_RESET = 2,
	DAVY_TOLD_ALLOC = 3,
	DAVY_TOLD_COUNT = 4,
};

struct davy_told {
	uint64_t at_ns; /* 0: never */
	uint32_t level;
	uint32_t pad;
};

struct davy_kfd_state { /* a process that computes by KFD on a device */
	char device[DAVY_DEVICE_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t sample_ns;
	uint64_t evicted_ms;  /* at the sample */
	uint64_t excused_ns;  /* its queues were stopped for a suspend or a checkpoint */
	uint64_t evictor_ns;  /* when somebody was seen to need its memory */
	uint32_t evictor_pid; /* who */
	uint32_t still_count; /* samples in a row over the threshold */
	uint32_t queue_count;
	uint32_t pid;
};

struct davy_signs {
	struct davy_tally tallies[DAVY_WORLD_TALLY_SETS][DAVY_WORLD_TALLY_WAYS];
	struct davy_kfd_state kfd[DAVY_WORLD_KFD_SETS][DAVY_WORLD_KFD_WAYS];
};

struct davy_world;

/* Made at the cost of the oldest; begun anew when its window is over. */
struct davy_tally *davy_world_tally(struct davy_world *w, enum davy_tally_kind kind,
				    const char *device, uint32_t pid, uint64_t now_ns,
				    uint64_t window_ns);

/* Says that "teller" told of "device" now, as of something of that level. */
void davy_world_tell(struct davy_world *w, const char *device, enum davy_told_what what,
		     enum davy_teller teller, uint32_t level, uint64_t now_ns);

/*
 * Whether one who knows more than "teller" told of it a moment ago, and of no less a level. Who
 * does not know his device ("") may mean any.
 */
bool davy_world_told(const struct davy_world *w, const char *device, enum davy_told_what what,
		     enum davy_teller teller, uint32_t level, uint64_t now_ns);

struct davy_kfd_state *davy_world_kfd_get(struct davy_world *w, const char *device, uint32_t pid,
					  uint64_t now_ns);

/* The process's latest one, of any device; NULL when it is none of KFD's. */
struct davy_kfd_state *davy_world_kfd(struct davy_world *w, uint32_t pid);

/* The only process that has queues on the device; 0: none, or several. "" is any device. */
uint32_t davy_world_kfd_only(const struct davy_world *w, const char *device);

/* Takes an event's facts over; part of davy_world_apply(). */
void davy_signs_apply_kfd_use(struct davy_world *w, const struct davy_event *ev);

/* Forgets what it holds about a process that is gone. */
void davy_signs_forget(struct davy_world *w, uint32_t pid);

#endif

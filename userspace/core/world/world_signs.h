/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core remembers of signs that several senses tell: how often each came within a window,
 * who told of a device lately, and what KFD does with a process's queues. Inner part of world.h.
 */
#ifndef DL_CORE_WORLD_SIGNS_H
#define DL_CORE_WORLD_SIGNS_H

#include "core/event/event.h"

#define DL_WORLD_TALLY_SETS 32
#define DL_WORLD_TALLY_WAYS 8
#define DL_WORLD_KFD_SETS   32
#define DL_WORLD_KFD_WAYS   8
#define DL_TOLD_NS	    (2 * DL_NS_PER_S) /* from the fastest to the slowest teller */

enum dl_tally_kind { /* of one sense each, so that nothing is counted twice */
	DL_TALLY_EVICTED = 1,
	DL_TALLY_EVICTED_SMI = 2,
	DL_TALLY_RETRIED_SMI = 3,
	DL_TALLY_HOGGED = 4,
	DL_TALLY_RESTORE_LINE = 5,
	DL_TALLY_FAULT = 6,
	DL_TALLY_FAULT_SMI = 7,
	DL_TALLY_FAULT_LINE = 8,
	DL_TALLY_RETRY = 9,
	DL_TALLY_RETRY_SMI = 10,
	DL_TALLY_ALLOC_LINE = 11,
	DL_TALLY_ALLOC_HINT = 12,
	DL_TALLY_WARNING = 13,
};

struct dl_tally { /* how often within a window that begins with the first */
	char device[DL_DEVICE_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t window_ns;
	uint64_t count;
	uint64_t first; /* the value that the window began with, where the sign has one */
	uint32_t pid;
	uint32_t kind;
};

/* Who tells of it: the kernel programs, then announcements of the driver, then lines of the log. */
enum dl_teller {
	DL_BY_PROGRAM = 0,
	DL_BY_DRIVER = 1,
	DL_BY_LOG = 2,
	DL_TELLERS = 3,
};

enum dl_told_what {
	DL_TOLD_FAULT = 0,
	DL_TOLD_RETRY = 1,
	DL_TOLD_RESET = 2,
	DL_TOLD_ALLOC = 3,
	DL_TOLD_COUNT = 4,
};

struct dl_told {
	uint64_t at_ns; /* 0: never */
	uint32_t level;
	uint32_t pad;
};

struct dl_kfd_state { /* a process that computes by KFD on a device */
	char device[DL_DEVICE_LEN];
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

struct dl_signs {
	struct dl_tally tallies[DL_WORLD_TALLY_SETS][DL_WORLD_TALLY_WAYS];
	struct dl_kfd_state kfd[DL_WORLD_KFD_SETS][DL_WORLD_KFD_WAYS];
};

struct dl_world;

/* Made at the cost of the oldest; begun anew when its window is over. */
struct dl_tally *dl_world_tally(struct dl_world *w, enum dl_tally_kind kind, const char *device,
				uint32_t pid, uint64_t now_ns, uint64_t window_ns);

/* Says that "teller" told of "device" now, as of something of that level. */
void dl_world_tell(struct dl_world *w, const char *device, enum dl_told_what what,
		   enum dl_teller teller, uint32_t level, uint64_t now_ns);

/*
 * Whether one who knows more than "teller" told of it a moment ago, and of no less a level. Who
 * does not know his device ("") may mean any.
 */
bool dl_world_told(const struct dl_world *w, const char *device, enum dl_told_what what,
		   enum dl_teller teller, uint32_t level, uint64_t now_ns);

struct dl_kfd_state *dl_world_kfd_get(struct dl_world *w, const char *device, uint32_t pid,
				      uint64_t now_ns);

/* The process's latest one, of any device; NULL when it is none of KFD's. */
struct dl_kfd_state *dl_world_kfd(struct dl_world *w, uint32_t pid);

/* The only process that has queues on the device; 0: none, or several. "" is any device. */
uint32_t dl_world_kfd_only(const struct dl_world *w, const char *device);

/* Takes an event's facts over; part of dl_world_apply(). */
void dl_signs_apply_kfd_use(struct dl_world *w, const struct dl_event *ev);

/* Forgets what it holds about a process that is gone. */
void dl_signs_forget(struct dl_world *w, uint32_t pid);

#endif

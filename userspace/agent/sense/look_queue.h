/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose turn it is to be looked at. Pure: no clock, no system call. Users share a queue of fixed
 * size fairly: within a class the user whose last turn is longest ago is next, and a full queue
 * loses the oldest entry of the user who has the most. Users are told apart by a hash of their id.
 */
#ifndef DL_AGENT_LOOK_QUEUE_H
#define DL_AGENT_LOOK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DL_LOOK_JOBS_MAX 1024
#define DL_LOOK_USERS	 256
#define DL_PENALTIES_MAX 64

/* In the order of their turns. */
enum dl_look_class {
	DL_LOOKS_WORKLOAD = 0, /* of an adopted workload: never evicted */
	DL_LOOKS_ENGINE = 1,   /* known to be an engine */
	DL_LOOKS_NAMED = 2,    /* a GPU driver named it */
	DL_LOOKS_OTHER = 3,
};

struct dl_look_job {
	uint64_t order; /* set by dl_look_queue_put */
	uint32_t pid;
	uint32_t uid; /* who answers for it */
	uint8_t class;
	uint8_t look;  /* enum dl_look */
	uint8_t tries; /* that were lost */
};

struct dl_look_queue {
	struct dl_look_job job[DL_LOOK_JOBS_MAX];
	size_t count;
	uint64_t order;
	uint64_t turn;
	uint64_t evicted_count;
	uint32_t evicted_uid;		 /* of the last one */
	uint32_t waiting[DL_LOOK_USERS]; /* jobs that may be evicted */
	uint64_t served[DL_LOOK_USERS];	 /* turn of the last one */
};

/*
 * A second job for the same process joins the first one: the better class and the deeper look hold.
 * A look at how it was started (DL_LOOK_START) is a job of its own. False: nothing could give way.
 */
bool dl_look_queue_put(struct dl_look_queue *q, const struct dl_look_job *job);

/* The next one that "may" have its turn; false: none. */
bool dl_look_queue_take(struct dl_look_queue *q,
			bool (*may)(void *arg, const struct dl_look_job *job), void *arg,
			struct dl_look_job *ret_job);

/* The process has ended. */
void dl_look_queue_drop(struct dl_look_queue *q, uint32_t pid);

/*
 * Who has cost a reader: the process, and its user. Each waits longer after each loss: 2 s to 10
 * minutes; after as long a time without one it is forgotten.
 */
struct dl_penalty {
	uint64_t until_ns; /* 0: empty */
	uint64_t start_ticks;
	uint32_t pid; /* 0: of the user as a whole */
	uint32_t uid;
	uint32_t count;
};

struct dl_penalties {
	struct dl_penalty at[DL_PENALTIES_MAX];
};

/* "pid" 0: the user. Returns until when it waits. */
uint64_t dl_penalty_add(struct dl_penalties *p, uint32_t uid, uint32_t pid, uint64_t start_ticks,
			uint64_t now_ns);

/* The one that holds for it now, NULL: none. */
const struct dl_penalty *dl_penalty_of(const struct dl_penalties *p, uint32_t uid, uint32_t pid,
				       uint64_t now_ns);

#endif

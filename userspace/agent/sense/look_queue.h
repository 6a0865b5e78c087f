/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose turn it is to be looked at. Pure: no clock, no system call. Users share a queue of fixed
 * size fairly: within a class the user whose last turn is longest ago is next, and a full queue
 * loses the oldest entry of the user who has the most. Users are told apart by a hash of their id.
 */
#ifndef DAVY_LOOK_QUEUE_H
#define DAVY_LOOK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_LOOK_JOBS_MAX 1024
#define DAVY_LOOK_USERS	   256
#define DAVY_PENALTIES_MAX 64

/* In the order of their turns. */
enum davy_look_class {
	DAVY_LOOKS_WORKLOAD = 0, /* of an adopted workload: never evicted */
	DAVY_LOOKS_ENGINE = 1,	 /* known to be an engine */
	DAVY_LOOKS_NAMED = 2,	 /* a GPU driver named it */
	DAVY_LOOKS_OTHER = 3,
};

struct davy_look_job {
	uint64_t order; /* set by davy_look_queue_put */
	uint32_t pid;
	uint32_t uid; /* who answers for it */
	uint8_t class;
	uint8_t look;  /* enum davy_look */
	uint8_t tries; /* that were lost */
};

struct davy_look_queue {
	struct davy_look_job job[DAVY_LOOK_JOBS_MAX];
	size_t count;
	uint64_t order;
	uint64_t turn;
	uint64_t evicted_count;
	uint32_t evicted_uid;		   /* of the last one */
	uint32_t waiting[DAVY_LOOK_USERS]; /* jobs that may be evicted */
	uint64_t served[DAVY_LOOK_USERS];  /* turn of the last one */
};

/*
 * A second job for the same process joins the first one: the better class and the deeper look hold.
 * A look at how it was started (DAVY_LOOK_START) is a job of its own. False: nothing could give
 * way.
 */
bool davy_look_queue_put(struct davy_look_queue *q, const struct davy_look_job *job);

/* The next one that "may" have its turn; false: none. */
bool davy_look_queue_take(struct davy_look_queue *q,
			  bool (*may)(void *arg, const struct davy_look_job *job), void *arg,
			  struct davy_look_job *ret_job);

/* The process has ended. */
void davy_look_queue_drop(struct davy_look_queue *q, uint32_t pid);

/*
 * Who has cost a reader: the process, and its user. Each waits longer after each loss: 2 s to 10
 * minutes; after as long a time without one it is forgotten.
 */
struct davy_penalty {
	uint64_t until_ns; /* 0: empty */
	uint64_t start_ticks;
	uint32_t pid; /* 0: of the user as a whole */
	uint32_t uid;
	uint32_t count;
};

struct davy_penalties {
	struct davy_penalty at[DAVY_PENALTIES_MAX];
};

/* "pid" 0: the user. Returns until when it waits. */
uint64_t davy_penalty_add(struct davy_penalties *p, uint32_t uid, uint32_t pid,
			  uint64_t start_ticks, uint64_t now_ns);

/* The one that holds for it now, NULL: none. */
const struct davy_penalty *davy_penalty_of(const struct davy_penalties *p, uint32_t uid,
					   uint32_t pid, uint64_t now_ns);

#endif

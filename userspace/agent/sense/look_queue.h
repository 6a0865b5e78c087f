/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue of processes to inspect. Pure: no clock, no system call. It has a fixed size, which
 * users share fairly: within a class the user whose last turn is longest ago is next, and a full
 * queue drops the oldest job of the user with the most jobs. Users are distinguished by a hash of
 * their id.
 */
#ifndef DAVY_LOOK_QUEUE_H
#define DAVY_LOOK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_LOOK_JOBS_MAX 1024
#define DAVY_LOOK_USERS	   256
#define DAVY_PENALTIES_MAX 64

/* In the order of service. */
enum davy_look_class {
	DAVY_LOOKS_WORKLOAD = 0, /* process of an adopted workload: never evicted */
	DAVY_LOOKS_ENGINE = 1,	 /* known engine */
	DAVY_LOOKS_NAMED = 2,	 /* named by a GPU driver */
	DAVY_LOOKS_OTHER = 3,
};

struct davy_look_job {
	uint64_t order; /* set by davy_look_queue_put */
	uint32_t pid;
	uint32_t uid; /* responsible user */
	uint8_t class;
	uint8_t look;  /* enum davy_look */
	uint8_t tries; /* number of attempts that were lost */
};

struct davy_look_queue {
	struct davy_look_job job[DAVY_LOOK_JOBS_MAX];
	size_t count;
	uint64_t order;
	uint64_t turn;
	uint64_t evicted_count;
	uint32_t evicted_uid;		   /* of the last evicted job */
	uint32_t waiting[DAVY_LOOK_USERS]; /* jobs that may be evicted, by user */
	uint64_t served[DAVY_LOOK_USERS];  /* number of the last turn */
};

/*
 * A second job for the same process joins the first one, with the better class and the deeper look.
 * A look at its start (DAVY_LOOK_START) is a separate job. False: no job could be evicted.
 */
bool davy_look_queue_put(struct davy_look_queue *q, const struct davy_look_job *job);

/* Takes the next job for which "may" returns true; false: none. */
bool davy_look_queue_take(struct davy_look_queue *q,
			  bool (*may)(void *arg, const struct davy_look_job *job), void *arg,
			  struct davy_look_job *ret_job);

/* Removes the jobs of a process that has ended. */
void davy_look_queue_drop(struct davy_look_queue *q, uint32_t pid);

/*
 * Penalties for processes that cost a reader, and for their users. The wait grows with each loss,
 * from 2 s to 10 minutes. It is forgotten after the same time without a loss.
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

/* "pid" 0: the user. Returns the end of the wait. */
uint64_t davy_penalty_add(struct davy_penalties *p, uint32_t uid, uint32_t pid,
			  uint64_t start_ticks, uint64_t now_ns);

/* The penalty in force; NULL: none. */
const struct davy_penalty *davy_penalty_of(const struct davy_penalties *p, uint32_t uid,
					   uint32_t pid, uint64_t now_ns);

#endif

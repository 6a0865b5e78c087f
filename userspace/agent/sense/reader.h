/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's readers: a few davylamp-reader processes inspect other processes for it. A job is
 * submitted, and the event loop passes its reply to davy_tracker_take(). A late reader is killed
 * and replaced; the process that delayed it waits longer each time. One reader is always reserved
 * for adopted workloads, and one user has at most one at a time. Only agent/ includes this.
 */
#ifndef DAVY_READER_H
#define DAVY_READER_H

#include <dirent.h>
#include <jansson.h>

#include "sensors/proc/look.h"
#include "agent/sense/look_queue.h"
#include "agent/sense/worker.h"

#define DAVY_READERS	  3
#define DAVY_STARTS_ASKED 8

struct davy_agent;

struct davy_reader {
	struct davy_worker worker;
	uint64_t begun_ns; /* of the request; 0: idle */
	struct davy_look_job job;
	struct davy_look_request request;
	bool dropped;  /* the process has exited in the meantime */
	bool answered; /* this reader works */
};

/* The start of a process, requested by davy_reader_start(). */
struct davy_start_asked {
	uint32_t pid; /* 0: empty */
	uint64_t asked_ns;
	bool answered;
	int error;
	struct davy_process_start *start; /* NULL if "error" is set */
};

struct davy_readers {
	char path[PATH_MAX]; /* "": the program was not found */
	bool given;	     /* set by a test */
	struct davy_reader at[DAVY_READERS];
	struct davy_workers_stuck stuck;
	struct davy_look_queue queue;
	struct davy_penalties penalties;
	struct davy_start_asked asked[DAVY_STARTS_ASKED];
	DIR *scan; /* of /proc, at the start; NULL: done */
	uint64_t serial;
	uint64_t lost_count; /* jobs that cost a reader */
	uint64_t evicted_reported;
	uint64_t reported_ns;
	uint64_t retry_ns;    /* no reader is started before this time */
	uint32_t failures;    /* consecutive starts without a reply */
	uint64_t patience_ns; /* time for waiting that is left until the next tick */
	bool off_reported;
};

/* Finds the program and starts readers. Without readers, no process is known. */
void davy_readers_open(struct davy_agent *a);
void davy_readers_close(struct davy_agent *a);
void davy_readers_tick(struct davy_agent *a, uint64_t now_ns);

/* Inspects all processes of the host; returns when done, or after "limit_ms". */
void davy_readers_scan(struct davy_agent *a, unsigned int limit_ms);

/* Queues a job; davy_tracker_take() gets the reply. Does not block. */
void davy_reader_submit(struct davy_agent *a, const struct davy_look_job *job);

/*
 * Call it after a submit: waits for the reply if a reader has started the job, at most "limit_ms",
 * and only a few times between two ticks. False: the reply is late; the loop will receive it.
 */
bool davy_reader_wait(struct davy_agent *a, uint32_t pid, unsigned int limit_ms);

/*
 * The start of an adopted workload's process. 0: the caller frees *ret_start. -EAGAIN: not known
 * yet, try again on the next tick. -ESRCH: it has exited, or has no command line now.
 */
int davy_reader_start(struct davy_agent *a, uint32_t pid, struct davy_process_start **ret_start);

/* Drops the jobs of a process that has ended. */
void davy_reader_drop(struct davy_agent *a, uint32_t pid);

/* For the status: as a sensor, and as counts. */
void davy_readers_sensor(const struct davy_agent *a, struct davy_ev_sensor *ret_sensor);
json_t *davy_readers_status(const struct davy_agent *a);

/* Gives jobs to idle readers. */
void davy_readers_go_on(struct davy_agent *a);

/* reader_process.c: starts missing readers. */
void davy_readers_keep(struct davy_agent *a, uint64_t now_ns);

/* reader_answer.c: handles a reply; handles the loss of a reader. */
void davy_reader_receive(struct davy_agent *a, struct davy_reader *r);
void davy_reader_lose(struct davy_agent *a, struct davy_reader *r, const char *why);

#endif

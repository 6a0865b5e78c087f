/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's readers: a few davylamp-reader processes that look at other processes for it. A look
 * is submitted and its answer comes from the loop, to davy_tracker_take(). A reader that is late is
 * killed and replaced; what made it late waits longer each time. One reader is always left for
 * adopted workloads, and one user has at most one at a time. Only agent/ includes this.
 */
#ifndef DAVY_READER_H
#define DAVY_READER_H

#include <dirent.h>
#include <jansson.h>
#include <systemd/sd-event.h>

#include "lib/child.h"
#include "sensors/proc/look.h"
#include "agent/sense/look_queue.h"

#define DAVY_READERS	   3
#define DAVY_READERS_STUCK 8 /* that were killed and have not ended yet; see davy_readers */
#define DAVY_STARTS_ASKED  8

struct davy_agent;

struct davy_reader {
	struct davy_child child;
	sd_event_source *source; /* owns the socket */
	int fd;			 /* -1: there is none */
	uint64_t begun_ns;	 /* of the request; 0: it is idle */
	struct davy_look_job job;
	struct davy_look_request request;
	bool dropped;  /* the process has ended meanwhile */
	bool answered; /* this one works */
};

/* How a process was started, asked for by davy_reader_start(). */
struct davy_start_asked {
	uint32_t pid; /* 0: empty */
	uint64_t asked_ns;
	bool answered;
	int error;
	struct davy_process_start *start; /* NULL when "error" */
};

struct davy_readers {
	char path[PATH_MAX]; /* "": there is no program */
	bool given;	     /* a test chose it */
	struct davy_reader at[DAVY_READERS];
	struct davy_child stuck[DAVY_READERS_STUCK];
	struct davy_look_queue queue;
	struct davy_penalties penalties;
	struct davy_start_asked asked[DAVY_STARTS_ASKED];
	DIR *scan; /* of /proc, at the start; NULL: done */
	uint64_t serial;
	uint64_t lost_count; /* looks that cost a reader */
	uint64_t evicted_told;
	uint64_t told_ns;
	uint64_t retry_ns;    /* no reader is started before */
	uint32_t failures;    /* starts in a row without an answer */
	uint64_t patience_ns; /* how long the loop may wait for answers until the next tick */
	bool off_told;
};

/* Finds the program and starts readers; without them nothing is known of any process. */
void davy_readers_open(struct davy_agent *a);
void davy_readers_close(struct davy_agent *a);
void davy_readers_tick(struct davy_agent *a, uint64_t now_ns);

/* Looks at every process of the host; returns when that is done, or after "limit_ms". */
void davy_readers_scan(struct davy_agent *a, unsigned int limit_ms);

/* Waits for its turn; davy_tracker_take() gets the answer. Costs no time. */
void davy_reader_submit(struct davy_agent *a, const struct davy_look_job *job);

/*
 * After a submit: waits for the answer if a reader is at it already, for "limit_ms" at most and
 * only a few times between two ticks. False: it is late, and comes by itself.
 */
bool davy_reader_wait(struct davy_agent *a, uint32_t pid, unsigned int limit_ms);

/*
 * How an adopted workload's process was started. 0, and *ret_start is to be freed; -EAGAIN: not
 * known yet, ask again on the next tick; -ESRCH: it is gone, or has no command line now.
 */
int davy_reader_start(struct davy_agent *a, uint32_t pid, struct davy_process_start **ret_start);

/* The process has ended: nobody looks at it any more. */
void davy_reader_drop(struct davy_agent *a, uint32_t pid);

/* For the status: as a sensor, and in numbers. */
void davy_readers_sensor(const struct davy_agent *a, struct davy_ev_sensor *ret_sensor);
json_t *davy_readers_status(const struct davy_agent *a);

/* Gives jobs to who is idle. */
void davy_readers_go_on(struct davy_agent *a);

/* reader_process.c: ends one; starts those that are missing. */
void davy_reader_end(struct davy_agent *a, struct davy_reader *r);
void davy_readers_keep(struct davy_agent *a, uint64_t now_ns);

/* reader_answer.c: an answer has come, or its reader is gone. */
void davy_reader_receive(struct davy_agent *a, struct davy_reader *r);
void davy_reader_lose(struct davy_agent *a, struct davy_reader *r, const char *why);

#endif

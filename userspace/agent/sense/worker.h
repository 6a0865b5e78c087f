/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: a child process that answers the agent's requests on a SOCK_SEQPACKET socket, which is
 * its descriptor 3. The owner has the deadlines. A worker that is killed may stay in the kernel for
 * long: it is counted, not waited for. Only agent/ includes this.
 */
#ifndef DAVY_WORKER_H
#define DAVY_WORKER_H

#include <systemd/sd-event.h>

#include "core/event/types.h"
#include "lib/child.h"

#define DAVY_WORKERS_STUCK 8

struct davy_worker {
	struct davy_child child;
	sd_event_source *source; /* owns the socket */
	int fd;			 /* -1: none */
};

/* Killed, but not exited yet. */
struct davy_workers_stuck {
	struct davy_child at[DAVY_WORKERS_STUCK];
};

#define DAVY_WORKER_NONE ((struct davy_worker){ .child = { .pid = 0, .pidfd = -1 }, .fd = -1 })

/*
 * Starts "spec", whose descriptors are set here. A reply has at most "reply_bytes". "handler" is
 * called with the socket. 0 or -errno; "w" is unchanged on failure.
 */
int davy_worker_begin(sd_event *loop, struct davy_worker *w, const struct davy_child_spec *spec,
		      size_t reply_bytes, sd_event_io_handler_t handler, void *arg);

/* Closes the socket and kills the worker. No effect without one. */
void davy_worker_end(struct davy_worker *w, struct davy_workers_stuck *stuck);

/* Reaps those that have ended; davy_workers_stuck() is the number of the others. */
void davy_workers_reap(struct davy_workers_stuck *stuck);
size_t davy_workers_stuck(const struct davy_workers_stuck *stuck);

/* At the end of the agent: waits a moment for each of them. */
void davy_workers_wait(struct davy_workers_stuck *stuck);

/* The pause after "failures" consecutive failures: doubles from 2 s to 1 s << "most". */
uint64_t davy_worker_pause_ns(uint32_t failures, uint32_t most);

#endif

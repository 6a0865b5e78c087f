/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/sense/worker.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "act/watch.h"

#define END_MS	     500
#define PACKET_SPARE 4096 /* the kernel's own part of a packet */

int davy_worker_begin(sd_event *loop, struct davy_worker *w, const struct davy_child_spec *spec,
		      size_t reply_bytes, sd_event_io_handler_t handler, void *arg)
{
	struct davy_worker begun = DAVY_WORKER_NONE;
	struct davy_child_spec with_socket = *spec;
	int pair[2], size = (int)reply_bytes + PACKET_SPARE, err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	with_socket.fds = &pair[1];
	with_socket.fd_count = 1;
	err = davy_child_start(&with_socket, &begun.child);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	err = davy_watch(loop, &begun.source, pair[0], handler, arg);
	if (err) {
		davy_child_end(&begun.child, END_MS);
		return err;
	}
	begun.fd = pair[0];
	*w = begun;
	return 0;
}

void davy_worker_end(struct davy_worker *w, struct davy_workers_stuck *stuck)
{
	w->source = sd_event_source_disable_unref(w->source); /* closes the socket */
	w->fd = -1;
	davy_child_kill(&w->child, SIGKILL);
	for (size_t i = 0; w->child.pid > 0 && i < DAVY_WORKERS_STUCK; i++)
		if (stuck->at[i].pid <= 0) {
			stuck->at[i] = w->child;
			w->child = DAVY_CHILD_NONE;
		}
	davy_child_leave(&w->child);
}

void davy_workers_reap(struct davy_workers_stuck *stuck)
{
	for (size_t i = 0; i < DAVY_WORKERS_STUCK; i++)
		davy_child_reap(&stuck->at[i], NULL);
}

size_t davy_workers_stuck(const struct davy_workers_stuck *stuck)
{
	size_t count = 0;

	for (size_t i = 0; i < DAVY_WORKERS_STUCK; i++)
		count += stuck->at[i].pid > 0;
	return count;
}

void davy_workers_wait(struct davy_workers_stuck *stuck)
{
	for (size_t i = 0; i < DAVY_WORKERS_STUCK; i++)
		davy_child_wait(&stuck->at[i], stuck->at[i].pid > 0 ? END_MS : 0, NULL);
}

uint64_t davy_worker_pause_ns(uint32_t failures, uint32_t most)
{
	return DAVY_NS_PER_S << (failures < most ? failures : most);
}

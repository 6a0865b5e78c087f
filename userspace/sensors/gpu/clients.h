/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPU memory and engine time per process, from fdinfo. Reading fdinfo can block while a GPU hangs
 * (amdgpu up to 6.13 takes a lock that is held during a hang). Therefore a child process reads it;
 * a child that does not answer is abandoned.
 */
#ifndef DAVY_CLIENTS_H
#define DAVY_CLIENTS_H

#include "core/event/event.h"
#include "sensors/gpu/fdinfo.h"

#define DAVY_CLIENTS_PIDS 256 /* processes per request */

struct davy_clients;

struct davy_clients_hooks {
	void (*client)(void *arg, uint32_t pid, const struct davy_fdinfo *info);
	void (*done)(void *arg); /* the answer is complete */
	void *arg;
};

/* Starts the reader; 0 or -errno. */
int davy_clients_new(const struct davy_clients_hooks *hooks, struct davy_clients **ret_clients);
void davy_clients_free(struct davy_clients *c);

/* Readable when an answer is available; -1: no reader. */
int davy_clients_fd(const struct davy_clients *c);

/* A new value means a new descriptor, even if its number is the same. */
uint32_t davy_clients_start_count(const struct davy_clients *c);

/*
 * Requests data about these processes; with an empty list, about all processes with an open DRM
 * file. -EBUSY while the last answer is incomplete.
 */
int davy_clients_ask(struct davy_clients *c, const uint32_t *pids, size_t count, uint64_t now_ns);
void davy_clients_read(struct davy_clients *c);

/* A process whose fdinfo has blocked for 2 s or more, 0: none. The reader is then replaced. */
uint32_t davy_clients_blocked(struct davy_clients *c, uint64_t now_ns);

#endif

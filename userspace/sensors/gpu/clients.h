/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who uses which GPU and how much of it, from fdinfo. Reading fdinfo can block for as long as a
 * GPU hangs (amdgpu up to 6.13 takes a lock that the hang holds), so a child process reads, and
 * one that does not answer is left behind.
 */
#ifndef DAVY_CLIENTS_H
#define DAVY_CLIENTS_H

#include "core/event/event.h"
#include "sensors/gpu/fdinfo.h"

#define DAVY_CLIENTS_PIDS 256 /* processes asked about at once */

struct davy_clients;

struct davy_clients_hooks {
	void (*client)(void *arg, uint32_t pid, const struct davy_fdinfo *info);
	void (*done)(void *arg); /* all that was asked for was told */
	void *arg;
};

/* Starts the reader; -errno. */
int davy_clients_new(const struct davy_clients_hooks *hooks, struct davy_clients **ret_clients);
void davy_clients_free(struct davy_clients *c);

/* Readable when an answer waits; -1: there is no reader now. */
int davy_clients_fd(const struct davy_clients *c);

/* Another count: the descriptor is another one, even if its number is the same. */
uint32_t davy_clients_start_count(const struct davy_clients *c);

/*
 * Asks about these processes; without any, about all of the host that have a DRM file open.
 * -EBUSY while the last answer is not complete.
 */
int davy_clients_ask(struct davy_clients *c, const uint32_t *pids, size_t count, uint64_t now_ns);
void davy_clients_read(struct davy_clients *c);

/*
 * The process whose fdinfo blocks for two seconds and more, 0: none. The reader was replaced
 * then.
 */
uint32_t davy_clients_blocked(struct davy_clients *c, uint64_t now_ns);

#endif

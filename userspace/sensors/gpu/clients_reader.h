/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader's side of clients.c: a process of its own. */
#ifndef DAVY_CLIENTS_READER_H
#define DAVY_CLIENTS_READER_H

#include "sensors/gpu/fdinfo.h"

struct davy_clients_place {
	volatile uint32_t pid; /* whose fdinfo it reads just now */
};

struct davy_clients_answer {
	uint32_t pid;
	uint32_t pad;
	struct davy_fdinfo info;
};

/*
 * Answers requests on "fd" until its other end is gone: an answer for each client, then one
 * byte.
 */
void davy_clients_serve(int fd, struct davy_clients_place *place);

#endif

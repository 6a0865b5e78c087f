/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The child process of clients.c. */
#ifndef DAVY_CLIENTS_READER_H
#define DAVY_CLIENTS_READER_H

#include "sensors/gpu/fdinfo.h"

struct davy_clients_place {
	volatile uint32_t pid; /* the process whose fdinfo is being read */
};

struct davy_clients_answer {
	uint32_t pid;
	uint32_t pad;
	struct davy_fdinfo info;
};

/* Answers requests on "fd" until the peer closes it: one answer per client, then one byte. */
void davy_clients_serve(int fd, struct davy_clients_place *place);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* davylamp-exporter: the agent's status as metrics, over HTTP or in a file. */
#ifndef DAVY_EXPORTER_H
#define DAVY_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter/metrics.h"

#define DAVY_EXPORTER_ADDRESS "127.0.0.1:19447"

struct davy_exporter {
	const char *socket_path;
	const char *state_dir; /* for the state of davylamp-fleet */
	bool down;	       /* as the last question found it; a change is logged */
};

/* Allocated text of a new answer; NULL: no memory. Without an answer: davylamp_up 0. */
char *davy_exporter_text(struct davy_exporter *x, enum davy_metrics_format format,
			 size_t *ret_size);

/*
 * A listening socket on "ADDRESS:PORT", numbers only ("[::1]:19447", "0.0.0.0:19447"). -EINVAL:
 * invalid address.
 */
int davy_exporter_listen(const char *address);

/* Serves until an error; takes "fd". Exit status. */
int davy_exporter_serve(struct davy_exporter *x, int fd);

/*
 * Gives up all capabilities, new privileges and system calls that the program does not need: after
 * it, nothing can be executed or opened for writing ("writes": files can be replaced, but no
 * connection is accepted). Root becomes another user unless it writes. 0 or -errno.
 */
int davy_exporter_confine(bool writes);

#endif

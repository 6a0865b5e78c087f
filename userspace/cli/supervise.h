/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of an engine under davylamp exec: start, agent's orders, signals, end. */
#ifndef DAVY_SUPERVISE_H
#define DAVY_SUPERVISE_H

#include "act/launch.h"

struct davy_supervise_options {
	const char *socket_path;
	uint64_t reserve_bytes; /* of the host's memory, left free when two engines run at once */
	const char *tuned_for;	/* the hazard that it starts smaller for; NULL: it does not */
};

/*
 * Starts the engine and stays until it has ended for good. Returns the exit status to end with: the
 * engine's own, 128 + signal when one killed it, 126 or 127 when it could not be started.
 */
int davy_supervise(struct davy_launch *launch, const struct davy_engine_wish *wish,
		   const struct davy_supervise_options *options);

#endif

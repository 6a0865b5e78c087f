/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of an engine under 'davylamp exec': start, orders of the agent, signals, end. */
#ifndef DAVY_SUPERVISE_H
#define DAVY_SUPERVISE_H

#include "act/launch.h"

struct davy_supervise_options {
	const char *socket_path;
	uint64_t reserve_bytes; /* host memory to keep free while two engines run */
	uint64_t vram_max;	/* quota that the agent enforces; 0: none */
	const char *tuned_for;	/* the hazard that reduced its settings; NULL: none */
};

/*
 * Starts the engine and returns after its last end. Exit status: the engine's own, 128 + signal, or
 * 126 or 127 if it could not be started.
 */
int davy_supervise(struct davy_launch *launch, const struct davy_engine_override *override,
		   const struct davy_supervise_options *options);

#endif

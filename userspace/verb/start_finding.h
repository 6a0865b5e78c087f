/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports to a running agent why an engine's start failed. */
#ifndef DAVY_START_FINDING_H
#define DAVY_START_FINDING_H

#include "core/event/types.h"

/* Strings may be NULL. "where": such as "init in libamdhip64.so.6"; "status": as of wait(2). */
struct davy_start_finding {
	enum davy_backend backend;
	const char *engine; /* davy_engine_name */
	const char *device;
	const char *model;
	const char *unit;
	const char *where;
	int status;
};

/* False: no agent, or it refuses this user; not an error. */
bool davy_finding_tell(const char *socket_path, const struct davy_start_finding *finding);

#endif

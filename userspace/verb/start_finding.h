/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells a running agent what was found out about an engine's start. */
#ifndef DAVY_START_FINDING_H
#define DAVY_START_FINDING_H

#include "core/event/types.h"

/* Strings may be NULL. "where" is "init in libamdhip64.so.6", status as from wait(2). */
struct davy_start_finding {
	enum davy_backend backend;
	const char *engine; /* davy_engine_name */
	const char *device;
	const char *model;
	const char *unit;
	const char *where;
	int status;
};

/* False: there is no agent, or it does not take it from this user; that is no error. */
bool davy_finding_tell(const char *socket_path, const struct davy_start_finding *finding);

#endif

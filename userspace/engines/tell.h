/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables for an engine that is about to start: the backend, unless its options select it, and
 * the device. Pure functions. For services see environment.h.
 */
#ifndef DAVY_TELL_H
#define DAVY_TELL_H

#include "engines/environment.h"

struct davy_engine_target {
	enum davy_backend backend;	   /* UNKNOWN: not decided */
	uint32_t hidden;		   /* bit 1 << backend: must not be used */
	bool device;			   /* a device was chosen */
	int16_t index[DAVY_BACKEND_COUNT]; /* for each backend; -1: not visible to it */
};

/* True if options select the backend (davy_engine_command), false for variables. */
bool davy_engine_by_options(enum davy_engine engine, enum davy_backend backend);

/* -ENODEV: the backend does not see that device; -EOPNOTSUPP; "why" is a message for users. */
int davy_engine_tell(const struct davy_engine_facts *facts, const struct davy_engine_target *target,
		     struct davy_environment *ret_environment);

#endif

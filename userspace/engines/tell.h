/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an engine that is about to be started is told by variables: the backend, where its options
 * do not say it, and the device. Functions of what they are given. Services: environment.h.
 */
#ifndef DAVY_TELL_H
#define DAVY_TELL_H

#include "engines/environment.h"

struct davy_engine_target {
	enum davy_backend backend;	   /* UNKNOWN: nobody has decided */
	uint32_t hidden;		   /* bit 1 << backend of a GPU: it must not be used */
	bool device;			   /* one was chosen: */
	int16_t index[DAVY_BACKEND_COUNT]; /* as each backend counts it; -1: it does not */
};

/* Bit 1 << backend: the engine can be told to use it, by options or variables. */
uint32_t davy_engine_backends(enum davy_engine engine);

/* Whether the backend is told by options (davy_engine_command), and not by variables. */
bool davy_engine_by_options(enum davy_engine engine, enum davy_backend backend);

/* -ENODEV: the backend does not count that device; -EOPNOTSUPP; "why" says so for people. */
int davy_engine_tell(const struct davy_engine_facts *facts, const struct davy_engine_target *target,
		     struct davy_environment *ret_environment);

#endif

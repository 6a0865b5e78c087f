/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classifies events as failures. Only core/ includes this. */
#ifndef DAVY_FAILURE_H
#define DAVY_FAILURE_H

#include "core/world/emit.h"

enum davy_failure_part {
	DAVY_FAILS = 1,
	DAVY_FAILS_PERHAPS = 2, /* only if its process then dies */
	DAVY_FAILS_AFTER = 3,	/* a consequence of a failure: extends an incident */
};

struct davy_failure {
	const char *device; /* as in the event or the process; "": unknown */
	const char *ring;
	uint32_t pid; /* 0: unknown */
	enum davy_failure_part part;
	enum davy_log_class class; /* not set for consequences */
	bool death;		   /* a process ended */
	bool reset_begun;
	bool reset_ended;
};

/* True for a process of an ordinary user that is not adopted. NULL: an unknown owner. */
bool davy_is_stranger(const struct davy_process *p);

/* False: the event is not part of a failure. The pointers are valid as long as the event. */
bool davy_failure_read(const struct davy_step *s, struct davy_failure *ret_failure);

/* True if a running action of davylamp stopped the process. */
bool davy_ended_by_us(const struct davy_step *s, const struct davy_process *p);

#endif

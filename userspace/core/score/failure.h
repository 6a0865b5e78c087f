/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events are failures, and of which class. Only core/ includes this. */
#ifndef DAVY_FAILURE_H
#define DAVY_FAILURE_H

#include "core/world/emit.h"

enum davy_failure_part {
	DAVY_FAILS = 1,
	DAVY_FAILS_PERHAPS = 2, /* only if its process dies of it */
	DAVY_FAILS_AFTER = 3,	/* what a failure drags along: it goes on */
};

struct davy_failure {
	const char *device; /* "": unknown; as the event or the process has it */
	const char *ring;
	uint32_t pid; /* 0: unknown */
	enum davy_failure_part part;
	enum davy_log_class class; /* not of what comes after */
	bool death;		   /* a process has ended */
	bool reset_begun;
	bool reset_ended;
};

/* Of a user who may log in, and not adopted. NULL: it is not known whose. */
bool davy_is_stranger(const struct davy_process *p);

/* False: the event is no part of a failure. Pointers are good as long as the step's event is. */
bool davy_failure_read(const struct davy_step *s, struct davy_failure *ret_failure);

/* Whether an act that is under way has stopped the process. */
bool davy_ended_by_us(const struct davy_step *s, const struct davy_process *p);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events are failures, and of which class. Only core/ includes this. */
#ifndef DL_CORE_FAILURE_H
#define DL_CORE_FAILURE_H

#include "core/hazard/hazards.h"

enum dl_failure_part {
	DL_FAILS = 1,
	DL_FAILS_PERHAPS = 2, /* only if its process dies of it */
	DL_FAILS_AFTER = 3,   /* what a failure drags along: it goes on */
};

struct dl_failure {
	const char *device; /* "": unknown; as the event or the process has it */
	const char *ring;
	uint32_t pid; /* 0: unknown */
	enum dl_failure_part part;
	enum dl_log_class class; /* not of what comes after */
	bool death;		 /* a process has ended */
	bool reset_begun;
	bool reset_ended;
};

/* Of a user who may log in, and not adopted. NULL: it is not known whose. */
bool dl_is_stranger(const struct dl_process *p);

/* False: the event is no part of a failure. Pointers are good as long as the step's event is. */
bool dl_failure_read(const struct dl_step *s, struct dl_failure *ret_failure);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program and all that it starts, under ptrace: what it had mapped and open when it ended, and
 * where in its code a fatal signal met it. Nothing is changed in it; signals reach it as they are.
 */
#ifndef DAVY_TRACED_H
#define DAVY_TRACED_H

#include "doctor/spawn.h"

struct davy_traced {
	uint32_t loaded;	      /* backends whose library of the engine was mapped, bits */
	uint32_t runtime;	      /* whose runtime was */
	uint32_t opened;	      /* whose device file was open */
	uint32_t mapped;	      /* whose device memory was mapped */
	int signal;		      /* by which any of them died, not by us */
	bool by_child;		      /* it was not the program itself */
	char where[DAVY_DOCTOR_PATH]; /* file in whose code it was, or the nearest on its stack */
};

/*
 * "s" was started with "held". Returns when all has ended or the limit is over; "end" of it is
 * filled. -errno when it cannot be traced: it is waited for all the same.
 */
int davy_traced_run(struct davy_spawned *s, struct davy_traced *ret_traced);

/* traced_maps.c: from /proc/PID; adds to what is there. */
void davy_traced_look(pid_t pid, struct davy_traced *traced);

/* The file that is mapped and executable at one of these addresses; false: nothing but libc's. */
bool davy_traced_where(pid_t pid, const uint64_t *addresses, size_t count, char *ret_where,
		       size_t size);

#endif

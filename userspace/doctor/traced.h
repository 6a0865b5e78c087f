/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a program and its children under ptrace: what they had mapped and open at their end, and
 * where a fatal signal occurred. Signals are delivered unchanged.
 */
#ifndef DAVY_TRACED_H
#define DAVY_TRACED_H

#include "doctor/spawn.h"

struct davy_traced {
	uint32_t loaded;	      /* backends whose library of the engine was mapped, bits */
	uint32_t runtime;	      /* whose runtime was mapped */
	uint32_t opened;	      /* whose device file was open */
	uint32_t mapped;	      /* whose device memory was mapped */
	int signal;		      /* that ended one of them, unless we sent it */
	bool by_child;		      /* it was a child of the program */
	char where[DAVY_DOCTOR_PATH]; /* file with that code, or the nearest on its stack */
};

/*
 * "s" was started with "starts_blocked". Returns after all have ended, or at the time limit; fills
 * s->end. -errno: cannot be traced; the program is still waited for.
 */
int davy_traced_run(struct davy_spawned *s, struct davy_traced *ret_traced);

/* traced_maps.c: adds what /proc/PID shows. */
void davy_traced_look(pid_t pid, struct davy_traced *traced);

/* The executable file mapped at the first of these addresses; false: only libc and the like. */
bool davy_traced_where(pid_t pid, const uint64_t *addresses, size_t count, char *ret_where,
		       size_t size);

#endif

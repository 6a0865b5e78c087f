/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that run the command after their own arguments: nice, taskset, env. A typed command is
 * read through them. A running process is not: its executable says what it is. Pure.
 */
#ifndef DAVY_WRAPPER_H
#define DAVY_WRAPPER_H

#include <stdbool.h>

struct davy_wrapped {
	char *const *argv;    /* the command behind all wrappers, in the given list */
	const char *root;     /* where chroot looks for it; NULL: the caller's root */
	bool own_environment; /* a wrapper discards the caller's variables */
};

/* With an option that the table lacks, the wrapper itself is the command. */
void davy_wrapped_of(char *const argv[], struct davy_wrapped *ret_wrapped);

#endif

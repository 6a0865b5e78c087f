/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command that waits before its exec until it is followed. */
#ifndef DAVY_START_COMMAND_H
#define DAVY_START_COMMAND_H

#include <signal.h>
#include <sys/types.h>

struct davy_command_start {
	pid_t pid;
	int go;	    /* written: it goes on; closed: it ends */
	int failed; /* its errno comes out of it, when it cannot be started */
};

/* "mask": the signals it has blocked. */
int davy_command_prepare(char *const argv[], const sigset_t *mask,
			 struct davy_command_start *ret_start);

/* Lets it go; -errno: it cannot be started, and has ended. */
int davy_command_go(struct davy_command_start *start);

#endif

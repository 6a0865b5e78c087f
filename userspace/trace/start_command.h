/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a command that waits before its exec until it is followed. */
#ifndef DAVY_START_COMMAND_H
#define DAVY_START_COMMAND_H

#include <signal.h>
#include <sys/types.h>

struct davy_command_start {
	pid_t pid;
	int go;	    /* written: the command continues; closed: it ends */
	int failed; /* returns the errno of a failed exec */
};

/* "mask": the signal mask of the command. */
int davy_command_prepare(char *const argv[], const sigset_t *mask,
			 struct davy_command_start *ret_start);

/* Lets the command continue. -errno: the exec failed, the child has ended. */
int davy_command_go(struct davy_command_start *start);

#endif

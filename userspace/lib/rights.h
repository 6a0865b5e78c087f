/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process gives up before it reads the first byte that strangers or drivers have written:
 * root's user id, all capabilities but those that it names, new privileges, and all system calls
 * that reading does not need. For davylamp-reader and for children of the agent that only read; the
 * limits (memory, descriptors) come from the parent.
 */
#ifndef DAVY_RIGHTS_H
#define DAVY_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Between systemd's dynamic users and nobody: no distribution allocates it. Not nobody, whose
 * processes could kill a reader.
 */
#define DAVY_READER_UID 65521

struct davy_rights {
	uint64_t capabilities; /* 1 << CAP_...; those that are not to be had are left out */
	bool stays_root;       /* keeps the user id, without the capabilities */
	bool devices;	       /* may call ioctl() */
};

/* "parent": getppid() at the start of the program. 0 or -errno. */
int davy_rights_keep(const struct davy_rights *rights, pid_t parent);

/* rights_calls.c: needs no_new_privs. */
int davy_rights_calls(bool devices);

#endif

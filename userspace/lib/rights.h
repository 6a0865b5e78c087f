/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops rights before a process reads data that untrusted users or drivers wrote: root's user id,
 * all capabilities that are not named, new privileges, and all system calls that reading does not
 * need. For davylamp-reader and for read-only children of the agent. The parent sets the limits
 * (memory, descriptors).
 */
#ifndef DAVY_RIGHTS_H
#define DAVY_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Between systemd's dynamic users and nobody; no distribution allocates it. Not nobody: its
 * processes could kill a reader.
 */
#define DAVY_READER_UID 65521

struct davy_rights {
	uint64_t capabilities; /* 1 << CAP_...; only those that the process already has */
	bool stays_root;       /* keep the user id, drop the capabilities */
	bool devices;	       /* allow ioctl() */
};

/* "parent" is getppid() at program start. 0 or -errno. */
int davy_rights_keep(const struct davy_rights *rights, pid_t parent);

/* rights_calls.c: needs no_new_privs. */
int davy_rights_calls(bool devices);

#endif

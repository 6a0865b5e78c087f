/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops rights before a process reads data that untrusted users or drivers wrote: root's user id,
 * all capabilities that are not named, new privileges, and all system calls that reading does not
 * need. For davylamp-reader and for read-only children of the agent; the agent and davylamp-probe
 * use the parts. The parent sets the limits (memory, descriptors).
 */
#ifndef DAVY_RIGHTS_H
#define DAVY_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* No distribution allocates this uid. Not nobody: its processes could kill a reader. */
#define DAVY_READER_UID 65521

struct davy_rights {
	uint64_t capabilities; /* 1 << CAP_...; only those that the process already has */
	bool stays_root;       /* keep the user id, drop the capabilities */
	bool devices;	       /* allow ioctl() */
};

/* "parent" is getppid() at program start. 0 or -errno. */
int davy_rights_keep(const struct davy_rights *rights, pid_t parent);

/* Limits the bounding set to "keep". Without CAP_SETPCAP it stays, harmless with no_new_privs. */
void davy_rights_bound(uint64_t keep);

/* Limits the permitted and effective capabilities to "keep" and clears the others. 0 or -errno. */
int davy_rights_cap(uint64_t keep);

/* Sets no_new_privs and the death signal, which a change of user clears. -ESRCH: no parent. */
int davy_rights_seal(pid_t parent);

/* Sets oom_score_adj, if permitted. */
void davy_rights_oom_score(const char *score);

/* Limits the CPU time from now on: the soft limit is what was used plus "seconds". */
void davy_rights_limit_cpu(unsigned int seconds);

#endif

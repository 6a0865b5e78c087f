/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a probe gives up before it runs code that is not ours: root, capabilities, new privileges,
 * system calls that no probe needs, files, network, memory. Nothing of it can be taken back.
 */
#ifndef DAVY_PROBE_CONFINE_H
#define DAVY_PROBE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DAVY_GROUPS_MAX 32

struct davy_confine {
	uid_t uid; /* taken when started by root */
	gid_t gid;
	gid_t groups[DAVY_GROUPS_MAX];
	size_t group_count;
	uint64_t memory_bytes; /* RLIMIT_AS; a lower one that was inherited stays */
	uint64_t data_bytes;   /* RLIMIT_DATA: what is private and writable */
	uint32_t file_count;
	uint32_t cpu_s;
	uint32_t process_count; /* RLIMIT_NPROC: processes and threads of its user */
	bool devices;		/* may write to device files */
	bool programs;		/* may run other programs, in the same confines */
	uint16_t tcp_port;	/* may connect to it; 0: no network at all */
	uint16_t from_port;	/* may bind to it; 0: to none */
};

/*
 * 0 or -errno; only Landlock may be missing (not in the kernel, or turned off), and its ABI is then
 * 0. "parent": getppid() at the start of the program.
 */
int davy_confine(const struct davy_confine *c, pid_t parent, int *ret_landlock_abi);

/* Fills in a user of the probe's own, see own_user.c. */
void davy_confine_own_user(struct davy_confine *c);

/* The threads that the user has now. */
uint32_t davy_confine_threads_of(uid_t uid);

/* Adds the groups that own the GPUs' device files, so that the probe may open them. */
void davy_confine_add_gpu_groups(struct davy_confine *c);

/* The system call filter; see probe_seccomp.c. 0 or -errno. Needs no_new_privs. */
int davy_seccomp(bool network, bool programs);

/* Read-only files, device files where "devices", one TCP port. The ABI used, or -errno. */
int davy_landlock(bool devices, uint16_t tcp_port, uint16_t from_port);

#endif

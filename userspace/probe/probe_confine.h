/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops rights before vendor code runs: root, capabilities, new privileges, unnecessary system
 * calls, files, network, memory. Irreversible.
 */
#ifndef DAVY_PROBE_CONFINE_H
#define DAVY_PROBE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DAVY_GROUPS_MAX 32

/* Patterns for glob(3). */
#define DAVY_DEVICES_ALL    "/dev"
#define DAVY_DEVICES_NVIDIA "/dev/nvidia*"

struct davy_confine {
	uid_t uid; /* set if started by root */
	gid_t gid;
	gid_t groups[DAVY_GROUPS_MAX];
	size_t group_count;
	uint64_t memory_bytes; /* RLIMIT_AS; a lower inherited limit stays */
	uint64_t data_bytes;   /* RLIMIT_DATA: private writable memory */
	uint32_t file_count;
	uint32_t cpu_s;
	uint32_t process_count; /* RLIMIT_NPROC: processes and threads of its user */
	const char *devices;	/* device files that it may write to: DAVY_DEVICES_..., NULL */
	bool programs;		/* may run other programs, confined the same way */
	uint16_t tcp_port;	/* may connect to it; 0: no network */
	uint16_t from_port;	/* may bind to it; 0: none */
};

/*
 * 0 or -errno. Only Landlock may be missing (no kernel support, or disabled); its ABI is then 0.
 * "parent": getppid() at the start of the program.
 */
int davy_confine(const struct davy_confine *c, pid_t parent, int *ret_landlock_abi);

/* Fills in the probe's user, see own_user.c. */
void davy_confine_own_user(struct davy_confine *c);

/* The number of threads of the user. */
uint32_t davy_confine_threads_of(uid_t uid);

/* Adds the groups that own the GPUs' device files among "devices", so that it may open them. */
void davy_confine_add_gpu_groups(struct davy_confine *c);

/* The system call filter; see probe_seccomp.c. 0 or -errno. Needs no_new_privs. */
int davy_seccomp(bool network, bool programs);

/* Allows: read files; write to "devices" (NULL: none); one TCP port. Returns the ABI, or -errno. */
int davy_landlock(const char *devices, uint16_t tcp_port, uint16_t from_port);

#endif

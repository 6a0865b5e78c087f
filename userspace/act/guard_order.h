/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard: a small process that alone freezes, so that frozen workloads thaw whichever process
 * dies. It thaws at the end of the lease, on an order, at the agent's end and on SIGTERM, and
 * verifies the thaw. A standby shares its table and descriptors. It thaws all if the guard is
 * killed or is late.
 *
 * The agent starts davylamp-guard with one end of a SOCK_SEQPACKET pair as descriptor 3 and a pidfd
 * of the agent as descriptor 4. Each packet is one struct below; both ends are of the same build.
 * The guard does not log: a reader of stderr that does not read would delay the thaw.
 */
#ifndef DAVY_GUARD_ORDER_H
#define DAVY_GUARD_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DAVY_GUARD_PROGRAM "davylamp-guard"

#define DAVY_GUARD_FD	    3
#define DAVY_GUARD_AGENT_FD 4
#define DAVY_GUARD_FREEZES  64

#define DAVY_GUARD_PERIOD_NS	   ((uint64_t)100 * 1000 * 1000)
#define DAVY_GUARD_PAUSE_MAX_NS	   ((uint64_t)60 * 1000 * 1000 * 1000)
#define DAVY_GUARD_THROTTLE_MAX_NS ((uint64_t)3600 * 1000 * 1000 * 1000)

enum davy_guard_op {
	DAVY_GUARD_FREEZE = 1,	/* renews a freeze with the same id and target */
	DAVY_GUARD_RELEASE = 2, /* ignored if it has ended already */
};

/*
 * DAVY_GUARD_FREEZE comes with the open directory of the cgroup. Without a descriptor, pid and
 * start time name the root of the process tree. on_permille: running part of each period; 0: frozen
 * throughout.
 */
struct davy_guard_order {
	uint32_t op;   /* enum davy_guard_op */
	uint32_t id;   /* not 0, chosen by the caller */
	uint32_t plan; /* returned in the answers */
	uint32_t pid;
	uint64_t start_ticks;
	uint64_t lease_ns;
	uint64_t period_ns; /* 20 ms to 1 s */
	uint32_t on_permille;
	uint32_t pad;
};

enum davy_guard_stage {
	DAVY_GUARD_FROZEN = 1, /* verified: all its tasks are frozen */
	DAVY_GUARD_FAILED = 2,
	DAVY_GUARD_RELEASED = 3, /* verified: all tasks run, or none is left */
};

/*
 * result of a failed freeze: -ESRCH no process; -ENODEV or -ENOENT no such cgroup; -EALREADY frozen
 * by others; -ETIMEDOUT its tasks do not stop (D state); -E2BIG, -ENOSPC, -EINVAL; -EMFILE no
 * descriptors; -EAGAIN no standby at the moment. Of a release: 0 as ordered; -ETIME end of the
 * lease; -ESRCH and -ENODEV as above; -ECANCELED thawed by others; -EBUSY kept frozen by others
 * (freezer of an ancestor).
 */
struct davy_guard_answer {
	uint32_t stage; /* enum davy_guard_stage */
	uint32_t id;
	uint32_t plan;
	int32_t result;
	uint64_t at_ns;	    /* CLOCK_BOOTTIME */
	uint64_t frozen_ns; /* of a release: total frozen time */
};

/* The agent's end. */
struct davy_guard {
	int fd; /* -1: none */
	int pidfd;
	pid_t pid;
};

/* Starts "program". -errno. */
int davy_guard_start(struct davy_guard *guard, const char *program);

/* Never waits. "dir_fd": of a cgroup, or -1. -errno: the guard has ended or does not read. */
int davy_guard_send(const struct davy_guard *guard, const struct davy_guard_order *order,
		    int dir_fd);

/* 0; -EAGAIN: no answer; -ECONNRESET: the guard has ended. */
int davy_guard_receive(const struct davy_guard *guard, struct davy_guard_answer *ret_answer);

/* Closes the socket: the guard thaws all and ends. Waits for this up to 1 s. */
void davy_guard_stop(struct davy_guard *guard);

#endif

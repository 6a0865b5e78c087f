/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard: a small process that alone freezes, so that what is frozen thaws whoever dies. It
 * thaws at the end of the lease, at an order, at the agent's end and at SIGTERM, and looks whether
 * it did. A standby that shares its table and its descriptors thaws all when the guard is killed,
 * or does not do so in time.
 *
 * The agent starts davylamp-guard with one end of a SOCK_SEQPACKET pair as descriptor 3 and a pidfd
 * of the agent as descriptor 4; each packet is one struct below, from the same program at both
 * ends. It keeps no log: a reader of stderr that stands still would hold up the thaw.
 */
#ifndef DAVY_GUARD_ORDER_H
#define DAVY_GUARD_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DAVY_GUARD_PROGRAM "davylamp-guard"

#define DAVY_GUARD_FD	    3
#define DAVY_GUARD_AGENT_FD 4
#define DAVY_GUARD_HOLDS    64

#define DAVY_GUARD_PERIOD_NS	   ((uint64_t)100 * 1000 * 1000)
#define DAVY_GUARD_PAUSE_MAX_NS	   ((uint64_t)60 * 1000 * 1000 * 1000)
#define DAVY_GUARD_THROTTLE_MAX_NS ((uint64_t)3600 * 1000 * 1000 * 1000)

enum davy_guard_op {
	DAVY_GUARD_HOLD = 1,	/* a hold with this id that stands on the same target is renewed */
	DAVY_GUARD_RELEASE = 2, /* nothing when there is none: it has ended by itself */
};

/*
 * With a hold comes the open directory of the cgroup, or, without a descriptor, pid and start time
 * name the root of the tree to be stopped. on_permille 0: frozen throughout; 1 to 999: of each
 * period.
 */
struct davy_guard_order {
	uint32_t op;   /* enum davy_guard_op */
	uint32_t id;   /* not 0, of the caller's choice */
	uint32_t plan; /* comes back with the answers */
	uint32_t pid;
	uint64_t start_ticks;
	uint64_t lease_ns;
	uint64_t period_ns; /* 20 ms to 1 s */
	uint32_t on_permille;
	uint32_t pad;
};

enum davy_guard_stage {
	DAVY_GUARD_HELD = 1, /* all its tasks were seen to stand still */
	DAVY_GUARD_FAILED = 2,
	DAVY_GUARD_RELEASED = 3, /* all were seen to go on, or nobody is left */
};

/*
 * result of a hold that failed: -ESRCH nobody there, -ENODEV or -ENOENT no such cgroup, -EALREADY
 * somebody else froze it, -ETIMEDOUT its tasks do not stand still (D state), -E2BIG, -ENOSPC,
 * -EINVAL, -EMFILE no descriptors for it, -EAGAIN no standby just now. Of a release: 0 as ordered,
 * -ETIME the lease is over, -ESRCH and -ENODEV as above, -ECANCELED somebody else thawed it, -EBUSY
 * somebody else (an ancestor's freezer) keeps it frozen.
 */
struct davy_guard_answer {
	uint32_t stage; /* enum davy_guard_stage */
	uint32_t id;
	uint32_t plan;
	int32_t result;
	uint64_t at_ns;	    /* CLOCK_BOOTTIME */
	uint64_t frozen_ns; /* of a release: how long it stood still, all in all */
};

/* The agent's end. */
struct davy_guard {
	int fd; /* -1: none */
	int pidfd;
	pid_t pid;
};

/* Starts "program". -errno. */
int davy_guard_start(struct davy_guard *guard, const char *program);

/* Never waits. "dir_fd" of a cgroup or -1. -errno: the guard is gone or does not read. */
int davy_guard_send(const struct davy_guard *guard, const struct davy_guard_order *order,
		    int dir_fd);

/* 0; -EAGAIN nothing there; -ECONNRESET the guard is gone. */
int davy_guard_receive(const struct davy_guard *guard, struct davy_guard_answer *ret_answer);

/* Closes the socket, at which it thaws all, and waits up to a second for its end. */
void davy_guard_stop(struct davy_guard *guard);

#endif

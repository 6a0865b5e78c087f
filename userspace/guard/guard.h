/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program davylamp-guard; guard_order.h says what it does. It ends when the agent ends,
 * whatever fails inside it. Four sources report that end: the agent's pidfd, the socket, the
 * signal of the kernel, getppid(). The standby kills a guard that reacts to none of them.
 */
#ifndef DAVY_GUARD_H
#define DAVY_GUARD_H

#include "act/guard_order.h"

/* The guard's life, with the agent's socket and pidfd; returns its exit status. */
int davy_guard_run(int fd, int agent_pidfd);

#endif

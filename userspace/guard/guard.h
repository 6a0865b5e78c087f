/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program davylamp-guard, see guard_order.h. It ends when the agent ends. Four sources report
 * that end: the agent's pidfd, the socket, PR_SET_PDEATHSIG, getppid(). The standby kills a guard
 * that reacts to none of them.
 */
#ifndef DAVY_GUARD_H
#define DAVY_GUARD_H

#include "act/guard_order.h"

/* Runs the guard with the agent's socket and pidfd; returns the exit status. */
int davy_guard_run(int fd, int agent_pidfd);

#endif

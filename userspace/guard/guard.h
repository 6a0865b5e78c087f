/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program davylamp-guard; act/guard.h tells what it does. It ends when the agent ends, whatever
 * fails inside it: four things tell of that end (the agent's pidfd, the socket, the kernel's
 * signal, getppid()), and the standby kills a guard that heeds none of them.
 */
#ifndef DL_GUARD_GUARD_H
#define DL_GUARD_GUARD_H

#include "../act/guard.h"

/* The guard's life, with the agent's socket and pidfd; returns its exit status. */
int dl_guard_run(int fd, int agent_pidfd);

#endif

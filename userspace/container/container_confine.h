/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_CONTAINER_CONFINE_H
#define DAVY_CONTAINER_CONFINE_H

#include <stdbool.h>

/*
 * Drops all capabilities. Limits memory, CPU time and system calls: only files and unix sockets,
 * and with "network" those of IP, for a cluster's API. The process stays root, because root owns
 * the runtimes' sockets and the agent's state. Returns 0 or -errno.
 */
int davy_container_confine(bool network);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_CONTAINER_CONFINE_H
#define DAVY_CONTAINER_CONFINE_H

/*
 * Drops all capabilities. Limits memory, CPU time and system calls: only unix sockets and files.
 * The process stays root, because root owns the runtimes' sockets and the agent's state. Returns 0
 * or -errno.
 */
int davy_container_confine(void);

#endif

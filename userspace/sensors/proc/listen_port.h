/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The port on which a process listens, from its sockets: engines' defaults change between versions.
 */
#ifndef DAVY_LISTEN_PORT_H
#define DAVY_LISTEN_PORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The lowest TCP port on which one of these sockets listens, in the process's network namespace; 0:
 * none or unreadable.
 */
uint16_t davy_listen_port(uint32_t pid, const unsigned long *inodes, size_t count);

#endif

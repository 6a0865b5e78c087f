/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a process listens, from its sockets: defaults change between versions of an engine. */
#ifndef DAVY_LISTEN_PORT_H
#define DAVY_LISTEN_PORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The lowest TCP port that one of these sockets listens on, in the process's own network namespace;
 * 0: none, or not to be read.
 */
uint16_t davy_listen_port(uint32_t pid, const unsigned long *inodes, size_t count);

#endif

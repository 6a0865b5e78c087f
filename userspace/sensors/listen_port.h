/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a process listens, from its sockets: defaults change between versions of an engine. */
#ifndef DL_SENSORS_LISTEN_PORT_H
#define DL_SENSORS_LISTEN_PORT_H

#include <stdint.h>

/* The lowest TCP port it listens on, in its own network namespace; 0: none, or not to be read. */
uint16_t dl_listen_port(uint32_t pid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops privileges after everything is open and attached, and raises the CPU priority for a busy
 * host. Children inherit both unless they change them.
 */
#ifndef DAVY_AGENT_CONFINE_H
#define DAVY_AGENT_CONFINE_H

#include <stdint.h>

/* The capabilities that the agent keeps, 1 << CAP_... */
uint64_t davy_agent_capabilities(void);

/* 0 or -errno. On an error, everything else is dropped. */
int davy_agent_confine(void);

/*
 * Gives the agent a higher priority than other processes. Its children start without it: probes of
 * engines are not urgent.
 */
void davy_agent_hurry(void);

#endif

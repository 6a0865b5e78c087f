/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent gives up once all is open and attached, and how it gets its CPU time on a busy
 * host.
 * Both hold for its children, too, as far as they do not say otherwise.
 */
#ifndef DAVY_AGENT_CONFINE_H
#define DAVY_AGENT_CONFINE_H

#include <stdint.h>

/* The capabilities that stay, 1 << CAP_... */
uint64_t davy_agent_capabilities(void);

/* 0 or -errno; what could be given up is given up all the same. */
int davy_agent_confine(void);

/*
 * Ahead of what other processes compute. Its children start without it: engines' probes do not
 * hurry.
 */
void davy_agent_hurry(void);

#endif

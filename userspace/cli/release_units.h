/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_RELEASE_UNITS_H
#define DAVY_RELEASE_UNITS_H

#include "agent/act/agent_intents.h"

/*
 * Without an agent: removes through systemd the limits that an agent set on adopted units. Failures
 * are logged, counted, and stay on the list for the next agent.
 */
void davy_release_units(const char *state_dir, struct davy_undone *undone);

#endif

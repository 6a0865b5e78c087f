/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_RELEASE_UNITS_H
#define DAVY_RELEASE_UNITS_H

#include "agent/act/agent_intents.h"

/*
 * Without an agent: adopted units that one has capped get back what they had, by systemd. What
 * could not be taken back is said, counted, and stays noted for the next agent.
 */
void davy_release_units(const char *state_dir, struct davy_undone *undone);

#endif

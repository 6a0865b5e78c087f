/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DL_VERBS_RELEASE_UNITS_H
#define DL_VERBS_RELEASE_UNITS_H

#include "agent/act/agent_intents.h"

/*
 * Without an agent: adopted units that one has capped get back what they had, by systemd. What
 * could not be taken back is said, counted, and stays noted for the next agent.
 */
void dl_release_units(const char *state_dir, struct dl_undone *undone);

#endif

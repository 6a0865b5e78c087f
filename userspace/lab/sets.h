/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All sets of scenarios: the one for tuning, and the held-out ones in the order of their origin. */
#ifndef DAVY_SETS_H
#define DAVY_SETS_H

#include "lab/synth.h"

struct davy_scenario_set {
	const char *name; /* of a held-out set: its traces are made by this word */
	const struct davy_scenario *scenario;
	const size_t *count;
};

#define DAVY_SETS 8
extern const struct davy_scenario_set davy_scenario_sets[DAVY_SETS];

#endif

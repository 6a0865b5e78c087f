/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/sets.h"

#include "lab/check2_set.h"
#include "lab/check3_set.h"
#include "lab/check4_set.h"
#include "lab/check5_set.h"
#include "lab/check6_set.h"
#include "lab/check7_set.h"
#include "lab/check_set.h"

#define HELD_OUT(name)                                                                             \
	{                                                                                          \
#name, davy_##name##_scenarios, &davy_##name##_scenario_count                      \
	}

const struct davy_scenario_set davy_scenario_sets[DAVY_SETS] = {
	{ "", davy_scenarios, &davy_scenario_count },
	HELD_OUT(check),
	HELD_OUT(check2),
	HELD_OUT(check3),
	HELD_OUT(check4),
	HELD_OUT(check5),
	HELD_OUT(check6),
	HELD_OUT(check7),
};

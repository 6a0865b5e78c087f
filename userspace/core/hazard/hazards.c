/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of hazards, and the functions that other folders need. */
#include "core/hazard/hazards.h"

#include <assert.h>

#define ROW_OF(number, constant, name) [number] = &davy_hazard_##name,
#define ONE(number, constant, name)    0,

_Static_assert(sizeof((char[]){ DAVY_HAZARDS(ONE) }) == DAVY_HZ_COUNT - 1,
	       "one row per hazard, without holes");
_Static_assert(DAVY_EV_COUNT <= 64, "event kinds fit DAVY_SEES");

static const struct davy_hazard_row none; /* for plans that an operator ordered */

const struct davy_hazard_row *const davy_hazard_rows[DAVY_HZ_COUNT] = { [DAVY_HZ_NONE] = &none,
									DAVY_HAZARDS(ROW_OF) };

const struct davy_precursor *davy_precursor(enum davy_hazard hazard)
{
	assert(hazard < DAVY_HZ_COUNT);
	return &davy_hazard_rows[hazard]->precursor;
}

uint64_t davy_hazard_sees(enum davy_hazard hazard)
{
	assert(hazard < DAVY_HZ_COUNT);
	return davy_hazard_rows[hazard]->sees;
}

void davy_hazard_reason(const struct davy_plan *plan, struct davy_clause *c)
{
	assert(plan->hazard > DAVY_HZ_NONE && plan->hazard < DAVY_HZ_COUNT);
	davy_hazard_rows[plan->hazard]->reason(plan, c);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fourth held-out set (held_out.h): only failures with a documented sign. */
#define HELD_OUT_SILENT_MIN 0
#include "held_out.h"

#include "lab/check2_set.h"
#include "lab/check3_set.h"
#include "lab/check4_set.h"
#include "lab/check_set.h"

#define LEAD_MIN_NS (200 * DAVY_MS)

static void no_shape_has_the_name_of_one_of_an_earlier_set(void **state)
{
	check_names(*state, "check4_", davy_check_scenarios, davy_check_scenario_count, "check_");
	check_names(*state, "check4_", davy_check2_scenarios, davy_check2_scenario_count,
		    "check2_");
	check_names(*state, "check4_", davy_check3_scenarios, davy_check3_scenario_count,
		    "check3_");
}

static void every_failure_has_a_sign_at_least_200_ms_before(void **state)
{
	const struct held_out *set = *state;
	struct davy_label label;
	struct digest digest;

	for (size_t i = 0; i < set->count; i++) {
		if (set->shapes[i].class == DAVY_CLASS_NONE)
			continue;
		run_shape(&set->shapes[i], 5, &digest, &label);
		if (label.failure_ns - label.precursor_ns < LEAD_MIN_NS)
			fail_msg("'%s': its sign comes too late", set->shapes[i].name);
	}
}

int main(void)
{
	struct held_out set = { davy_check4_scenarios, davy_check4_scenario_count, 60, 250 };
	const struct CMUnitTest tests[] = {
		HELD_OUT_TESTS(&set),
		cmocka_unit_test_prestate(no_shape_has_the_name_of_one_of_an_earlier_set, &set),
		cmocka_unit_test_prestate(every_failure_has_a_sign_at_least_200_ms_before, &set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

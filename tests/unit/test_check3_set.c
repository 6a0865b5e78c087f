/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The third held-out set (held_out.h). */
#include "held_out.h"

#include "lab/check2_set.h"
#include "lab/check3_set.h"
#include "lab/check_set.h"

static void no_shape_has_the_name_of_one_of_an_earlier_set(void **state)
{
	check_names(*state, "check3_", davy_check_scenarios, davy_check_scenario_count, "check_");
	check_names(*state, "check3_", davy_check2_scenarios, davy_check2_scenario_count,
		    "check2_");
}

int main(void)
{
	struct held_out set = { davy_check3_scenarios, davy_check3_scenario_count, 48, 400 };
	const struct CMUnitTest tests[] = {
		HELD_OUT_TESTS(&set),
		cmocka_unit_test_prestate(no_shape_has_the_name_of_one_of_an_earlier_set, &set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

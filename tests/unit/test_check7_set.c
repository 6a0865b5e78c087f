/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seventh held-out set (held_out.h): only failures with a documented sign. */
#define HELD_OUT_SILENT_MIN 0
#include "held_out.h"

#include "lab/check2_set.h"
#include "lab/check3_set.h"
#include "lab/check4_set.h"
#include "lab/check5_set.h"
#include "lab/check6_set.h"
#include "lab/check7_set.h"
#include "lab/check_set.h"

#define LEAD_MIN_NS (200 * DAVY_MS)

static void no_shape_has_the_name_of_one_of_an_earlier_set(void **state)
{
	check_names(*state, "check7_", davy_check_scenarios, davy_check_scenario_count, "check_");
	check_names(*state, "check7_", davy_check2_scenarios, davy_check2_scenario_count,
		    "check2_");
	check_names(*state, "check7_", davy_check3_scenarios, davy_check3_scenario_count,
		    "check3_");
	check_names(*state, "check7_", davy_check4_scenarios, davy_check4_scenario_count,
		    "check4_");
	check_names(*state, "check7_", davy_check5_scenarios, davy_check5_scenario_count,
		    "check5_");
	check_names(*state, "check7_", davy_check6_scenarios, davy_check6_scenario_count,
		    "check6_");
}

static void every_failure_has_a_sign_at_least_200_ms_before(void **state)
{
	check_signs(*state, LEAD_MIN_NS);
}

static const struct meant meant[] = {
	{ "photo_agency", DAVY_EV_MEMORY, 50 },
	{ "handheld", DAVY_EV_JOB_TIMES, 800 },
	{ "lab_queue", DAVY_EV_PROCESS_EXIT, 3 },
	{ "arc_router", DAVY_EV_PROCESS_EXIT, 5 },
	{ "clinic_igpu", DAVY_EV_FACT, 8 },
	{ "dubbing_house", DAVY_EV_CLOCKS, 60 },
	{ "brim_turns", DAVY_EV_MEMORY, 120 },
	{ "pytest_rocm", DAVY_EV_ALLOC_FAILED, 100 },
	{ "hunyuan_fill", DAVY_EV_MEMORY, 70 },
	{ "splat_saws", DAVY_EV_MEMORY, 200 },
	{ "sweeps_7s", DAVY_EV_RING, 20000 },
	{ "mi210_xnack", DAVY_EV_FAULT, 20000 },
	{ "arc_tests", DAVY_EV_FACT, 400 },
	{ "lossy_arcade", DAVY_EV_BO_MOVED, 2 },
	{ "tb_desk", DAVY_EV_LOG, 20 },
	{ "health_restarts", DAVY_EV_MEMORY, 40 },
	{ "quota_workers", DAVY_EV_LOG, 12 },
	{ "next_kernel", DAVY_EV_LOG, 40 },
	{ "s2idle_shifts", DAVY_EV_BO_MOVED, 3 },
	{ "nv_profilers", DAVY_EV_LOG, 6 },
};

static void each_benign_shape_moves_the_sense_that_it_is_meant_to_test(void **state)
{
	check_meant(*state, "check7_", meant, sizeof(meant) / sizeof(meant[0]));
}

int main(void)
{
	struct held_out set = { davy_check7_scenarios, davy_check7_scenario_count, 40, 205 };
	const struct CMUnitTest tests[] = {
		HELD_OUT_TESTS(&set),
		cmocka_unit_test_prestate(no_shape_has_the_name_of_one_of_an_earlier_set, &set),
		cmocka_unit_test_prestate(every_failure_has_a_sign_at_least_200_ms_before, &set),
		cmocka_unit_test_prestate(
			each_benign_shape_moves_the_sense_that_it_is_meant_to_test, &set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

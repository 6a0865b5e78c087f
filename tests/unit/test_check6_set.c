/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sixth held-out set (held_out.h): only failures with a documented sign. */
#define HELD_OUT_SILENT_MIN 0
#include "held_out.h"

#include "lab/check2_set.h"
#include "lab/check3_set.h"
#include "lab/check4_set.h"
#include "lab/check5_set.h"
#include "lab/check6_set.h"
#include "lab/check_set.h"

#define LEAD_MIN_NS (200 * DAVY_MS)

static void no_shape_has_the_name_of_one_of_an_earlier_set(void **state)
{
	check_names(*state, "check6_", davy_check_scenarios, davy_check_scenario_count, "check_");
	check_names(*state, "check6_", davy_check2_scenarios, davy_check2_scenario_count,
		    "check2_");
	check_names(*state, "check6_", davy_check3_scenarios, davy_check3_scenario_count,
		    "check3_");
	check_names(*state, "check6_", davy_check4_scenarios, davy_check4_scenario_count,
		    "check4_");
	check_names(*state, "check6_", davy_check5_scenarios, davy_check5_scenario_count,
		    "check5_");
}

static void every_failure_has_a_sign_at_least_200_ms_before(void **state)
{
	check_signs(*state, LEAD_MIN_NS);
}

static const struct meant meant[] = {
	{ "family_pc", DAVY_EV_MEMORY, 20 },
	{ "newsroom", DAVY_EV_RING, 1000 },
	{ "ci_smoke", DAVY_EV_PROCESS_EXIT, 20 },
	{ "students", DAVY_EV_MEMORY, 50 },
	{ "render_farm", DAVY_EV_RING, 1000 },
	{ "one_laptop", DAVY_EV_FACT, 10 },
	{ "sglang_97", DAVY_EV_MEMORY, 20 },
	{ "fit_probe", DAVY_EV_ALLOC_FAILED, 20 },
	{ "upscale_45s", DAVY_EV_RING, 1000 },
	{ "xnack_bursts", DAVY_EV_FAULT, 500 },
	{ "rag_turns", DAVY_EV_PROCESS_EXIT, 10 },
	{ "vk_vs_rocm", DAVY_EV_PROCESS_EXIT, 10 },
	{ "bar_spill", DAVY_EV_FACT, 50 },
	{ "s3_with_model", DAVY_EV_BO_MOVED, 2 },
	{ "xe_d3cold", DAVY_EV_BO_MOVED, 4 },
	{ "lossy_turns", DAVY_EV_SENSOR, 20 },
	{ "dkms_evening", DAVY_EV_DEVICE, 3 },
	{ "spark_settings", DAVY_EV_LOG, 1 },
	{ "ecc_rack", DAVY_EV_LOG, 3 },
	{ "attic_july", DAVY_EV_CLOCKS, 50 },
};

static void each_benign_shape_moves_the_sense_that_it_is_meant_to_test(void **state)
{
	check_meant(*state, "check6_", meant, sizeof(meant) / sizeof(meant[0]));
}

int main(void)
{
	struct held_out set = { davy_check6_scenarios, davy_check6_scenario_count, 40, 205 };
	const struct CMUnitTest tests[] = {
		HELD_OUT_TESTS(&set),
		cmocka_unit_test_prestate(no_shape_has_the_name_of_one_of_an_earlier_set, &set),
		cmocka_unit_test_prestate(every_failure_has_a_sign_at_least_200_ms_before, &set),
		cmocka_unit_test_prestate(
			each_benign_shape_moves_the_sense_that_it_is_meant_to_test, &set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

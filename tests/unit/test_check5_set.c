/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fifth held-out set (held_out.h): only failures with a documented sign. */
#define HELD_OUT_SILENT_MIN 0
#include "held_out.h"

#include "lab/check2_set.h"
#include "lab/check3_set.h"
#include "lab/check4_set.h"
#include "lab/check5_set.h"
#include "lab/check_set.h"

#define LEAD_MIN_NS (200 * DAVY_MS)

static void no_shape_has_the_name_of_one_of_an_earlier_set(void **state)
{
	check_names(*state, "check5_", davy_check_scenarios, davy_check_scenario_count, "check_");
	check_names(*state, "check5_", davy_check2_scenarios, davy_check2_scenario_count,
		    "check2_");
	check_names(*state, "check5_", davy_check3_scenarios, davy_check3_scenario_count,
		    "check3_");
	check_names(*state, "check5_", davy_check4_scenarios, davy_check4_scenario_count,
		    "check4_");
}

static void every_failure_has_a_sign_at_least_200_ms_before(void **state)
{
	check_signs(*state, LEAD_MIN_NS);
}

static const struct meant meant[] = {
	{ "studio_desk", DAVY_EV_MEMORY, 20 },
	{ "rag_office", DAVY_EV_MEMORY, 20 },
	{ "halo_agents", DAVY_EV_RING, 1000 },
	{ "swap_for_games", DAVY_EV_PROCESS_EXIT, 1 },
	{ "ci_containers", DAVY_EV_PROCESS_EXIT, 3 },
	{ "night_backup", DAVY_EV_MEMORY, 20 },
	{ "sleeping_card", DAVY_EV_BO_MOVED, 4 },
	{ "spec_draft", DAVY_EV_RING, 100 },
	{ "vision_queue", DAVY_EV_RING, 1000 },
	{ "embed_flood", DAVY_EV_RING, 1000 },
	{ "slow_200k", DAVY_EV_RING, 1000 },
	{ "comfy_brim", DAVY_EV_MEMORY, 100 },
	{ "lora_night", DAVY_EV_MEMORY, 100 },
	{ "xnack_apu_sweeps", DAVY_EV_FAULT, 500 },
	{ "arc_pair", DAVY_EV_FACT, 20 },
	{ "imatrix_run", DAVY_EV_RING, 1000 },
	{ "stop_button", DAVY_EV_PROCESS_EXIT, 3 },
	{ "probe_hammer", DAVY_EV_PROCESS_EXIT, 50 },
	{ "bystander_oom", DAVY_EV_LOG, 2 },
	{ "lossy_batch", DAVY_EV_SENSOR, 5 },
	{ "update_evening", DAVY_EV_DEVICE, 2 },
	{ "nv_restarts", DAVY_EV_CLOCKS, 20 },
	{ "igpu_tabs", DAVY_EV_FACT, 50 },
	{ "three_users", DAVY_EV_PROCESS_EXIT, 5 },
};

static void each_benign_shape_moves_the_sense_that_it_is_meant_to_test(void **state)
{
	check_meant(*state, "check5_", meant, sizeof(meant) / sizeof(meant[0]));
}

int main(void)
{
	struct held_out set = { davy_check5_scenarios, davy_check5_scenario_count, 48, 230 };
	const struct CMUnitTest tests[] = {
		HELD_OUT_TESTS(&set),
		cmocka_unit_test_prestate(no_shape_has_the_name_of_one_of_an_earlier_set, &set),
		cmocka_unit_test_prestate(every_failure_has_a_sign_at_least_200_ms_before, &set),
		cmocka_unit_test_prestate(
			each_benign_shape_moves_the_sense_that_it_is_meant_to_test, &set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

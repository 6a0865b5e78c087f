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
	check_signs(*state, LEAD_MIN_NS);
}

static const struct meant meant[] = {
	{ "writer_desk", DAVY_EV_MEMORY, 5 },	 { "two_shifts", DAVY_EV_PROCESS_EXIT, 1 },
	{ "game_weekend", DAVY_EV_BO_MOVED, 3 }, { "kernel_builds", DAVY_EV_MEMORY, 50 },
	{ "training_day", DAVY_EV_MEMORY, 50 },	 { "guest_vms", DAVY_EV_DEVICE, 3 },
	{ "train_laptop", DAVY_EV_FACT, 2 },	 { "night_rag", DAVY_EV_RING, 100 },
	{ "video_frames", DAVY_EV_KFD, 2 },	 { "sdxl_queue", DAVY_EV_MEMORY, 50 },
	{ "bench_brim", DAVY_EV_MEMORY, 20 },	 { "xnack_train", DAVY_EV_FAULT, 500 },
	{ "xe_tools", DAVY_EV_FACT, 20 },	 { "tile_upscale", DAVY_EV_RING, 1000 },
	{ "deep_chats", DAVY_EV_RING, 1000 },	 { "agent_runs", DAVY_EV_PROCESS_EXIT, 10 },
	{ "whisper_stream", DAVY_EV_RING, 100 }, { "mixed_cards", DAVY_EV_MEMORY, 20 },
	{ "late_join", DAVY_EV_MEMORY, 10 },	 { "lossy_games", DAVY_EV_SENSOR, 1 },
	{ "driver_reload", DAVY_EV_DEVICE, 3 },	 { "ctrl_c", DAVY_EV_LOG, 3 },
	{ "oversub_line", DAVY_EV_LOG, 2 },	 { "guest_fallbacks", DAVY_EV_LOG, 1 },
	{ "dock_pme", DAVY_EV_LOG, 2 },		 { "few_hogs", DAVY_EV_LOG, 1 },
	{ "net_alloc_warns", DAVY_EV_LOG, 3 },	 { "map_warns", DAVY_EV_LOG, 1 },
	{ "host_swaps", DAVY_EV_MEMORY, 50 },	 { "quiet_fans", DAVY_EV_CLOCKS, 10 },
};

static void each_benign_shape_moves_the_sense_that_it_is_meant_to_test(void **state)
{
	check_meant(*state, "check4_", meant, sizeof(meant) / sizeof(meant[0]));
}

int main(void)
{
	struct held_out set = { davy_check4_scenarios, davy_check4_scenario_count, 60, 250 };
	const struct CMUnitTest tests[] = {
		HELD_OUT_TESTS(&set),
		cmocka_unit_test_prestate(no_shape_has_the_name_of_one_of_an_earlier_set, &set),
		cmocka_unit_test_prestate(every_failure_has_a_sign_at_least_200_ms_before, &set),
		cmocka_unit_test_prestate(
			each_benign_shape_moves_the_sense_that_it_is_meant_to_test, &set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

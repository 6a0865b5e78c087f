/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_pressure: memory of the host that a device uses, or would need at a suspend. */
#include "memory_history.h"

#define PID 50

/* A host of 128 GiB: 8 % are more than 4 GiB. */
static void begin_shared(void)
{
	begin_card(512 * MIB, 96 * GIB);
	card.flags = DAVY_MEMORY_SHARED;
	card.host_total = 128 * GIB;
	card.gtt_used = 60 * GIB;
	holder = PID;
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
}

/* As the sample is, it stays for "ns". */
static void with(uint64_t available, uint32_t pressure, uint64_t ns)
{
	card.host_available = available;
	card.pressure_permille = pressure;
	next_ns = 0;
	live(ns);
	now += 100 * MS;
}

static uint64_t percent(uint64_t tenths)
{
	return 128 * GIB / 1000 * tenths;
}

static const struct davy_plan *last(void)
{
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE);
}

static void little_memory_has_three_levels(void **state)
{
	(void)state;
	record_as = "host_pressure-available";
	begin_shared();
	with(percent(81), 0, S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 0);
	with(percent(79), 0, S);
	assert_int_equal(last()->level, 1);
	assert_int_equal(last()->pid, PID);
	assert_string_equal(last()->detail, "available");
	assert_in_range(last()->threshold, percent(79), percent(80));
	with(percent(39), 0, S);
	assert_int_equal(last()->level, 2);
	with(percent(19), 0, S);
	assert_int_equal(last()->level, 3);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 3);
	assert_replays();
}

static void a_level_stands_until_a_quarter_more_is_there(void **state)
{
	(void)state;
	begin_shared();
	with(percent(79), 0, S);
	with(percent(99), 0, 60 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HOST_PRESSURE), 0);
	with(percent(101), 0, 9 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HOST_PRESSURE), 0);
	with(percent(101), 0, 3 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HOST_PRESSURE), 1);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 1);
}

/* The quarter more that keeps a level does not raise the next one. */
static void a_level_is_raised_by_its_own_threshold(void **state)
{
	(void)state;
	record_as = "host_pressure-benign-hysteresis";
	begin_shared();
	with(percent(79), 0, 5 * S);
	assert_int_equal(last()->level, 1);
	with(percent(45), 0, 30 * S); /* half of the threshold and a quarter are 50 */
	assert_int_equal(highest(DAVY_HZ_HOST_PRESSURE), 1);
	assert_replays();
	with(percent(39), 0, S);
	assert_int_equal(last()->level, 2);
	with(percent(22), 0, 30 * S);
	assert_int_equal(last()->level, 2);
}

static void the_process_that_grows_is_named_and_not_the_largest(void **state)
{
	(void)state;
	record_as = "host_pressure-grower";
	begin_shared();
	process(PID + 1, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	tell_client(PID, 0, 60 * GIB, 0);
	tell_client(PID + 1, 0, GIB, 0);
	with(percent(300), 0, 60 * S);
	for (uint64_t gib = 2; gib <= 24; gib++) {
		tell_client(PID + 1, 0, gib * GIB, 0);
		with(percent(300) - gib * GIB, 0, S);
	}
	with(percent(39), 0, S);
	assert_int_equal(last()->level, 2);
	assert_int_equal(last()->pid, PID + 1);
	assert_replays();
}

/* Some limited cgroup's own stall, and memory that is little and not yet too little. */
static void a_stall_of_another_cause_raises_nothing(void **state)
{
	(void)state;
	record_as = "host_pressure-benign";
	begin_shared();
	with(percent(300), 400, 5 * S);
	with(percent(260), 900, 5 * S);
	with(percent(81), 99, 5 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 0);
	assert_replays();
}

/* A drop from level 3 to level 1 is reported, though no sample arrives. */
static void a_lower_level_is_reported_when_the_higher_ends(void **state)
{
	(void)state;
	begin_shared();
	with(percent(10), 0, S);
	assert_int_equal(last()->level, 3);
	with(percent(70), 0, 20 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HOST_PRESSURE), 1);
	assert_int_equal(last()->level, 1);
}

static void a_stall_counts_with_less_than_a_quarter_available(void **state)
{
	(void)state;
	begin_shared();
	with(percent(200), 99, 5 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 0);
	with(percent(200), 100, 5 * S);
	assert_int_equal(last()->level, 1);
	assert_int_equal(last()->unit, DAVY_UNIT_PERMILLE);
	assert_int_equal(last()->observed, 100);
	with(percent(200), 50, 30 * S); /* half of it keeps the alarm */
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HOST_PRESSURE), 0);
	with(percent(70), 100, S); /* both */
	assert_int_equal(last()->level, 2);
	with(percent(200), 0, 12 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HOST_PRESSURE), 1);
}

static void a_small_host_is_not_always_short(void **state)
{
	(void)state;
	begin_shared();
	card.host_total = 8 * GIB;
	card.gtt_used = GIB;
	with(2100 * MIB, 0, S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 0);
	with(2000 * MIB, 0, S); /* 4 GiB are more than a quarter */
	assert_int_equal(last()->level, 1);
	assert_int_equal(last()->threshold, 2 * GIB);
}

static void a_nearly_idle_device_is_not_involved(void **state)
{
	(void)state;
	begin_shared();
	holder = 0;
	card.gtt_used = GIB;
	with(percent(10), 500, 30 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 0);
	tell_client(PID, 0, 4 * GIB, 0); /* i915 reports no totals, but its clients do */
	with(percent(10), 500, S);
	assert_int_equal(last()->level, 3);
}

static void begin_dedicated(uint32_t flags)
{
	begin_card(32 * GIB, 16 * GIB);
	card.flags = flags;
	card.host_total = 32 * GIB;
	card.vram_used = 20 * GIB;
	holder = PID;
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
}

static void vram_that_finds_no_room_at_a_suspend_is_noted(void **state)
{
	(void)state;
	begin_dedicated(DAVY_MEMORY_MAY_SUSPEND);
	with(29 * GIB, 0, S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 0);
	with(28 * GIB, 0, S); /* seven tenths are 19.6 */
	assert_int_equal(last()->level, 1);
	assert_int_equal(last()->form, DAVY_FORM_SUSPEND);
	assert_int_equal(last()->observed, 20 * GIB);
	with(2 * GIB, 500, S); /* and nothing worse: it is a note */
	assert_int_equal(highest(DAVY_HZ_HOST_PRESSURE), 1);
	with(32 * GIB, 0, 30 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HOST_PRESSURE), 0);
	card.flags = 0; /* power/control was set to "on" */
	with(28 * GIB, 0, 12 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HOST_PRESSURE), 1);
}

static void a_card_that_is_kept_awake_is_not(void **state)
{
	(void)state;
	begin_dedicated(0);
	with(2 * GIB, 500, 30 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 0);
}

/* legacy-rocm-build#5915: amdgpu's module leaked 80 GB an hour on a host with a card. */
static void a_host_that_runs_out_beside_a_card_is_a_hint(void **state)
{
	(void)state;
	record_as = "host_pressure-beside_card";
	begin_dedicated(0);
	with(1100 * MIB, 0, S); /* a quarter of 4 GiB */
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE), 0);
	with(1000 * MIB, 0, S);
	assert_int_equal(last()->level, 2);
	assert_int_equal(last()->pid, 0); /* what takes it is not on the device */
	assert_int_equal(last()->form, DAVY_FORM_HINT);
	with(500 * MIB, 0, S);
	assert_int_equal(last()->level, 3);
	assert_int_equal(count_of(DAVY_PLAN_ACTION, DAVY_HZ_HOST_PRESSURE), 0);
	assert_replays();
	begin_dedicated(DAVY_MEMORY_MAY_SUSPEND);
	with(28 * GIB, 0, S); /* the card's own alarm */
	assert_int_equal(last()->form, DAVY_FORM_SUSPEND);
	with(1000 * MIB, 0, S);
	assert_int_equal(last()->form, DAVY_FORM_HINT);
	assert_int_equal(last()->level, 2);
	assert_int_equal(last()->pid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_memory_has_three_levels),
		cmocka_unit_test(a_level_stands_until_a_quarter_more_is_there),
		cmocka_unit_test(a_level_is_raised_by_its_own_threshold),
		cmocka_unit_test(the_process_that_grows_is_named_and_not_the_largest),
		cmocka_unit_test(a_lower_level_is_reported_when_the_higher_ends),
		cmocka_unit_test(a_stall_of_another_cause_raises_nothing),
		cmocka_unit_test(a_stall_counts_with_less_than_a_quarter_available),
		cmocka_unit_test(a_small_host_is_not_always_short),
		cmocka_unit_test(a_nearly_idle_device_is_not_involved),
		cmocka_unit_test(vram_that_finds_no_room_at_a_suspend_is_noted),
		cmocka_unit_test(a_card_that_is_kept_awake_is_not),
		cmocka_unit_test(a_host_that_runs_out_beside_a_card_is_a_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

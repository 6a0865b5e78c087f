/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of xe, i915, TTM and KFD that no other sensor reports: each has its hazard. */
#include "record.h"

#define MIB (1ULL << 20)

static uint64_t counted, bytes_counted;

/* "fresh" more of them, of "bytes" in sum, about pid 60. */
static void fact(enum davy_fact what, uint64_t fresh, uint64_t bytes)
{
	struct davy_event ev = event(DAVY_EV_FACT, 60);

	counted += fresh;
	bytes_counted += bytes;
	davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
	ev.fact.fact = (uint16_t)what;
	ev.fact.fresh = fresh;
	ev.fact.count = counted;
	ev.fact.bytes = bytes_counted;
	ev.fact.error = what == DAVY_FACT_KFD_LIMIT ? -12 : 0;
	tell(&ev);
}

static void begin(const char *name)
{
	counted = bytes_counted = 0;
	begin_recording(name);
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
}

static void host_memory(uint64_t available)
{
	struct davy_event ev = event(DAVY_EV_MEMORY, 0);

	davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
	ev.memory.vram_total = 8192 * MIB;
	ev.memory.host_total = 32768 * MIB;
	ev.memory.host_available = available;
	tell(&ev);
}

static uint32_t level_of(enum davy_hazard hazard)
{
	return count_of(DAVY_PLAN_NOTE, hazard) ? last_of(DAVY_PLAN_NOTE, hazard)->level : 0;
}

static void memory_that_kfd_refuses_again_and_again_is_an_alloc_failure(void **state)
{
	(void)state;
	begin("alloc_failure-kfd-limit");
	fact(DAVY_FACT_KFD_LIMIT, 1, 512 * MIB);
	assert_int_equal(level_of(DAVY_HZ_ALLOC_FAILURE), 1);
	pass(5 * S);
	fact(DAVY_FACT_KFD_LIMIT, 1, 512 * MIB);
	assert_int_equal(level_of(DAVY_HZ_ALLOC_FAILURE), 2);
	for (int i = 0; i < 4; i++) {
		pass(S);
		fact(DAVY_FACT_KFD_LIMIT, 1, 512 * MIB);
	}
	assert_int_equal(level_of(DAVY_HZ_ALLOC_FAILURE), 3);
	assert_replays();
}

static void a_refusal_now_and_then_is_none(void **state)
{
	(void)state;
	begin("alloc_failure-benign-kfd-limit");
	for (int i = 0; i < 4; i++) {
		fact(DAVY_FACT_KFD_LIMIT, 1, 512 * MIB);
		fact(DAVY_FACT_XE_VM_OPS_FAILED, 1, 0);
		pass(61 * S);
	}
	assert_int_equal(level_of(DAVY_HZ_ALLOC_FAILURE), 1);
	assert_replays();
}

static void binds_that_fail_are_no_more_than_a_warning(void **state)
{
	(void)state;
	begin("alloc_failure-xe-bind");
	for (int i = 0; i < 10; i++) {
		fact(DAVY_FACT_XE_VM_OPS_FAILED, 1, 0);
		pass(S);
	}
	assert_int_equal(level_of(DAVY_HZ_ALLOC_FAILURE), 2);
	assert_replays();
}

static void work_now(void)
{
	struct davy_event ev = event(DAVY_EV_GRAPH, 60);

	ev.graph.graph_count = now / MS;
	ev.graph.max_ns = MS;
	tell(&ev);
}

static void mappings_that_an_xe_process_loses_are_an_eviction_storm(void **state)
{
	(void)state;
	begin("eviction_storm-xe");
	for (int i = 0; i < 25; i++) {
		work_now();
		fact(DAVY_FACT_XE_VMA_EVICT, 32, 128 * MIB);
		pass(200 * MS);
	}
	assert_int_equal(level_of(DAVY_HZ_EVICTION_STORM), 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->victim_pid, 60);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->pid, 0);
	assert_int_equal(count_of(DAVY_PLAN_ACTION, DAVY_HZ_EVICTION_STORM), 0);
	assert_replays();
}

static void one_burst_of_them_is_none(void **state)
{
	(void)state;
	begin("eviction_storm-benign-xe");
	fact(DAVY_FACT_XE_VMA_EVICT, 32, 128 * MIB);
	pass(20 * S);
	fact(DAVY_FACT_XE_VMA_EVICT, 64, 512 * MIB);
	pass(30 * S);
	fact(DAVY_FACT_XE_VMA_EVICT, 64, 512 * MIB);
	assert_true(level_of(DAVY_HZ_EVICTION_STORM) < 2);
	assert_replays();
}

static void memory_that_xe_rebinds_again_and_again_is_a_restore_hog(void **state)
{
	(void)state;
	begin("restore_hog-rebind");
	for (int i = 0; i < 3; i++) {
		fact(DAVY_FACT_XE_REBIND_RETRY, 16, 0);
		pass(S);
	}
	assert_int_equal(level_of(DAVY_HZ_RESTORE_HOG), 0);
	fact(DAVY_FACT_XE_REBIND_RETRY, 16, 0);
	assert_int_equal(level_of(DAVY_HZ_RESTORE_HOG), 2);
	assert_replays();
}

static void some_rebinds_are_none(void **state)
{
	(void)state;
	begin("restore_hog-benign-rebind");
	for (int i = 0; i < 10; i++) {
		fact(DAVY_FACT_XE_REBIND_RETRY, 16, 0);
		pass(4 * S);
	}
	assert_int_equal(level_of(DAVY_HZ_RESTORE_HOG), 0);
	assert_replays();
}

/* The same number each 4 s, and no end of it. */
static void rebinds_that_last_are_a_restore_hog(void **state)
{
	(void)state;
	begin("restore_hog-rebind-lasting");
	for (int i = 0; i < 12; i++) {
		fact(DAVY_FACT_XE_REBIND_RETRY, 16, 0);
		pass(4 * S);
	}
	assert_int_equal(level_of(DAVY_HZ_RESTORE_HOG), 0);
	for (int i = 0; i < 6; i++) {
		fact(DAVY_FACT_XE_REBIND_RETRY, 16, 0);
		pass(4 * S);
	}
	assert_int_equal(level_of(DAVY_HZ_RESTORE_HOG), 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESTORE_HOG)->threshold, 32);
	assert_replays();
}

static void gpu_memory_that_is_swapped_out_is_host_pressure(void **state)
{
	(void)state;
	begin("host_pressure-swapped");
	host_memory(6144 * MIB);
	fact(DAVY_FACT_TTM_SWAPOUT, 16, 128 * MIB);
	assert_int_equal(level_of(DAVY_HZ_HOST_PRESSURE), 0);
	pass(S);
	fact(DAVY_FACT_TTM_SWAPOUT, 16, 128 * MIB);
	assert_int_equal(level_of(DAVY_HZ_HOST_PRESSURE), 2);
	assert_replays();
}

/* A hibernation swaps out while memory is there; kswapd asks i915's shrinker for some. */
static void a_hibernation_and_the_shrinker_are_only_told(void **state)
{
	(void)state;
	begin("host_pressure-benign-swapped");
	host_memory(20480 * MIB);
	fact(DAVY_FACT_TTM_SWAPOUT, 512, 4096 * MIB);
	assert_int_equal(level_of(DAVY_HZ_HOST_PRESSURE), 1);
	pass(30 * S);
	counted = bytes_counted = 0;
	for (int i = 0; i < 20; i++) {
		fact(DAVY_FACT_I915_SHRINK, 8, 64 * MIB);
		pass(S);
	}
	assert_int_equal(level_of(DAVY_HZ_HOST_PRESSURE), 1);
	assert_replays();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_kfd_refuses_again_and_again_is_an_alloc_failure),
		cmocka_unit_test(a_refusal_now_and_then_is_none),
		cmocka_unit_test(binds_that_fail_are_no_more_than_a_warning),
		cmocka_unit_test(mappings_that_an_xe_process_loses_are_an_eviction_storm),
		cmocka_unit_test(one_burst_of_them_is_none),
		cmocka_unit_test(memory_that_xe_rebinds_again_and_again_is_a_restore_hog),
		cmocka_unit_test(some_rebinds_are_none),
		cmocka_unit_test(rebinds_that_last_are_a_restore_hog),
		cmocka_unit_test(gpu_memory_that_is_swapped_out_is_host_pressure),
		cmocka_unit_test(a_hibernation_and_the_shrinker_are_only_told),
	};

	return cmocka_run_group_tests_name("fact_hazards", tests, NULL, NULL);
}

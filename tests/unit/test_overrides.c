/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thresholds of one driver, device or model: their precedence, and their use by the hazards. */
#include "jobs.h"
#include "overrides.h"
#include "precursors.h"

/* The level of a job that has used "permille" of its ring's 2 s. */
static uint32_t stall_level(const char *dev, uint32_t pid, uint64_t permille)
{
	static uint64_t seqno;
	struct davy_event ev;

	pass(11 * S); /* what stands has cleared */
	ev = event(DAVY_EV_RING, pid);
	kept_count = 0;
	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), dev);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), "gfx_0.0.0");
	ev.ring.timeout_ns = 2 * S;
	ev.ring.age_ns = permille * 2 * MS;
	ev.ring.fence_seqno = ++seqno;
	tell(&ev);
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].kind == DAVY_PLAN_NOTE && kept[i].hazard == DAVY_HZ_JOB_STALL)
			return kept[i].level;
	return 0;
}

static void a_name_is_matched_whole_with_stars(void **state)
{
	static const struct {
		const char *pattern;
		const char *name;
		bool matches;
	} pairs[] = {
		{ "xe", "xe", true },
		{ "xe", "xe2", false },
		{ "xe", "x", false },
		{ "*", "", true },
		{ "*", "anything", true },
		{ "qwen3*", "qwen3", true },
		{ "qwen3*", "qwen3-8b", true },
		{ "qwen3*", "my-qwen3", false },
		{ "*q4*", "llama-q4_k.gguf", true },
		{ "*q4", "llama-q4_k", false },
		{ "a*b*c", "a-b-b-c", true },
		{ "a*b*c", "a-c-b", false },
		{ "", "", true },
		{ "", "a", false },
		{ "**a**", "a", true },
		{ "a?", "ab", false },
		{ "[a]", "a", false },
		{ "*a*a*a*a*a*b", "aaaaaaaaaaaaaaaa", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (davy_name_matches(pairs[i].pattern, pairs[i].name) != pairs[i].matches)
			fail_msg("'%s' and '%s'", pairs[i].pattern, pairs[i].name);
}

static void a_model_beats_a_device_beats_a_driver_beats_the_rest(void **state)
{
	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	device(GPU, "xe", DAVY_DEVICE_ADDED);
	assert_int_equal(stall_level(GPU, 60, 300), 1);
	override(DAVY_SCOPE_DRIVER, "xe", "job_stall.level1", 400);
	assert_int_equal(stall_level(GPU, 60, 300), 0);
	assert_int_equal(stall_level(GPU, 60, 400), 1);
	override(DAVY_SCOPE_DEVICE, GPU, "job_stall.level1", 300);
	assert_int_equal(stall_level(GPU, 60, 300), 1);
	override(DAVY_SCOPE_MODEL, "tiny*", "job_stall.level1", 450);
	assert_int_equal(stall_level(GPU, 60, 440), 0);
	assert_int_equal(stall_level(GPU, 61, 440), 1); /* another's: the device's own */
	assert_int_equal(stall_level("0000:04:00.0", 61, 260), 1);
}

static void the_narrower_of_two_overrides_applies_in_any_order(void **state)
{
	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	override(DAVY_SCOPE_MODEL, TINY, "job_stall.level1", 450);
	override(DAVY_SCOPE_MODEL, "*", "job_stall.level1", 100);
	override(DAVY_SCOPE_MODEL, "tiny*", "job_stall.level1", 200);
	assert_int_equal(stall_level(GPU, 60, 440), 0);
	override(DAVY_SCOPE_MODEL, TINY, "job_stall.level1", DAVY_OVERRIDE_REMOVED);
	assert_int_equal(stall_level(GPU, 60, 190), 0);
	assert_int_equal(stall_level(GPU, 60, 200), 1);
}

static void a_removed_override_no_longer_applies(void **state)
{
	struct davy_config config;

	(void)state;
	begin_history();
	config = core.config;
	override(DAVY_SCOPE_DEVICE, GPU, "job_stall.level1", 100);
	override(DAVY_SCOPE_DEVICE, GPU, "job_stall.level2", 110);
	assert_int_equal(core.config.override_count, 2);
	override(DAVY_SCOPE_DEVICE, GPU, "job_stall.level1", DAVY_OVERRIDE_REMOVED);
	override(DAVY_SCOPE_DEVICE, GPU, "job_stall.level1", DAVY_OVERRIDE_REMOVED);
	assert_int_equal(stall_level(GPU, 0, 105), 0);
	override(DAVY_SCOPE_DEVICE, GPU, "job_stall.level2", DAVY_OVERRIDE_REMOVED);
	assert_memory_equal(&core.config, &config, sizeof(config));
}

static void invalid_overrides_are_refused_and_counted(void **state)
{
	char name[DAVY_MODEL_LEN];

	(void)state;
	begin_history();
	override(DAVY_SCOPE_DRIVER, "xe", "no.such_key", 1);
	override(DAVY_SCOPE_DRIVER, "xe", "agent.mode", 1); /* one for all */
	override(DAVY_SCOPE_DRIVER, "xe", "job_stall.level1", 5000);
	override(DAVY_SCOPE_DRIVER, "", "job_stall.level1", 100);
	assert_int_equal(core.config.override_count, 0);
	assert_int_equal(core.dropped_count, 4);
	for (int i = 0; i <= DAVY_OVERRIDES_MAX; i++) {
		memset(name, 0, sizeof(name));
		name[0] = 'm';
		name[1] = (char)('0' + i);
		override(DAVY_SCOPE_MODEL, name, "job_stall.level1", 100);
	}
	assert_int_equal(core.config.override_count, DAVY_OVERRIDES_MAX);
	assert_int_equal(core.dropped_count, 5);
	override(DAVY_SCOPE_MODEL, "m0", "job_stall.level1", 200); /* one that is there has room */
	assert_int_equal(core.dropped_count, 5);
}

static void a_device_that_left_has_no_driver(void **state)
{
	(void)state;
	begin_history();
	device(GPU, "xe", DAVY_DEVICE_ADDED);
	override(DAVY_SCOPE_DRIVER, "xe", "job_stall.level1", 100);
	assert_int_equal(stall_level(GPU, 0, 100), 1);
	device(GPU, "xe", DAVY_DEVICE_REMOVED);
	assert_int_equal(stall_level(GPU, 0, 100), 0);
}

static void evictions_faults_and_refusals_use_their_overrides(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	override(DAVY_SCOPE_MODEL, TINY, "eviction_storm.bytes", 8LL << 20);
	override(DAVY_SCOPE_DEVICE, GPU, "fault_storm.count", 2);
	override(DAVY_SCOPE_MODEL, "t*", "alloc_failure.count", 3);
	ev = event(DAVY_EV_BO_MOVED, 60);
	davy_copy_name(ev.bo_moved.device, sizeof(ev.bo_moved.device), GPU);
	ev.bo_moved.out_bytes = 8ULL << 20;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->threshold, 8 << 20);
	ev = event(DAVY_EV_FAULT, 0);
	davy_copy_name(ev.fault.device, sizeof(ev.fault.device), GPU);
	ev.fault.pasid = 5;
	ev.fault.fault_class = DAVY_FAULT_VM;
	ev.fault.fresh = 2;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->threshold, 2);
	ev = event(DAVY_EV_ALLOC_FAILED, 60);
	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), GPU);
	ev.alloc_failed.stage = DAVY_ALLOC_RESOURCE;
	ev.alloc_failed.fresh = 2;
	tell(&ev);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE), 0);
	ev.alloc_failed.fresh = 1;
	tell(&ev);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE), 1);
}

static void a_slow_model_may_take_longer_for_a_graph(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	override(DAVY_SCOPE_MODEL, TINY, "engine_wedged.graph_age", 60000);
	pass(100 * S);
	ev = event(DAVY_EV_GRAPH, 60);
	ev.graph.graph_count = 100;
	ev.graph.entered_ns = now - 29 * S;
	tell(&ev);
	assert_int_equal(kept_count, 0);
	ev.graph.entered_ns = now - 59 * S;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->level, 2);
	ev.graph.entered_ns = now - 61 * S;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->threshold, 60 * S);
}

/* The level at which "hazard" speaks once the key has the value for "name". */
static uint32_t level_with(enum davy_scope scope, const char *name, const char *key, int64_t value,
			   void (*happens)(void), enum davy_hazard hazard)
{
	begin_history();
	device(GPU, "amdgpu", DAVY_DEVICE_ADDED);
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	override(scope, name, key, value);
	happens();
	return count_of(DAVY_PLAN_NOTE, hazard) ? last_of(DAVY_PLAN_NOTE, hazard)->level : 0;
}

static void one_eviction(void)
{
	kfd(DAVY_KFD_QUEUES_EVICTED, "");
}

static void still_for_a_while(void)
{
	for (uint64_t ms = 0; ms < 4; ms++, now += 2 * S) {
		struct davy_event ev = event(DAVY_EV_KFD_USE, 60);

		davy_copy_name(ev.kfd_use.device, sizeof(ev.kfd_use.device), GPU);
		ev.kfd_use.evicted_ms = ms * 100; /* a twentieth */
		tell(&ev);
	}
}

static void a_restore_is_retried(void)
{
	struct davy_event ev = event(DAVY_EV_KFD, 60);

	davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), GPU);
	ev.kfd.event = DAVY_KFD_QUEUES_RESTORED;
	ev.kfd.flags = DAVY_KFD_RESCHEDULED;
	tell(&ev);
}

static void two_resets_an_hour_apart(void)
{
	line(DAVY_LOG_RING_RESET_DONE);
	now += 3600 * S;
	line(DAVY_LOG_RING_RESET_DONE);
}

static void two_weak_lines(void)
{
	line(DAVY_LOG_PIN_FAILED);
	line(DAVY_LOG_PIN_FAILED);
}

static void served_faults(void)
{
	fact(DAVY_FACT_KFD_PAGE_FAULT, 0, 50, "");
}

static void a_job_of_a_fifth(void)
{
	begin_jobs(60, RING);
	lockup("compute", 10 * S);
	job(60, 2 * S);
}

static void queues_jobs_and_resets_use_their_overrides(void **state)
{
	static const struct {
		const char *key;
		int64_t value;
		void (*happens)(void);
		enum davy_hazard hazard;
		uint32_t without, with;
	} cases[] = {
		{ "queue_thrash.count", 1, one_eviction, DAVY_HZ_QUEUE_THRASH, 0, 2 },
		{ "queue_thrash.share", 40, still_for_a_while, DAVY_HZ_QUEUE_THRASH, 0, 2 },
		{ "restore_hog.retries", 1, a_restore_is_retried, DAVY_HZ_RESTORE_HOG, 0, 2 },
		{ "reset.again", 7200000, two_resets_an_hour_apart, DAVY_HZ_RESET, 2, 3 },
		{ "alloc_failure.lines", 2, two_weak_lines, DAVY_HZ_ALLOC_FAILURE, 0, 1 },
		{ "fault_storm.retries", 50, served_faults, DAVY_HZ_FAULT_STORM, 0, 1 },
		{ "job_headroom.level1", 200, a_job_of_a_fifth, DAVY_HZ_JOB_HEADROOM, 0, 1 },
	};
	static const char *const names[DAVY_SCOPE_COUNT] = {
		[DAVY_SCOPE_DRIVER] = "amdgpu", [DAVY_SCOPE_DEVICE] = GPU, [DAVY_SCOPE_MODEL] = "t*"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (enum davy_scope of = DAVY_SCOPE_DRIVER; of < DAVY_SCOPE_COUNT; of++) {
			assert_int_equal(level_with(of, "another", cases[i].key, cases[i].value,
						    cases[i].happens, cases[i].hazard),
					 cases[i].without);
			assert_int_equal(level_with(of, names[of], cases[i].key, cases[i].value,
						    cases[i].happens, cases[i].hazard),
					 cases[i].with);
		}
}

/* What hazards are asked for may differ; how the agent acts, and counts, is one for all. */
static void only_thresholds_of_hazards_may_differ(void **state)
{
	static const char *const one_for_all[] = {
		"agent.", "restart.", "budget.", "breaker.", "foresight.", "hold.", "shrink.",
	};

	(void)state;
	for (int key = 0; key < DAVY_CFG_COUNT; key++) {
		bool same = false;

		for (size_t i = 0; i < sizeof(one_for_all) / sizeof(one_for_all[0]); i++)
			same |= !strncmp(davy_config_rows[key].name, one_for_all[i],
					 strlen(one_for_all[i]));
		assert_int_equal(davy_config_scoped((enum davy_config_key)key), !same);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_matched_whole_with_stars),
		cmocka_unit_test(a_model_beats_a_device_beats_a_driver_beats_the_rest),
		cmocka_unit_test(the_narrower_of_two_overrides_applies_in_any_order),
		cmocka_unit_test(a_removed_override_no_longer_applies),
		cmocka_unit_test(invalid_overrides_are_refused_and_counted),
		cmocka_unit_test(a_device_that_left_has_no_driver),
		cmocka_unit_test(evictions_faults_and_refusals_use_their_overrides),
		cmocka_unit_test(queues_jobs_and_resets_use_their_overrides),
		cmocka_unit_test(only_thresholds_of_hazards_may_differ),
		cmocka_unit_test(a_slow_model_may_take_longer_for_a_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

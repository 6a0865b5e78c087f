/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tuner's steps after trouble and after a soak. */
#include "tuner.h"

#include "report/tuner_text.h"

#define DEEP 8192 /* all of a slot */

static void a_good_model_is_never_touched(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 1000; i++) {
		soaks(DAY, DEEP);
		assert_int_equal(reason.why, DAVY_TUNER_AS_CONFIGURED);
		assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
		for (uint32_t which = 0; which < DAVY_TUNER_SETTINGS; which++)
			assert_int_equal(setting.size[which], 0);
	}
}

static void trouble_halves_the_first_setting_and_then_faster(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.why, DAVY_TUNER_LOWER);
	assert_int_equal(reason.setting, DAVY_TUNER_UBATCH);
	assert_int_equal(reason.from, 512);
	assert_int_equal(reason.to, 256);
	assert_int_equal(reason.depth, 5000);
	assert_int_equal(reason.class, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 256);
	assert_int_equal(setting.size[DAVY_TUNER_CONTEXT], 0);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 64);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT); /* its floor has not helped */
	assert_int_equal(reason.setting, DAVY_TUNER_CONTEXT);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 64);
	assert_int_equal(setting.size[DAVY_TUNER_CONTEXT], 16384);
}

static void half_of_three_is_two(void **state)
{
	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_CACHE_TYPE);
	fails_after(AWHILE, 5000, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(size(DAVY_TUNER_CACHE_TYPE), DAVY_TUNER_CACHE_Q8_0);
	fails_after(AWHILE, 5000, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(size(DAVY_TUNER_CACHE_TYPE), DAVY_TUNER_CACHE_Q4_0);
}

static void an_immediate_failure_selects_the_smallest_size(void **state)
{
	(void)state;
	begin();
	fails_after(MINUTE, 0, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 64);
	fails_after(MINUTE, 0, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(size(DAVY_TUNER_CONTEXT), 4096);
	fails_after(MINUTE, 0, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(size(DAVY_TUNER_PARALLEL), 1);
	fails_after(MINUTE, 0, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(size(DAVY_TUNER_CACHE_TYPE), DAVY_TUNER_CACHE_Q4_0);
	fails_after(MINUTE, 0, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(size(DAVY_TUNER_LAYERS), 4);
	fails_after(MINUTE, 0, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(reason.why, DAVY_TUNER_OTHER);
	assert_int_equal(setting.backend, DAVY_BACKEND_ROCM);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 0);
	for (int i = 0; i < 6; i++)
		fails_after(MINUTE, 0, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
}

static void a_failure_at_every_size_selects_another_backend(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 100, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(reason.why, DAVY_TUNER_OTHER);
	assert_int_equal(reason.setting, DAVY_TUNER_SETTINGS);
	assert_int_equal(reason.from, DAVY_BACKEND_VULKAN);
	assert_int_equal(reason.to, DAVY_BACKEND_ROCM);
	assert_int_equal(setting.backend, DAVY_BACKEND_ROCM);
	fails_after(MINUTE, 0, DAVY_CLASS_RUNNER_CRASH_INIT);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
	fails_after(MINUTE, 0, DAVY_CLASS_RUNNER_CRASH_INIT);
	assert_int_equal(reason.why, DAVY_TUNER_NOWHERE);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
	begin();
	fails_after(AWHILE, 100, DAVY_CLASS_HOST_CRASH);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
	begin();
	bounds.backends[2] = 0; /* the CPU is not wanted */
	fails_after(AWHILE, 100, DAVY_CLASS_PAGE_FAULT);
	fails_after(AWHILE, 100, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(reason.why, DAVY_TUNER_NOWHERE);
	assert_int_equal(setting.backend, DAVY_BACKEND_ROCM);
}

static void a_quantised_cache_is_no_help_against_long_jobs(void **state)
{
	bool touched = false;

	(void)state;
	begin();
	while (setting.backend == DAVY_BACKEND_VULKAN) {
		fails_after(AWHILE, 100, DAVY_CLASS_RING_TIMEOUT);
		touched = touched || setting.size[DAVY_TUNER_CACHE_TYPE];
	}
	assert_false(touched);
	assert_true(davy_tuner_matters(DAVY_TUNER_CACHE_TYPE, DAVY_CLASS_OOM_VRAM));
	assert_false(davy_tuner_matters(DAVY_TUNER_CACHE_TYPE, DAVY_CLASS_RING_TIMEOUT));
	assert_false(davy_tuner_matters(DAVY_TUNER_SETTINGS, DAVY_CLASS_OOM_VRAM));
	assert_false(davy_tuner_matters(DAVY_TUNER_UBATCH, DAVY_CLASS_COUNT));
}

static void up_only_after_a_soak_as_deep_as_the_failure(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(DAY, 4999);
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	assert_int_equal(reason.needed_depth, 5000);
	soaks(1, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_RAISE);
	assert_int_equal(reason.from, 256);
	assert_int_equal(reason.to, 384);
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(HOUR - 1, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	soaks(1, 0);
	assert_int_equal(reason.why, DAVY_TUNER_RAISE);
}

static void a_smaller_context_need_not_be_as_deep_as_it_cannot_be(void **state)
{
	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_CONTEXT);
	fails_after(AWHILE, 8000, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(size(DAVY_TUNER_CONTEXT), 16384);
	assert_int_equal(reason.needed_depth, 4096 - 512);
	soaks(2 * HOUR, 3584);
	assert_int_equal(reason.why, DAVY_TUNER_RAISE);
}

static void one_probation_runs_per_doubling_back_off(void **state)
{
	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_UBATCH);
	bounds.range[DAVY_TUNER_UBATCH] = (struct davy_tuner_range){ 64, 2048, 64 };
	ask();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(2 * HOUR, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_RAISE);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 1536);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.why, DAVY_TUNER_BACK);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 1024);
	soaks(12 * HOUR - AWHILE - 1, 5000); /* after the probation began */
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	assert_int_equal(reason.until_s, now + 1);
	soaks(1, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_RAISE);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 1280);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(DAY - AWHILE - 1, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	soaks(1, 5000);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 1152);
	soaks(DAY, 5000);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 1216); /* it lived */
	soaks(4 * DAY, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_AGAIN); /* only what is bad is left */
	assert_int_equal(size(DAVY_TUNER_UBATCH), 1280);
}

static void a_size_known_as_bad_waits_longer_each_time(void **state)
{
	static const uint64_t days[] = { 4, 8, 16, 32, 32, 32 };

	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_PARALLEL);
	bounds.range[DAVY_TUNER_PARALLEL] = (struct davy_tuner_range){ 1, 2, 1 };
	ask();
	fails_after(AWHILE, 5000, DAVY_CLASS_DEVICE_LOST);
	for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
		assert_int_equal(size(DAVY_TUNER_PARALLEL), 1);
		soaks(days[i] * DAY - 1, 8000);
		assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
		assert_int_equal(reason.until_s, now + 1);
		soaks(1, 8000);
		assert_int_equal(reason.why, DAVY_TUNER_AGAIN);
		fails_after(AWHILE, 5000, DAVY_CLASS_DEVICE_LOST);
	}
}

static void a_proven_size_that_fails_once_is_tried_again_first(void **state)
{
	(void)state;
	begin();
	soaks(2 * DAY, 7000);
	fails_after(AWHILE, 6000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.chance, 1);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
	soaks(6 * HOUR - 1, 6000);
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	soaks(1, 0);
	assert_int_equal(reason.why, DAVY_TUNER_AGAIN);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 0);
	soaks(DAY, 7000);
	assert_int_equal(reason.why, DAVY_TUNER_AS_CONFIGURED);
	assert_int_equal(tuner.of[DAVY_BACKEND_VULKAN].failed_depth, 0);
}

static void a_deeper_or_second_failure_is_not_chance(void **state)
{
	(void)state;
	begin();
	soaks(2 * DAY, 5000);
	fails_after(AWHILE, 0, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.chance, 1);
	fails_after(AWHILE, 0, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.chance, 0);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 64);
	begin();
	soaks(2 * DAY, 5000);
	now += HOUR;
	davy_tuner_trouble(&tuner, now, 5001, DAVY_CLASS_RING_TIMEOUT);
	ask();
	assert_int_equal(reason.chance, 0);
}

static void the_next_probation_waits_for_the_result_of_the_last(void **state)
{
	(void)state;
	begin();
	for (uint32_t which = DAVY_TUNER_CONTEXT; which < DAVY_TUNER_SETTINGS; which++)
		if (which != DAVY_TUNER_PARALLEL)
			bounds.range[which].floor = bounds.range[which].ceiling;
	bounds.range[DAVY_TUNER_UBATCH] = (struct davy_tuner_range){ 256, 512, 256 };
	ask();
	fails_after(AWHILE, 5000, DAVY_CLASS_DEVICE_LOST);
	soaks(HOUR, 5000); /* it lives with the floor: 512 stays known */
	fails_after(AWHILE, 100, DAVY_CLASS_DEVICE_LOST);
	assert_int_equal(reason.setting, DAVY_TUNER_PARALLEL);
	soaks(5 * DAY, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_RAISE);
	assert_int_equal(size(DAVY_TUNER_PARALLEL), 3);
	soaks(DAY, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_AGAIN);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 512);
	soaks(DAY, 200); /* not as deep as it failed */
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	assert_int_equal(reason.needed_depth, 5000);
	soaks(8 * HOUR, 200); /* the depth is no longer reached */
	assert_int_equal(reason.why, DAVY_TUNER_AGAIN);
	assert_int_equal(setting.size[DAVY_TUNER_PARALLEL], 0);
	soaks(4 * DAY, 200);
	assert_int_equal(tuner.of[DAVY_BACKEND_VULKAN].setting[DAVY_TUNER_UBATCH].bad[0].size, 512);
}

static void no_size_is_tried_beyond_an_unproven_one(void **state)
{
	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_UBATCH);
	fails_after(AWHILE, 100, DAVY_CLASS_RING_TIMEOUT);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 64);
	davy_tuner_environment(&tuner, 2);
	ask();
	soaks(HOUR, 5000);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
	soaks(10 * DAY, 4999);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
	soaks(1, 5000);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 0);
}

static void a_probation_that_succeeds_ends_the_doubling(void **state)
{
	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_UBATCH);
	bounds.range[DAVY_TUNER_UBATCH].ceiling = 2048;
	ask();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(HOUR, 5000);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT); /* 1536 */
	soaks(12 * HOUR, 5000);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT); /* 1280: 24 h */
	soaks(DAY, 5000);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 1152);
	soaks(DAY, 5000); /* it lived */
	assert_int_equal(size(DAVY_TUNER_UBATCH), 1216);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(tuner.backoff_s, 12 * HOUR);
}

static void chance_does_not_come_every_few_days(void **state)
{
	(void)state;
	begin();
	soaks(2 * DAY, 7000);
	fails_after(AWHILE, 6000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.chance, 1);
	soaks(6 * HOUR, 6000);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 0);
	soaks(2 * DAY, 7000);
	fails_after(AWHILE, 6000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.chance, 0);
	for (int i = 0; i < 4; i++)
		soaks(9 * DAY, 7000);
	fails_after(AWHILE, 6000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.chance, 1);
}

/* 256 has lasted; 512 is tried again and fails: that does not count against 256 */
static void a_proven_size_stays_proven_when_a_larger_one_fails(void **state)
{
	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_UBATCH);
	bounds.range[DAVY_TUNER_UBATCH].floor = 128;
	bounds.range[DAVY_TUNER_UBATCH].step = 128;
	ask();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(HOUR, 5000);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT); /* 384 */
	soaks(4 * DAY, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_AGAIN);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
	fails_after(1, 300, DAVY_CLASS_DEVICE_LOST);
	assert_int_equal(reason.chance, 1);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 128);
	soaks(12 * HOUR, 300); /* as deep as that: 256 again, and not 384 after it */
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
	soaks(DAY, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
}

static void chance_may_end_a_probation(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(HOUR, 5000);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 384);
	soaks(9 * HOUR, 3000);
	fails_after(AWHILE, 2000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.chance, 1);
	assert_int_equal(reason.why, DAVY_TUNER_BACK);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
	soaks(6 * HOUR, 2000);
	assert_int_equal(reason.why, DAVY_TUNER_AGAIN);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 384);
}

static void a_soak_that_foretold_nothing_was_too_short(void **state)
{
	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_UBATCH);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(HOUR, 5000);
	soaks(6 * HOUR, 5000);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 448);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT); /* 384, with which it had soaked */
	assert_int_equal(size(DAVY_TUNER_UBATCH), 192);
	now += DAY;
	soaks(2 * HOUR - 1, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	soaks(1, 0);
	assert_int_equal(reason.why, DAVY_TUNER_RAISE);
}

static void another_environment_makes_bad_sizes_doubtful(void **state)
{
	(void)state;
	begin();
	pin_all_but(DAVY_TUNER_UBATCH);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(HOUR, 5000);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT); /* 384 */
	soaks(DAY, 5000);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT); /* 320 */
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
	soaks(DAY, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	davy_tuner_environment(&tuner, 1); /* the same */
	ask();
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	davy_tuner_environment(&tuner, 2);
	ask();
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS); /* not without a soak in it */
	soaks(2 * HOUR, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_AGAIN);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 320);
	soaks(DAY, 5000);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 0);
	soaks(DAY, 5000);
	assert_int_equal(reason.why, DAVY_TUNER_AS_CONFIGURED);
}

static void from_the_cpu_back_by_a_probation(void **state)
{
	(void)state;
	begin();
	bounds.backends[1] = DAVY_BACKEND_CPU;
	bounds.backends[2] = 0;
	fails_after(AWHILE, 8000, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
	soaks(4 * DAY - 1, 100); /* a CPU is slow: so many tokens are not required */
	assert_int_equal(reason.why, DAVY_TUNER_KEEPS);
	soaks(1, 0);
	assert_int_equal(reason.why, DAVY_TUNER_OTHER_AGAIN);
	assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
	fails_after(AWHILE, 8000, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
	soaks(8 * DAY - 1, 100);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
	soaks(1, 0);
	assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
	soaks(2 * DAY, 8000);
	assert_int_equal(reason.why, DAVY_TUNER_AS_CONFIGURED);
}

static void without_a_working_size_the_smallest_and_the_ordered_alternate(void **state)
{
	(void)state;
	begin();
	bounds.backends[1] = DAVY_BACKEND_CPU;
	bounds.backends[2] = 0;
	while (setting.backend == DAVY_BACKEND_VULKAN)
		fails_after(MINUTE, 0, DAVY_CLASS_DEVICE_LOST);
	for (int i = 0; i < 4; i++) {
		soaks(33 * DAY, 100);
		assert_int_equal(reason.why, DAVY_TUNER_OTHER_AGAIN);
		assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
		for (uint32_t which = 0; which < DAVY_TUNER_SETTINGS; which++)
			assert_int_equal(setting.size[which],
					 i % 2 ? 0 : bounds.range[which].floor);
		fails_after(MINUTE, 0, DAVY_CLASS_DEVICE_LOST);
		assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
	}
	soaks(33 * DAY, 100);
	for (int i = 0; i < DAVY_TUNER_SETTINGS; i++) { /* with the least it lives */
		assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
		soaks(DAY, 8000);
		assert_int_equal(reason.why, DAVY_TUNER_RAISE);
	}
	soaks(DAY, 8000);
	assert_int_equal(reason.why, DAVY_TUNER_AS_CONFIGURED);
}

static void sizes_stay_within_changing_bounds(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 64);
	bounds.range[DAVY_TUNER_UBATCH].floor = 128;
	ask();
	assert_int_equal(size(DAVY_TUNER_UBATCH), 128);
	bounds.range[DAVY_TUNER_UBATCH].floor = 512; /* pinned */
	ask();
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 0);
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.setting, DAVY_TUNER_CONTEXT);
	bounds.range[DAVY_TUNER_CONTEXT].ceiling = 8192;
	ask();
	assert_int_equal(size(DAVY_TUNER_CONTEXT), 8192);
	bounds.backends[0] = DAVY_BACKEND_CPU; /* Vulkan is not wanted any more */
	bounds.backends[1] = 0;
	ask();
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
	memset(bounds.range, 0, sizeof(bounds.range)); /* no experience */
	memset(bounds.backends, 0, sizeof(bounds.backends));
	ask();
	fails_after(AWHILE, 5000, DAVY_CLASS_DEVICE_LOST);
	assert_int_equal(reason.why, DAVY_TUNER_NOWHERE);
	assert_int_equal(setting.backend, DAVY_BACKEND_UNKNOWN);
}

static void reports_before_the_first_answer_count(void **state)
{
	(void)state;
	begin();
	memset(&tuner, 0, sizeof(tuner));
	davy_tuner_soak(&tuner, now, 1800, 5000);
	davy_tuner_trouble(&tuner, now, 5000, DAVY_CLASS_RING_TIMEOUT);
	ask();
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
	begin();
	memset(&tuner, 0, sizeof(tuner));
	davy_tuner_soak(&tuner, now, 9 * HOUR, 5000);
	davy_tuner_trouble(&tuner, now, 5000, DAVY_CLASS_RING_TIMEOUT);
	ask();
	assert_int_equal(reason.chance, 1);
}

static void a_failure_of_a_larger_size_does_not_count_for_a_smaller_one(void **state)
{
	(void)state;
	begin();
	now += AWHILE;
	davy_tuner_trouble(&tuner, now, 5000, DAVY_CLASS_RING_TIMEOUT);
	bounds.range[DAVY_TUNER_UBATCH].ceiling = 128; /* the bounds were lowered meanwhile */
	ask();
	assert_int_equal(reason.why, DAVY_TUNER_AS_CONFIGURED);
	assert_int_equal(setting.size[DAVY_TUNER_UBATCH], 0);
	begin();
	bounds.range[DAVY_TUNER_LAYERS].ceiling = 0;
	ask();
	now += AWHILE;
	davy_tuner_trouble(&tuner, now, 5000, DAVY_CLASS_RING_TIMEOUT);
	bounds.range[DAVY_TUNER_LAYERS].ceiling = 33; /* known by now: the same trouble */
	ask();
	assert_int_equal(reason.why, DAVY_TUNER_LOWER);
}

static void a_page_fault_does_not_end_a_probation(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(HOUR, 5000);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 384);
	fails_after(AWHILE, 5000, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(setting.backend, DAVY_BACKEND_ROCM);
	assert_int_equal(tuner.of[DAVY_BACKEND_VULKAN].setting[DAVY_TUNER_UBATCH].bad[0].size, 512);
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	soaks(HOUR, 5000);
	fails_after(AWHILE, 5000, DAVY_CLASS_HOST_CRASH);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
}

static void a_probation_ends_on_another_backend_when_its_own_is_gone(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 100, DAVY_CLASS_PAGE_FAULT);
	soaks(5 * DAY, 8000);
	assert_int_equal(reason.why, DAVY_TUNER_OTHER_AGAIN);
	assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
	bounds.backends[1] = DAVY_BACKEND_CPU;
	bounds.backends[2] = 0;
	fails_after(AWHILE, 100, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(setting.backend, DAVY_BACKEND_CPU);
}

static void a_soak_is_no_longer_than_the_time_that_passed(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	now += MINUTE;
	/* of the previous setting, reported late */
	davy_tuner_soak(&tuner, now, UINT64_MAX, UINT32_MAX);
	assert_int_equal(tuner.soak_s, MINUTE);
	davy_tuner_soak(&tuner, now, UINT64_MAX, 0);
	assert_int_equal(tuner.soak_s, MINUTE);
}

static void a_clock_that_went_back_is_no_prison(void **state)
{
	(void)state;
	begin();
	now += 4000 * DAY;
	ask();
	fails_after(AWHILE, 5000, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(setting.backend, DAVY_BACKEND_ROCM);
	now -= 4000 * DAY;
	ask();
	soaks(33 * DAY, 8000);
	assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
}

static void several_signs_of_one_trouble_are_one(void **state)
{
	(void)state;
	begin();
	now += HOUR;
	davy_tuner_soak(&tuner, now, HOUR, 300);
	davy_tuner_trouble(&tuner, now, 100, DAVY_CLASS_RING_TIMEOUT);
	davy_tuner_trouble(&tuner, now, 300, DAVY_CLASS_GPU_RESET);
	davy_tuner_trouble(&tuner, now, 200, 9999);
	ask();
	assert_int_equal(reason.class, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.depth, 300);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 256);
}

static void stored_state_is_validated(void **state)
{
	(void)state;
	begin();
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_true(davy_tuner_valid(&tuner));
	tuner.of[2].setting[0].bad[1].size = tuner.of[2].setting[0].bad[0].size;
	assert_false(davy_tuner_valid(&tuner));
	begin();
	tuner.backend = DAVY_BACKEND_COUNT;
	assert_false(davy_tuner_valid(&tuner));
	begin();
	tuner.probing = DAVY_TUNER_SETTINGS + 2;
	assert_false(davy_tuner_valid(&tuner));
	begin();
	tuner.of[1].active = DAVY_TUNER_SETTINGS + 1;
	assert_false(davy_tuner_valid(&tuner));
	memset(&tuner, 0xa5, sizeof(tuner));
	assert_false(davy_tuner_valid(&tuner));
}

static void says(const char *expected)
{
	char text[DAVY_TUNER_TEXT_SIZE];

	davy_tuner_text(&reason, text);
	assert_string_equal(text, expected);
}

static void the_reason_is_reported(void **state)
{
	(void)state;
	begin();
	says("as configured");
	fails_after(AWHILE, 5000, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reason.why, DAVY_TUNER_LOWER);
	says("ubatch 512 -> 256: ring_timeout at 5000 tokens");
	soaks(AWHILE, 100);
	says("kept: 0 h without trouble so far, to 100 of 5000 tokens");
	soaks(5 * HOUR, 6000);
	says("ubatch 256 -> 384: after 5 h without trouble, to 6000 tokens");
	fails_after(1, 0, DAVY_CLASS_NONE);
	says("ubatch 384 -> 256: it failed");
	fails_after(1, 0, DAVY_CLASS_PAGE_FAULT);
	says("backend vulkan -> rocm: page_fault");
	soaks(5 * DAY, 6000);
	says("backend rocm -> vulkan: again after 120 h without trouble, to 6000 tokens");
	begin();
	pin_all_but(DAVY_TUNER_CACHE_TYPE);
	soaks(DAY, 9);
	bounds.backends[0] = DAVY_BACKEND_CPU;
	bounds.backends[1] = 0;
	ask();
	soaks(DAY, 9);
	fails_after(AWHILE, 9, DAVY_CLASS_OOM_VRAM);
	says("cache_type f16 -> q8_0: oom_vram at 9 tokens, although this setting had worked "
	     "before");
	fails_after(AWHILE, 9, DAVY_CLASS_OOM_VRAM);
	fails_after(AWHILE, 9, DAVY_CLASS_OOM_VRAM);
	says("nothing is left to try: oom_vram at 9 tokens");
	memset(&reason, 0xff, sizeof(reason)); /* of whatever was stored */
	for (uint8_t why = 0; why <= DAVY_TUNER_WHY_COUNT; why++) {
		char text[DAVY_TUNER_TEXT_SIZE];

		reason.why = why;
		davy_tuner_text(&reason, text);
		assert_true(strlen(text) < DAVY_TUNER_TEXT_SIZE - 1);
	}
}

static void everything_has_a_name(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		assert_string_not_equal(davy_tuner_setting_name(i), "unknown");
	for (uint32_t i = 0; i < DAVY_TUNER_WHY_COUNT; i++)
		assert_string_not_equal(davy_tuner_why_name(i), "unknown");
	assert_string_equal(davy_tuner_setting_name(DAVY_TUNER_SETTINGS), "unknown");
	assert_string_equal(davy_tuner_why_name(DAVY_TUNER_WHY_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_model_is_never_touched),
		cmocka_unit_test(trouble_halves_the_first_setting_and_then_faster),
		cmocka_unit_test(half_of_three_is_two),
		cmocka_unit_test(an_immediate_failure_selects_the_smallest_size),
		cmocka_unit_test(a_failure_at_every_size_selects_another_backend),
		cmocka_unit_test(a_quantised_cache_is_no_help_against_long_jobs),
		cmocka_unit_test(up_only_after_a_soak_as_deep_as_the_failure),
		cmocka_unit_test(a_smaller_context_need_not_be_as_deep_as_it_cannot_be),
		cmocka_unit_test(one_probation_runs_per_doubling_back_off),
		cmocka_unit_test(a_size_known_as_bad_waits_longer_each_time),
		cmocka_unit_test(a_proven_size_that_fails_once_is_tried_again_first),
		cmocka_unit_test(a_deeper_or_second_failure_is_not_chance),
		cmocka_unit_test(the_next_probation_waits_for_the_result_of_the_last),
		cmocka_unit_test(no_size_is_tried_beyond_an_unproven_one),
		cmocka_unit_test(a_probation_that_succeeds_ends_the_doubling),
		cmocka_unit_test(chance_does_not_come_every_few_days),
		cmocka_unit_test(a_proven_size_stays_proven_when_a_larger_one_fails),
		cmocka_unit_test(chance_may_end_a_probation),
		cmocka_unit_test(a_soak_that_foretold_nothing_was_too_short),
		cmocka_unit_test(another_environment_makes_bad_sizes_doubtful),
		cmocka_unit_test(from_the_cpu_back_by_a_probation),
		cmocka_unit_test(without_a_working_size_the_smallest_and_the_ordered_alternate),
		cmocka_unit_test(sizes_stay_within_changing_bounds),
		cmocka_unit_test(reports_before_the_first_answer_count),
		cmocka_unit_test(a_failure_of_a_larger_size_does_not_count_for_a_smaller_one),
		cmocka_unit_test(a_page_fault_does_not_end_a_probation),
		cmocka_unit_test(a_probation_ends_on_another_backend_when_its_own_is_gone),
		cmocka_unit_test(a_soak_is_no_longer_than_the_time_that_passed),
		cmocka_unit_test(a_clock_that_went_back_is_no_prison),
		cmocka_unit_test(several_signs_of_one_trouble_are_one),
		cmocka_unit_test(stored_state_is_validated),
		cmocka_unit_test(the_reason_is_reported),
		cmocka_unit_test(everything_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

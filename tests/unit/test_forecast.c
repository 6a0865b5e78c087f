/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a heap will be full: what counts as growth, and what ends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/world/forecast.h"

#define MS    DAVY_NS_PER_MS
#define S     DAVY_NS_PER_S
#define MB    1000000ULL
#define TOTAL (24000 * MB)

static struct davy_forecast f;
static uint64_t now;

static void begin(void)
{
	memset(&f, 0, sizeof(f));
	now = 1000 * S;
}

/* "count" samples, each "step" after the last, growing by "by". */
static uint64_t grow(uint64_t used, uint64_t by, uint64_t step, int count)
{
	for (int i = 0; i < count; i++) {
		now += step;
		used += by;
		davy_forecast_add(&f, now, used);
	}
	return used;
}

static uint64_t rate(void)
{
	return davy_forecast_look(&f, TOTAL, 4 * S).rate;
}

static void a_steady_growth_has_its_rate_after_four_seconds(void **state)
{
	(void)state;
	begin();
	grow(10000 * MB, 20 * MB, 200 * MS, 20);
	assert_int_equal(rate(), 0); /* 3.8 s after the first sample */
	grow(10400 * MB, 20 * MB, 200 * MS, 1);
	assert_in_range(rate(), 98 * MB, 102 * MB);
	assert_int_equal(davy_forecast_look(&f, TOTAL, 4 * S).since_ns, 1000 * S + 200 * MS);
}

static void samples_may_be_seconds_apart(void **state)
{
	(void)state;
	begin();
	grow(10000 * MB, 5 * MB, 5 * S, 6);
	assert_in_range(rate(), 990000, 1010000);
}

static void one_jump_is_not_growth(void **state)
{
	(void)state;
	begin();
	grow(10000 * MB, 0, 500 * MS, 20);
	grow(10000 * MB, 4000 * MB, 500 * MS, 1);
	grow(14000 * MB, 0, 500 * MS, 20);
	assert_int_equal(rate(), 0);
}

static void growth_that_ended_has_no_forecast(void **state)
{
	uint64_t used;

	(void)state;
	begin();
	used = grow(10000 * MB, 50 * MB, 500 * MS, 16);
	assert_true(rate() > 0);
	now += 5 * S; /* unchanged, so no sample */
	grow(used, MB / 10, 200 * MS, 1);
	assert_in_range(rate(), 0, 30 * MB); /* the latest sub-windows count */
	grow(used, MB / 10, 500 * MS, 3);
	assert_int_equal(rate(), 0);
}

static void a_pause_longer_than_the_longest_interval_ends_growth(void **state)
{
	uint64_t used;

	(void)state;
	begin();
	used = grow(10000 * MB, 50 * MB, 500 * MS, 16);
	now += 61 * S;
	grow(used, 50 * MB, 500 * MS, 5);
	assert_int_equal(rate(), 0);
}

static void blocks_far_apart_have_their_rate(void **state)
{
	(void)state;
	begin();
	grow(10000 * MB, 20 * MB, 20 * S, 8);
	assert_in_range(rate(), 990000, 1010000);
}

/* What requests take and give back is not what grows beneath them. */
static void the_lowest_points_show_a_leak_below_a_saw_tooth(void **state)
{
	uint64_t used = 0;

	(void)state;
	begin();
	for (uint64_t ms = 0; ms <= 120000; ms += 200) {
		now = 1000 * S + ms * MS;
		used = 10000 * MB + 5 * MB * ms / 1000 + 250 * MB * (ms % 2000) / 1000;
		davy_forecast_add(&f, now, used);
	}
	assert_in_range(rate(), 4 * MB, 6 * MB);
}

static void a_fall_begins_anew_and_its_height_is_remembered(void **state)
{
	uint64_t used;

	(void)state;
	begin();
	used = grow(10000 * MB, 50 * MB, 500 * MS, 20);
	assert_false(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
	grow(10000 * MB, 0, 500 * MS, 1);
	assert_int_equal(rate(), 0);
	grow(10000 * MB, 50 * MB, 500 * MS, 12);
	assert_true(rate() > 0);
	assert_true(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
	grow(used - 50 * MB, 50 * MB, 500 * MS, 2); /* slightly higher counts as the same level */
	assert_true(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
	grow(used + 50 * MB, 50 * MB, 500 * MS, 3);
	assert_false(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
}

static void old_peaks_expire_and_a_full_heap_is_not_growth(void **state)
{
	(void)state;
	begin();
	grow(10000 * MB, 50 * MB, 500 * MS, 20);
	grow(10000 * MB, 0, 500 * MS, 1);
	grow(10000 * MB, 0, 5 * S, 33);
	assert_false(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
	begin();
	grow(23000 * MB, 50 * MB, 500 * MS, 20); /* to the last byte, which ended the process */
	grow(10000 * MB, 0, 500 * MS, 1);
	assert_false(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
}

/* llama-imatrix at 98 %, a training at 95 %: a new top at times, for hours. */
static void use_that_wanders_below_the_brim_is_no_news(void **state)
{
	uint64_t used;

	(void)state;
	begin();
	grow(23000 * MB, 25 * MB, 500 * MS, 20);
	grow(23000 * MB, 0, 5 * S, 40); /* the peak itself is forgotten */
	used = grow(23000 * MB, 20 * MB, 500 * MS, 28);
	assert_int_equal(used, 23560 * MB); /* 60 above the top, 440 below the brim */
	assert_true(rate() > 0);
	assert_true(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
	grow(used, 20 * MB, 500 * MS, 4); /* 140 above the top, 360 below the brim */
	assert_false(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
}

static void the_top_of_a_wandering_use_expires(void **state)
{
	(void)state;
	begin();
	grow(23000 * MB, 25 * MB, 500 * MS, 20);
	grow(23000 * MB, 0, 10 * S, 400);
	grow(23000 * MB, 20 * MB, 500 * MS, 20);
	assert_true(rate() > 0);
	assert_false(davy_forecast_look(&f, TOTAL, 4 * S).seen_before);
}

static void noise_is_no_growth(void **state)
{
	uint32_t seed = 1;

	(void)state;
	begin();
	for (int i = 0; i < 5000; i++) {
		now += 200 * MS;
		seed = seed * 1664525 + 1013904223;
		davy_forecast_add(&f, now, 23736 * MB + (seed >> 8) % (8 * MB));
		assert_true(davy_forecast_left_ms(100 * MB, rate()) > 60000);
	}
}

static void any_numbers_are_survived(void **state)
{
	uint64_t seed = 7;

	(void)state;
	begin();
	for (int i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		now += seed >> (seed % 60 + 2) & 0xffffffffff;
		davy_forecast_add(&f, now, seed >> (seed % 64));
		davy_forecast_look(&f, seed, seed % (100 * S));
	}
	assert_int_equal(davy_forecast_left_ms(UINT64_MAX, 0), UINT64_MAX);
	assert_int_equal(davy_forecast_left_ms(10 * MB, 5 * MB), 2000);
	assert_int_equal(davy_forecast_left_ms(0, 1), 0);
	assert_true(davy_forecast_left_ms(UINT64_MAX, 1) > 1ULL << 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_growth_has_its_rate_after_four_seconds),
		cmocka_unit_test(samples_may_be_seconds_apart),
		cmocka_unit_test(one_jump_is_not_growth),
		cmocka_unit_test(growth_that_ended_has_no_forecast),
		cmocka_unit_test(a_pause_longer_than_the_longest_interval_ends_growth),
		cmocka_unit_test(blocks_far_apart_have_their_rate),
		cmocka_unit_test(the_lowest_points_show_a_leak_below_a_saw_tooth),
		cmocka_unit_test(a_fall_begins_anew_and_its_height_is_remembered),
		cmocka_unit_test(old_peaks_expire_and_a_full_heap_is_not_growth),
		cmocka_unit_test(use_that_wanders_below_the_brim_is_no_news),
		cmocka_unit_test(the_top_of_a_wandering_use_expires),
		cmocka_unit_test(noise_is_no_growth),
		cmocka_unit_test(any_numbers_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

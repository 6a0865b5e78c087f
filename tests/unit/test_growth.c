/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/world/growth.h"

static struct davy_growth g;
static struct davy_trend t;

/* y = 1000 + 3 x, every 100 up to "end". */
static void grow_to(uint64_t end)
{
	for (uint64_t x = 100; x <= end; x += 100)
		davy_growth_add(&g, x, 1000 + 3 * x);
}

static void seven_points_are_no_line(void **state)
{
	(void)state;
	davy_growth_begin(&g, 100);
	grow_to(700);
	assert_false(davy_growth_trend(&g, &t));
	grow_to(800);
	assert_true(davy_growth_trend(&g, &t));
}

static void a_line_is_found_and_drawn_on(void **state)
{
	(void)state;
	davy_growth_begin(&g, 100);
	grow_to(100000); /* widened ten times */
	assert_true(davy_growth_trend(&g, &t));
	assert_true(t.steady);
	assert_int_equal(t.x, 100000);
	assert_in_range(t.y, 300990, 301010);
	assert_in_range(davy_trend_at(&t, 200000), 600900, 601100);
	assert_in_range(davy_trend_reach(&t, 600000), 199600, 199750);
	assert_int_equal(davy_trend_reach(&t, 1000), 100000); /* it is there */
	assert_int_equal(davy_trend_at(&t, 0) < 2000, 1);
}

static void outliers_do_not_change_the_slope(void **state)
{
	(void)state;
	davy_growth_begin(&g, 100);
	grow_to(1500);
	davy_growth_add(&g, 350, 900000);
	davy_growth_add(&g, 810, 900000);
	assert_true(davy_growth_trend(&g, &t));
	assert_true(t.steady);
	assert_in_range(davy_trend_at(&t, 3000), 9000, 11000);
}

static void constant_or_falling_values_are_not_steady_growth(void **state)
{
	static const int noise[] = { 0, 40, -25, 13, -60, 5, 22, -31 };

	(void)state;
	davy_growth_begin(&g, 100);
	for (uint64_t x = 100; x < 1600; x += 100)
		davy_growth_add(&g, x, (uint64_t)(450000 + 100 * noise[x / 100 % 8]));
	assert_true(davy_growth_trend(&g, &t));
	assert_false(t.steady);
	davy_growth_begin(&g, 100);
	for (uint64_t x = 100; x < 1600; x += 100)
		davy_growth_add(&g, x, 450000 - 10 * x);
	assert_true(davy_growth_trend(&g, &t));
	assert_false(t.steady);
	assert_int_equal(davy_trend_reach(&t, 1000000), UINT64_MAX);
	assert_int_equal(davy_trend_at(&t, DAVY_GROWTH_X_MAX), 0);
}

static void a_bin_keeps_its_largest_until_a_later_pass(void **state)
{
	(void)state;
	davy_growth_begin(&g, 100);
	davy_growth_add(&g, 110, 50);
	davy_growth_add(&g, 190, 70);
	davy_growth_add(&g, 120, 60);
	assert_int_equal(g.y[1], 70);
	assert_int_equal(g.x[1], 190);
	g.pass++;
	davy_growth_add(&g, 130, 30);
	assert_int_equal(g.y[1], 30);
	davy_growth_add(&g, 250, 20);
	g.pass--;
	davy_growth_add(&g, 3100,
			99); /* an older pass replaces nothing, also when bins are merged */
	davy_growth_add(&g, 300, 90);
	assert_int_equal(g.y[1], 20);
}

static void a_fall_is_reported_at_the_next_bin(void **state)
{
	(void)state;
	davy_growth_begin(&g, 100);
	assert_false(davy_growth_fell(&g, 500));
	davy_growth_add(&g, 50, 1000);
	davy_growth_add(&g, 150, 249);
	assert_false(davy_growth_fell(&g, 190));
	assert_true(davy_growth_fell(&g, 200));
	davy_growth_add(&g, 160, 250);
	assert_false(davy_growth_fell(&g, 200));
}

static void the_largest_values_stay_in_range(void **state)
{
	(void)state;
	davy_growth_begin(&g, 1);
	for (uint64_t x = 1; x; x *= 2)
		davy_growth_add(&g, x, UINT64_MAX / x);
	assert_int_equal(g.width, DAVY_GROWTH_X_MAX / 8);
	davy_growth_begin(&g, 1);
	for (uint64_t x = 0; x < 8; x++)
		davy_growth_add(&g, x, x % 2 ? UINT64_MAX : 1);
	assert_true(davy_growth_trend(&g, &t));
	davy_growth_add(&g, UINT64_MAX, UINT64_MAX);
	davy_growth_begin(&g, UINT32_MAX / 2);
	davy_growth_add(&g, UINT64_MAX, 1);
	assert_int_equal(g.y[0], 1);
	t.slope_q20 = (int64_t)DAVY_GROWTH_Y_MAX << 20;
	t.x = 0;
	t.y = 1;
	assert_true(davy_trend_at(&t, UINT64_MAX) > 0);
	assert_int_equal(davy_trend_reach(&t, UINT64_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seven_points_are_no_line),
		cmocka_unit_test(a_line_is_found_and_drawn_on),
		cmocka_unit_test(outliers_do_not_change_the_slope),
		cmocka_unit_test(constant_or_falling_values_are_not_steady_growth),
		cmocka_unit_test(a_bin_keeps_its_largest_until_a_later_pass),
		cmocka_unit_test(a_fall_is_reported_at_the_next_bin),
		cmocka_unit_test(the_largest_values_stay_in_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

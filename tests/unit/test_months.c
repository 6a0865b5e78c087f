/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Simulated months with one fault, with several seeds: invariants of the tuner in all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab/months.h"

#define HISTORIES 100

static const uint64_t seeds[] = { 1, 20000, 7000000 };

#define SEEDS (sizeof(seeds) / sizeof(seeds[0]))

/* The months of each case and seed. */
static struct davy_months months[32][SEEDS];

static int play_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < davy_month_case_count; i++)
		for (size_t j = 0; j < SEEDS; j++)
			davy_months_run(&davy_month_cases[i], seeds[j], HISTORIES, &months[i][j]);
	return 0;
}

static void for_all(void (*holds)(const struct davy_month_case *c, const struct davy_months *m))
{
	for (size_t i = 0; i < davy_month_case_count; i++)
		for (size_t j = 0; j < SEEDS; j++)
			holds(&davy_month_cases[i], &months[i][j]);
}

/* Nothing but what a setting can help, and that every time and at any depth beyond one. */
static bool is_certain(const struct davy_month_case *c)
{
	return !c->chance_days && !c->one_in && !c->deeper;
}

static void is_within_bounds(const struct davy_month_case *c, const struct davy_months *m)
{
	(void)c;
	assert_int_equal(m->histories, HISTORIES);
	assert_int_equal(m->out_of_bounds, 0);
}

static void no_setting_is_outside_of_the_bounds(void **state)
{
	(void)state;
	for_all(is_within_bounds);
}

static void is_found(const struct davy_month_case *c, const struct davy_months *m)
{
	if (is_certain(c) && m->stayed < HISTORIES - 1)
		print_error("%s: %u of %u\n", c->name, m->stayed, m->histories);
	if (is_certain(c)) /* one may go on for too short to be as deep once more */
		assert_true(m->stayed >= HISTORIES - 1);
	else
		assert_true(m->stayed >= HISTORIES * (c->one_in ? 70 : c->deeper ? 80 : 92) / 100);
}

static void the_best_setting_is_found_and_kept(void **state)
{
	(void)state;
	for_all(is_found);
}

static void is_as_good_as_a_binary_search(const struct davy_month_case *c,
					  const struct davy_months *m)
{
	if (is_certain(c))
		assert_int_equal(m->over, 0);
	else if (!c->one_in)
		assert_true(m->over <= HISTORIES * (c->deeper ? 20 : 3) / 100);
}

static void with_no_more_failures_than_a_binary_search_needs(void **state)
{
	(void)state;
	for_all(is_as_good_as_a_binary_search);
}

/* In 90 days 4, 8 and 16 days after each other, of each backend. */
static void is_seldom_again(const struct davy_month_case *c, const struct davy_months *m)
{
	assert_true(m->climbs_at_once <= 1);
	if (is_certain(c))
		assert_true(m->later_most <= (c->dead ? 12 : 6));
}

static void a_bad_setting_is_rarely_tried_again(void **state)
{
	(void)state;
	for_all(is_seldom_again);
}

static void is_back(const struct davy_month_case *c, const struct davy_months *m)
{
	if (c->upgrade != DAVY_MONTH_MENDS)
		return;
	assert_true(m->never_back * 50 <= HISTORIES);
	assert_true(m->back_hours <= 3 * 24);
}

static void after_an_upgrade_that_mends_it_comes_back_up(void **state)
{
	(void)state;
	for_all(is_back);
}

static void is_let_alone_or_on_the_cpu(const struct davy_month_case *c, const struct davy_months *m)
{
	if (!c->class && !c->chance_days)
		assert_int_equal(m->touched, 0);
	if (c->dead == DAVY_BACKEND_COUNT && !c->upgrade)
		assert_true(m->on_cpu >= HISTORIES * 98 / 100); /* or on probation just then */
}

static void a_good_model_is_let_alone_and_one_that_always_dies_ends_on_the_cpu(void **state)
{
	(void)state;
	for_all(is_let_alone_or_on_the_cpu);
}

static void is_not_worn_down(const struct davy_month_case *c, const struct davy_months *m)
{
	if (!c->chance_days)
		return;
	assert_true(m->best_permille >= (c->setting < DAVY_TUNER_SETTINGS ? 930 : 980));
	if (c->setting == DAVY_TUNER_SETTINGS)
		assert_true(m->away_most_hours <= 12 * 24);
}

static void chance_does_not_wear_a_setting_down(void **state)
{
	(void)state;
	for_all(is_not_worn_down);
}

static void the_same_seed_is_the_same_months(void **state)
{
	struct davy_month first, second;

	(void)state;
	for (size_t i = 0; i < davy_month_case_count; i++) {
		davy_month_run(&davy_month_cases[i], 5, &first);
		davy_month_run(&davy_month_cases[i], 5, &second);
		assert_memory_equal(&first, &second, sizeof(first));
	}
	davy_month_run(&davy_month_cases[1], 6, &second);
	davy_month_run(&davy_month_cases[1], 5, &first);
	assert_memory_not_equal(&first, &second, sizeof(first));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_setting_is_outside_of_the_bounds),
		cmocka_unit_test(the_best_setting_is_found_and_kept),
		cmocka_unit_test(with_no_more_failures_than_a_binary_search_needs),
		cmocka_unit_test(a_bad_setting_is_rarely_tried_again),
		cmocka_unit_test(after_an_upgrade_that_mends_it_comes_back_up),
		cmocka_unit_test(
			a_good_model_is_let_alone_and_one_that_always_dies_ends_on_the_cpu),
		cmocka_unit_test(chance_does_not_wear_a_setting_down),
		cmocka_unit_test(the_same_seed_is_the_same_months),
	};

	return cmocka_run_group_tests(tests, play_all, NULL);
}

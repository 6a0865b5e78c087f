/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options parsed by their table, and numbers parsed from complete texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/log.h"
#include "lib/number.h"
#include "lib/options.h"

static struct {
	bool flag;
	const char *text;
	uint64_t number;
} got;

static bool take(void *number, const char *text)
{
	return davy_number(text, 10, number);
}

static int reads(enum davy_options_mode mode, const char *const *words)
{
	const struct davy_option options[] = {
		{ "flag", .flag = &got.flag },
		{ "text", .text = &got.text },
		{ "number", .take = take, .arg = &got.number },
		{ 0 },
	};
	char *argv[8] = { (char *)"verb" };
	int argc = 1;

	memset(&got, 0, sizeof(got));
	optind = 0; /* another command line */
	while (*words)
		argv[argc++] = (char *)*words++;
	return davy_options_read(argc, argv, mode, "usage\n", options);
}
#define READS(mode, ...) reads(mode, (const char *const[]){ __VA_ARGS__, NULL })

static void options_are_stored_as_in_the_table(void **state)
{
	(void)state;
	assert_int_equal(READS(DAVY_OPTIONS_ANYWHERE, "a", "--flag", "--text=b", "--number", "7"),
			 5);
	assert_true(got.flag);
	assert_string_equal(got.text, "b");
	assert_int_equal(got.number, 7);
	assert_int_equal(READS(DAVY_OPTIONS_FIRST, "a", "--flag"), 1);
	assert_false(got.flag);
	assert_int_equal(READS(DAVY_OPTIONS_FIRST, "--flag", "--", "--text"), 3);
	assert_null(got.text);
}

static void help_and_errors_return_an_exit_status(void **state)
{
	(void)state;
	assert_int_equal(READS(DAVY_OPTIONS_ANYWHERE, "-h", "--none"), -DAVY_EXIT_DONE);
	assert_int_equal(READS(DAVY_OPTIONS_ANYWHERE, "--help"), -DAVY_EXIT_DONE);
	assert_int_equal(READS(DAVY_OPTIONS_ANYWHERE, "--none"), -DAVY_EXIT_USAGE);
	assert_int_equal(READS(DAVY_OPTIONS_ANYWHERE, "--text"), -DAVY_EXIT_USAGE);
	assert_int_equal(READS(DAVY_OPTIONS_ANYWHERE, "--flag=1"), -DAVY_EXIT_USAGE);
	assert_int_equal(READS(DAVY_OPTIONS_ANYWHERE, "--number", "11"), -DAVY_EXIT_USAGE);
}

static void a_number_is_a_whole_text_of_digits(void **state)
{
	static const char *const wrong[] = {
		"", " 1", "+1", "-1", "1 ", "0x1", "1k", "11", "18446744073709551616",
	};
	uint64_t value = 5;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(davy_number(wrong[i], 10, &value));
	assert_int_equal(value, 5);
	assert_true(davy_number("010", 10, &value));
	assert_int_equal(value, 10);
	assert_true(davy_number("18446744073709551615", UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_stored_as_in_the_table),
		cmocka_unit_test(help_and_errors_return_an_exit_status),
		cmocka_unit_test(a_number_is_a_whole_text_of_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

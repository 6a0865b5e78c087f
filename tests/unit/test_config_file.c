/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threshold files of the operator: accepted values, and the message for a wrong line. */
#include "history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/config_file.h"
#include "store/config_value.h"

static char path[64];
static char error[DAVY_CONFIG_ERROR_LEN];

static int make_file(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/davylamp-unit-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static int read_bytes(const char *text, size_t size, struct davy_config *config)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
	error[0] = 0;
	return davy_config_file_read(path, config, error);
}

static int read_text(const char *text, struct davy_config *config)
{
	davy_config_defaults(config);
	return read_bytes(text, strlen(text), config);
}

static void thresholds_are_read_with_their_units(void **state)
{
	struct davy_config c;

	(void)state;
	assert_int_equal(read_text("[agent]\nmode = enforce\n[job_stall]\nlevel1 = 10 %\n"
				   "[eviction_storm]\nbytes = 1 GiB\nwindow = 3 s\n"
				   "[fault_storm]\ncount = 7\n",
				   &c),
			 0);
	assert_int_equal(c.value[DAVY_CFG_MODE], DAVY_MODE_ENFORCE);
	assert_int_equal(c.value[DAVY_CFG_STALL_LEVEL1], 100);
	assert_int_equal(c.value[DAVY_CFG_EVICTION_BYTES], 1LL << 30);
	assert_int_equal(c.value[DAVY_CFG_EVICTION_WINDOW_MS], 3000);
	assert_int_equal(c.value[DAVY_CFG_FAULT_COUNT], 7);
}

static void thresholds_of_some_are_read_beside_those_of_all(void **state)
{
	const struct davy_override *o;
	struct davy_config c;

	(void)state;
	assert_int_equal(read_text("[job_stall]\nlevel1 = 20 %\n"
				   "[job_stall driver=xe]\nlevel1 = 30 %\n"
				   "[job_stall\tdevice=0000:03:00.0 ]\nlevel1 = 31 %\n"
				   "[job_stall model=a name with blanks*]\nlevel1 = 32 %\n",
				   &c),
			 0);
	assert_int_equal(c.value[DAVY_CFG_STALL_LEVEL1], 200);
	assert_int_equal(c.override_count, 3);
	o = davy_config_override(&c, DAVY_SCOPE_MODEL, "a name with blanks*",
				 DAVY_CFG_STALL_LEVEL1);
	assert_int_equal(o->value, 320);
	assert_int_equal(davy_config_value_for(&c, DAVY_CFG_STALL_LEVEL1, "xe", "0000:03:00.0", ""),
			 310);
}

static void a_long_name_of_a_section_is_not_cut(void **state)
{
	static const char name[] = "qwen3-coder-30b-a3b-instruct-2507-unsloth-dynamic-q4_k_xl.gguf";
	struct davy_config c;
	char text[200];

	(void)state;
	snprintf(text, sizeof(text), "[engine_wedged model=%s]\ngraph_age = 1 min\n", name);
	assert_int_equal(read_text(text, &c), 0);
	assert_string_equal(c.override[0].name, name);
}

static const struct {
	const char *text;
	const char *says;
} wrong[] = {
	{ "[agnet]\n", ":1: unknown section 'agnet', expected agent, restart" },
	{ "[agnet]\n", "(did you mean 'agent'?)" },
	{ "[no_such]\n", "davylamp.conf(5)" },
	{ "[agent]\nmood = good\n", ":2: unknown key 'agent.mood', expected one of mode clear" },
	{ "[agent]\nmood = good\n", "(did you mean 'mode'?)" },
	{ "[agent]\nclear = 10\n", ":2: '10' of 'agent.clear' has no unit, expected a time" },
	{ "[agent]\nclear = 10 MiB\n", ":2: wrong unit 'MiB' of 'agent.clear', expected a time" },
	{ "[agent]\nclear = soon\n", ":2: wrong value 'soon' of 'agent.clear', expected a time" },
	{ "[agent]\nclear = -1 s\n", "wrong value '-1 s'" },
	{ "[agent]\nclear = 1.5 s\n", "wrong value '1.5 s'" },
	{ "[agent]\nclear = 48 h\n", "'48 h' of 'agent.clear' is out of range, expected 100 ms to "
				     "24 h" },
	{ "[agent]\nmode = bold\n", "expected observe, advise or enforce" },
	{ "[job_stall]\n\nlevel1 = 2000 %\n", ":3: '2000 %' of 'job_stall.level1' is out of range, "
					      "expected 1 % to 100 %" },
	{ "[eviction_storm]\nbytes = 1 KiB\n", "expected 1 MiB to 1024 TiB" },
	{ "[fault_storm]\ncount = 99999999999999999999\n", "expected 1 to 1000000" },
	{ "[fault_storm]\ncount = 5 s\n", "expected a whole number without a unit" },
	{ "[restart]\nbackoff = 9223372036854775807 h\n", "is out of range" },
	{ "nonsense\n", ":1: syntax error; expected '[section]', 'key = value'" },
	{ "clear = 1 s\n", ":1: 'clear' before the first section" },
	{ "[agent\n", ":1: '[' without ']'" },
	{ "[agent]\nclear = 1 s\n\n[agent]\nclear = 2 s\n", ":5: duplicate 'agent.clear'; "
							    "first set in line 2" },
	{ "[agent] clear = 1 s\n", ":1: unexpected 'clear = 1 s' after the section name" },
	{ "[restart]\t]\n", ":1: unexpected ']' after the section name" },
	{ "[job_stall gpu=x]\n", ":1: unknown word 'gpu=x' in section 'job_stall', expected "
				 "driver=NAME, device=ADDRESS or model=NAME" },
	{ "[job_stall xe]\n", "unknown word 'xe'" },
	{ "[job_stall driver=]\n", "'driver=' needs a name of 1 to 95 bytes" },
	{ "[restart driver=xe]\nbackoff = 1 s\n",
	  ":2: 'restart.backoff' cannot depend on a driver, device or model" },
	{ "[job_stall]\nlevel3 = 30 %\nlevel1 = 20 %\n",
	  ":2: 'job_stall.level2' is 50 %, expected at most 'job_stall.level3', which is 30 %" },
	{ "[restart]\nbackoff_max = 10 s\nbackoff = 10001 ms\n",
	  ":3: 'restart.backoff' is 10001 ms, expected at most 'restart.backoff_max', which is "
	  "10 s" },
	{ "[breaker]\nbackoff = 25 h\n", "which is 24 h" },
	{ "[exhaustion]\nlevel1 = 10 s\n",
	  ":2: 'exhaustion.level2' is 20 s, expected at most 'exhaustion.level1', which is 10 s" },
	{ "[job_headroom model=big*]\nlevel2 = 80 %\n",
	  ":2: 'job_headroom.level2' is 80 %, expected at most 'job_headroom.level3', which is "
	  "75 % for big*" },
	{ "[job_stall driver=xe]\nlevel1 = 60 %\n",
	  ":2: 'job_stall.level1' is 60 %, expected at most 'job_stall.level2', which is 50 % for "
	  "xe" },
	{ "[engine_wedged]\nsilent = 3 min\n", "'engine_wedged.silent_blind', which is 2 min" },
	{ "[engine_wedged]\ngraph_age = 3 min\n",
	  "'engine_wedged.first_graph_age', which is 2 min" },
	{ "[exhaustion]\nlevel2 = 4 s\n", "'exhaustion.level2', which is 4 s" },
	{ "[job_headroom]\nlevel1 = 51 %\n", "'job_headroom.level2', which is 50 %" },
	{ "[queue_thrash]\nshare = 60 %\n", "'queue_thrash.share3', which is 50 %" },
	{ "[job_stall driver=xe]\nlevel2 = 60 %\n[job_stall]\nlevel3 = 55 %\n", ":4: " },
};

static void a_wrong_line_names_the_expected_value_and_rejects_the_file(void **state)
{
	struct davy_config c, before;

	(void)state;
	davy_config_defaults(&before);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(read_text(wrong[i].text, &c), -EBADMSG);
		if (!strstr(error, wrong[i].says) || strncmp(error, path, strlen(path)) != 0)
			fail_msg("'%s' does not say '%s'", error, wrong[i].says);
		assert_memory_equal(&c, &before, sizeof(c));
	}
}

static void text_that_would_be_truncated_or_skipped_is_an_error(void **state)
{
	static const char zero[] = "[agent]\nclear = 1 s\n\0mode = enforce\n";
	static char text[300 * 1024];
	struct davy_config c;

	(void)state;
	snprintf(text, sizeof(text), "[agent]\n# %0196d\nclear = 1 s\n", 0);
	assert_int_equal(read_text(text, &c), 0);
	snprintf(text, sizeof(text), "[agent]\n# %0197d\nclear = 1 s\n", 0);
	assert_int_equal(read_text(text, &c), -EBADMSG);
	assert_non_null(strstr(error, ":2: a line of 199 bytes, expected at most 198"));
	davy_config_defaults(&c);
	assert_int_equal(read_bytes(zero, sizeof(zero) - 1, &c), -EBADMSG);
	assert_non_null(strstr(error, ":3: NUL byte"));
	memset(text, '\n', sizeof(text));
	assert_int_equal(read_bytes(text, sizeof(text), &c), -EBADMSG);
	assert_non_null(strstr(error, "longer than"));
}

static void blanks_comments_and_line_ends_do_not_matter(void **state)
{
	struct davy_config c;

	(void)state;
	assert_int_equal(read_text("\xef\xbb\xbf[agent] \t\r\n\t# note\r\n  clear=1s ; soon\r\n\n"
				   "   [restart] # note\n; note\nbackoff: 2 s",
				   &c),
			 0);
	assert_int_equal(c.value[DAVY_CFG_CLEAR_MS], 1000);
	assert_int_equal(c.value[DAVY_CFG_RESTART_BACKOFF_MS], 2000);
}

static void there_is_room_for_64_and_no_more(void **state)
{
	static char text[16384];
	size_t used = 0;
	struct davy_config c;

	(void)state;
	for (int i = 0; i < DAVY_OVERRIDES_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "[job_stall model=m%d]\nlevel1 = 20 %%\n", i);
	assert_int_equal(read_text(text, &c), 0);
	assert_int_equal(c.override_count, DAVY_OVERRIDES_MAX);
	snprintf(text + used, sizeof(text) - used, "[job_stall model=one]\nlevel1 = 20 %%\n");
	assert_int_equal(read_text(text, &c), -EBADMSG);
	assert_non_null(strstr(
		error, ":130: too many values for single drivers, devices or models (at most 64)"));
}

static void a_hostile_name_is_made_safe_to_show(void **state)
{
	struct davy_config c;

	(void)state;
	assert_int_equal(read_text("[\x1b[31m]\n", &c), -EBADMSG);
	assert_null(strchr(error, '\x1b'));
	assert_non_null(strstr(error, "unknown section '\\x1b[31m'"));
}

static void values_are_shown_in_the_largest_unit_that_fits(void **state)
{
	static const struct {
		enum davy_unit unit;
		int64_t value;
		const char *text;
	} shown[] = {
		{ DAVY_UNIT_MS, 0, "0 s" },
		{ DAVY_UNIT_MS, 1500, "1500 ms" },
		{ DAVY_UNIT_MS, 90000, "90 s" },
		{ DAVY_UNIT_MS, 7 * 86400000LL, "168 h" },
		{ DAVY_UNIT_BYTES, 1000, "1000 B" },
		{ DAVY_UNIT_BYTES, 3LL << 20, "3 MiB" },
		{ DAVY_UNIT_BYTES, 1LL << 50, "1024 TiB" },
		{ DAVY_UNIT_PERMILLE, 250, "25 %" },
		{ DAVY_UNIT_PERMILLE, 255, "25.5 %" },
		{ DAVY_UNIT_COUNT, 64, "64" },
		{ DAVY_UNIT_MODE, DAVY_MODE_ADVISE, "advise" },
	};
	char text[DAVY_CONFIG_VALUE_LEN];
	int64_t back;

	(void)state;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		davy_config_value_text(shown[i].unit, shown[i].value, text);
		assert_string_equal(text, shown[i].text);
		if (strchr(text, '.'))
			continue;
		assert_int_equal(davy_config_value(shown[i].unit, text, &back), 0);
		assert_int_equal(back, shown[i].value);
	}
}

static void every_default_is_in_its_range_and_in_order(void **state)
{
	struct davy_config_order order;

	(void)state;
	for (int i = 0; i < DAVY_CFG_COUNT; i++) {
		const struct davy_config_row *row = &davy_config_rows[i];

		assert_non_null(row->name);
		assert_true(row->min <= row->value && row->value <= row->max);
		assert_int_equal(davy_config_find(row->name), i); /* and no name twice */
	}
	for (size_t i = 0; davy_config_order(i, &order); i++) {
		assert_int_equal(davy_config_rows[order.low].unit,
				 davy_config_rows[order.high].unit);
		assert_true(davy_config_rows[order.low].value <=
			    davy_config_rows[order.high].value);
	}
}

static void the_shipped_file_has_the_defaults_of_the_code(void **state)
{
	struct davy_config c, defaults;

	(void)state;
	davy_config_defaults(&defaults);
	memset(&c, 0, sizeof(c));
	error[0] = 0;
	assert_int_equal(davy_config_file_read("policies/hazards.conf", &c, error), 0);
	assert_memory_equal(&c, &defaults, sizeof(c)); /* each key is in it, with its default */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thresholds_are_read_with_their_units),
		cmocka_unit_test(thresholds_of_some_are_read_beside_those_of_all),
		cmocka_unit_test(a_long_name_of_a_section_is_not_cut),
		cmocka_unit_test(a_wrong_line_names_the_expected_value_and_rejects_the_file),
		cmocka_unit_test(text_that_would_be_truncated_or_skipped_is_an_error),
		cmocka_unit_test(blanks_comments_and_line_ends_do_not_matter),
		cmocka_unit_test(there_is_room_for_64_and_no_more),
		cmocka_unit_test(a_hostile_name_is_made_safe_to_show),
		cmocka_unit_test(values_are_shown_in_the_largest_unit_that_fits),
		cmocka_unit_test(every_default_is_in_its_range_and_in_order),
		cmocka_unit_test(the_shipped_file_has_the_defaults_of_the_code),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}

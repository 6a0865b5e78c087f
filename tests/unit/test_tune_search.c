/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tuned thresholds, the search for better ones, the written result, and the layers. */
#include "tune_dir.h"

static void only_thresholds_of_hazards_are_tuned(void **state)
{
	static struct davy_search search;
	size_t keys = 0, count;

	(void)state;
	memset(&search, 0, sizeof(search));
	davy_config_defaults(&search.base);
	assert_true(davy_search_key(DAVY_CFG_STALL_LEVEL1));
	assert_true(davy_search_key(DAVY_CFG_EVICTION_BYTES));
	assert_false(davy_search_key(DAVY_CFG_MODE));
	assert_false(davy_search_key(DAVY_CFG_ACTS_PER_HOUR));
	assert_false(davy_search_key(DAVY_CFG_BREAKER_SOAK_MS));
	for (int key = 0; key < DAVY_CFG_COUNT; key++)
		keys += davy_search_key(key);
	davy_search_add_all(&search);
	assert_true(search.count > keys && search.count <= 2 * keys);
	for (size_t i = 0; i < search.count; i++) {
		const struct davy_config_row *row = &davy_config_rows[search.candidate[i].key];
		int64_t value = search.candidate[i].value;

		assert_true(value >= row->min && value <= row->max && value != row->value);
	}
	count = search.count;
	assert_int_equal(davy_search_add(&search, DAVY_CFG_STALL_LEVEL1, 1001), -34);
	assert_int_equal(davy_search_add(&search, DAVY_CFG_STALL_LEVEL1, 510),
			 -22); /* level2: 500 */
	assert_int_equal(davy_search_add(&search, DAVY_CFG_STALL_LEVEL3, 490), -22);
	assert_int_equal(davy_search_add(&search, DAVY_CFG_STALL_LEVEL1, 250), 0); /* as it is */
	assert_int_equal(search.count, count);
	assert_int_equal(davy_search_add(&search, DAVY_CFG_STALL_LEVEL1, 300), 0);
	assert_int_equal(davy_search_add(&search, DAVY_CFG_STALL_LEVEL1, 300), 0); /* again */
	assert_int_equal(search.count, count + 1);
}

static void a_better_threshold_is_found_and_written(void **state)
{
	static struct davy_search search;
	struct davy_cases cases = { 0 };
	struct davy_config back;
	char *sources[] = { (char *)"a very long word\nwith a = line break in it and more "
				    "than one line of a file may have, so that what is written "
				    "must be cut or else be read as something that it is not, "
				    "[agent] mode = enforce" };
	char error[DAVY_CONFIG_ERROR_LEN], text[4096];

	(void)state;
	memset(&search, 0, sizeof(search));
	without_headroom(&search.base);
	search.base.value[DAVY_CFG_STALL_LEVEL2] = 900;
	search.base.value[DAVY_CFG_STALL_LEVEL3] = 1000;
	search.base.value[DAVY_CFG_MODE] = DAVY_MODE_ENFORCE; /* no threshold: not written */
	assert_int_equal(davy_search_add(&search, DAVY_CFG_STALL_LEVEL2, 500), 0);
	assert_int_equal(davy_search_add(&search, DAVY_CFG_STALL_LEVEL2, 1000), 0);
	assert_int_equal(davy_search_add(&search, DAVY_CFG_FAULT_COUNT, 20), 0);
	assert_int_equal(
		davy_synth_write(davy_scenario_find("prefill_2s"), 9, 60 * S, in_dir("p.trace")),
		0);
	assert_int_equal(davy_cases_add(&cases, path), 0);
	assert_int_equal(davy_search_run(&search, &cases, 2), 0);
	assert_int_equal(search.taken_count, 1);
	assert_true(search.candidate[0].taken);
	assert_int_equal(search.proposal.value[DAVY_CFG_STALL_LEVEL2], 500);
	assert_int_equal(search.proposal.value[DAVY_CFG_FAULT_COUNT], 10);
	assert_true(search.after.all.ratio_permille > search.before.all.ratio_permille);
	assert_int_equal(davy_tune_apply(&search, &cases, in_dir("hazards.conf"), sources, 1), 0);
	davy_config_defaults(&back);
	assert_int_equal(davy_config_file_read(path, &back, error), 0);
	assert_int_equal(back.value[DAVY_CFG_STALL_LEVEL3], 1000);
	assert_int_equal(back.value[DAVY_CFG_MODE], DAVY_MODE_ADVISE);
	assert_true(davy_read_file(path, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "seeds 9 to 9"));
	assert_int_equal(davy_tune_apply(&search, &cases, path, sources, 1), 0); /* its own */
	write_text("hazards.conf", "[agent]\n", 8);
	assert_int_equal(davy_tune_apply(&search, &cases, path, sources, 1), -17);
	davy_search_free(&search);
	davy_cases_free(&cases);
}

static void the_initial_values_are_written_too(void **state)
{
	static struct davy_search search;
	static const char people[] = "[job_stall]\nlevel1 = 12 %\n[fault_storm]\ncount = 10\n"
				     "[job_stall driver=xe]\nlevel2 = 45 %\n"
				     "[reset device=0000:03:00.0]\nagain = 9 min\n";
	struct davy_cases cases = { 0 };
	char error[DAVY_CONFIG_ERROR_LEN], text[4096];
	struct davy_config back;

	(void)state;
	memset(&search, 0, sizeof(search));
	davy_config_defaults(&search.base);
	search.base.value[DAVY_CFG_STALL_LEVEL2] = 400;
	search.base.value[DAVY_CFG_FAULT_COUNT] = 20;
	assert_true(davy_config_set_for(&search.base, DAVY_SCOPE_DRIVER, "xe", "job_stall.level2",
					450));
	assert_true(
		davy_config_set_for(&search.base, DAVY_SCOPE_MODEL, "a b*", "reset.again", 60000));
	search.proposal = search.base;
	search.proposal.value[DAVY_CFG_FAULT_COUNT] = 10; /* as shipped, not as in --policy */
	assert_int_equal(davy_tune_apply(&search, &cases, in_dir("hazards.conf"), NULL, 0), 0);
	assert_true(davy_read_file(path, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "[fault_storm]\ncount = 10\n"));
	davy_config_defaults(&back);
	back.value[DAVY_CFG_FAULT_COUNT] = 20; /* what another layer may have */
	assert_int_equal(davy_config_file_read(path, &back, error), 0);
	assert_memory_equal(&back, &search.proposal, sizeof(back));
	assert_int_equal(davy_tune_shadowed(&search, in_dir("none"), text, sizeof(text)), 0);
	assert_string_equal(text, "");
	write_text("people.conf", people, strlen(people));
	assert_int_equal(davy_tune_shadowed(&search, path, text, sizeof(text)), 0);
	assert_string_equal(text, "job_stall.level1, reset.again for 0000:03:00.0");
	write_text("people.conf", "[job_stall]\nlevel1 = 45 %\n", 27); /* above the level2 found */
	assert_int_equal(davy_tune_shadowed(&search, path, text, sizeof(text)), -74);
}

static void a_value_is_written_as_it_is_read(void **state)
{
	static const struct {
		enum davy_unit unit;
		int64_t value;
		const char *text;
	} values[] = {
		{ DAVY_UNIT_MS, 300, "300 ms" },
		{ DAVY_UNIT_MS, 1500, "1500 ms" },
		{ DAVY_UNIT_MS, 2000, "2 s" },
		{ DAVY_UNIT_MS, 90000, "90 s" },
		{ DAVY_UNIT_MS, 1800000, "30 min" },
		{ DAVY_UNIT_MS, 86400000, "24 h" },
		{ DAVY_UNIT_BYTES, 1 << 28, "256 MiB" },
		{ DAVY_UNIT_BYTES, 1000, "1000 B" },
		{ DAVY_UNIT_PERMILLE, 250, "25 %" },
		{ DAVY_UNIT_COUNT, 7, "7" },
		{ DAVY_UNIT_COUNT, 0, "0" },
		{ DAVY_UNIT_MODE, 2, "enforce" },
	};
	char text[DAVY_CONFIG_VALUE_LEN];
	int64_t back;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		davy_config_value_text(values[i].unit, values[i].value, text);
		assert_string_equal(text, values[i].text);
		assert_int_equal(davy_config_value(values[i].unit, text, &back), 0);
		assert_int_equal(back, values[i].value);
	}
	for (int key = 0; key < DAVY_CFG_COUNT; key++) {
		const struct davy_config_row *row = &davy_config_rows[key];

		davy_config_value_text(row->unit, row->value, text);
		assert_int_equal(davy_config_value(row->unit, text, &back), 0);
		assert_int_equal(back, row->value);
	}
	assert_int_equal(davy_config_value_round(DAVY_UNIT_PERMILLE, 188), 190);
	assert_int_equal(davy_config_value_round(DAVY_UNIT_MS, 1503), 1503);
}

static void put_layer(const char *layer, const char *text)
{
	char name[64];

	mkdir(in_dir(layer), 0700);
	snprintf(name, sizeof(name), "%s/hazards.conf", layer);
	write_text(name, text, strlen(text));
}

static int read_layers(struct davy_config *config, char error[DAVY_CONFIG_ERROR_LEN])
{
	char data[128], state[128], people[128];

	snprintf(data, sizeof(data), "%s/data", dir);
	snprintf(state, sizeof(state), "%s/state", dir);
	snprintf(people, sizeof(people), "%s/people", dir);
	return davy_config_dirs_read(data, state, people, config, error);
}

static void tuned_values_are_between_shipped_and_the_operators_layers(void **state)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	struct davy_config c;

	(void)state;
	assert_int_equal(read_layers(&c, error), 0); /* none of them is there */
	assert_int_equal(c.value[DAVY_CFG_STALL_LEVEL2], 500);
	put_layer("data", "[job_stall]\nlevel1 = 20 %\nlevel2 = 45 %\n[fault_storm]\ncount = 11\n");
	put_layer("state",
		  "[job_stall]\nlevel2 = 40 %\nlevel3 = 55 %\n[fault_storm]\ncount = 12\n");
	put_layer("people", "[fault_storm]\ncount = 13\n");
	assert_int_equal(read_layers(&c, error), 0);
	assert_string_equal(error, "");
	assert_int_equal(c.value[DAVY_CFG_STALL_LEVEL1], 200);
	assert_int_equal(c.value[DAVY_CFG_STALL_LEVEL2], 400);
	assert_int_equal(c.value[DAVY_CFG_FAULT_COUNT], 13);
	put_layer("people", "[job_stall]\nlevel2 = 60 %\n"); /* above the tuned level3 */
	assert_int_equal(read_layers(&c, error), 0);
	assert_true(error[0]);
	assert_int_equal(c.value[DAVY_CFG_STALL_LEVEL2], 600);
	assert_int_equal(c.value[DAVY_CFG_STALL_LEVEL3], 750);
	assert_int_equal(c.value[DAVY_CFG_FAULT_COUNT], 11);
	put_layer("people", "");
	put_layer("state", "[job_stall]\nlevel9 = 1 %\n");
	assert_int_equal(read_layers(&c, error), 0);
	assert_non_null(strstr(error, "state/hazards.conf:2"));
	assert_int_equal(c.value[DAVY_CFG_STALL_LEVEL2], 450);
	put_layer("people", "[job_stall]\nlevel2 = 90 %\n"); /* invalid */
	assert_int_equal(read_layers(&c, error), -74);
	assert_non_null(strstr(error, "people/hazards.conf:2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_thresholds_of_hazards_are_tuned),
		IN_DIR(a_better_threshold_is_found_and_written),
		IN_DIR(the_initial_values_are_written_too),
		cmocka_unit_test(a_value_is_written_as_it_is_read),
		IN_DIR(tuned_values_are_between_shipped_and_the_operators_layers),
	};

	return cmocka_run_group_tests_name("tune_search", tests, NULL, NULL);
}

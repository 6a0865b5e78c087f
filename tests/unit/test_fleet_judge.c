/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of a fleet from the evidence of its hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/event/log_kind.h"
#include "fleet/fleet_rules.h"
#include "fleet/judge.h"
#include "store/policy_file.h"

static struct davy_fleet_table failed, lived;
static struct davy_fleet_row own[8];
static size_t own_count;
static struct davy_fleet_device gpu = { "1002:744c", "amdgpu 6.12" };
static struct davy_fleet_rule rule[DAVY_FLEET_RULES_MAX];

static int begin(void **state)
{
	(void)state;
	davy_fleet_clear(&failed);
	davy_fleet_clear(&lived);
	own_count = 0;
	return 0;
}

static struct davy_fleet_row row_of(unsigned int host, uint32_t ubatch, uint64_t survived_s,
				    enum davy_log_class class, uint32_t count)
{
	struct davy_ledger_row row = { .key = { .backend = DAVY_BACKEND_VULKAN, .ubatch = ubatch },
				       .entry = { .survived_s = survived_s, .last_s = 1000 } };
	struct davy_fleet_row e;
	char name[16];

	snprintf(name, sizeof(name), "h%u", host);
	strcpy(row.key.model, "/srv/models/m.gguf");
	strcpy(row.key.environment.driver, gpu.driver);
	strcpy(row.key.environment.engine, "llama-server 0.7.0");
	row.entry.faults[class] = count;
	assert_true(davy_fleet_row_of(&row, name, "1002:744c", &e));
	return e;
}

static void fails(unsigned int host, uint32_t ubatch, enum davy_log_class class, uint32_t count)
{
	struct davy_fleet_row e = row_of(host, ubatch, 60, class, count);

	assert_int_equal(davy_fleet_put(&failed, &e), DAVY_FLEET_ROW_TAKEN);
}

static void lives(unsigned int host, uint32_t ubatch, uint64_t survived_s)
{
	struct davy_fleet_row e = row_of(host, ubatch, survived_s, DAVY_CLASS_NONE, 0);

	assert_int_equal(davy_fleet_put(&lived, &e), DAVY_FLEET_ROW_TAKEN);
}

static size_t judge(void)
{
	const struct davy_judge_question q = { .host = "me",
					       .quorum = 3,
					       .share = 10,
					       .device = &gpu,
					       .device_count = 1,
					       .own = own,
					       .own_count = own_count,
					       .failed = &failed,
					       .lived = &lived,
					       .lived_scale = 100 };

	return davy_fleet_judge(&q, rule);
}

static void three_hosts_make_a_rule_and_two_do_not(void **state)
{
	(void)state;
	fails(1, 512, DAVY_CLASS_DEVICE_LOST, 1);
	fails(2, 512, DAVY_CLASS_RING_TIMEOUT, 2);
	assert_int_equal(judge(), 0);
	fails(2, 1024, DAVY_CLASS_RING_TIMEOUT, 2); /* the same host again */
	assert_int_equal(judge(), 0);
	fails(3, 512, DAVY_CLASS_HANG, 1);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].verdict, DAVY_FLEET_TAKE);
	assert_int_equal(rule[0].bad, 512);
	assert_int_equal(rule[0].ubatch, 256);
	assert_int_equal(rule[0].hosts_bad, 3);
	assert_int_equal(rule[0].faults[DAVY_CLASS_RING_TIMEOUT], 4);
}

/* The engine's default is 512; who fails with less fails with more. */
static void a_smaller_size_that_fails_counts_for_larger_ones(void **state)
{
	(void)state;
	fails(1, 0, DAVY_CLASS_DEVICE_LOST, 1);
	fails(2, 256, DAVY_CLASS_DEVICE_LOST, 1);
	fails(3, 128, DAVY_CLASS_DEVICE_LOST, 1);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].bad, 512);
}

static void the_narrower_value_is_one_that_lives(void **state)
{
	(void)state;
	for (unsigned int i = 1; i <= 3; i++)
		fails(i, 1024, DAVY_CLASS_OOM_VRAM, 1);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].ubatch, 512);
	lives(7, 128, 7200);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].ubatch, 128);
	assert_int_equal(rule[0].hosts_narrow, 1);
	begin(NULL);
	for (unsigned int i = 1; i <= 3; i++) {
		struct davy_fleet_row e = row_of(i, 1024, 60, DAVY_CLASS_HANG, 1);

		e.learned = 96;
		davy_fleet_put(&failed, &e);
	}
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].ubatch, 96);
}

/* Three failing hosts of a thousand are their own problem. */
static void most_hosts_outweigh_a_few(void **state)
{
	(void)state;
	for (unsigned int i = 1; i <= 3; i++)
		fails(i, 512, DAVY_CLASS_DEVICE_LOST, 1);
	for (unsigned int i = 10; i < 37; i++)
		lives(i, 512, 7200);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].verdict, DAVY_FLEET_TAKE); /* 3 of 30 */
	lives(50, 512, 7200);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].verdict, DAVY_FLEET_NO_SHARE);
	assert_int_equal(rule[0].hosts_good, 28);
}

static void this_hosts_survival_contradicts(void **state)
{
	(void)state;
	for (unsigned int i = 1; i <= 3; i++)
		fails(i, 512, DAVY_CLASS_DEVICE_LOST, 1);
	own[own_count++] = row_of(99, 512, 7200, DAVY_CLASS_NONE, 0);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].verdict, DAVY_FLEET_CONTRADICTED);
	own[0].entry.survived_s = 600; /* ten minutes are no proof */
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].verdict, DAVY_FLEET_TAKE);
}

static void another_driver_device_or_build_is_not_this_host(void **state)
{
	(void)state;
	for (unsigned int i = 1; i <= 3; i++)
		fails(i, 512, DAVY_CLASS_DEVICE_LOST, 1);
	strcpy(gpu.driver, "amdgpu 6.1");
	assert_int_equal(judge(), 0);
	strcpy(gpu.driver, "amdgpu 6.12");
	strcpy(gpu.device, "1002:73bf");
	assert_int_equal(judge(), 0);
	strcpy(gpu.device, "1002:744c");
	own[own_count++] = row_of(99, 512, 60, DAVY_CLASS_NONE, 0);
	strcpy(own[0].environment.engine, "llama-server 0.8.0");
	assert_int_equal(judge(), 0);
	strcpy(own[0].environment.engine, "ollama 0.9"); /* says nothing about llama-server */
	assert_int_equal(judge(), 1);
}

static void a_narrower_value_that_fails_more_often_is_withdrawn(void **state)
{
	(void)state;
	for (unsigned int i = 1; i <= 3; i++)
		fails(i, 512, DAVY_CLASS_DEVICE_LOST, 1);
	for (unsigned int i = 4; i <= 6; i++)
		fails(i, 256, DAVY_CLASS_DEVICE_LOST, 9);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].bad, 256);
	assert_int_equal(rule[0].verdict, DAVY_FLEET_WITHDRAWN);
	begin(NULL);
	for (unsigned int i = 1; i <= 3; i++)
		fails(i, 512, DAVY_CLASS_DEVICE_LOST, 9);
	for (unsigned int i = 4; i <= 6; i++)
		fails(i, 256, DAVY_CLASS_DEVICE_LOST, 1);
	assert_int_equal(judge(), 1);
	assert_int_equal(rule[0].verdict, DAVY_FLEET_TAKE); /* narrower still */
	assert_int_equal(rule[0].ubatch, 128);
}

static struct davy_policy_layer layer;
static char error[DAVY_CONFIG_ERROR_LEN];

static void read_layer(size_t count)
{
	static const bool taken[DAVY_FLEET_RULES_MAX] = { true, true };
	char *text = davy_fleet_rules_text(rule, taken, count, 12, 4711);

	assert_non_null(text);
	if (davy_policy_text_read(text, strlen(text), "f", DAVY_LAYER_FLEET, &layer, error))
		fail_msg("%s", error);
	free(text);
}

static void a_rule_is_a_text_that_the_policy_reads(void **state)
{
	const struct davy_rule *r = &layer.rule[0];

	(void)state;
	for (unsigned int i = 1; i <= 3; i++)
		fails(i, 512, DAVY_CLASS_DEVICE_LOST, 1);
	lives(7, 256, 7200);
	read_layer(judge());
	assert_int_equal(layer.rule_count, 1);
	assert_int_equal(r->value_count, 1);
	assert_int_equal(r->value[0].number, 256);
	assert_string_equal(davy_policy_text(&layer, r->condition[DAVY_IF_PCI].text), "1002:744c");
	assert_string_equal(davy_policy_text(&layer, r->condition[DAVY_IF_ENGINE].text),
			    "llama-server");
	assert_string_equal(
		davy_policy_text(&layer, r->reason),
		"3 hosts failed with ubatch 512 (3 device_lost), 1 survived 2 h with less");
	assert_string_equal(davy_policy_text(&layer, r->source),
			    "fleet of 12 hosts, revision 4711");
}

/* An engine that cannot start with a backend is not helped by a smaller batch. */
static void failing_starts_avoid_the_backend(void **state)
{
	enum davy_backend list[DAVY_BACKEND_COUNT];

	(void)state;
	for (unsigned int i = 1; i <= 3; i++)
		fails(i, 512, DAVY_CLASS_RUNNER_CRASH_INIT, 1);
	read_layer(judge());
	assert_int_equal(layer.rule_count, 1);
	assert_int_equal(layer.rule[0].value[0].key, DAVY_POLICY_BACKENDS);
	assert_int_equal(davy_backends_unpack(layer.rule[0].value[0].number, list), 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_not_equal(list[i], DAVY_BACKEND_VULKAN);
	assert_int_equal(layer.rule[0].value[1].key, DAVY_POLICY_WARN);
}

static void a_row_has_no_path_and_reads_back(void **state)
{
	struct davy_fleet_row e = row_of(1, 512, 60, DAVY_CLASS_HANG, 2), back;
	json_t *o;
	char *text;

	(void)state;
	strcpy(e.environment.firmware, "mes 0x83");
	e = row_of(1, 512, 60, DAVY_CLASS_HANG, 2);
	o = davy_fleet_row_json(&e);
	text = json_dumps(o, 0);
	assert_null(strstr(text, "srv"));
	assert_null(strstr(text, "gguf"));
	assert_true(davy_fleet_row_read("h1", e.id, text, strlen(text), &back));
	assert_memory_equal(&back.entry, &e.entry, sizeof(e.entry));
	assert_int_equal(back.group, e.group);
	assert_false(davy_fleet_row_read("h1", "0123456789abcdef", text, strlen(text), &back));
	assert_false(davy_fleet_row_read("h/1", e.id, text, strlen(text), &back));
	free(text);
	json_object_set_new(o, "engine", json_string("sh -c 'x' /bin"));
	text = json_dumps(o, 0);
	assert_false(davy_fleet_row_read("h1", e.id, text, strlen(text), &back));
	free(text);
	json_decref(o);
}

static void a_host_has_a_bounded_share_and_old_rows_change_nothing(void **state)
{
	struct davy_fleet_row e;

	(void)state;
	for (unsigned int i = 0; i < DAVY_FLEET_SHARE; i++) {
		e = row_of(1, 32 + i, 60, DAVY_CLASS_HANG, 1);
		assert_int_equal(davy_fleet_put(&failed, &e), DAVY_FLEET_ROW_TAKEN);
	}
	e = row_of(1, 4096, 60, DAVY_CLASS_HANG, 1);
	assert_int_equal(davy_fleet_put(&failed, &e), DAVY_FLEET_ROW_TOO_MANY);
	e = row_of(1, 32, 60, DAVY_CLASS_HANG, 7);
	e.entry.last_s = 999;
	assert_int_equal(davy_fleet_put(&failed, &e), DAVY_FLEET_ROW_OLDER);
	assert_int_equal(failed.row[0].entry.faults[DAVY_CLASS_HANG], 1);
	assert_int_equal(failed.count, DAVY_FLEET_SHARE);
}

/* Whatever k hosts below the quorum say, no rule follows. */
static void liars_below_the_quorum_change_nothing(void **state)
{
	unsigned int seed = 4711;

	(void)state;
	for (int round = 0; round < 500; round++) {
		begin(NULL);
		for (int i = 0; i < 40; i++) {
			struct davy_fleet_row e =
				row_of((unsigned int)rand_r(&seed) % 2, 32u << rand_r(&seed) % 8,
				       (uint64_t)rand_r(&seed) % 100000,
				       DAVY_CLASS_PAGE_FAULT + rand_r(&seed) % 12,
				       (uint32_t)rand_r(&seed) % 1000);

			davy_fleet_put(rand_r(&seed) % 2 ? &failed : &lived, &e);
		}
		assert_int_equal(judge(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(three_hosts_make_a_rule_and_two_do_not, begin),
		cmocka_unit_test_setup(a_smaller_size_that_fails_counts_for_larger_ones, begin),
		cmocka_unit_test_setup(the_narrower_value_is_one_that_lives, begin),
		cmocka_unit_test_setup(most_hosts_outweigh_a_few, begin),
		cmocka_unit_test_setup(this_hosts_survival_contradicts, begin),
		cmocka_unit_test_setup(another_driver_device_or_build_is_not_this_host, begin),
		cmocka_unit_test_setup(a_narrower_value_that_fails_more_often_is_withdrawn, begin),
		cmocka_unit_test_setup(a_rule_is_a_text_that_the_policy_reads, begin),
		cmocka_unit_test_setup(failing_starts_avoid_the_backend, begin),
		cmocka_unit_test_setup(a_row_has_no_path_and_reads_back, begin),
		cmocka_unit_test_setup(a_host_has_a_bounded_share_and_old_rows_change_nothing,
				       begin),
		cmocka_unit_test_setup(liars_below_the_quorum_change_nothing, begin),
	};

	return cmocka_run_group_tests(tests, NULL, begin);
}

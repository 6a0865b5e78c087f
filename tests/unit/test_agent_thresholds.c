/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thresholds that tune themselves: samples in the database, adoption, rollback, replay. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "raw_db.h"

#include <errno.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/policy/agent_policy.h"
#include "store/layer_change.h"
#include "store/ledger.h"
#include "store/samples.h"
#include "store/versions.h"

#define GPU   "0000:03:00.0"
#define MODEL "tiny.gguf"
#define HOUR  (3600 * DAVY_NS_PER_S)
#define MS    DAVY_NS_PER_MS

static struct davy_agent agent;
static char dirs[3][128]; /* data, state, config */
static uint64_t now_ns, seqno;

static void feed(struct davy_event *ev)
{
	ev->at_ns = now_ns;
	davy_agent_feed(&agent, ev);
}

static void start_agent(int mode)
{
	struct davy_event ev = { .kind = DAVY_EV_PROCESS, .pid = 60 };
	struct davy_event clock = { .kind = DAVY_EV_CLOCK, .clock.wall_s = 1800000000 };
	char error[DAVY_CONFIG_ERROR_LEN];

	free(agent.rules);
	memset(&agent, 0, sizeof(agent));
	agent.terminal = true; /* its messages are kept, not printed */
	agent.options = (struct davy_agent_options){
		.mode = mode, .data_dir = dirs[0], .state_dir = dirs[1], .config_dir = dirs[2]
	};
	davy_core_init(&agent.core);
	assert_int_equal(davy_policy_read(&agent, error), 0);
	davy_policy_feed(&agent);
	davy_policy_rules_open(&agent);
	clock.clock.wall_s += now_ns / DAVY_NS_PER_S;
	feed(&clock);
	ev.process.start_ticks = 1;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	davy_copy_name(ev.process.model, sizeof(ev.process.model), MODEL);
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	feed(&ev);
}

static int new_agent(void **state)
{
	static const char *const names[] = { "data", "state", "config" };

	if (make_root(state))
		return -1;
	davy_root_set("");
	for (size_t i = 0; i < 3; i++)
		snprintf(dirs[i], sizeof(dirs[i]), "%s/%s", root, names[i]);
	now_ns = davy_boot_ns() + HOUR;
	return 0;
}

static int end_agent(void **state)
{
	free(agent.rules);
	agent.rules = NULL;
	return remove_root(state);
}

static void ticks(uint64_t ns)
{
	for (uint64_t end_ns = now_ns + ns; now_ns < end_ns;) {
		struct davy_event ev = { .kind = DAVY_EV_TICK };

		now_ns += DAVY_NS_PER_S * 10;
		feed(&ev);
	}
	davy_agent_thresholds_tick(&agent);
}

static void job_of(uint64_t permille)
{
	struct davy_event ev = { .kind = DAVY_EV_RING, .pid = 60 };

	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), GPU);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), "comp_1.0.0");
	ev.ring.timeout_ns = 10 * DAVY_NS_PER_S;
	ev.ring.fence_seqno = ++seqno;
	for (uint64_t at = 50; at <= permille; at += 50) {
		now_ns += 500 * MS;
		ev.ring.age_ns = at * 10 * MS;
		feed(&ev);
	}
}

/* Two long jobs that end in time; their alarm ends, and no failure comes. */
static void false_alarm(void)
{
	job_of(550);
	job_of(650);
	ticks(13 * HOUR);
}

/* A reset at 65 % of the timeout. */
static void early_reset(void)
{
	struct davy_event ev = { .kind = DAVY_EV_RESET, .reset.begun = true };

	job_of(550);
	job_of(650);
	now_ns += DAVY_NS_PER_S;
	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
	feed(&ev);
	ticks(HOUR);
}

static int64_t in_force(void)
{
	return davy_config_value_for(&agent.core.config, DAVY_CFG_STALL_LEVEL2, "", GPU, MODEL);
}

static int newest(struct davy_version *ret_version, char **ret_text)
{
	struct davy_db *db = NULL;
	int number;

	assert_int_equal(davy_db_open(dirs[1], DAVY_DB_MAKE, &db), 0);
	number = davy_version_newest(db);
	if (number > 0)
		assert_int_equal(davy_version_get(db, (uint32_t)number, ret_version, ret_text), 0);
	davy_db_close(db);
	return number;
}

static void in_mode_enforce_a_version_has_the_value_and_its_evidence(void **state)
{
	struct davy_version v;
	char *text = NULL;

	(void)state;
	start_agent(DAVY_MODE_ENFORCE);
	false_alarm();
	false_alarm();
	assert_int_equal(in_force(), 500);
	false_alarm();
	assert_int_equal(in_force(), 660);
	assert_int_equal(newest(&v, &text), 1);
	assert_string_equal(v.reason, "job_stall.level2 from 50 % to 66 % for '" MODEL
				      "': fewer false alarms");
	assert_non_null(strstr(v.evidence, "3 false alarms since the last change, 3 of them"));
	assert_non_null(strstr(text, "threshold = job_stall.level2 66 %\n"));
	assert_non_null(strstr(text, "if model = " MODEL "\n"));
	free(text);
	assert_int_equal(davy_config_value_for(&agent.core.config, DAVY_CFG_STALL_LEVEL2, "", GPU,
					       "other.gguf"),
			 500);
	false_alarm();
	assert_int_equal(number_sql("SELECT count(*) FROM sample WHERE result = 1"), 3);
}

static void a_missed_failure_takes_the_version_back(void **state)
{
	struct davy_version v;
	char *text = NULL;

	(void)state;
	start_agent(DAVY_MODE_ENFORCE);
	for (int i = 0; i < 3; i++)
		false_alarm();
	agent.core.config.value[DAVY_CFG_MODE] = DAVY_MODE_ADVISE; /* in each mode */
	early_reset();
	assert_int_equal(in_force(), 500);
	assert_int_equal(newest(&v, &text), 2);
	assert_non_null(strstr(v.reason, "from 66 % to 50 %"));
	assert_non_null(strstr(v.reason, "a failure was missed"));
	assert_null(strstr(text, "threshold"));
	free(text);
	agent.core.config.value[DAVY_CFG_MODE] = DAVY_MODE_ENFORCE;
	for (int i = 0; i < 7; i++)
		false_alarm(); /* the missed failure had reached 62 % in time: no higher value */
	assert_int_equal(in_force(), 500);
	assert_int_equal(newest(&v, NULL), 2);
}

static void in_mode_advise_it_is_a_proposal(void **state)
{
	struct davy_version v;

	(void)state;
	start_agent(DAVY_MODE_ADVISE);
	for (int i = 0; i < 3; i++)
		false_alarm();
	assert_int_equal(in_force(), 500);
	assert_int_equal(newest(&v, NULL), 0);
	assert_int_equal(number_sql("SELECT value FROM sample WHERE result = 6"), 660);
	false_alarm();
	assert_int_equal(number_sql("SELECT count(*) FROM sample WHERE result = 6"), 1);
}

static void a_value_stays_over_restarts_and_reloads(void **state)
{
	char error[DAVY_CONFIG_ERROR_LEN], why[DAVY_LAYER_WHY];

	(void)state;
	start_agent(DAVY_MODE_ENFORCE);
	for (int i = 0; i < 3; i++)
		false_alarm();
	assert_int_equal(davy_policy_reload(&agent, error), 0);
	assert_int_equal(in_force(), 660);
	start_agent(DAVY_MODE_ENFORCE);
	assert_int_equal(in_force(), 660);
	assert_true(davy_layer_rollback(dirs[1], 0, why) > 0); /* by an operator */
	davy_policy_agent_layer_read(&agent);
	assert_int_equal(in_force(), 500);
	false_alarm();
	false_alarm();
	assert_int_equal(in_force(), 500);
	false_alarm();
	assert_int_equal(in_force(), 660); /* three more */
}

static void what_the_administrator_sets_stays(void **state)
{
	static const char *const files[] = { "[job_stall]\nlevel2 = 55 %\n",
					     "[job_stall model=tiny*]\nlevel2 = 50 %\n",
					     "[job_stall device=" GPU "]\nlevel2 = 50 %\n" };
	struct davy_version v;
	int64_t before;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		put("/config/hazards.conf", files[i], strlen(files[i]));
		start_agent(DAVY_MODE_ENFORCE);
		before = in_force();
		for (int j = 0; j < 4; j++)
			false_alarm();
		assert_int_equal(in_force(), before);
		assert_int_equal(newest(&v, NULL), 0);
	}
	PUT("/config/hazards.conf", "");
	start_agent(DAVY_MODE_ENFORCE);
	false_alarm();
	assert_int_equal(in_force(), 660);
	put("/config/hazards.conf", files[1], strlen(files[1]));
	start_agent(DAVY_MODE_ENFORCE); /* a value that was adopted before */
	assert_int_equal(in_force(), 500);
}

static void a_trace_replays_the_change(void **state)
{
	static struct davy_core again;
	struct davy_plan plans[DAVY_PLANS_MAX];
	struct davy_trace_reader *reader;
	struct davy_event ev;
	char path[160];

	(void)state;
	snprintf(path, sizeof(path), "%s/x.trace", root);
	start_agent(DAVY_MODE_ENFORCE);
	davy_core_init(&again);
	again = agent.core;
	assert_int_equal(davy_trace_create(path, &agent.trace), 0);
	for (int i = 0; i < 3; i++)
		false_alarm();
	assert_int_equal(davy_trace_close(agent.trace), 0);
	agent.trace = NULL;
	assert_int_equal(davy_trace_open(path, &reader), 0);
	while (davy_trace_next(reader, &ev) > 0)
		davy_core_step(&again, &ev, plans, DAVY_PLANS_MAX);
	davy_trace_reader_free(reader);
	assert_int_equal(
		davy_config_value_for(&again.config, DAVY_CFG_STALL_LEVEL2, "", GPU, MODEL), 660);
	assert_memory_equal(&again.config, &agent.core.config, sizeof(again.config));
}

static struct davy_sample sample_of(const char *device, const char *model, uint64_t value)
{
	struct davy_sample s = { .key = DAVY_CFG_STALL_LEVEL2,
				 .result = DAVY_SAMPLE_FALSE,
				 .value = value,
				 .at_s = value };

	davy_copy_name(s.device, sizeof(s.device), device);
	davy_copy_name(s.driver, sizeof(s.driver), "amdgpu");
	davy_copy_name(s.model, sizeof(s.model), model);
	return s;
}

static void the_database_keeps_a_bounded_number_of_each_key(void **state)
{
	static struct davy_sample rows[DAVY_SAMPLES_KEPT];
	struct davy_sample s = sample_of(GPU, MODEL, 1), other = s;
	struct davy_db *db = NULL;

	(void)state;
	assert_int_equal(davy_db_open(dirs[1], DAVY_DB_MAKE, &db), 0);
	other.key = DAVY_CFG_HEADROOM_LEVEL2;
	assert_int_equal(davy_sample_add(db, &other), 0);
	for (uint64_t i = 1; i <= DAVY_SAMPLES_KEPT + 3; i++) {
		s.value = s.at_s = i;
		assert_int_equal(davy_sample_add(db, &s), 0);
	}
	assert_int_equal(davy_samples_load(db, &s, rows), DAVY_SAMPLES_KEPT);
	assert_int_equal(rows[0].value, 4);
	assert_int_equal(rows[DAVY_SAMPLES_KEPT - 1].value, DAVY_SAMPLES_KEPT + 3);
	assert_memory_equal(&rows[DAVY_SAMPLES_KEPT - 1], &s, sizeof(s));
	assert_int_equal(davy_samples_load(db, &other, rows), 1);
	davy_db_close(db);
}

static void samples_are_of_a_model_or_without_one_of_a_device(void **state)
{
	struct davy_sample rows[8], s[] = { sample_of(GPU, MODEL, 1), sample_of("b", MODEL, 2),
					    sample_of(GPU, "", 3), sample_of("b", "", 4) };
	struct davy_db *db = NULL;

	(void)state;
	assert_int_equal(davy_db_open(dirs[1], DAVY_DB_MAKE, &db), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(davy_sample_add(db, &s[i]), 0);
	assert_int_equal(davy_samples_load(db, &s[0], rows), 2);
	assert_string_equal(rows[1].device, "b");
	assert_int_equal(davy_samples_load(db, &s[3], rows), 1);
	assert_int_equal(rows[0].value, 4);
	assert_int_equal(davy_ledger_forget(db, "", MODEL), 2);
	assert_int_equal(davy_samples_load(db, &s[0], rows), 0);
	run_sql("UPDATE sample SET value = -1");
	assert_int_equal(davy_samples_load(db, &s[3], rows), -EBADMSG);
	run_sql("UPDATE sample SET value = 1, result = 99");
	assert_int_equal(davy_samples_load(db, &s[3], rows), -EBADMSG);
	davy_db_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			in_mode_enforce_a_version_has_the_value_and_its_evidence, new_agent,
			end_agent),
		cmocka_unit_test_setup_teardown(a_missed_failure_takes_the_version_back, new_agent,
						end_agent),
		cmocka_unit_test_setup_teardown(in_mode_advise_it_is_a_proposal, new_agent,
						end_agent),
		cmocka_unit_test_setup_teardown(a_value_stays_over_restarts_and_reloads, new_agent,
						end_agent),
		cmocka_unit_test_setup_teardown(what_the_administrator_sets_stays, new_agent,
						end_agent),
		cmocka_unit_test_setup_teardown(a_trace_replays_the_change, new_agent, end_agent),
		cmocka_unit_test_setup_teardown(the_database_keeps_a_bounded_number_of_each_key,
						new_agent, end_agent),
		cmocka_unit_test_setup_teardown(samples_are_of_a_model_or_without_one_of_a_device,
						new_agent, end_agent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

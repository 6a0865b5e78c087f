/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scoring: an alarm's score at each edge, sums and medians, labels from files, traces. */
#include "tune_dir.h"

#define PID  4711
#define HANG "{\"class\":\"hang\",\"begin_ns\":1,\"duration_ns\":9,"

/* A failure at 1000 s with its cause at 800 s and its sign at 900 s. */
static struct davy_case failing(void)
{
	struct davy_case of = { .labelled = true, .failed = true };

	of.label.class = DAVY_CLASS_RING_TIMEOUT;
	strcpy(of.label.device, GPU);
	of.label.pid = PID;
	of.label.begin_ns = 100 * S;
	of.label.duration_ns = 1000 * S;
	of.label.cause_ns = 800 * S;
	of.label.precursor_ns = 900 * S;
	of.label.failure_ns = 1000 * S;
	return of;
}

static void sums_and_medians(void **state)
{
	struct davy_case at[6];
	struct davy_cases cases = { at, 6, 6, 0 };
	struct davy_score scores[6] = { 0 };
	struct davy_summary sum;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		at[i] = failing();
	at[3].label.class = DAVY_CLASS_HANG;
	at[4] = (struct davy_case){ .labelled = true };
	at[4].label.duration_ns = 36 * 3600 * S;
	at[5] = (struct davy_case){ 0 }; /* recorded, nothing known */
	for (size_t i = 0; i < 2; i++) {
		scores[i].foreseen = true;
		scores[i].lead_time_ns = (i + 1) * 30 * S;
	}
	scores[4].false_count = 3;
	scores[4].false_of[DAVY_HZ_RESET] = 3;
	scores[1].false_count = 1;
	assert_int_equal(davy_summary_make(&cases, scores, 1, &sum), 0);
	assert_int_equal(sum.all.count, 4);
	assert_int_equal(sum.all.foreseen, 2);
	assert_int_equal(sum.all.ratio_permille, 0); /* 0, 0, 300, 600: the lower one */
	assert_int_equal(sum.of_class[DAVY_CLASS_RING_TIMEOUT].ratio_permille, 300);
	assert_int_equal(sum.of_class[DAVY_CLASS_RING_TIMEOUT].lead_time_ns, 30 * S);
	assert_int_equal(sum.of_class[DAVY_CLASS_RING_TIMEOUT].possible_ns, 100 * S);
	assert_int_equal(sum.of_class[DAVY_CLASS_HANG].count, 1);
	assert_int_equal(sum.of_class[DAVY_CLASS_HANG].foreseen, 0);
	assert_int_equal(sum.false_benign, 3);
	assert_int_equal(sum.false_failure, 1);
	assert_int_equal(sum.false_of[DAVY_HZ_RESET], 3);
	assert_int_equal(sum.unknown_count, 1);
	assert_int_equal(davy_false_per_day_milli(&sum), 2000);
	cases.count = 4;
	assert_int_equal(davy_summary_make(&cases, scores, 1, &sum), 0);
	assert_true(davy_false_per_day_milli(&sum) == UINT64_MAX);
	cases.count = 0;
	assert_int_equal(davy_summary_make(&cases, scores, 1, &sum), 0);
	assert_int_equal(sum.all.count, 0);
}

static void a_candidate_must_not_be_worse_anywhere(void **state)
{
	struct davy_summary base = { 0 }, other;

	(void)state;
	base.all.foreseen = 10;
	base.all.ratio_permille = 500;
	base.of_class[DAVY_CLASS_HANG].foreseen = 5;
	base.false_benign = 3;
	other = base;
	assert_false(davy_summary_better(&other, &base));
	assert_true(davy_summary_not_worse(&other, &base));
	other.all.foreseen = 12; /* more in all, fewer of one class */
	other.of_class[DAVY_CLASS_HANG].foreseen = 4;
	assert_true(davy_summary_better(&other, &base));
	assert_false(davy_summary_not_worse(&other, &base));
	other = base;
	other.all.foreseen = 12;
	other.false_benign = 4;
	assert_false(davy_summary_not_worse(&other, &base));
	other.false_benign = 3;
	other.all.ratio_permille = 499;
	assert_false(davy_summary_not_worse(&other, &base));
	base.of_class[DAVY_CLASS_HANG].lead_time_ns = 10 * S;
	other = base;
	other.false_benign = 0; /* bought with one class's lead */
	other.of_class[DAVY_CLASS_HANG].lead_time_ns = 9 * S;
	assert_true(davy_summary_better(&other, &base));
	assert_false(davy_summary_not_worse(&other, &base));
	other.of_class[DAVY_CLASS_HANG].lead_time_ns = 10 * S - 1; /* noise */
	assert_true(davy_summary_not_worse(&other, &base));
	other.of_class[DAVY_CLASS_HANG].lead_time_ns = 9 * S;
	other.of_class[DAVY_CLASS_HANG].foreseen = 6; /* one more, with less of it */
	assert_true(davy_summary_not_worse(&other, &base));
	other = base;
	other.all.ratio_permille = 505; /* noise */
	assert_false(davy_summary_better(&other, &base));
	other.all.ratio_permille = 506;
	assert_true(davy_summary_better(&other, &base));
	assert_true(davy_summary_compare(&other, &base) < 0);
	other.all.foreseen = 9;
	assert_true(davy_summary_compare(&other, &base) > 0);
	assert_int_equal(davy_summary_compare(&base, &base), 0);
}

static void a_label_is_read_as_it_was_written(void **state)
{
	struct davy_case of = failing();
	struct davy_label back, benign = { .begin_ns = 5, .duration_ns = 7 };
	char error[256];

	(void)state;
	strcpy(of.label.scenario, "prefill_2s");
	of.label.seed = 77;
	assert_int_equal(davy_label_write(in_dir("a.label.json"), &of.label), 0);
	assert_int_equal(davy_label_read(path, &back, error, sizeof(error)), 0);
	assert_memory_equal(&back, &of.label, sizeof(back));
	assert_int_equal(davy_label_write(path, &benign), 0);
	assert_int_equal(davy_label_read(path, &back, error, sizeof(error)), 0);
	assert_memory_equal(&back, &benign, sizeof(back));
	assert_int_equal(davy_label_read(in_dir("none"), &back, error, sizeof(error)), -2);
}

static void a_label_from_outside_is_checked(void **state)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"{",
		"null",
		"{\"class\":\"benign\"}",
		"{\"class\":\"none\",\"begin_ns\":1,\"duration_ns\":2}",
		"{\"class\":5,\"begin_ns\":1,\"duration_ns\":2}",
		"{\"class\":\"benign\",\"begin_ns\":-1,\"duration_ns\":2}",
		"{\"class\":\"benign\",\"begin_ns\":1.5,\"duration_ns\":2}",
		"{\"class\":\"benign\",\"begin_ns\":\"1\",\"duration_ns\":2}",
		"{\"class\":\"benign\",\"begin_ns\":1,\"duration_ns\":99999999999999999999}",
		"{\"class\":\"benign\",\"begin_ns\":1,\"begin_ns\":1,\"duration_ns\":2}",
		"{\"class\":\"hang\",\"begin_ns\":1,\"duration_ns\":9}",
		HANG "\"sign_ns\":8,\"failure_ns\":7}",
		HANG "\"sign_ns\":0,\"failure_ns\":7}",
		HANG "\"sign_ns\":8,\"failure_ns\":11}",
		HANG "\"sign_ns\":4,\"failure_ns\":7,"
		     "\"cause_ns\":5}",
		HANG "\"sign_ns\":4,\"failure_ns\":7,"
		     "\"pid\":4294967296}",
		HANG "\"sign_ns\":4,\"failure_ns\":7,"
		     "\"device\":\"0123456789012345678901234567890123456789\"}",
		HANG "\"sign_ns\":4,\"failure_ns\":7,"
		     "\"device\":\"a\\u0000b\"}",
	};
	static const char good[] = HANG ""
					"\"sign_ns\":4,\"failure_ns\":7,\"comment\":\"by hand\"}";
	static char large[20000];
	struct davy_label label = { .pid = 5 };
	char error[256] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		write_text("w.label.json", wrong[i], strlen(wrong[i]));
		error[0] = 0;
		assert_int_equal(davy_label_read(path, &label, error, sizeof(error)), -74);
		assert_true(error[0]);
		assert_int_equal(label.pid, 5); /* as it was */
	}
	memset(large, ' ', sizeof(large));
	memcpy(large + 10000, good, sizeof(good) - 1);
	write_text("w.label.json", large, 16000);
	assert_int_equal(davy_label_read(path, &label, error, sizeof(error)), 0);
	write_text("w.label.json", large, sizeof(large)); /* more than is ever read */
	assert_int_equal(davy_label_read(path, &label, error, sizeof(error)), -74);
	write_text("w.label.json", good, sizeof(good) - 1);
	assert_int_equal(davy_label_read(path, &label, error, sizeof(error)), 0);
	assert_int_equal(label.cause_ns, 4); /* the sign's, if no cause is given */
	assert_int_equal(label.class, DAVY_CLASS_HANG);
}

static void a_labels_path_is_beside_its_trace(void **state)
{
	char buf[32];

	(void)state;
	assert_int_equal(davy_label_path(buf, sizeof(buf), "d/a.trace"), 0);
	assert_string_equal(buf, "d/a.label.json");
	assert_int_equal(davy_label_path(buf, sizeof(buf), "recorded"), 0);
	assert_string_equal(buf, "recorded.label.json");
	assert_int_equal(davy_label_path(buf, sizeof(buf), "012345678901234567890.trace"), -36);
}

static struct davy_event event(uint64_t at_ns, enum davy_event_kind kind, uint32_t pid)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = at_ns;
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

/* An engine that ends by a signal; then a timeout, if "late". */
static void write_trace(const char *name, int32_t status, bool late)
{
	struct davy_trace_writer *w;
	struct davy_event ev = event(5 * S, DAVY_EV_PROCESS, PID);

	assert_int_equal(davy_trace_create(in_dir(name), &w), 0);
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	strcpy(ev.process.device, GPU);
	strcpy(ev.process.model, "a.gguf");
	assert_int_equal(davy_trace_write(w, &ev), 0);
	ev = event(6 * S, DAVY_EV_PROCESS_EXIT, 99); /* an unknown process */
	ev.process_exit.status = 11;
	assert_int_equal(davy_trace_write(w, &ev), 0);
	ev = event(1000 * S, DAVY_EV_PROCESS_EXIT, PID);
	ev.process_exit.status = status;
	assert_int_equal(davy_trace_write(w, &ev), 0);
	if (late) {
		ev = event(1001 * S, DAVY_EV_JOB_TIMEOUT, 7);
		strcpy(ev.job_timeout.device, OTHER);
		assert_int_equal(davy_trace_write(w, &ev), 0);
	}
	assert_int_equal(davy_trace_close(w), 0);
}

/* KFD's word for a fault, which no job's timeout follows. */
static void write_fault(const char *name)
{
	struct davy_event ev =
		event(10 * S, DAVY_EV_PROCESS, PID); /* of an unknown process: does not count */
	struct davy_trace_writer *w;

	assert_int_equal(davy_trace_create(in_dir(name), &w), 0);
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	assert_int_equal(davy_trace_write(w, &ev), 0);
	ev = event(70 * S, DAVY_EV_KFD, PID);
	strcpy(ev.kfd.device, OTHER);
	ev.kfd.event = DAVY_KFD_VM_FAULT;
	assert_int_equal(davy_trace_write(w, &ev), 0);
	assert_int_equal(davy_trace_close(w), 0);
}

static void a_failure_is_found_in_the_events(void **state)
{
	struct davy_cases cases = { 0 };

	(void)state;
	write_trace("abort.trace", 6, true);
	assert_int_equal(davy_cases_add(&cases, path), 0);
	assert_true(cases.at[0].failed);
	assert_false(cases.at[0].labelled);
	assert_int_equal(cases.at[0].label.class, DAVY_CLASS_RUNNER_CRASH_INIT);
	assert_int_equal(cases.at[0].label.pid, PID);
	assert_string_equal(cases.at[0].label.device, GPU);
	assert_int_equal(cases.at[0].label.failure_ns, 1000 * S);
	assert_int_equal(cases.at[0].label.cause_ns, 1000 * S - DAVY_RECORDED_NS);
	assert_int_equal(cases.at[0].label.duration_ns, 996 * S);
	write_trace("term.trace", 15, true);
	assert_int_equal(davy_cases_add(&cases, path), 0);
	assert_int_equal(cases.at[1].label.class, DAVY_CLASS_RING_TIMEOUT);
	assert_string_equal(cases.at[1].label.device, OTHER);
	write_trace("killed.trace", 9, false); /* Ollama unloads a runner so */
	assert_int_equal(davy_cases_add(&cases, path), 0);
	assert_false(cases.at[2].failed);
	write_fault("fault.trace"); /* as any failure that the core knows */
	assert_int_equal(davy_cases_add(&cases, path), 0);
	assert_int_equal(cases.at[3].label.class, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(cases.at[3].label.failure_ns, 70 * S);
	assert_string_equal(cases.at[3].label.device, OTHER);
	assert_int_equal(davy_cases_add(&cases, in_dir("none.trace")), -2);
	davy_cases_free(&cases);
}

static void a_folder_is_read_in_order_and_a_wrong_label_is_named(void **state)
{
	static const char benign[] = "{\"class\":\"benign\",\"begin_ns\":1,\"duration_ns\":5}";
	struct davy_cases cases = { 0 };

	(void)state;
	write_trace("b.trace", 6, false);
	write_trace("a.trace", 15, false);
	write_text("a.label.json", benign, strlen(benign));
	write_text("c.txt", "x", 1);
	assert_int_equal(davy_cases_add(&cases, dir), 0);
	assert_int_equal(cases.count, 2);
	assert_true(strstr(cases.at[0].path, "/a.trace") != NULL);
	assert_true(cases.at[0].labelled);
	write_text("b.label.json", "{}", 2);
	assert_int_equal(davy_cases_add(&cases, dir), -74);
	davy_cases_free(&cases);
}

static void an_empty_folder_and_other_files_are_errors(void **state)
{
	struct davy_cases cases = { 0 };

	(void)state;
	assert_int_equal(davy_cases_add(&cases, dir), -2);
	write_text("x.trace", "not a trace", 11);
	assert_int_equal(davy_cases_add(&cases, path), -22);
	davy_cases_free(&cases);
}

/* By hand: the same core, the same events, the same judge. */
static void a_score_is_that_of_a_replay(void **state)
{
	struct davy_config configs[2];
	struct davy_cases cases = { 0 };
	struct davy_score scores[2], *all;

	(void)state;
	assert_int_equal(
		davy_synth_write(davy_scenario_find("prefill_2s"), 4, 60 * S, in_dir("p.trace")),
		0);
	assert_int_equal(davy_cases_add(&cases, path), 0);
	without_headroom(&configs[0]);
	configs[1] = configs[0];
	configs[1].value[DAVY_CFG_STALL_LEVEL2] = 1000;
	configs[1].value[DAVY_CFG_STALL_LEVEL3] = 1000;
	assert_int_equal(davy_score_trace(&cases.at[0], configs, 2, scores), 0);
	assert_true(scores[0].foreseen);
	assert_in_range(davy_lead_time_permille(&cases.at[0], &scores[0]), 600, 900);
	assert_true(scores[1].lead_time_ns < scores[0].lead_time_ns);
	assert_true(scores[0].event_count > 1000);
	assert_int_equal(davy_score_all(&cases, configs, 2, 3, &all), 0);
	assert_memory_equal(all, scores, sizeof(scores));
	davy_scores_free(all);
	davy_cases_free(&cases);
}

/* Thresholds in a trace do not override those of the candidate. */
static void a_recorded_configuration_does_not_count(void **state)
{
	struct davy_case of = { .labelled = true };
	struct davy_trace_writer *w;
	struct davy_event ev = event(S, DAVY_EV_CONFIG, 0);
	struct davy_config config;
	struct davy_score score;

	(void)state;
	snprintf(of.path, sizeof(of.path), "%s", in_dir("c.trace"));
	assert_int_equal(davy_trace_create(path, &w), 0);
	strcpy(ev.config.key, "job_stall.level3");
	ev.config.value = 1000;
	assert_int_equal(davy_trace_write(w, &ev), 0);
	ev = event(2 * S, DAVY_EV_RING, PID);
	strcpy(ev.ring.device, GPU);
	ev.ring.timeout_ns = 2 * S;
	ev.ring.age_ns = 3 * S / 2;
	ev.ring.fence_seqno = 1;
	assert_int_equal(davy_trace_write(w, &ev), 0);
	assert_int_equal(davy_trace_close(w), 0);
	davy_config_defaults(&config);
	assert_int_equal(davy_score_trace(&of, &config, 1, &score), 0);
	assert_int_equal(score.event_count, 1);
	assert_int_equal(score.false_count, 1);
}

static void a_cut_trace_is_an_error(void **state)
{
	struct davy_cases cases = { 0 };
	struct davy_config config;
	struct davy_score *scores;
	struct stat st;

	(void)state;
	davy_config_defaults(&config);
	assert_int_equal(davy_synth_write(davy_scenario_find("mes"), 1, 60 * S, in_dir("m.trace")),
			 0);
	assert_int_equal(davy_cases_add(&cases, path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	assert_int_equal(davy_score_all(&cases, &config, 1, 2, &scores), -74);
	assert_null(scores);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(davy_score_all(&cases, &config, 1, 2, &scores), -2);
	davy_cases_free(&cases);
}

static void a_damaged_trace_does_not_stop_the_others(void **state)
{
	struct davy_cases cases = { 0 };
	struct davy_trace_writer *w;
	struct davy_config config;
	struct davy_score *scores;
	struct davy_event ev;
	struct stat st;

	(void)state;
	davy_config_defaults(&config);
	for (int i = 0; i < 3;
	     i++) { /* the second is cut before its failure, the third behind it */
		char name[16];

		snprintf(name, sizeof(name), "%d.trace", i);
		assert_int_equal(davy_trace_create(in_dir(name), &w), 0);
		ev = event(5 * S, DAVY_EV_TICK, 0);
		assert_int_equal(davy_trace_write(w, &ev), 0);
		if (i != 1) {
			ev = event(9 * S, DAVY_EV_RESET, 0);
			strcpy(ev.reset.device, GPU);
			ev.reset.begun = 1;
			assert_int_equal(davy_trace_write(w, &ev), 0);
		}
		assert_int_equal(davy_trace_flush(w), 0);
		for (int k = 0; k < 3000; k++) {
			ev = event((uint64_t)(10 + k) * S, DAVY_EV_TICK, (uint32_t)k);
			assert_int_equal(davy_trace_write(w, &ev), 0);
		}
		assert_int_equal(davy_trace_close(w), 0);
		assert_int_equal(stat(path, &st), 0);
		if (i)
			assert_int_equal(truncate(path, st.st_size - 9), 0);
	}
	assert_int_equal(davy_cases_add(&cases, dir), -74);
	assert_int_equal(cases.count, 2);
	assert_int_equal(cases.wrong_count, 1);
	assert_int_equal(davy_score_whole(&cases, &config, 1, 2, &scores), 0);
	assert_int_equal(cases.count, 2);
	assert_int_equal(cases.wrong_count, 2);
	assert_int_equal(cases.at[1].label.class, DAVY_CLASS_GPU_RESET);
	davy_scores_free(scores);
	assert_int_equal(unlink(in_dir("0.trace")), 0);
	assert_int_equal(davy_score_whole(&cases, &config, 1, 2, &scores), 0);
	assert_int_equal(cases.count, 1);
	assert_non_null(strstr(cases.at[0].path, "2.trace"));
	davy_scores_free(scores);
	assert_int_equal(unlink(in_dir("2.trace")), 0);
	assert_int_equal(davy_score_whole(&cases, &config, 1, 2, &scores), -61);
	assert_null(scores);
	davy_cases_free(&cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_medians),
		cmocka_unit_test(a_candidate_must_not_be_worse_anywhere),
		IN_DIR(a_label_is_read_as_it_was_written),
		IN_DIR(a_label_from_outside_is_checked),
		cmocka_unit_test(a_labels_path_is_beside_its_trace),
		IN_DIR(a_failure_is_found_in_the_events),
		IN_DIR(a_folder_is_read_in_order_and_a_wrong_label_is_named),
		IN_DIR(a_damaged_trace_does_not_stop_the_others),
		IN_DIR(an_empty_folder_and_other_files_are_errors),
		IN_DIR(a_score_is_that_of_a_replay),
		IN_DIR(a_recorded_configuration_does_not_count),
		IN_DIR(a_cut_trace_is_an_error),
	};

	return cmocka_run_group_tests_name("tune", tests, NULL, NULL);
}

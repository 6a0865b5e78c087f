/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The labelled samples of alarms, and the thresholds that are proposed from them. */
#include "overrides.h"

#define COMPUTE "comp_1.0.0"
#define HOUR_S	3600u
#define DAY_S	86400u
#define SAMPLES 32

static struct davy_sample samples[SAMPLES];
static size_t sample_count;

static int begin_judging(void **state)
{
	(void)state;
	begin_history();
	sample_count = 0;
	return 0;
}

static void had(enum davy_sample_result result, uint64_t hour, uint64_t value)
{
	assert_true(sample_count < SAMPLES);
	samples[sample_count] = (struct davy_sample){ .at_s = hour * HOUR_S,
						      .result = (uint8_t)result,
						      .value = value,
						      .key = DAVY_CFG_STALL_LEVEL2,
						      .device = GPU,
						      .model = TINY };
	sample_count++;
}

static struct davy_threshold_verdict judged_at(uint64_t hour)
{
	struct davy_threshold_verdict v;

	davy_threshold_judge(&core.config, samples, sample_count, hour * HOUR_S, &v);
	return v;
}

static void adopted(int64_t value, uint64_t hour)
{
	had(value > 500 ? DAVY_SAMPLE_ADOPTED : DAVY_SAMPLE_TAKEN_BACK, hour, (uint64_t)value);
	override(DAVY_SCOPE_MODEL, TINY, "job_stall.level2",
		 value > 500 ? value : DAVY_OVERRIDE_REMOVED);
}

static void three_false_alarms_over_a_day_lead_to_the_smallest_change(void **state)
{
	struct davy_threshold_verdict v;

	(void)state;
	had(DAVY_SAMPLE_FALSE, 1, 640);
	had(DAVY_SAMPLE_FALSE, 2, 560);
	assert_int_equal(judged_at(90).why, DAVY_THRESHOLD_KEEP);
	had(DAVY_SAMPLE_FALSE, 3, 600);
	assert_int_equal(judged_at(90).why, DAVY_THRESHOLD_KEEP); /* two hours */
	had(DAVY_SAMPLE_FALSE, 26, 690);
	v = judged_at(90);
	assert_int_equal(v.why, DAVY_THRESHOLD_FEWER);
	assert_int_equal(v.to, 610);
	assert_int_equal(v.false_count, 4);
	assert_int_equal(v.removed, 2);
	samples[3].at_s = 24 * HOUR_S;
	assert_int_equal(judged_at(90).why, DAVY_THRESHOLD_KEEP); /* an hour less than a day */
}

static void a_confirmed_alarm_is_kept_in_time(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		had(DAVY_SAMPLE_FALSE, 30 * i, 600);
	had(DAVY_SAMPLE_CONFIRMED, 120, 610);
	assert_int_equal(judged_at(130).to, 610);
	assert_int_equal(judged_at(130).confirmed, 1);
	had(DAVY_SAMPLE_CONFIRMED, 121, 609);
	assert_int_equal(judged_at(130).why, DAVY_THRESHOLD_KEEP);
	assert_int_equal(judged_at(130).to, 500);
}

static void a_change_stays_within_what_the_laboratory_checked(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		had(DAVY_SAMPLE_FALSE, 30 * i, 749);
	assert_int_equal(judged_at(90).to, 750);
	for (size_t i = 0; i < sample_count; i++)
		samples[i].value = 750;
	assert_int_equal(judged_at(90).why, DAVY_THRESHOLD_KEEP);
}

static void false_alarms_count_once(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		had(DAVY_SAMPLE_FALSE, 30 * i, 600 + i);
	adopted(602, 61);
	assert_int_equal(judged_at(90).why, DAVY_THRESHOLD_KEEP);
	had(DAVY_SAMPLE_FALSE, 100, 640);
	had(DAVY_SAMPLE_FALSE, 200, 650);
	assert_int_equal(judged_at(201).why, DAVY_THRESHOLD_KEEP);
	had(DAVY_SAMPLE_FALSE, 300, 660);
	assert_int_equal(judged_at(301).to, 660);
}

static void a_missed_failure_takes_the_value_back(void **state)
{
	struct davy_threshold_verdict v;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		had(DAVY_SAMPLE_FALSE, 30 * i, 600);
	adopted(601, 61);
	had(DAVY_SAMPLE_MISSED, 90, 499); /* the default misses it, too */
	assert_int_equal(judged_at(91).why, DAVY_THRESHOLD_KEEP);
	had(DAVY_SAMPLE_MISSED, 92, 562);
	v = judged_at(93);
	assert_int_equal(v.why, DAVY_THRESHOLD_MISSED);
	assert_int_equal(v.to, 500);
}

static void after_a_rollback_twice_the_evidence_is_needed(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		had(DAVY_SAMPLE_FALSE, 30 * i, 600);
	adopted(601, 61);
	had(DAVY_SAMPLE_MISSED, 92, 562);
	adopted(500, 93);
	assert_int_equal(judged_at(94).why, DAVY_THRESHOLD_KEEP);
	for (uint64_t i = 0; i < 5; i++)
		had(DAVY_SAMPLE_FALSE, 100 + 30 * i, 540);
	assert_int_equal(judged_at(300).why, DAVY_THRESHOLD_KEEP);
	had(DAVY_SAMPLE_FALSE, 301, 540);
	assert_int_equal(judged_at(302).to, 550);
	for (size_t i = 6; i < sample_count; i++)
		samples[i].value = 562; /* would miss that failure again */
	assert_int_equal(judged_at(302).why, DAVY_THRESHOLD_KEEP);
}

static void as_many_false_alarms_as_before_take_the_value_back(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		had(DAVY_SAMPLE_FALSE, 24 * i, 600);
	adopted(601, 49);
	for (uint64_t i = 0; i < 3; i++)
		had(DAVY_SAMPLE_FALSE, 50 + 15 * i, 690);
	assert_int_equal(judged_at(97).to, 700); /* less time has passed than before */
	assert_int_equal(judged_at(98).why, DAVY_THRESHOLD_NO_BETTER);
	assert_int_equal(judged_at(98).to, 500);
	assert_int_not_equal(judged_at(99).why, DAVY_THRESHOLD_NO_BETTER); /* fewer per hour */
}

static void a_clock_that_goes_back_and_a_lost_begin_prove_nothing(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		had(DAVY_SAMPLE_FALSE, 100 - 30 * i, 600);
	assert_int_equal(judged_at(200).why, DAVY_THRESHOLD_KEEP);
	sample_count = 0;
	adopted(610, 0); /* what was before it is no longer stored */
	for (uint64_t i = 1; i < 6; i++)
		had(DAVY_SAMPLE_FALSE, 30 * i, 500);
	assert_int_equal(judged_at(200).why, DAVY_THRESHOLD_KEEP);
}

static void the_other_levels_limit_the_value(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		had(DAVY_SAMPLE_FALSE, 30 * i, 640);
	override(DAVY_SCOPE_MODEL, TINY, "job_stall.level3", 650);
	assert_int_equal(judged_at(90).to, 650);
	override(DAVY_SCOPE_MODEL, TINY, "job_stall.level3", 649);
	assert_int_equal(judged_at(90).why, DAVY_THRESHOLD_KEEP);
}

static void the_same_is_proposed_again_only_after_more_of_it(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 6; i++) {
		had(DAVY_SAMPLE_FALSE, 30 * i, 640);
		if (i != 2 && i != 5)
			assert_int_equal(judged_at(200).why, DAVY_THRESHOLD_KEEP);
		else
			assert_int_equal(judged_at(200).to, 650);
		if (i == 2)
			had(DAVY_SAMPLE_PROPOSED, 61, 650);
	}
	sample_count = 0;
	assert_int_equal(judged_at(90).why, DAVY_THRESHOLD_KEEP); /* no history */
}

/* A job of 10 s that has reached "permille" of it. */
static void job_at(uint64_t permille, uint64_t seqno, uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_RING, pid);

	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), GPU);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), COMPUTE);
	ev.ring.timeout_ns = 10 * S;
	ev.ring.age_ns = permille * 10 * MS;
	ev.ring.fence_seqno = seqno;
	tell(&ev);
}

static void job_of(uint64_t permille, uint64_t seqno, uint32_t pid)
{
	for (uint64_t at = 50; at <= permille; at += 50) {
		pass(500 * MS);
		job_at(at, seqno, pid);
	}
}

static void times_out(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_JOB_TIMEOUT, pid);

	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), GPU);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), COMPUTE);
	tell(&ev);
}

static void watched_engine(void)
{
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
}

static const struct davy_sample *last_sample(void)
{
	assert_true(core.samples.made_count > 0);
	return &core.samples.made[(core.samples.made_count - 1) % DAVY_SAMPLES_MADE];
}

static void an_alarm_without_a_failure_is_a_false_one(void **state)
{
	struct davy_event ev = event(DAVY_EV_CLOCK, 0);

	(void)state;
	watched_engine();
	device(GPU, "amdgpu", DAVY_DEVICE_ADDED);
	ev.at_ns = now;
	ev.clock.wall_s = 5000;
	tell(&ev);
	job_of(550, 1, 60);
	job_of(650, 2, 60);
	assert_int_equal(core.samples.made_count, 0);
	pass(311 * S);
	assert_int_equal(core.samples.made_count, 1);
	assert_int_equal(last_sample()->result, DAVY_SAMPLE_FALSE);
	assert_int_equal(last_sample()->key, DAVY_CFG_STALL_LEVEL2);
	assert_int_equal(last_sample()->value, 650);
	assert_in_range(last_sample()->at_s, 5300, 5330);
	assert_string_equal(last_sample()->model, TINY);
	assert_string_equal(last_sample()->device, GPU);
	assert_string_equal(last_sample()->driver, "amdgpu");
	assert_int_equal(core.samples.reading_count, 0);
	assert_int_equal(core.foresight.hazard[DAVY_HZ_JOB_STALL].false_alarms, 1);
}

static void one_long_job_is_no_sample(void **state)
{
	(void)state;
	watched_engine();
	job_of(650, 1, 60); /* level 1 */
	pass(311 * S);
	assert_int_equal(core.samples.made_count, 0);
	assert_int_equal(core.samples.reading_count, 0);
}

static void a_confirmed_alarm_has_what_was_reached_in_time(void **state)
{
	(void)state;
	watched_engine();
	job_of(550, 1, 60);
	job_of(1000, 2, 60);
	times_out(60);
	assert_int_equal(core.samples.made_count, 1);
	assert_int_equal(last_sample()->result, DAVY_SAMPLE_CONFIRMED);
	assert_int_equal(last_sample()->value, 875); /* 90 % a second before the timeout */
	pass(400 * S);
	assert_int_equal(core.samples.made_count, 1);
}

static void a_raised_threshold_shows_what_it_missed(void **state)
{
	(void)state;
	watched_engine();
	override(DAVY_SCOPE_MODEL, TINY, "job_stall.level2", 700);
	job_of(550, 1, 60);
	job_of(650, 2, 60);
	pass(S);
	times_out(60); /* earlier than expected */
	assert_int_equal(core.foresight.class[DAVY_CLASS_RING_TIMEOUT].missed, 1);
	assert_int_equal(core.samples.made_count, 1);
	assert_int_equal(last_sample()->result, DAVY_SAMPLE_MISSED);
	assert_int_equal(last_sample()->value, 625);
}

static void a_failure_that_another_hazard_foresaw_is_not_missed(void **state)
{
	(void)state;
	watched_engine();
	override(DAVY_SCOPE_MODEL, TINY, "job_stall.level2", 700);
	job_of(650, 1, 60);
	job_of(800, 2, 61); /* level 3, of another process on the device */
	times_out(60);
	assert_int_equal(core.foresight.class[DAVY_CLASS_RING_TIMEOUT].missed, 0);
	for (uint64_t i = 0; i < core.samples.made_count; i++)
		assert_int_equal(core.samples.made[i].result, DAVY_SAMPLE_CONFIRMED);
}

static void an_ordinary_users_process_gives_no_sample(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = event(DAVY_EV_PROCESS, 60);
	ev.process.start_ticks = 1;
	ev.process.flags = DAVY_PROCESS_LOGIN_USER;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	tell(&ev);
	job_of(550, 1, 60);
	job_of(650, 2, 60);
	assert_int_equal(core.samples.reading_count, 0);
}

static void an_alarm_after_the_failure_is_no_sample(void **state)
{
	(void)state;
	watched_engine();
	times_out(60);
	job_at(800, 1, 60);
	pass(400 * S);
	assert_int_equal(core.samples.made_count, 0);
}

static void a_full_table_takes_no_more(void **state)
{
	(void)state;
	begin_history();
	for (uint32_t pid = 1; pid <= 2 * DAVY_SAMPLE_READINGS; pid++) {
		process(pid, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
		job_at(800, pid, pid);
	}
	assert_int_equal(core.samples.reading_count, DAVY_SAMPLE_READINGS);
	assert_true(core.dropped_count > 0);
	pass(400 * S);
	assert_in_range(core.samples.made_count, 1, DAVY_SAMPLE_READINGS);
	assert_int_equal(core.samples.reading_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(three_false_alarms_over_a_day_lead_to_the_smallest_change,
				       begin_judging),
		cmocka_unit_test_setup(a_confirmed_alarm_is_kept_in_time, begin_judging),
		cmocka_unit_test_setup(a_change_stays_within_what_the_laboratory_checked,
				       begin_judging),
		cmocka_unit_test_setup(false_alarms_count_once, begin_judging),
		cmocka_unit_test_setup(a_missed_failure_takes_the_value_back, begin_judging),
		cmocka_unit_test_setup(after_a_rollback_twice_the_evidence_is_needed,
				       begin_judging),
		cmocka_unit_test_setup(as_many_false_alarms_as_before_take_the_value_back,
				       begin_judging),
		cmocka_unit_test_setup(the_same_is_proposed_again_only_after_more_of_it,
				       begin_judging),
		cmocka_unit_test_setup(a_clock_that_goes_back_and_a_lost_begin_prove_nothing,
				       begin_judging),
		cmocka_unit_test_setup(the_other_levels_limit_the_value, begin_judging),
		cmocka_unit_test(an_alarm_without_a_failure_is_a_false_one),
		cmocka_unit_test(one_long_job_is_no_sample),
		cmocka_unit_test(a_confirmed_alarm_has_what_was_reached_in_time),
		cmocka_unit_test(a_raised_threshold_shows_what_it_missed),
		cmocka_unit_test(a_failure_that_another_hazard_foresaw_is_not_missed),
		cmocka_unit_test(an_ordinary_users_process_gives_no_sample),
		cmocka_unit_test(an_alarm_after_the_failure_is_no_sample),
		cmocka_unit_test(a_full_table_takes_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

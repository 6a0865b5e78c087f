/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probability that a failure follows an alarm, and how well the stated ones held. */
#include "failures.h"

#include "core/world/emit.h"

#define STALL DAVY_HZ_JOB_STALL

static const struct davy_level_score *scored(uint32_t level)
{
	return &core.foresight.calibration.of[STALL][level - DAVY_SCORED_FROM];
}

static uint32_t probability(uint32_t level)
{
	const struct davy_step s = { .core = &core };

	return davy_foresight_probability(&s, STALL, level);
}

/* The last note of a level above 1. */
static const struct davy_plan *last_alarm(void)
{
	for (size_t i = kept_count; i-- > 0;)
		if (kept[i].kind == DAVY_PLAN_NOTE && kept[i].level > 1)
			return &kept[i];
	fail_msg("no alarm was raised");
	return NULL;
}

/* Counts of earlier starts of the agent. */
static void earlier(uint32_t level, uint64_t alarms, uint64_t confirmed)
{
	struct davy_event ev = event(DAVY_EV_SCORES, 0);

	ev.scores.hazard = STALL;
	ev.scores.level = (uint8_t)level;
	ev.scores.alarms = alarms;
	ev.scores.confirmed = confirmed;
	tell(&ev);
}

static uint64_t job = 1;

/* Level 2 needs two jobs within a minute. */
static void stalls_at_level(uint32_t level)
{
	if (level == 2)
		ring_on(GPU, 600, ++job, 60);
	ring_on(GPU, level == 2 ? 600 : 900, ++job, 60);
	assert_int_equal(last_alarm()->level, level);
}

/* An alarm, and its end. */
static void stalls(bool fails, uint32_t level)
{
	stalls_at_level(level);
	now += S;
	if (fails)
		timeout_on(GPU, 60);
	pass(900 * S);
}

static void the_laboratory_gives_the_first_probability(void **state)
{
	(void)state;
	watched_engine();
	assert_int_equal(probability(1), 0);
	assert_int_equal(probability(2), 1000 * 6 / 7); /* 5 of 5 in calibration.c */
	ring_on(GPU, 300, 1, 60);
	assert_int_equal(kept[kept_count - 1].level, 1);
	assert_int_equal(kept[kept_count - 1].probability_permille, 0);
	stalls_at_level(2);
	assert_int_equal(last_alarm()->probability_permille, 857);
}

static void the_history_of_the_host_wins(void **state)
{
	uint32_t was;

	(void)state;
	watched_engine();
	for (int i = 0; i < 5; i++) {
		was = probability(2);
		stalls(false, 2);
		assert_true(probability(2) < was);
		pass(25 * 3600 * S); /* or the fourth one would be doubted */
	}
	assert_int_equal(scored(2)->alarms, 5);
	assert_int_equal(scored(2)->confirmed, 0);
	assert_int_equal(probability(2), 500);
	assert_int_equal(probability(3), 857); /* each level has its own history */
	stalls(true, 2);
	assert_int_equal(scored(2)->confirmed, 1);
	assert_int_equal(probability(2), 1000 * 7 / 13);
	assert_int_equal(last_alarm()->probability_permille, 500);
}

static void earlier_starts_count(void **state)
{
	(void)state;
	watched_engine();
	earlier(3, 1000000000, 0);
	assert_int_equal(probability(3), 1); /* never impossible */
	earlier(3, 1000000000, 1000000000);
	assert_int_equal(probability(3), 999); /* never certain */
	earlier(3, 30, 6);
	assert_int_equal(probability(3), 1000 * 12 / 37);
	assert_int_equal(probability(2), 857);
	assert_int_equal(scored(3)->alarms, 0);
}

static void both_levels_of_an_alarm_are_scored(void **state)
{
	(void)state;
	watched_engine();
	stalls_at_level(2);
	now += 600 * MS;
	ring_on(GPU, 900, job, 60);
	assert_int_equal(last_alarm()->level, 3);
	now += 100 * MS;
	ring_on(GPU, 950, job, 60); /* not raised again */
	now += S;
	timeout_on(GPU, 60);
	now += S;
	timeout_on(GPU, 60); /* the same incident */
	pass(900 * S);
	assert_int_equal(scored(2)->alarms, 1);
	assert_int_equal(scored(2)->confirmed, 1);
	assert_int_equal(scored(3)->alarms, 1);
	assert_int_equal(scored(3)->confirmed, 1);
}

static void an_alarm_after_the_failure_states_nothing(void **state)
{
	(void)state;
	watched_engine();
	timeout_on(GPU, 60);
	now += S;
	ring_on(GPU, 900, 1, 60);
	assert_int_equal(last_alarm()->probability_permille, 0);
	pass(900 * S);
	assert_int_equal(score(STALL)->late, 1);
	assert_int_equal(scored(3)->alarms, 0);
}

static void a_rise_after_the_failure_is_not_scored(void **state)
{
	(void)state;
	watched_engine();
	stalls_at_level(2);
	now += S;
	timeout_on(GPU, 60);
	now += S;
	stalls_at_level(3);
	assert_int_equal(last_alarm()->probability_permille, 0);
	pass(900 * S);
	assert_int_equal(scored(2)->confirmed, 1);
	assert_int_equal(scored(3)->alarms, 0);
}

static void an_ordinary_user_changes_no_probability(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = event(DAVY_EV_PROCESS, 60);
	ev.process.start_ticks = 600;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.flags = DAVY_PROCESS_LOGIN_USER;
	tell(&ev);
	stalls(false, 3);
	ring_on(GPU, 900, 1, 60);
	now += S;
	reset(true, 0); /* the device's: it confirms the alarm */
	pass(900 * S);
	assert_int_equal(score(STALL)->confirmed, 1);
	assert_int_equal(scored(3)->alarms, 0);
	assert_int_equal(probability(3), 857);
}

static void an_averted_failure_is_not_scored(void **state)
{
	(void)state;
	served_engine();
	ring_on(GPU, 900, 1, 50);
	now += S;
	core.world.workloads[0].act_plan = 77;
	core.world.workloads[0].act_ns = now;
	act(77, DAVY_ACT_SERVING, 51, 0);
	pass(900 * S);
	assert_int_equal(score(STALL)->averted, 1);
	assert_int_equal(scored(3)->alarms, 0);
}

static void the_errors_of_stated_probabilities_add_up(void **state)
{
	const struct davy_calibration *c = &core.foresight.calibration;

	(void)state;
	watched_engine();
	earlier(2, 7, 0); /* with the laboratory's 5: 6 of 14 */
	stalls(true, 2);   /* 428 stated, then 7 of 15 */
	assert_int_equal(c->error_sum, 572 * 572);
	stalls(false, 2); /* 466 stated */
	assert_int_equal(c->error_sum, 572 * 572 + 466 * 466);
	stalls(true, 3); /* 857 stated */
	assert_int_equal(c->error_sum, 572 * 572 + 466 * 466 + 143 * 143);
	assert_int_equal(c->bin[4].alarms, 2);
	assert_int_equal(c->bin[4].stated_permille, 428 + 466);
	assert_int_equal(c->bin[4].confirmed, 1);
	assert_int_equal(c->bin[8].alarms, 1);
	assert_int_equal(c->bin[8].stated_permille, 857);
	assert_int_equal(c->bin[8].confirmed, 1);
}

static void sums_of_histories_add_their_scores(void **state)
{
	static struct davy_foresight sum;

	(void)state;
	watched_engine();
	stalls(true, 3);
	earlier(3, 30, 6);
	davy_foresight_add(&sum, &core.foresight);
	davy_foresight_add(&sum, &core.foresight);
	assert_int_equal(sum.calibration.of[STALL][1].alarms, 2);
	assert_int_equal(sum.calibration.of[STALL][1].confirmed, 2);
	assert_int_equal(sum.calibration.error_sum, 2 * 143 * 143);
	assert_int_equal(sum.calibration.bin[8].alarms, 2);
	assert_int_equal(sum.calibration.bin[8].stated_permille, 2 * 857);
	assert_int_equal(sum.calibration.bin[8].confirmed, 2);
	assert_int_equal(sum.earlier[STALL][1].alarms, 0);
}

static void at_the_end_of_a_history_open_alarms_are_false(void **state)
{
	(void)state;
	watched_engine();
	ring_on(GPU, 900, 1, 60);
	now += S;
	timeout_on(GPU, 60);
	ring_on(OTHER_GPU, 900, 1, 61);
	davy_foresight_end(&core.foresight);
	assert_int_equal(core.foresight.prediction_count, 0);
	assert_int_equal(score(STALL)->confirmed, 1);
	assert_int_equal(score(STALL)->false_alarms, 1);
	assert_int_equal(scored(3)->alarms, 2);
	assert_int_equal(scored(3)->confirmed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_laboratory_gives_the_first_probability),
		cmocka_unit_test(the_history_of_the_host_wins),
		cmocka_unit_test(earlier_starts_count),
		cmocka_unit_test(both_levels_of_an_alarm_are_scored),
		cmocka_unit_test(an_alarm_after_the_failure_states_nothing),
		cmocka_unit_test(a_rise_after_the_failure_is_not_scored),
		cmocka_unit_test(an_ordinary_user_changes_no_probability),
		cmocka_unit_test(an_averted_failure_is_not_scored),
		cmocka_unit_test(the_errors_of_stated_probabilities_add_up),
		cmocka_unit_test(sums_of_histories_add_their_scores),
		cmocka_unit_test(at_the_end_of_a_history_open_alarms_are_false),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

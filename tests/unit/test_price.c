/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An action before a failure is taken only if it costs less than the failure that may follow. */
#include "able.h"
#include "jobs.h"

#include "report/plan_text.h"

#define NO_KEEP (ALL_CAN & ~DAVY_CAN_KEEP & ~DAVY_CAN_FREEZE)
#define GIB	(1ULL << 30)

/* So many of 1000 alarms of job_headroom were followed by a failure. */
static void confirmed(uint64_t count)
{
	for (size_t i = 0; i < DAVY_SCORED_LEVELS; i++) {
		core.foresight.calibration.of[DAVY_HZ_JOB_HEADROOM][i].alarms = 1000;
		core.foresight.calibration.of[DAVY_HZ_JOB_HEADROOM][i].confirmed = count;
	}
}

/* Jobs that grow by a fifteenth each: level 2 asks for smaller settings. */
static void growing_jobs(uint32_t pid)
{
	lockup("compute", 10 * S);
	begin_jobs(pid, RING);
	for (uint64_t i = 0; i < 14; i++)
		job(pid, (3000 + i * 200) * MS);
}

/* A model of that size, whose restart takes a second for each GB. */
static void begin_large(const char *name, uint8_t can, uint64_t bytes)
{
	begin_able(name, can);
	uses(50, bytes, 1);
}

static const struct davy_plan *shrink(void)
{
	return last_action(DAVY_ACTION_SHRINK, DAVY_HZ_JOB_HEADROOM);
}

static void an_unlikely_failure_is_not_worth_a_restart(void **state)
{
	(void)state;
	begin_large(NULL, NO_KEEP, 64 * GIB);
	confirmed(2);
	growing_jobs(50);
	assert_int_equal(shrink()->verdict, DAVY_VERDICT_REFUSED);
	assert_int_equal(shrink()->refusal, DAVY_REFUSED_PRICE);
	assert_in_range(shrink()->price_ms, 68000, 70000);
	assert_in_range(shrink()->harm_ms, 2000, 6000);
	assert_int_equal(count_of_action(DAVY_ACTION_SHRINK, DAVY_HZ_JOB_HEADROOM), 1);
}

static void a_likely_failure_is(void **state)
{
	(void)state;
	begin_large(NULL, NO_KEEP, 64 * GIB);
	confirmed(700);
	growing_jobs(50);
	assert_int_equal(shrink()->verdict, DAVY_VERDICT_GO);
	assert_true(shrink()->price_ms < shrink()->harm_ms);
}

static void a_small_model_is_restarted_for_less(void **state)
{
	(void)state;
	begin_large(NULL, NO_KEEP, GIB / 4);
	confirmed(10);
	growing_jobs(50);
	assert_int_equal(shrink()->verdict, DAVY_VERDICT_GO);
	assert_in_range(shrink()->price_ms, 600, 700);
}

static void a_replacement_that_keeps_its_clients_costs_nothing(void **state)
{
	(void)state;
	begin_large(NULL, NO_KEEP | DAVY_CAN_KEEP, 64 * GIB);
	confirmed(2);
	growing_jobs(50);
	assert_int_equal(shrink()->verdict, DAVY_VERDICT_GO);
	assert_int_equal(shrink()->price_ms, 0);
}

static void the_duration_of_a_replacement_is_measured(void **state)
{
	uint32_t plan;

	(void)state;
	begin_large(NULL, NO_KEEP, GIB / 4);
	confirmed(700);
	growing_jobs(50);
	plan = shrink()->id;
	act(plan, DAVY_ACT_STOPPED, 0, 0);
	pass(90 * S);
	replaced_by(plan, 50, 51, DAVY_BACKEND_VULKAN, shrink()->settings.ubatch);
	assert_in_range(first_workload()->start_ns, 90 * S, 130 * S);
}

static void a_measured_duration_counts_and_not_the_size(void **state)
{
	(void)state;
	begin_large(NULL, NO_KEEP, GIB / 4);
	first_workload()->start_ns = 90 * S;
	confirmed(2);
	growing_jobs(50);
	assert_int_equal(shrink()->refusal, DAVY_REFUSED_PRICE);
	assert_int_equal(shrink()->price_ms, 90000);
}

/* The engine is gone already: there is nothing to compare. */
static void after_the_failure_no_price_is_asked(void **state)
{
	(void)state;
	begin_large(NULL, NO_KEEP, 64 * GIB);
	ends(50, 11);
	assert_int_equal(kept[kept_count - 1].kind, DAVY_PLAN_ACTION);
	assert_int_equal(kept[kept_count - 1].verdict, DAVY_VERDICT_GO);
	assert_int_equal(kept[kept_count - 1].harm_ms, 0);
}

/* The counts of earlier starts, as the agent reports them to the core. */
static void earlier_counts(uint64_t alarms, uint64_t count)
{
	for (uint8_t level = 2; level <= 3; level++) {
		struct davy_event ev = event(DAVY_EV_SCORES, 0);

		ev.scores.hazard = DAVY_HZ_JOB_HEADROOM;
		ev.scores.level = level;
		ev.scores.alarms = alarms;
		ev.scores.confirmed = count;
		tell(&ev);
	}
}

static void the_text_has_both_sides(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	begin_large("job_headroom-price", NO_KEEP, 64 * GIB);
	earlier_counts(1000, 1);
	growing_jobs(50);
	assert_int_equal(shrink()->refusal, DAVY_REFUSED_PRICE);
	davy_plan_text(shrink(), text, sizeof(text));
	assert_non_null(strstr(text, "s without service are more than the failure's"));
	assert_replays();
}

/* No event reports that buffers thrash: counts without a confirmation prove nothing. */
static void a_failure_that_no_event_reports_is_assumed(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able(NULL, ALL_CAN);
	for (size_t i = 0; i < DAVY_SCORED_LEVELS; i++)
		core.foresight.calibration.of[DAVY_HZ_EVICTION_STORM][i].alarms = 1000;
	uses(60, 6 * GIB, 0);
	for (uint64_t i = 1; i <= 40; i++, pass(100 * MS))
		evicts(50, 60, i * 20 * GIB / 1024);
	plan = last_action(DAVY_ACTION_PAUSE, DAVY_HZ_EVICTION_STORM);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_true(plan->harm_ms > 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unlikely_failure_is_not_worth_a_restart),
		cmocka_unit_test(a_likely_failure_is),
		cmocka_unit_test(a_small_model_is_restarted_for_less),
		cmocka_unit_test(a_replacement_that_keeps_its_clients_costs_nothing),
		cmocka_unit_test(the_duration_of_a_replacement_is_measured),
		cmocka_unit_test(a_measured_duration_counts_and_not_the_size),
		cmocka_unit_test(after_the_failure_no_price_is_asked),
		cmocka_unit_test(the_text_has_both_sides),
		cmocka_unit_test(a_failure_that_no_event_reports_is_assumed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Effects of acts that stay in force, and their undo: one action per clean period. */
#include "able.h"
#include "jobs.h"

#define CLEAN (600 * S)

static void no_memory(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_ALLOC_FAILED, pid);

	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), GPU);
	ev.alloc_failed.stage = DAVY_ALLOC_IOCTL;
	ev.alloc_failed.error = -12;
	ev.alloc_failed.fresh = 6;
	tell(&ev);
}

/* Its context is halved, in another process. */
static void shrunk(uint32_t old, uint32_t pid)
{
	no_memory(old);
	replaced_by(last_action(DAVY_ACTION_SHRINK, DAVY_HZ_ALLOC_FAILURE)->id, old, pid,
		    DAVY_BACKEND_VULKAN, 512);
}

static void undone(uint32_t old, uint32_t pid)
{
	replaced_by(undo_of(DAVY_HZ_ALLOC_FAILURE)->id, old, pid, DAVY_BACKEND_VULKAN, 512);
}

static void each_clean_period_undoes_one_rung(void **state)
{
	(void)state;
	begin_able("undo-shrink", DAVY_CAN_SHRINK | DAVY_CAN_KEEP);
	shrunk(50, 51);
	rest(20 * S);
	shrunk(51, 52);
	assert_int_equal(first_workload()->settings.context, 8192);
	assert_int_equal(first_workload()->effect_count, 2);
	rest(CLEAN - S);
	assert_int_equal(undo_count(), 0);
	rest(30 * S); /* the alarm stood for a while */
	assert_int_equal(undo_of(DAVY_HZ_ALLOC_FAILURE)->verdict, DAVY_VERDICT_GO);
	assert_int_equal(undo_of(DAVY_HZ_ALLOC_FAILURE)->undone, DAVY_ACTION_SHRINK);
	assert_int_equal(undo_of(DAVY_HZ_ALLOC_FAILURE)->settings.context, 16384);
	assert_int_equal(undo_of(DAVY_HZ_ALLOC_FAILURE)->keeps, 1);
	undone(52, 53);
	assert_int_equal(first_workload()->settings.context, 16384);
	rest(CLEAN - 10 * S);
	assert_int_equal(undo_count(), 1);
	rest(20 * S);
	assert_int_equal(undo_count(), 2);
	assert_int_equal(undo_of(DAVY_HZ_ALLOC_FAILURE)->settings.context,
			 0); /* as its command says */
	undone(53, 54);
	assert_int_equal(first_workload()->effect_count, 0);
	rest(2 * CLEAN);
	assert_int_equal(undo_count(), 2);
	assert_replays();
}

/* Seconds from the last act until its undo is begun. */
static uint64_t clean_seconds(uint32_t pid, uint32_t next)
{
	uint64_t since = now;
	size_t undos = undo_count();

	while (undo_count() == undos && now - since < 100000 * S)
		rest(10 * S);
	undone(pid, next);
	return (now - since) / S;
}

static void a_hazard_soon_after_an_undo_doubles_the_period(void **state)
{
	uint64_t first, second, third;

	(void)state;
	begin_able(NULL, DAVY_CAN_SHRINK);
	shrunk(50, 51);
	first = clean_seconds(51, 52);
	rest(60 * S);
	shrunk(52, 53); /* it was needed */
	second = clean_seconds(53, 54);
	rest(60 * S);
	shrunk(54, 55);
	third = clean_seconds(55, 56);
	assert_in_range(first, 600, 630);
	assert_in_range(second, 1200, 1230);
	assert_in_range(third, 2400, 2430);
	rest(3 * 2400 * S); /* and at last it was not */
	shrunk(56, 57);
	assert_in_range(clean_seconds(57, 58), 600, 630);
}

static void trouble_puts_the_undo_off(void **state)
{
	(void)state;
	begin_able("undo-troubled", DAVY_CAN_SHRINK);
	shrunk(50, 51);
	for (int i = 0; i < 3; i++) { /* a fourth one would be doubted (score/doubt.h) */
		rest(300 * S);
		for (uint64_t k = 1; k <= 2; k++) /* two such jobs are level 2 */
			ring_runs(51, RING, 6 * S, 10 * S, (uint64_t)i * 2 + k);
	}
	assert_int_equal(undo_count(), 0);
	assert_replays();
}

static void an_undo_needs_admission_like_any_act(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_able("undo-refused", DAVY_CAN_SHRINK);
	shrunk(50, 51);
	ev = able_event(1, 51, DAVY_CAN_SHRINK);
	ev.workload.pinned = 1;
	tell(&ev);
	rest(CLEAN + 60 * S);
	assert_int_equal(undo_of(DAVY_HZ_ALLOC_FAILURE)->refusal, DAVY_REFUSED_PINNED);
	assert_int_equal(undo_count(), 1); /* reported once */
	set("agent.mode", DAVY_MODE_ADVISE);
	able(1, 51, DAVY_CAN_SHRINK);
	rest(60 * S);
	assert_int_equal(undo_of(DAVY_HZ_ALLOC_FAILURE)->verdict, DAVY_VERDICT_ADVISED);
	assert_int_equal(undo_count(), 2);
	set("agent.mode", DAVY_MODE_ENFORCE);
	rest(S);
	assert_int_equal(undo_of(DAVY_HZ_ALLOC_FAILURE)->verdict, DAVY_VERDICT_GO);
	assert_replays();
}

static void an_undo_that_fails_waits_longer(void **state)
{
	(void)state;
	begin_able(NULL, DAVY_CAN_SHRINK | DAVY_CAN_KEEP);
	shrunk(50, 51);
	rest(CLEAN + 60 * S);
	assert_int_equal(undo_count(), 1);
	act(undo_of(DAVY_HZ_ALLOC_FAILURE)->id, DAVY_ACT_FAILED, 0, -5);
	assert_int_equal(first_workload()->effect_count, 1);
	rest(CLEAN + 60 * S);
	assert_int_equal(undo_count(), 1);
	rest(CLEAN);
	assert_int_equal(undo_count(), 2);
}

static void the_engine_returns_from_the_cpu_when_the_breaker_allows(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able("undo-probation", ALL_CAN);
	set("breaker.backoff", 3600 * 1000);
	throws(50, LOST);
	ends(50, 6);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH);
	replaced_by(plan->id, 50, 51, DAVY_BACKEND_CPU, 512);
	rest(3500 * S);
	assert_int_equal(undo_count(), 0); /* it is clean, but the breaker is open */
	rest(110 * S);
	plan = undo_of(DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(plan->undone, DAVY_ACTION_MIGRATE_CPU);
	assert_int_equal(plan->to_backend, DAVY_BACKEND_VULKAN);
	assert_string_equal(plan->device, GPU);
	replaced_by(plan->id, 51, 52, DAVY_BACKEND_VULKAN, 512);
	assert_int_equal(first_workload()->effect_count, 0);
	rest(601 * S); /* the probation */
	assert_int_equal(core.breakers[0].state, DAVY_BREAKER_CLOSED);
	assert_int_equal(undo_count(), 1);
	assert_replays();
}

static void a_probation_that_fails_moves_it_again(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able(NULL, ALL_CAN);
	throws(50, LOST);
	ends(50, 6);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH);
	replaced_by(plan->id, 50, 51, DAVY_BACKEND_CPU, 512);
	rest(630 * S);
	replaced_by(undo_of(DAVY_HZ_RUNNER_CRASH)->id, 51, 52, DAVY_BACKEND_VULKAN, 512);
	rest(60 * S);
	throws(52, LOST);
	ends(52, 6);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(plan->at_ns, now);
	replaced_by(plan->id, 52, 53, DAVY_BACKEND_CPU, 512);
	rest(1100 * S);
	assert_int_equal(undo_count(), 1); /* both have doubled: back-off and clean period */
	rest(200 * S);
	assert_int_equal(undo_count(), 2);
}

static void effects_of_an_earlier_agent_are_undone(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able(NULL, ALL_CAN);
	left_by_another(DAVY_ACTION_SHRINK, DAVY_HZ_JOB_HEADROOM, 128);
	left_by_another(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RESET, 0);
	assert_int_equal(first_workload()->settings.ubatch, 128);
	rest(CLEAN - S);
	assert_int_equal(undo_count(), 0);
	rest(2 * S);
	plan = undo_of(DAVY_HZ_RESET);
	assert_int_equal(plan->undone, DAVY_ACTION_MIGRATE_CPU);
	assert_int_equal(plan->to_backend, DAVY_BACKEND_VULKAN);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	replaced_by(plan->id, 50, 51, DAVY_BACKEND_VULKAN, 128);
	rest(CLEAN + S);
	plan = undo_of(DAVY_HZ_JOB_HEADROOM);
	assert_int_equal(plan->undone, DAVY_ACTION_SHRINK);
	assert_int_equal(plan->settings.ubatch, 0); /* as its command says */
	replaced_by(plan->id, 51, 52, DAVY_BACKEND_VULKAN, 512);
	assert_int_equal(first_workload()->effect_count, 0);
	assert_int_equal(first_workload()->settings.ubatch, 0);
}

static void an_operators_order_to_an_earlier_agent_stays(void **state)
{
	struct davy_event ev = event(DAVY_EV_ORDER, 0);

	(void)state;
	begin_able(NULL, ALL_CAN);
	left_by_another(DAVY_ACTION_SHRINK, DAVY_HZ_NONE, 128);
	rest(3 * CLEAN);
	assert_int_equal(undo_count(), 0);
	ev = event(DAVY_EV_ORDER, 0);
	ev.order.workload = 1;
	ev.order.action = DAVY_ACTION_UNDO;
	tell(&ev);
	assert_int_equal(undo_of(DAVY_HZ_NONE)->undone, DAVY_ACTION_SHRINK);
	assert_int_equal(undo_of(DAVY_HZ_NONE)->verdict, DAVY_VERDICT_GO);
}

static void left_effects_that_are_impossible_are_invalid(void **state)
{
	struct davy_event ev = event(DAVY_EV_RESTORED, 0);

	(void)state;
	begin_able(NULL, ALL_CAN);
	ev.restored.workload = 1;
	ev.restored.action = DAVY_ACTION_PAUSE;
	assert_false(davy_event_valid(&ev)); /* its guard has ended it */
	ev.restored.action = DAVY_ACTION_SHRINK;
	assert_true(davy_event_valid(&ev));
	ev.restored.workload = 7;
	tell(&ev); /* of an unknown process */
	assert_int_equal(first_workload()->effect_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_clean_period_undoes_one_rung),
		cmocka_unit_test(a_hazard_soon_after_an_undo_doubles_the_period),
		cmocka_unit_test(trouble_puts_the_undo_off),
		cmocka_unit_test(an_undo_needs_admission_like_any_act),
		cmocka_unit_test(an_undo_that_fails_waits_longer),
		cmocka_unit_test(the_engine_returns_from_the_cpu_when_the_breaker_allows),
		cmocka_unit_test(a_probation_that_fails_moves_it_again),
		cmocka_unit_test(effects_of_an_earlier_agent_are_undone),
		cmocka_unit_test(an_operators_order_to_an_earlier_agent_stays),
		cmocka_unit_test(left_effects_that_are_impossible_are_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A replacement that fails is followed by the next action, and the last one by a hazard. */
#include "record.h"

#include "report/plan_text.h"

/* Workload 1, which nothing can move to the CPU: an unknown script. */
static void fixed_engine(uint8_t can)
{
	struct davy_event ev;

	begin_recorded();
	serve();
	ev = event(DAVY_EV_WORKLOAD, 50);
	ev.workload.workload = 1;
	ev.workload.adopted = 1;
	ev.workload.can = can;
	ev.workload.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.workload.backend = DAVY_BACKEND_VULKAN;
	ev.workload.port = 8080;
	tell(&ev);
}

/* The replacement of the last plan starts as "pid" and dies before its first token. */
static void dies_again(uint32_t plan, uint32_t pid)
{
	act(plan, DAVY_ACT_STOPPED, 0, 0);
	process(pid, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	act(plan, DAVY_ACT_STARTED, pid, 0);
	ends(pid, 6);
}

static const struct davy_plan *gone(enum davy_action action)
{
	const struct davy_plan *plan = last_action(action, DAVY_HZ_RUNNER_CRASH);

	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	return plan;
}

static void a_restart_that_dies_is_tried_again_with_back_off(void **state)
{
	uint64_t wait_ms = 1000;

	(void)state;
	fixed_engine(0);
	ends(50, 11);
	for (uint32_t i = 0; i < 5; i++, wait_ms *= 2) {
		dies_again(gone(DAVY_ACTION_RESTART)->id, 60 + i);
		assert_int_equal(last_action(DAVY_ACTION_RESTART, DAVY_HZ_RUNNER_CRASH)->refusal,
				 DAVY_REFUSED_BACKOFF);
		assert_true(davy_core_workload_busy(&core, 1)); /* its supervisor waits */
		pass(wait_ms * MS + 200 * MS);
	}
	gone(DAVY_ACTION_RESTART);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_GIVEN_UP), 0);
}

static void a_move_to_the_cpu_that_dies_is_followed_by_another_action(void **state)
{
	(void)state;
	served_engine();
	throws(50, LOST);
	ends(50, 6);
	dies_again(gone(DAVY_ACTION_MIGRATE_CPU)->id, 60);
	assert_true(davy_core_workload_busy(&core, 1));
	pass(2 * S);
	dies_again(gone(DAVY_ACTION_RESTART)->id, 61);
	pass(3 * S);
	gone(DAVY_ACTION_MIGRATE_CPU);
}

static void what_is_given_up_is_a_hazard_with_advice(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];
	const struct davy_plan *note;

	(void)state;
	record_as = "given_up-budget";
	fixed_engine(0);
	set("budget.acts_per_hour", 2);
	ends(50, 11);
	dies_again(gone(DAVY_ACTION_RESTART)->id, 60);
	pass(2 * S);
	dies_again(gone(DAVY_ACTION_RESTART)->id, 61);
	assert_false(davy_core_workload_busy(&core, 1)); /* its supervisor ends */
	pass(S);
	note = last_of(DAVY_PLAN_NOTE, DAVY_HZ_GIVEN_UP);
	assert_int_equal(note->level, 3);
	assert_int_equal(note->workload, 1);
	davy_plan_text(note, text, sizeof(text));
	assert_non_null(strstr(text, "restart exceeds the budget of actions per hour"));
	assert_non_null(strstr(text, "davylamp exec --backend cpu"));
	assert_non_null(strstr(text, "tiny.gguf"));
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_GIVEN_UP), 1);
	assert_replays();
}

/* An operator stops the engine when no budget is left: nothing failed. */
static void a_stopped_engine_is_not_given_up(void **state)
{
	(void)state;
	record_as = "given_up-benign";
	fixed_engine(0);
	set("budget.acts_per_hour", 0);
	pass(S);
	ends(50, 15);
	pass(5 * S);
	workload(1, 50, DAVY_WORKLOAD_GONE, DAVY_BACKEND_VULKAN);
	pass(S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_GIVEN_UP), 0);
	assert_replays();
}

static void it_is_reported_before_the_supervisor_is_forgotten(void **state)
{
	(void)state;
	fixed_engine(0);
	set("budget.acts_per_hour", 0);
	ends(50, 11);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_GIVEN_UP), 0);
	workload(1, 50, DAVY_WORKLOAD_GONE, DAVY_BACKEND_VULKAN);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_GIVEN_UP), 1);
}

/* An observed or pinned engine was never promised anything; a served one is not given up. */
static void nothing_is_given_up_that_was_not_ours(void **state)
{
	(void)state;
	fixed_engine(0);
	set("agent.mode", DAVY_MODE_OBSERVE);
	ends(50, 11);
	pass(5 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_GIVEN_UP), 0);
	served_engine();
	set("budget.acts_per_hour", 0);
	throws(50, LOST);
	pass(400 * MS);
	probe(200, 500, 0); /* alive: refused, and not ended */
	pass(5 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_GIVEN_UP), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_that_dies_is_tried_again_with_back_off),
		cmocka_unit_test(a_move_to_the_cpu_that_dies_is_followed_by_another_action),
		cmocka_unit_test(what_is_given_up_is_a_hazard_with_advice),
		cmocka_unit_test(a_stopped_engine_is_not_given_up),
		cmocka_unit_test(it_is_reported_before_the_supervisor_is_forgotten),
		cmocka_unit_test(nothing_is_given_up_that_was_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

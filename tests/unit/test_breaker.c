/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history.h"

static void restore(enum davy_breaker_state breaker_state, uint64_t remaining_ns, uint16_t openings)
{
	struct davy_event ev = event(DAVY_EV_BREAKER, 0);

	davy_copy_name(ev.breaker.device, sizeof(ev.breaker.device), GPU);
	davy_copy_name(ev.breaker.model, sizeof(ev.breaker.model), "tiny.gguf");
	ev.breaker.backend = DAVY_BACKEND_VULKAN;
	ev.breaker.state = (uint8_t)breaker_state;
	ev.breaker.remaining_ns = remaining_ns;
	ev.breaker.open_count = openings;
	tell(&ev);
}

static const struct davy_plan *last_breaker(void)
{
	for (size_t i = kept_count; i-- > 0;)
		if (kept[i].kind == DAVY_PLAN_BREAKER)
			return &kept[i];
	fail_msg("no breaker turned");
	return NULL;
}

static void a_device_failure_opens_it_for_its_key(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	served_engine();
	throws(50, LOST);
	ends(50, 6);
	plan = last_breaker();
	assert_int_equal(plan->breaker_state, DAVY_BREAKER_OPEN);
	assert_string_equal(plan->device, GPU);
	assert_string_equal(plan->model, "tiny.gguf");
	assert_int_equal(plan->backend, DAVY_BACKEND_VULKAN);
	assert_int_equal(plan->until_ns - plan->at_ns, 600 * S);
}

static void an_open_breaker_half_opens_once_after_its_timer(void **state)
{
	(void)state;
	begin_history();
	restore(DAVY_BREAKER_OPEN, 5 * S, 1);
	pass(4900 * MS);
	assert_int_equal(kept_count, 0);
	pass(20 * S);
	assert_int_equal(kept_count, 1);
	assert_int_equal(last_breaker()->breaker_state, DAVY_BREAKER_HALF_OPEN);
}

static void a_successful_probation_closes_the_breaker(void **state)
{
	(void)state;
	begin_history();
	restore(DAVY_BREAKER_HALF_OPEN, 0, 3);
	workload(1, 50, DAVY_WORKLOAD_REGISTERED,
		 DAVY_BACKEND_UNKNOWN); /* as --backend auto says it */
	process(50, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	pass(599 * S);
	assert_int_equal(kept_count, 0);
	pass(2 * S);
	assert_int_equal(last_breaker()->breaker_state, DAVY_BREAKER_CLOSED);
}

static void a_probation_that_ends_early_proves_nothing(void **state)
{
	(void)state;
	begin_history();
	restore(DAVY_BREAKER_HALF_OPEN, 0, 1);
	workload(1, 50, DAVY_WORKLOAD_REGISTERED, DAVY_BACKEND_VULKAN);
	process(50, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	pass(300 * S);
	workload(1, 50, DAVY_WORKLOAD_GONE, DAVY_BACKEND_VULKAN);
	pass(900 * S);
	assert_int_equal(kept_count, 0);
}

static void a_probation_that_fails_doubles_the_back_off(void **state)
{
	(void)state;
	served_engine();
	restore(DAVY_BREAKER_HALF_OPEN, 0, 2);
	ends(50, 11); /* even a plain crash ends a probation */
	assert_int_equal(last_breaker()->breaker_state, DAVY_BREAKER_OPEN);
	assert_int_equal(last_breaker()->until_ns - last_breaker()->at_ns, 2400 * S);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
}

static void the_back_off_has_an_end(void **state)
{
	(void)state;
	served_engine();
	restore(DAVY_BREAKER_HALF_OPEN, 0, 60000);
	throws(50, LOST);
	ends(50, 6);
	assert_int_equal(last_breaker()->until_ns - last_breaker()->at_ns, 86400 * S);
}

static void mode_observe_and_unadopted_engines_do_not_change_the_breaker(void **state)
{
	(void)state;
	served_engine();
	set("agent.mode", DAVY_MODE_OBSERVE);
	throws(50, LOST);
	ends(50, 6);
	set("agent.mode", DAVY_MODE_ENFORCE);
	process(70, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	throws(70, LOST);
	ends(70, 6);
	for (size_t i = 0; i < kept_count; i++)
		assert_int_not_equal(kept[i].kind, DAVY_PLAN_BREAKER);
}

static void an_unread_device_matches_any(void **state)
{
	struct davy_event ev;

	(void)state;
	served_engine();
	ev = event(DAVY_EV_BREAKER, 0);
	davy_copy_name(ev.breaker.model, sizeof(ev.breaker.model), "tiny.gguf");
	ev.breaker.backend = DAVY_BACKEND_VULKAN;
	ev.breaker.state = DAVY_BREAKER_HALF_OPEN;
	tell(&ev);
	ends(50, 11);
	assert_int_equal(last_breaker()->breaker_state, DAVY_BREAKER_OPEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_failure_opens_it_for_its_key),
		cmocka_unit_test(an_open_breaker_half_opens_once_after_its_timer),
		cmocka_unit_test(a_successful_probation_closes_the_breaker),
		cmocka_unit_test(a_probation_that_ends_early_proves_nothing),
		cmocka_unit_test(a_probation_that_fails_doubles_the_back_off),
		cmocka_unit_test(the_back_off_has_an_end),
		cmocka_unit_test(mode_observe_and_unadopted_engines_do_not_change_the_breaker),
		cmocka_unit_test(an_unread_device_matches_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An engine that davylamp freezes does not count as hanging. One that hangs afterwards does. */
#include "history.h"

static void graph(uint64_t entered_ns)
{
	struct davy_event ev = event(DAVY_EV_GRAPH, 50);

	ev.graph.entered_ns = entered_ns;
	ev.graph.graph_count = 100;
	ev.graph.max_ns = 100 * MS;
	tell(&ev);
}

/* A served engine that can be held, in a graph since now. */
static uint64_t works(void)
{
	struct davy_event ev;

	served_engine();
	ev = event(DAVY_EV_WORKLOAD, 50);
	ev.workload.workload = 1;
	ev.workload.adopted = 1;
	ev.workload.movable = 1;
	ev.workload.can = DAVY_CAN_FREEZE;
	ev.workload.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.workload.backend = DAVY_BACKEND_VULKAN;
	ev.workload.port = 8080;
	tell(&ev);
	process(50, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	graph(now);
	return now;
}

static uint32_t hold(enum davy_action action)
{
	struct davy_event ev = event(DAVY_EV_ORDER, 0);
	uint32_t plan;

	ev.order.workload = 1;
	ev.order.action = (uint8_t)action;
	ev.order.on_permille = action == DAVY_ACTION_THROTTLE ? 250 : 0;
	ev.order.lease_ns = 60 * S;
	tell(&ev);
	plan = last_action(action, DAVY_HZ_NONE)->id;
	assert_int_equal(last_action(action, DAVY_HZ_NONE)->verdict, DAVY_VERDICT_GO);
	act(plan, DAVY_ACT_IN_FORCE, 0, 0);
	return plan;
}

static void goes_on_in_the_graph(uint64_t entered_ns, uint64_t seconds)
{
	for (uint64_t i = 0; i < seconds; i++) {
		pass(S);
		graph(entered_ns);
	}
}

static size_t checks(void)
{
	return count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED);
}

static void a_paused_engine_is_not_probed_and_not_wedged(void **state)
{
	uint64_t entered_ns = works();
	uint32_t plan = hold(DAVY_ACTION_PAUSE);

	(void)state;
	goes_on_in_the_graph(entered_ns, 30);
	assert_int_equal(checks(), 0);
	act(plan, DAVY_ACT_RELEASED, 0, 0);
	goes_on_in_the_graph(entered_ns, 8);
	assert_int_equal(checks(), 0);
}

static void an_engine_that_hangs_after_the_pause_is_wedged(void **state)
{
	uint64_t entered_ns = works();
	uint32_t plan = hold(DAVY_ACTION_PAUSE);

	(void)state;
	goes_on_in_the_graph(entered_ns, 30);
	act(plan, DAVY_ACT_RELEASED, 0, 0);
	goes_on_in_the_graph(entered_ns, 12);
	assert_int_equal(checks(), 1);
	probe(200, 0, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->level, 3);
}

static void an_engine_that_hung_before_the_pause_is_reported_first(void **state)
{
	uint64_t entered_ns = works();

	(void)state;
	goes_on_in_the_graph(entered_ns, 12);
	assert_int_equal(checks(), 1);
}

static void an_answer_that_a_pause_prevented_does_not_count(void **state)
{
	uint64_t entered_ns = works();
	uint32_t plan;

	(void)state;
	throws(50, LOST);
	pass(400 * MS);
	assert_int_equal(checks(), 1);
	plan = hold(DAVY_ACTION_PAUSE);
	goes_on_in_the_graph(entered_ns, 3);
	probe(0, 0, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	goes_on_in_the_graph(entered_ns, 3);
	assert_int_equal(checks(), 1);
	act(plan, DAVY_ACT_RELEASED, 0, 0);
	pass(S);
	assert_int_equal(checks(), 2); /* it is asked again */
	probe(200, 500, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->level, 3);
}

static void a_throttled_engine_may_take_four_times_as_long(void **state)
{
	uint64_t entered_ns = works();

	(void)state;
	hold(DAVY_ACTION_THROTTLE);
	goes_on_in_the_graph(entered_ns, 38);
	assert_int_equal(checks(), 0);
	goes_on_in_the_graph(entered_ns, 4);
	assert_int_equal(checks(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_paused_engine_is_not_probed_and_not_wedged),
		cmocka_unit_test(an_engine_that_hangs_after_the_pause_is_wedged),
		cmocka_unit_test(an_engine_that_hung_before_the_pause_is_reported_first),
		cmocka_unit_test(an_answer_that_a_pause_prevented_does_not_count),
		cmocka_unit_test(a_throttled_engine_may_take_four_times_as_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

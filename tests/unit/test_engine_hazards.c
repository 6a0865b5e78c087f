/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

#include "report/plan_text.h"

static void device_lost_is_noted_and_checked_after_grace(void **state)
{
	(void)state;
	served_engine();
	throws(50, LOST);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_EXCEPTION)->level, 3);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 0);
	pass(200 * MS);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 0);
	pass(200 * MS);
	assert_int_equal(last_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED)->port, 8080);
}

/* Its container does not publish the port that the process listens on, or its pod has a network. */
static void an_adopted_engine_without_a_port_of_this_host_is_not_asked(void **state)
{
	struct davy_event ev = event(DAVY_EV_PROCESS, 50);

	(void)state;
	begin_history();
	set("agent.mode", DAVY_MODE_ENFORCE);
	ev.process.start_ticks = 500;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	ev.process.port = 8080;
	tell(&ev);
	ev.process.workload = 1;
	ev.process.port = 0;
	tell(&ev);
	ev = event(DAVY_EV_WORKLOAD, 50);
	ev.workload.workload = 1;
	ev.workload.op = DAVY_WORKLOAD_REGISTERED;
	ev.workload.adopted = ev.workload.movable = 1;
	ev.workload.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.workload.backend = DAVY_BACKEND_VULKAN;
	tell(&ev);
	throws(50, LOST);
	pass(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_EXCEPTION)->level, 3);
}

static void a_survivor_that_gives_no_token_is_wedged_and_moved(void **state)
{
	const struct davy_plan *plan;
	uint64_t thrown;

	(void)state;
	begin_recording("engine_exception-lost");
	serve();
	thrown = now;
	throws(50, LOST);
	pass(400 * MS);
	probe(200, 500, 0);
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED);
	assert_int_equal(plan->health_status, 200);
	assert_int_equal(plan->completion_status, 500);
	assert_int_equal(plan->first_precursor_ns, thrown);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(plan->workload, 1);
	assert_int_equal(last_of(DAVY_PLAN_BREAKER, DAVY_HZ_ENGINE_WEDGED)->breaker_state,
			 DAVY_BREAKER_OPEN);
	assert_replays();
}

static void a_survivor_that_gives_a_token_is_left_alone(void **state)
{
	(void)state;
	begin_recording("engine_wedged-lived");
	serve();
	throws(50, LOST);
	pass(400 * MS);
	probe(200, 200, 1);
	pass(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED), 0);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_ENGINE_EXCEPTION), 1);
	assert_replays();
}

static void a_caught_out_of_memory_is_only_noted(void **state)
{
	(void)state;
	begin_recording("engine_exception-benign");
	serve();
	throws(50, OOM);
	pass(20 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_EXCEPTION)->level, 1);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 0);
	throws(50, "N2vk11SystemErrorE");
	pass(S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_EXCEPTION), 1);
	assert_replays();
}

static void other_exceptions_are_no_sign(void **state)
{
	(void)state;
	served_engine();
	throws(50, "N2vk11SystemErrorE");
	pass(S);
	assert_int_equal(kept_count, 0);
}

static void a_stuck_graph_is_checked_past_its_limit_only(void **state)
{
	(void)state;
	served_engine();
	pass(30 * S);
	tell_graph(50, now - 4 * S, 100, 50 * MS);
	assert_int_equal(kept_count, 0);
	tell_graph(50, now - 9 * S, 100, 50 * MS);
	assert_int_equal(kept_count, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->form, DAVY_FORM_SLOW);
	tell_graph(50, now - 11 * S, 100, 50 * MS);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
	probe(200, 0, 0);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED)->verdict,
			 DAVY_VERDICT_GO);
}

/* A slow graph on a busy host: the engine goes on, and the check waits behind a long answer. */
static void a_check_behind_other_requests_proves_nothing(void **state)
{
	(void)state;
	begin_recording("engine_wedged-benign-busy");
	serve();
	pass(30 * S);
	tell_graph(50, now - 11 * S, 100, 50 * MS);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
	pass(2 * S);
	tell_graph(50, now - S, 130, 12 * S);
	probe(200, 0, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED), 0);
	assert_replays();
	pass(100 * S); /* the next one hangs: it is checked at once, and proven */
	tell_graph(50, now - 100 * S, 130, 12 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 2);
	probe(200, 0, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 1);
}

static void an_engine_that_loads_is_not_wedged(void **state)
{
	(void)state;
	served_engine();
	pass(30 * S);
	tell_graph(50, now - 11 * S, 100, 50 * MS);
	probe(503, 503, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	pass(31 * S);
	tell_graph(50, now - 42 * S, 100, 50 * MS);
	probe(200, 0, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 1);
}

/* Its port is open: that proves nothing, and the signal alone decides. */
static void an_engine_that_gives_no_token_is_judged_by_the_signal(void **state)
{
	struct davy_event ev;

	(void)state;
	served_engine();
	pass(30 * S);
	ev = event(DAVY_EV_GRAPH, 50);
	ev.graph.entered_ns = now - 11 * S;
	ev.graph.graph_count = 100;
	ev.graph.max_ns = 50 * MS;
	ev.graph.may_end_unseen = 1;
	tell(&ev);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
	probe(200, DAVY_PROBE_ALIVE, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	pass(31 * S);
	throws(50, LOST);
	pass(400 * MS);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 2);
	probe(200, DAVY_PROBE_ALIVE, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->completion_status, 0);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED)->verdict,
			 DAVY_VERDICT_GO);
}

static void slow_graphs_raise_the_limit(void **state)
{
	(void)state;
	served_engine();
	pass(300 * S);
	tell_graph(50, now - 39 * S, 100, 10 * S);
	assert_int_equal(kept_count, 0);
	tell_graph(50, now - 79 * S, 100, 10 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->level, 2);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 0);
	tell_graph(50, now - 81 * S, 100, 10 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
}

static void a_first_graph_may_compile_for_long(void **state)
{
	(void)state;
	served_engine();
	pass(300 * S);
	tell_graph(50, now - 119 * S, 0, 0);
	tell_graph(50, now - 119 * S, 15, 0);
	assert_int_equal(kept_count, 0);
	tell_graph(50, now - 121 * S, 15, 0);
	assert_int_equal(kept_count, 1);
}

static void a_slow_cpu_is_no_hazard(void **state)
{
	(void)state;
	begin_history();
	set("agent.mode", DAVY_MODE_ENFORCE);
	workload(1, 50, DAVY_WORKLOAD_REGISTERED, DAVY_BACKEND_CPU);
	process(50, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_CPU);
	pass(300 * S);
	tell_graph(50, now - 200 * S, 5, 50 * MS);
	assert_int_equal(kept_count, 0);
}

static void an_unseen_end_of_a_copy_is_no_proof(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	process(70, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	pass(300 * S);
	ev = event(DAVY_EV_GRAPH, 70);
	ev.graph.entered_ns = now - 60 * S;
	ev.graph.graph_count = 90;
	ev.graph.may_end_unseen = 1;
	tell(&ev);
	assert_int_equal(kept_count, 0);
	ev.graph.may_end_unseen = 0;
	tell(&ev);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 1);
}

static void exceptions_of_other_programs_are_no_hazard(void **state)
{
	(void)state;
	begin_history();
	throws(70, LOST); /* never heard of */
	process(71, 0, DAVY_ENGINE_NONE, DAVY_BACKEND_UNKNOWN);
	throws(71, LOST);
	pass(5 * S);
	assert_int_equal(kept_count, 0);
}

static void a_postponed_act_is_dropped_if_the_engine_recovers(void **state)
{
	(void)state;
	served_engine();
	throws(50, LOST);
	pass(400 * MS);
	probe(200, 500, 0); /* moved; the replacement is wedged too, within the back-off */
	act(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED)->id, DAVY_ACT_STOPPED, 0,
	    0);
	workload(1, 51, DAVY_WORKLOAD_STARTED, DAVY_BACKEND_VULKAN);
	process(51, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	act(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED)->id, DAVY_ACT_SERVING, 51,
	    0);
	set("restart.backoff", 200000);
	pass(31 * S);
	throws(51, LOST);
	pass(400 * MS);
	probe(200, 500, 0);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED)->refusal,
			 DAVY_REFUSED_BACKOFF);
	assert_true(davy_core_workload_busy(&core, 1));
	pass(31 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 3); /* asked once more */
	probe(200, 200, 1);
	assert_false(davy_core_workload_busy(&core, 1));
	pass(400 * S);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED), 2);
}

static void a_wedge_stands_until_its_end_and_is_probed_rarely(void **state)
{
	(void)state;
	served_engine();
	set("agent.mode", DAVY_MODE_ADVISE);
	throws(50, LOST);
	for (int i = 0; i < 60; i++) {
		pass(S);
		if (core.world.workloads[0].check_ns)
			probe(200, 500, 0);
	}
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 2);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_ENGINE_WEDGED), 0);
	set("agent.mode", DAVY_MODE_ENFORCE);
	pass(31 * S);
	probe(200, 500, 0);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED)->verdict,
			 DAVY_VERDICT_GO);
}

static void an_engine_that_cannot_move_is_restarted(void **state)
{
	struct davy_event ev;

	(void)state;
	served_engine();
	ev = event(DAVY_EV_WORKLOAD, 50);
	ev.workload.workload = 1;
	ev.workload.adopted = 1;
	ev.workload.engine = DAVY_ENGINE_GENERIC;
	tell(&ev);
	throws(50, LOST);
	ends(50, 6);
	assert_int_equal(last_action(DAVY_ACTION_RESTART, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_lost_is_noted_and_checked_after_grace),
		cmocka_unit_test(an_adopted_engine_without_a_port_of_this_host_is_not_asked),
		cmocka_unit_test(a_survivor_that_gives_no_token_is_wedged_and_moved),
		cmocka_unit_test(a_survivor_that_gives_a_token_is_left_alone),
		cmocka_unit_test(a_caught_out_of_memory_is_only_noted),
		cmocka_unit_test(other_exceptions_are_no_sign),
		cmocka_unit_test(a_stuck_graph_is_checked_past_its_limit_only),
		cmocka_unit_test(a_check_behind_other_requests_proves_nothing),
		cmocka_unit_test(an_engine_that_loads_is_not_wedged),
		cmocka_unit_test(an_engine_that_gives_no_token_is_judged_by_the_signal),
		cmocka_unit_test(slow_graphs_raise_the_limit),
		cmocka_unit_test(a_first_graph_may_compile_for_long),
		cmocka_unit_test(a_slow_cpu_is_no_hazard),
		cmocka_unit_test(an_unseen_end_of_a_copy_is_no_proof),
		cmocka_unit_test(exceptions_of_other_programs_are_no_hazard),
		cmocka_unit_test(a_postponed_act_is_dropped_if_the_engine_recovers),
		cmocka_unit_test(a_wedge_stands_until_its_end_and_is_probed_rarely),
		cmocka_unit_test(an_engine_that_cannot_move_is_restarted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

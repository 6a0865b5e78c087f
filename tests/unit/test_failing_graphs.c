/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Graphs that return an error, as those of a lost device do with llama.cpp's pull request 27183. */
#include "record.h"

/* "count" graphs have ended, "failing" failed since the last one that succeeded. */
static void results(uint32_t pid, uint64_t count, uint32_t failing)
{
	struct davy_event ev = event(DAVY_EV_GRAPH, pid);

	ev.graph.graph_count = count;
	ev.graph.failed_count = failing;
	ev.graph.max_ns = 50 * MS;
	ev.graph.failing = failing;
	tell(&ev);
}

static void answers_error(uint16_t completion, uint32_t flags)
{
	struct davy_event ev = event(DAVY_EV_PROBE, 0);

	ev.probe.workload = 1;
	ev.probe.health_status = 200;
	ev.probe.completion_status = completion;
	ev.probe.flags = flags;
	tell(&ev);
}

/* As a Vulkan backend that returns an error for a lost device: nothing is thrown. */
static void an_engine_whose_graphs_fail_is_wedged_and_moved(void **state)
{
	const struct davy_plan *plan;
	uint64_t failed;

	(void)state;
	begin_recording("engine_wedged-failing");
	serve();
	failed = now;
	results(50, 100, 1);
	pass(200 * MS);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 0);
	pass(200 * MS);
	assert_int_equal(last_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED)->port, 8080);
	answers_error(500, DAVY_PROBE_COMPUTE_FAILED);
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED);
	assert_int_equal(plan->level, 3);
	assert_int_equal(plan->form, DAVY_FORM_FAILING);
	assert_int_equal(plan->observed, 1);
	assert_int_equal(plan->completion_status, 500);
	assert_int_equal(plan->first_precursor_ns, failed);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(last_of(DAVY_PLAN_BREAKER, DAVY_HZ_ENGINE_WEDGED)->breaker_state,
			 DAVY_BREAKER_OPEN);
	assert_replays();
}

/* The check returned a token; later ones succeed. */
static void one_failed_graph_is_no_hazard(void **state)
{
	(void)state;
	begin_recording("engine_wedged-benign-graph");
	serve();
	results(50, 100, 1);
	pass(400 * MS);
	probe(200, 200, 1);
	results(50, 101, 0);
	pass(20 * S);
	results(50, 200, 1);
	results(50, 201, 0); /* a success within the grace period: no check */
	pass(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	assert_replays();
}

/* The graph's result is read again while the check runs; its token clears both. */
static void a_token_leaves_no_check_behind(void **state)
{
	(void)state;
	served_engine();
	results(50, 100, 1);
	pass(400 * MS);
	results(50, 100, 1);
	probe(200, 200, 1);
	pass(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
}

/* Cancelled requests and graphs without memory count as failed runs, not as failing. */
static void graphs_that_end_otherwise_are_not_checked(void **state)
{
	struct davy_event ev;

	(void)state;
	served_engine();
	for (uint32_t i = 0; i < 20; i++) {
		ev = event(DAVY_EV_GRAPH, 50);
		ev.graph.graph_count = 100 + i;
		ev.graph.max_ns = 50 * MS;
		tell(&ev);
		pass(S);
	}
	assert_int_equal(kept_count, 0);
}

static void another_error_counts_only_with_several_failed_graphs(void **state)
{
	(void)state;
	served_engine();
	results(50, 100, 1);
	pass(400 * MS);
	answers_error(401, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	results(50, 100, 2);
	pass(31 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 2);
	answers_error(401, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	results(50, 100, 3);
	pass(31 * S);
	answers_error(401, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->observed, 3);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED)->verdict,
			 DAVY_VERDICT_GO);
}

static void failing_graphs_are_reported_where_no_check_is_possible(void **state)
{
	(void)state;
	begin_history();
	process(70, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	results(70, 100, 2);
	pass(2 * S);
	assert_int_equal(kept_count, 0);
	results(70, 100, 3);
	pass(2 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->observed, 3);
	results(70, 101, 0);
	pass(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_ENGINE_WEDGED), 1);
}

/* The counters of tokens grow where a graph begins, also if it fails. */
static void tokens_of_failing_graphs_are_no_recovery(void **state)
{
	struct davy_event ev;

	(void)state;
	served_engine();
	set("agent.mode", DAVY_MODE_ADVISE);
	results(50, 100, 1);
	pass(400 * MS);
	answers_error(500, DAVY_PROBE_COMPUTE_FAILED);
	for (uint32_t i = 2; i < 40; i++) {
		ev = event(DAVY_EV_PROGRESS, 50);
		ev.progress.generated_count = i;
		ev.progress.depth = 10;
		tell(&ev);
		results(50, 100, i);
		pass(S);
		if (core.world.workloads[0].check_ns)
			answers_error(500, DAVY_PROBE_COMPUTE_FAILED);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 1);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_ENGINE_WEDGED), 0);
}

static void failed_graphs_on_the_cpu_are_no_hazard(void **state)
{
	(void)state;
	begin_history();
	set("agent.mode", DAVY_MODE_ENFORCE);
	workload(1, 50, DAVY_WORKLOAD_REGISTERED, DAVY_BACKEND_CPU);
	process(50, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_CPU);
	results(50, 100, 9);
	pass(60 * S);
	assert_int_equal(kept_count, 0);
}

/* A host under load: the check of an engine that works may take too long. */
static void no_answer_after_one_failed_graph_proves_nothing(void **state)
{
	(void)state;
	begin_recording("engine_wedged-no-answer");
	serve();
	results(50, 100, 1);
	pass(400 * MS);
	answers_error(0, 0);
	pass(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	pass(11 * S); /* it is checked again, although no request came */
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 2);
	answers_error(500, DAVY_PROBE_COMPUTE_FAILED);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->observed, 1);
	assert_replays();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_whose_graphs_fail_is_wedged_and_moved),
		cmocka_unit_test(one_failed_graph_is_no_hazard),
		cmocka_unit_test(a_token_leaves_no_check_behind),
		cmocka_unit_test(graphs_that_end_otherwise_are_not_checked),
		cmocka_unit_test(another_error_counts_only_with_several_failed_graphs),
		cmocka_unit_test(failing_graphs_are_reported_where_no_check_is_possible),
		cmocka_unit_test(tokens_of_failing_graphs_are_no_recovery),
		cmocka_unit_test(failed_graphs_on_the_cpu_are_no_hazard),
		cmocka_unit_test(no_answer_after_one_failed_graph_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

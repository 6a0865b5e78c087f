/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "history.h"

#include "report/plan_text.h"

static uint32_t replaced(uint32_t plan, uint32_t pid, enum davy_backend backend)
{
	act(plan, DAVY_ACT_STOPPED, 0, 0);
	workload(1, pid, DAVY_WORKLOAD_STARTED, backend);
	process(pid, 1, DAVY_ENGINE_LLAMA_SERVER, backend);
	act(plan, DAVY_ACT_STARTED, pid, 0);
	act(plan, DAVY_ACT_SERVING, 0, 0);
	return pid;
}

static const struct davy_plan *crash(uint32_t pid)
{
	ends(pid, 11);
	for (size_t i = kept_count; i-- > 0;)
		if (is_action(&kept[i], DAVY_ACTION_RESTART) ||
		    is_action(&kept[i], DAVY_ACTION_MIGRATE_CPU))
			return &kept[i];
	return NULL;
}

static void observing_refuses_with_its_reason(void **state)
{
	(void)state;
	served_engine();
	set("agent.mode", DAVY_MODE_OBSERVE);
	throws(50, LOST);
	ends(50, 6);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_REFUSED);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->refusal,
			 DAVY_REFUSED_MODE);
	assert_false(davy_core_workload_busy(&core, 1));
}

static void mode_advise_reports_the_plan(void **state)
{
	(void)state;
	served_engine();
	set("agent.mode", DAVY_MODE_ADVISE);
	throws(50, LOST);
	ends(50, 6);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_ADVISED);
	assert_false(davy_core_workload_busy(&core, 1));
}

static void somebody_elses_engine_is_only_reported(void **state)
{
	(void)state;
	begin_history();
	set("agent.mode", DAVY_MODE_ENFORCE);
	process(70, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	throws(70, LOST);
	ends(70, 6);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->refusal,
			 DAVY_REFUSED_NOT_ADOPTED);
}

static void assert_says(const struct davy_plan *plan, const char *words)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	davy_plan_text(plan, text, sizeof(text));
	if (!strstr(text, words))
		fail_msg("'%s' is not in '%s'", words, text);
}

static void crashes_on_the_cpu_back_off_and_double(void **state)
{
	const struct davy_plan *plan;
	uint32_t pid = 50;
	uint64_t wait_ms = 1000;

	(void)state;
	served_engine();
	throws(50, LOST);
	plan = crash(50);
	pid = replaced(plan->id, 51, DAVY_BACKEND_CPU);
	for (int i = 0; i < 4; i++, wait_ms *= 2) {
		plan = crash(pid);
		assert_int_equal(plan->action, DAVY_ACTION_RESTART);
		assert_int_equal(plan->refusal, DAVY_REFUSED_BACKOFF);
		assert_int_equal(plan->until_ns - core.world.workloads[0].last_act_ns,
				 wait_ms * MS);
		assert_true(davy_core_workload_busy(&core, 1));
		pass(wait_ms * MS + 100 * MS);
		plan = last_action(DAVY_ACTION_RESTART, DAVY_HZ_RUNNER_CRASH);
		assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
		assert_says(plan, "because runner_crash: ended by SIGSEGV;");
		pid = replaced(plan->id, 60 + (uint32_t)i, DAVY_BACKEND_CPU);
	}
}

static void the_hourly_budget_ends_a_crash_loop(void **state)
{
	const struct davy_plan *plan;
	uint32_t pid = 50;

	(void)state;
	served_engine();
	set("budget.acts_per_hour", 2);
	throws(50, LOST);
	plan = crash(50);
	pid = replaced(plan->id, 51, DAVY_BACKEND_CPU);
	crash(pid);
	pass(2 * S);
	plan = last_action(DAVY_ACTION_RESTART, DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	pid = replaced(plan->id, 52, DAVY_BACKEND_CPU);
	plan = crash(pid);
	assert_int_equal(plan->refusal, DAVY_REFUSED_BUDGET);
	assert_false(davy_core_workload_busy(&core, 1));
}

static void our_own_stop_is_no_crash(void **state)
{
	size_t plans;

	(void)state;
	served_engine();
	throws(50, LOST);
	pass(400 * MS);
	probe(200, 500, 0);
	plans = kept_count;
	ends(50, 6); /* a zombie aborts at SIGTERM */
	assert_int_equal(kept_count, plans);
}

static void a_failed_restart_goes_one_rung_up(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	served_engine();
	plan = crash(50);
	assert_int_equal(plan->action, DAVY_ACTION_RESTART);
	act(plan->id, DAVY_ACT_STOPPED, 0, 0);
	act(plan->id, DAVY_ACT_FAILED, 0, -5);
	assert_int_equal(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH)->result, -5);
	assert_says(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH),
		    "restart failed (Input/output error)");
	pass(2 * S);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
	assert_says(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH),
		    "because runner_crash: ended by SIGSEGV;");
}

static size_t actions_kept(void)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += kept[i].kind == DAVY_PLAN_ACTION;
	return count;
}

/* The supervisor has another engine than the agent knows: acting again would never end. */
static void an_action_on_a_process_that_was_replaced_is_followed_by_none(void **state)
{
	const struct davy_plan *plan;
	size_t acted;

	(void)state;
	served_engine();
	plan = crash(50);
	act(plan->id, DAVY_ACT_STOPPED, 0, 0);
	acted = actions_kept();
	act(plan->id, DAVY_ACT_FAILED, 0, -ESTALE);
	assert_int_equal(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH)->result, -ESTALE);
	pass(60 * S);
	assert_int_equal(actions_kept(), acted);
}

/* The agent knows only that it ended: the status is in the exit event. */
static void a_failed_restart_is_told_without_a_status(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	served_engine();
	plan = crash(50);
	act(plan->id, DAVY_ACT_STOPPED, 0, 0);
	act(plan->id, DAVY_ACT_FAILED, 0, -10);
	assert_says(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH),
		    "restart failed (its process ended):");
}

static void a_replacement_that_dies_ends_the_act_at_once(void **state)
{
	static const struct {
		int status;
		const char *words;
	} ends_as[] = {
		{ 11, "restart failed (its process ended by SIGSEGV):" },
		{ 6 | 0x80, "restart failed (its process ended by SIGABRT):" },
		{ 2 << 8, "restart failed (its process exited with 2):" },
		{ 0, "restart failed (its process exited with 0):" },
	};
	const struct davy_plan *plan;

	(void)state;
	for (size_t i = 0; i < sizeof(ends_as) / sizeof(ends_as[0]); i++) {
		served_engine();
		plan = crash(50);
		assert_int_equal(plan->action, DAVY_ACTION_RESTART);
		act(plan->id, DAVY_ACT_STOPPED, 0, 0);
		workload(1, 51, DAVY_WORKLOAD_STARTED, DAVY_BACKEND_VULKAN);
		process(51, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
		act(plan->id, DAVY_ACT_STARTED, 51, 0);
		ends(51, ends_as[i].status);
		plan = last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH);
		assert_int_equal(plan->result, -10);
		assert_says(plan, ends_as[i].words);
		assert_true(davy_core_workload_busy(&core, 1));
		pass(2 * S);
		plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH);
		assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
		assert_says(plan, "because runner_crash: ended by SIGSEGV;");
	}
}

static void an_act_without_end_times_out(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	served_engine();
	throws(50, LOST);
	plan = crash(50);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	pass(181 * S);
	assert_int_equal(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH)->result, -110);
	assert_int_equal(last_action(DAVY_ACTION_RESTART, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO); /* no process serves: try again */
}

static void an_outcome_has_the_times(void **state)
{
	const struct davy_plan *plan;
	uint64_t fault;

	(void)state;
	served_engine();
	fault = now;
	throws(50, LOST);
	now += 10 * MS;
	plan = crash(50);
	now += 100 * MS;
	act(plan->id, DAVY_ACT_STOPPED, 0, 0);
	now += 400 * MS;
	act(plan->id, DAVY_ACT_SERVING, 0, 0);
	plan = last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->first_precursor_ns, fault);
	assert_int_equal(plan->stopped_ns, fault + 110 * MS);
	assert_int_equal(plan->at_ns, fault + 510 * MS);
}

static void an_act_keeps_its_number_beside_notes(void **state)
{
	uint32_t number;

	(void)state;
	served_engine();
	number = crash(50)->id;
	served_engine();
	throws(50, OOM); /* one note more */
	pass(20 * S);
	assert_int_equal(crash(50)->id, number);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_EXCEPTION)->id, 1);
	act(number, DAVY_ACT_SERVING, 51, 0);
	assert_int_equal(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH)->result, 0);
	process(51, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_CPU);
	workload(1, 51, DAVY_WORKLOAD_STARTED, DAVY_BACKEND_CPU);
	pass(60 * S);
	assert_int_equal(crash(51)->id, number + 1);
}

static void time_that_goes_back_is_held(void **state)
{
	struct davy_event ev;

	(void)state;
	served_engine();
	ev = event(DAVY_EV_THROW, 50);
	davy_copy_name(ev.thrown.type, sizeof(ev.thrown.type), LOST);
	ev.at_ns = now - 50 * S;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_EXCEPTION)->at_ns, now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(observing_refuses_with_its_reason),
		cmocka_unit_test(mode_advise_reports_the_plan),
		cmocka_unit_test(somebody_elses_engine_is_only_reported),
		cmocka_unit_test(crashes_on_the_cpu_back_off_and_double),
		cmocka_unit_test(the_hourly_budget_ends_a_crash_loop),
		cmocka_unit_test(our_own_stop_is_no_crash),
		cmocka_unit_test(a_failed_restart_goes_one_rung_up),
		cmocka_unit_test(an_action_on_a_process_that_was_replaced_is_followed_by_none),
		cmocka_unit_test(a_failed_restart_is_told_without_a_status),
		cmocka_unit_test(a_replacement_that_dies_ends_the_act_at_once),
		cmocka_unit_test(an_act_without_end_times_out),
		cmocka_unit_test(an_outcome_has_the_times),
		cmocka_unit_test(an_act_keeps_its_number_beside_notes),
		cmocka_unit_test(time_that_goes_back_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

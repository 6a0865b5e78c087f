/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

#include "report/plan_text.h"

static void a_crash_after_device_lost_moves_to_the_cpu(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	served_engine();
	throws(50, LOST);
	ends(50, 6);
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->observed, 6);
	assert_string_equal(plan->detail, LOST);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
}

/* Started without --backend: its process says what it uses, and is seen before it is reported. */
static void a_replacement_has_the_backend_of_its_process(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_history();
	set("agent.mode", DAVY_MODE_ENFORCE);
	workload(1, 50, DAVY_WORKLOAD_REGISTERED, DAVY_BACKEND_UNKNOWN);
	process(50, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	assert_int_equal(davy_world_workload(&core.world, 1)->backend, DAVY_BACKEND_VULKAN);
	process(51, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	workload(1, 51, DAVY_WORKLOAD_STARTED, DAVY_BACKEND_UNKNOWN);
	assert_int_equal(davy_world_workload(&core.world, 1)->backend, DAVY_BACKEND_VULKAN);
	assert_int_equal(davy_world_workload(&core.world, 1)->asked, DAVY_BACKEND_UNKNOWN);
	ends(50, 0);
	throws(51, LOST);
	ends(51, 6);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->backend, DAVY_BACKEND_VULKAN);
	workload(1, 52, DAVY_WORKLOAD_STARTED, DAVY_BACKEND_CPU); /* told: it counts at once */
	assert_int_equal(davy_world_workload(&core.world, 1)->backend, DAVY_BACKEND_CPU);
}

static void a_plain_crash_is_restarted_once_then_moved(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_recording("runner_crash-again");
	serve();
	ends(50, 11 | 0x80);
	plan = last_action(DAVY_ACTION_RESTART, DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	act(plan->id, DAVY_ACT_STOPPED, 0, 0);
	workload(1, 51, DAVY_WORKLOAD_STARTED, DAVY_BACKEND_VULKAN);
	process(51, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	act(plan->id, DAVY_ACT_STARTED, 51, 0);
	act(plan->id, DAVY_ACT_SERVING, 0, 0);
	assert_int_equal(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_RUNNER_CRASH)->result, 0);
	pass(60 * S);
	ends(51, 11);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
	assert_replays();
}

static void found(const char *where, bool adopted)
{
	struct davy_event ev = event(DAVY_EV_FINDING, 0);

	ev.finding.engine = DAVY_ENGINE_OLLAMA;
	ev.finding.backend = DAVY_BACKEND_ROCM;
	ev.finding.status = 6;
	ev.finding.adopted = adopted;
	davy_copy_name(ev.finding.where, sizeof(ev.finding.where), where);
	davy_copy_name(ev.finding.device, sizeof(ev.finding.device), "0000:04:00.0");
	davy_copy_name(ev.finding.model, sizeof(ev.finding.model), "llama3:8b");
	assert_true(davy_event_valid(&ev));
	tell(&ev);
}

static void a_start_that_was_only_tried_is_a_hazard_with_its_stage(void **state)
{
	struct davy_event ev = event(DAVY_EV_FINDING, 0);

	(void)state;
	begin_history();
	set("agent.mode", DAVY_MODE_ENFORCE);
	found("init in libamdhip64.so.6", false);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH)->level, 2);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH)->detail,
			    "init in libamdhip64.so.6");
	assert_int_equal(core.breaker_count, 0); /* a process without a workload */
	begin_history();
	set("agent.mode", DAVY_MODE_ENFORCE);
	found("init in libamdhip64.so.6", true);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH)->level, 3);
	assert_int_equal(last_of(DAVY_PLAN_BREAKER, DAVY_HZ_RUNNER_CRASH)->backend,
			 DAVY_BACKEND_ROCM);
	assert_int_equal(core.breakers[0].state, DAVY_BREAKER_OPEN);
	assert_false(davy_event_valid(&ev)); /* at no stage */
}

static void a_requested_end_is_not_a_crash(void **state)
{
	static const int benign[] = { 0, 15, 2, 1, 1 << 8 };

	(void)state;
	for (size_t i = 0; i < sizeof(benign) / sizeof(benign[0]); i++) {
		served_engine();
		ends(50, benign[i]);
		assert_int_equal(kept_count, 0);
	}
}

static void a_failure_exit_after_out_of_memory_is_a_crash(void **state)
{
	(void)state;
	served_engine();
	throws(50, OOM);
	ends(50, 1 << 8);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
}

/* PyTorch raises "CUDA error: an illegal memory access", and the engine exits. */
static void a_failure_exit_after_an_xid_is_a_crash(void **state)
{
	const uint32_t codes[] = { 31, 13 };
	struct davy_event ev;
	char text[256];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		served_engine();
		ev = event(DAVY_EV_LOG, 50);
		ev.log.kind = DAVY_LOG_XID;
		ev.log.code = codes[i];
		tell(&ev);
		pass(2 * S);
		ends(50, 1 << 8);
		davy_reason_text(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), text, sizeof(text));
		assert_string_equal(text, "exited with 1 after a fault on the GPU (Xid)");
		assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH)->level, 3);
	}
}

/* 43 and 45 are what the driver does to a process that ends; an hour later it is another reason. */
static void other_exits_after_an_xid_are_no_crash(void **state)
{
	struct davy_event ev;

	(void)state;
	for (int i = 0; i < 3; i++) {
		served_engine();
		ev = event(DAVY_EV_LOG, i == 2 ? 51 : 50);
		ev.log.kind = DAVY_LOG_XID;
		ev.log.code = i ? 31 : 45;
		tell(&ev);
		pass(i == 1 ? 3600 * S : S);
		ends(50, 1 << 8);
		assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 0);
	}
}

static void a_discovery_child_killed_on_purpose_is_no_crash(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = event(DAVY_EV_PROCESS, 90);
	ev.process.start_ticks = 900;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	tell(&ev);
	ends(90, 9);
	assert_int_equal(kept_count, 0);
}

/* A developer ends servers by "kill -9": each is reported, none is an alarm. */
static void an_engine_that_a_user_kills_is_a_note(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_recording("runner_crash-benign-killed");
	for (uint32_t pid = 90; pid < 94; pid++) {
		ev = event(DAVY_EV_PROCESS, pid);
		ev.process.start_ticks = pid * 10;
		ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
		ev.process.backend = DAVY_BACKEND_VULKAN;
		davy_copy_name(ev.process.model, sizeof(ev.process.model), "lamp:1b");
		davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
		tell(&ev);
		tell_graph(pid, 0, 10, 50 * MS);
		pass(60 * S);
		ends(pid, 9);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 4);
	for (size_t i = 0; i < kept_count; i++)
		assert_int_equal(kept[i].level, 1);
	assert_replays();
}

/* A daemon (90) and its runner (91) with a model; the runner ends by SIGKILL. */
static void unload(bool daemon_lives, enum davy_event_kind named_by)
{
	struct davy_event ev;

	begin_recorded();
	ev = event(DAVY_EV_PROCESS, 90);
	ev.process.start_ticks = 900;
	ev.process.engine = DAVY_ENGINE_OLLAMA;
	ev.process.role = DAVY_ROLE_MANAGER;
	tell(&ev);
	ev = event(DAVY_EV_PROCESS, 91);
	ev.process.start_ticks = 910;
	ev.process.ppid = 90;
	ev.process.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	ev.process.role = DAVY_ROLE_RUNNER;
	davy_copy_name(ev.process.model, sizeof(ev.process.model), "lamp:1b");
	tell(&ev);
	if (!daemon_lives)
		ends(90, 9);
	if (named_by == DAVY_EV_FACT) {
		ev = event(DAVY_EV_FACT, 91);
		ev.fact.fact = DAVY_FACT_OOM_VICTIM;
		tell(&ev);
	} else if (named_by == DAVY_EV_LOG) {
		ev = event(DAVY_EV_LOG, 91);
		ev.log.kind = DAVY_LOG_OOM_KILL;
		ev.log.role = DAVY_PART_FAILURE;
		ev.log.log_class = DAVY_CLASS_OOM_GTT_HOST;
		tell(&ev);
	}
	kept_count = 0;
	ends(91, 9);
}

static void a_runner_that_its_manager_unloads_is_no_crash(void **state)
{
	(void)state;
	record_as = "runner_crash-benign";
	unload(true, DAVY_EV_TICK);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 0);
	assert_replays();
	unload(true, DAVY_EV_FACT);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 1);
	unload(true, DAVY_EV_LOG);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 1);
	unload(false, DAVY_EV_TICK);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 1);
}

/* A runner of the daemon with pid 90 exits with a status, after work or without. */
static void runner_ends(uint32_t pid, bool computed, int status)
{
	struct davy_event ev = event(DAVY_EV_PROCESS, pid);

	ev.process.start_ticks = pid * 10;
	ev.process.ppid = 90;
	ev.process.workload = 1;
	ev.process.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	ev.process.role = DAVY_ROLE_RUNNER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	davy_copy_name(ev.process.model, sizeof(ev.process.model), "lamp:1b");
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
	if (computed)
		tell_graph(pid, 0, 10, 50 * MS);
	pass(30 * S);
	ends(pid, status);
}

/* An adopted Ollama, workload 1, pid 90. */
static void ollama(const char *name)
{
	struct davy_event ev;

	begin_recording(name);
	set("agent.mode", DAVY_MODE_ENFORCE);
	ev = event(DAVY_EV_WORKLOAD, 90);
	ev.workload.workload = 1;
	ev.workload.adopted = ev.workload.movable = 1;
	ev.workload.engine = DAVY_ENGINE_OLLAMA;
	tell(&ev);
	ev = event(DAVY_EV_PROCESS, 90);
	ev.process.start_ticks = 900;
	ev.process.workload = 1;
	ev.process.engine = DAVY_ENGINE_OLLAMA;
	ev.process.role = DAVY_ROLE_MANAGER;
	tell(&ev);
}

static void runners_that_end_with_an_error_twice_are_a_crash(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	ollama("runner_crash-exits");
	runner_ends(91, true, 2 << 8);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 0);
	pass(120 * S);
	runner_ends(92, false, 2 << 8);
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->level, 3);
	assert_int_equal(plan->observed, 2 << 8);
	assert_int_equal(plan->threshold, 2);
	assert_int_equal(last_action(DAVY_ACTION_RESTART, DAVY_HZ_RUNNER_CRASH)->workload, 1);
	assert_replays();
}

/* A model that cannot be loaded ends each runner: it is reported, and a restart would not help. */
static void runners_that_never_computed_are_only_reported(void **state)
{
	(void)state;
	ollama("runner_crash-exits-load");
	runner_ends(91, false, 1 << 8);
	runner_ends(92, false, 1 << 8);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH)->level, 2);
	assert_int_equal(count_of_action(DAVY_ACTION_RESTART, DAVY_HZ_RUNNER_CRASH), 0);
	assert_replays();
}

/* Two errors more than the window apart, ends without an error, and servers that exit with 1. */
static void runners_that_end_now_and_then_are_no_crash(void **state)
{
	struct davy_event ev;

	(void)state;
	ollama("runner_crash-benign-exits");
	runner_ends(91, true, 2 << 8);
	pass(601 * S);
	runner_ends(92, true, 2 << 8);
	runner_ends(93, true, 0);
	runner_ends(94, true, 0);
	for (uint32_t pid = 95; pid < 98; pid++) {
		ev = event(DAVY_EV_PROCESS, pid);
		ev.process.start_ticks = pid * 10;
		ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
		ev.process.role = DAVY_ROLE_SERVER;
		ev.process.ppid = 1;
		davy_copy_name(ev.process.model, sizeof(ev.process.model), "a.gguf");
		tell(&ev);
		ends(pid, 1 << 8);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 0);
	assert_replays();
}

static void another_process_of_the_same_pid_inherits_nothing(void **state)
{
	struct davy_event ev;

	(void)state;
	served_engine();
	throws(50, LOST);
	ev = event(DAVY_EV_PROCESS, 50);
	ev.process.start_ticks = 7777;
	tell(&ev);
	pass(5 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 0);
	ends(50, 6); /* of the old start time: not this one's */
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 0);
}

static void client_of(uint32_t pid, uint64_t id, uint64_t bytes)
{
	struct davy_event ev = event(DAVY_EV_CLIENT, pid);

	davy_copy_name(ev.client.device, sizeof(ev.client.device), GPU);
	ev.client.client_id = id;
	ev.client.vram = bytes;
	tell(&ev);
}

static void a_late_exit_takes_nothing_of_the_pids_new_owner(void **state)
{
	const struct davy_memory *m = &core.world.memory;
	struct davy_event ev;

	(void)state;
	served_engine();
	client_of(50, 1, 9 << 20);
	ev = event(DAVY_EV_PROCESS, 50);
	ev.process.start_ticks = 7777;
	tell(&ev);
	assert_null(davy_memory_client_of(m, 50, GPU)); /* nor does it inherit any */
	client_of(50, 2, 1 << 20);
	ends(50, 0);
	assert_non_null(davy_memory_client_of(m, 50, GPU));
	assert_int_equal(davy_memory_client_of(m, 50, GPU)->bytes, 1 << 20);
	ev = event(DAVY_EV_PROCESS_EXIT, 50);
	ev.process_exit.start_ticks = 7777;
	tell(&ev);
	assert_null(davy_memory_client_of(m, 50, GPU));
}

/* Of a daemon that the agent does not know: runners of one model; those of another do not count. */
static void runners_without_a_known_manager_count_by_model(void **state)
{
	(void)state;
	begin_history();
	runner_ends(91, false, 2 << 8);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH), 0);
	runner_ends(92, false, 1 << 8);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RUNNER_CRASH)->form, DAVY_FORM_REPEATED);
	assert_int_equal(core.foresight.hazard[DAVY_HZ_RUNNER_CRASH].predictions, 1);
}

/* The second crash before the first graph predicts the third; one after work does not count. */
static void a_second_crash_at_the_start_predicts_a_third(void **state)
{
	(void)state;
	begin_history();
	runner_ends(91, true, 11);
	runner_ends(92, false, 11);
	assert_int_equal(core.foresight.hazard[DAVY_HZ_RUNNER_CRASH].predictions, 0);
	runner_ends(93, false, 11);
	assert_int_equal(core.foresight.hazard[DAVY_HZ_RUNNER_CRASH].predictions, 1);
	pass(120 * S); /* nearer, it is the same incident */
	runner_ends(94, false, 11);
	assert_int_equal(core.foresight.hazard[DAVY_HZ_RUNNER_CRASH].confirmed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_after_device_lost_moves_to_the_cpu),
		cmocka_unit_test(a_replacement_has_the_backend_of_its_process),
		cmocka_unit_test(a_plain_crash_is_restarted_once_then_moved),
		cmocka_unit_test(a_start_that_was_only_tried_is_a_hazard_with_its_stage),
		cmocka_unit_test(a_requested_end_is_not_a_crash),
		cmocka_unit_test(a_failure_exit_after_out_of_memory_is_a_crash),
		cmocka_unit_test(a_failure_exit_after_an_xid_is_a_crash),
		cmocka_unit_test(other_exits_after_an_xid_are_no_crash),
		cmocka_unit_test(a_discovery_child_killed_on_purpose_is_no_crash),
		cmocka_unit_test(an_engine_that_a_user_kills_is_a_note),
		cmocka_unit_test(a_runner_that_its_manager_unloads_is_no_crash),
		cmocka_unit_test(runners_that_end_with_an_error_twice_are_a_crash),
		cmocka_unit_test(runners_that_never_computed_are_only_reported),
		cmocka_unit_test(runners_that_end_now_and_then_are_no_crash),
		cmocka_unit_test(another_process_of_the_same_pid_inherits_nothing),
		cmocka_unit_test(a_late_exit_takes_nothing_of_the_pids_new_owner),
		cmocka_unit_test(runners_without_a_known_manager_count_by_model),
		cmocka_unit_test(a_second_crash_at_the_start_predicts_a_third),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

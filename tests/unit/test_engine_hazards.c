/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

#include "report/plan_text.h"

static void graph(uint32_t pid, uint64_t entered_ns, uint64_t count, uint64_t max_ns)
{
	struct davy_event ev = event(DAVY_EV_GRAPH, pid);

	ev.graph.entered_ns = entered_ns;
	ev.graph.graph_count = count;
	ev.graph.max_ns = max_ns;
	tell(&ev);
}

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
	graph(50, now - 4 * S, 100, 50 * MS);
	assert_int_equal(kept_count, 0);
	graph(50, now - 9 * S, 100, 50 * MS);
	assert_int_equal(kept_count, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->form, DAVY_FORM_SLOW);
	graph(50, now - 11 * S, 100, 50 * MS);
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
	graph(50, now - 11 * S, 100, 50 * MS);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
	pass(2 * S);
	graph(50, now - S, 130, 12 * S);
	probe(200, 0, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED), 0);
	assert_replays();
	pass(100 * S); /* the next one hangs: it is checked at once, and proven */
	graph(50, now - 100 * S, 130, 12 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 2);
	probe(200, 0, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 1);
}

static void an_engine_that_loads_is_not_wedged(void **state)
{
	(void)state;
	served_engine();
	pass(30 * S);
	graph(50, now - 11 * S, 100, 50 * MS);
	probe(503, 503, 0);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), 0);
	pass(31 * S);
	graph(50, now - 42 * S, 100, 50 * MS);
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
	graph(50, now - 39 * S, 100, 10 * S);
	assert_int_equal(kept_count, 0);
	graph(50, now - 79 * S, 100, 10 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->level, 2);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 0);
	graph(50, now - 81 * S, 100, 10 * S);
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
}

static void a_first_graph_may_compile_for_long(void **state)
{
	(void)state;
	served_engine();
	pass(300 * S);
	graph(50, now - 119 * S, 0, 0);
	graph(50, now - 119 * S, 15, 0);
	assert_int_equal(kept_count, 0);
	graph(50, now - 121 * S, 15, 0);
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
	graph(50, now - 200 * S, 5, 50 * MS);
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
		graph(pid, 0, 10, 50 * MS);
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
		graph(pid, 0, 10, 50 * MS);
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

/* Far apart, without an error, a client of the daemon, a server of its own. */
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

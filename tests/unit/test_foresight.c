/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures, the predictions before them, and their counters. */
#include "failures.h"

#include <errno.h>

static void says(enum davy_log_kind kind, const char *device, uint32_t pid)
{
	const struct davy_log_meaning *m = davy_log_meaning(kind);
	struct davy_event ev = event(DAVY_EV_LOG, pid);

	ev.log.kind = (uint16_t)kind;
	ev.log.role = m->role;
	ev.log.log_class = m->class;
	ev.log.hazard = m->hazard;
	ev.log.leads = m->leads;
	davy_copy_name(ev.log.device, sizeof(ev.log.device), device);
	tell(&ev);
}

static void device_says(enum davy_device_change change, const char *detail, int value)
{
	struct davy_event ev = event(DAVY_EV_DEVICE, 0);

	ev.device.change = change;
	ev.device.value = value;
	davy_copy_name(ev.device.device, sizeof(ev.device.device), GPU);
	davy_copy_name(ev.device.detail, sizeof(ev.device.detail), detail);
	tell(&ev);
}

static void no_memory_for(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_ALLOC_FAILED, pid);

	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), GPU);
	ev.alloc_failed.stage = DAVY_ALLOC_IOCTL;
	ev.alloc_failed.error = -ENOMEM;
	ev.alloc_failed.fresh = 6;
	tell(&ev);
}

static void a_failure_names_its_first_sign_and_the_lead(void **state)
{
	const struct davy_plan *plan;
	uint64_t prediction;

	(void)state;
	watched_engine();
	ring_on(GPU, 300, 1, 60); /* level 1 is no prediction */
	now += 400 * MS;
	prediction = now;
	ring_on(GPU, 750, 1, 60);
	now += 500 * MS;
	ring_on(GPU, 900, 1, 60); /* not the first */
	now += 500 * MS;
	timeout_on(GPU, 60);
	plan = last_failure();
	assert_int_equal(plan->hazard, DAVY_HZ_JOB_STALL);
	assert_string_equal(davy_log_class_name(plan->failure_class), "ring_timeout");
	assert_string_equal(plan->device, GPU);
	assert_string_equal(plan->ring, COMPUTE);
	assert_string_equal(plan->model, "tiny.gguf");
	assert_int_equal(plan->pid, 60);
	assert_int_equal(plan->first_precursor_ns, prediction);
	assert_int_equal(plan->lead_time_ns, S);
	assert_int_equal(plan->unit, DAVY_UNIT_NS);
	assert_int_equal(plan->evidence[0].kind, DAVY_EV_JOB_TIMEOUT);
	assert_int_equal(plan->evidence[1].kind, DAVY_EV_RING);
	assert_int_equal(core.foresight.class[DAVY_CLASS_RING_TIMEOUT].failures, 1);
	assert_int_equal(core.foresight.class[DAVY_CLASS_RING_TIMEOUT].missed, 0);
	assert_int_equal(core.foresight.class[DAVY_CLASS_RING_TIMEOUT].lead_time.sum_ns, S);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->predictions, 1);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->confirmed, 1);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->lead_time.max_ns, S);
}

static void a_failure_without_a_sign_is_missed(void **state)
{
	(void)state;
	watched_engine();
	timeout_on(GPU, 60);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
	assert_int_equal(last_failure()->lead_time_ns, 0);
	assert_int_equal(last_failure()->first_precursor_ns, now);
	assert_int_equal(core.foresight.class[DAVY_CLASS_RING_TIMEOUT].missed, 1);
}

static void an_alarm_of_the_same_moment_is_no_sign(void **state)
{
	(void)state;
	watched_engine();
	ring_on(GPU, 900, 1, 60);
	timeout_on(GPU, 60);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
}

static void an_unrelated_alarm_earns_nothing(void **state)
{
	(void)state;
	watched_engine();
	no_memory_for(60); /* no cause of a timeout */
	ring_on(OTHER_GPU, 900, 1, 61);
	now += S;
	timeout_on(GPU, 60);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
	assert_int_equal(score(DAVY_HZ_ALLOC_FAILURE)->confirmed, 0);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->confirmed, 0);
}

static void consequences_of_a_failure_are_the_same_failure(void **state)
{
	(void)state;
	watched_engine();
	timeout_on(GPU, 60);
	now += 3 * S;
	says(DAVY_LOG_RING_TIMEOUT, GPU, 60);
	says(DAVY_LOG_GPU_RESET_BEGUN, "", 0); /* names no process */
	reset(true, 0);
	now += 59 * S; /* a reset may take its time */
	reset(false, 0);
	device_says(DAVY_DEVICE_WEDGED, "none", 0);
	fact(DAVY_FACT_IOCTL_FAILED, 60, 0, -ECANCELED);
	throws(60, LOST);
	now += 59 * S;
	ends(60, 6);
	assert_int_equal(failures(), 1);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "ring_timeout");
}

static void a_late_consequence_is_another_failure(void **state)
{
	(void)state;
	watched_engine();
	timeout_on(GPU, 60);
	now += 10 * S;
	timeout_on(GPU, 60);
	assert_int_equal(failures(), 1);
	now += 10 * S + 1;
	timeout_on(GPU, 60);
	assert_int_equal(failures(), 2);
	now += 60 * S + 1;
	ends(60, 11);
	assert_int_equal(failures(), 3);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class),
			    "runner_crash_init");
}

static void failures_of_two_devices_are_separate(void **state)
{
	(void)state;
	watched_engine();
	timeout_on(GPU, 60);
	timeout_on(OTHER_GPU, 61);
	assert_int_equal(failures(), 2);
}

static void a_successful_reset_foresees_the_fatal_one(void **state)
{
	(void)state;
	watched_engine();
	timeout_on(GPU, 60);
	reset(true, 0);
	now += 3 * S;
	reset(false, 0);
	pass(500 * S); /* amd-vk-002: 8 min 20 s */
	timeout_on(GPU, 60);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_RESET);
	assert_int_equal(last_failure()->lead_time_ns, 500 * S);
	assert_int_equal(failures(), 2);
}

static void a_late_alarm_is_neither_correct_nor_false(void **state)
{
	(void)state;
	watched_engine();
	timeout_on(GPU, 60);
	now += S;
	reset(false, 0);
	assert_int_equal(score(DAVY_HZ_RESET)->predictions, 1);
	pass(700 * S);
	assert_int_equal(score(DAVY_HZ_RESET)->late, 1);
	assert_int_equal(score(DAVY_HZ_RESET)->false_alarms, 0);
	timeout_on(GPU, 60);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
}

static void a_sign_after_which_nothing_comes_is_a_false_alarm(void **state)
{
	uint64_t seen;

	(void)state;
	watched_engine();
	ring_on(GPU, 800, 1, 60);
	seen = now;
	now += S;
	ring_on(GPU, 0, 0, 0); /* the job ended */
	pass(seen + 300 * S - now);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->false_alarms, 0);
	pass(100 * MS);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->false_alarms, 1);
	assert_int_equal(core.foresight.prediction_count, 0);
	timeout_on(GPU, 60);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
}

static void a_sign_that_stands_has_no_horizon(void **state)
{
	struct davy_event ev;

	(void)state;
	watched_engine();
	for (int i = 0; i < 100; i++) {
		ev = event(DAVY_EV_BO_MOVED, 60);
		davy_copy_name(ev.bo_moved.device, sizeof(ev.bo_moved.device), GPU);
		ev.bo_moved.out_bytes = (uint64_t)(i + 1) << 29;
		tell(&ev);
		pass(3 * S);
	}
	assert_int_equal(score(DAVY_HZ_EVICTION_STORM)->predictions, 1);
	throws(60, LOST); /* nothing that it leads to */
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
	pass(70 * S);
	says(DAVY_LOG_QUEUE_HANG, GPU, 0);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_EVICTION_STORM);
	assert_int_equal(last_failure()->lead_time_ns, 367 * S);
}

static void an_alarm_that_comes_and_goes_with_each_job_is_one_sign(void **state)
{
	(void)state;
	watched_engine();
	for (uint64_t i = 1; i <= 1000; i++) {
		ring_on(GPU, 800, i, 60);
		pass(S);
	}
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->predictions, 1);
	assert_int_equal(core.dropped_count, 0);
	pass(20 * S);
	ring_on(GPU, 800, 2000, 60); /* as usual: such jobs have ended in time for 15 minutes */
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->predictions, 1);
	ring_on(GPU, 900, 2000, 60); /* after a pause it is another */
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->predictions, 2);
}

static void an_act_that_succeeds_in_time_averts_the_failure(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	served_engine();
	ring_on(GPU, 900, 1, 50); /* counts against the process, like the others */
	no_memory_for(50);
	now += 100 * S; /* something else has it replaced */
	pass(20 * S);
	core.world.workloads[0].act_plan = 77; /* as an act that no failure brought about */
	core.world.workloads[0].act_ns = now;
	act(77, DAVY_ACT_SERVING, 51, 0);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->averted, 1);
	assert_int_equal(score(DAVY_HZ_ALLOC_FAILURE)->averted, 1);
	pass(700 * S);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->false_alarms, 0);
	assert_int_equal(core.foresight.prediction_count, 0);
	served_engine();
	no_memory_for(50);
	now += S;
	throws(50, LOST); /* it came nevertheless */
	ends(50, 6);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH);
	act(plan->id, DAVY_ACT_SERVING, 51, 0);
	assert_int_equal(score(DAVY_HZ_ALLOC_FAILURE)->averted, 0);
	assert_int_equal(score(DAVY_HZ_ALLOC_FAILURE)->confirmed, 1);
}

static void an_act_that_fails_averts_nothing(void **state)
{
	(void)state;
	served_engine();
	no_memory_for(50);
	core.world.workloads[0].act_plan = 77;
	core.world.workloads[0].act_ns = now;
	act(77, DAVY_ACT_FAILED, 0, -5);
	assert_int_equal(score(DAVY_HZ_ALLOC_FAILURE)->averted, 0);
}

static void want_of_memory_that_is_survived_is_no_failure(void **state)
{
	(void)state;
	watched_engine();
	no_memory_for(60);
	now += S;
	throws(60, OOM);
	pass(100 * S);
	assert_int_equal(failures(), 0);
	throws(60, OOM);
	now += S;
	ends(60, 1 << 8);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "oom_vram");
	assert_int_equal(last_failure()->hazard, DAVY_HZ_ALLOC_FAILURE);
	assert_int_equal(last_failure()->evidence[0].kind, DAVY_EV_THROW);
	assert_int_equal(last_failure()->lead_time_ns, 101 * S);
}

static void another_failure_takes_the_place_of_want_of_memory(void **state)
{
	(void)state;
	watched_engine();
	throws(60, OOM);
	now += S;
	timeout_on(GPU, 61);
	assert_int_equal(failures(), 1);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "ring_timeout");
	assert_int_equal(last_failure()->evidence[0].at_ns, now);
	ends(60, 1 << 8);
	assert_int_equal(failures(), 1);
}

static void the_exit_status_gives_the_failure_class(void **state)
{
	static const struct {
		int status;
		const char *class; /* NULL: no failure */
	} exits[] = {
		{ 6, "runner_crash_init" },
		{ 11 | 0x80, "runner_crash_init" },
		{ 7, "runner_crash_init" },
		{ 4, "runner_crash_init" },
		{ 9, NULL },
		{ 15, NULL },
		{ 0, NULL },
		{ 1 << 8, NULL },
	};
	struct davy_event ev;

	(void)state;
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		watched_engine();
		ends(60, exits[i].status);
		assert_int_equal(failures(), exits[i].class != NULL);
		if (exits[i].class)
			assert_string_equal(davy_log_class_name(last_failure()->failure_class),
					    exits[i].class);
	}
	watched_engine();
	ev = event(DAVY_EV_GRAPH, 60);
	ev.graph.graph_count = 5;
	tell(&ev);
	ends(60, 11);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class),
			    "other"); /* it had started */
	watched_engine();
	throws(60, LOST);
	now += 300 * S;
	ends(60, 6); /* a zombie aborts at the next prompt */
	assert_int_equal(failures(), 2);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "device_lost");
	begin_history();
	process(70, 0, DAVY_ENGINE_NONE, DAVY_BACKEND_UNKNOWN);
	ends(70, 11);
	assert_int_equal(failures(), 0);
}

static void an_exit_caused_by_the_agent_is_not_a_failure(void **state)
{
	(void)state;
	served_engine();
	throws(50, LOST);
	pass(400 * MS);
	probe(200, 500, 0);
	pass(120 * S);
	assert_int_equal(failures(), 1);
	ends(50, 6);
	assert_int_equal(failures(), 1);
}

static void an_oom_kill_counts_by_its_victim(void **state)
{
	(void)state;
	watched_engine();
	process(70, 0, DAVY_ENGINE_NONE, DAVY_BACKEND_UNKNOWN);
	fact(DAVY_FACT_OOM_VICTIM, 70, 1, 0); /* the cgroup of another process is full */
	says(DAVY_LOG_OOM_KILL, "", 70);
	assert_int_equal(failures(), 0);
	fact(DAVY_FACT_OOM_VICTIM, 60, 1, 0);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "oom_gtt_host");
	assert_string_equal(last_failure()->device, GPU);
	says(DAVY_LOG_OOM_KILL, "", 60);
	ends(60, 9);
	assert_int_equal(failures(), 1);
	now += 100 * S;
	fact(DAVY_FACT_OOM_VICTIM, 70, 0, 0); /* the host's memory is */
	assert_int_equal(failures(), 2);
	assert_int_equal(last_failure()->pid, 0);
	timeout_on(GPU, 60); /* no device's trouble: another */
	assert_int_equal(failures(), 3);
}

static void the_hosts_failure_is_foreseen_by_any_device(void **state)
{
	(void)state;
	watched_engine();
	no_memory_for(60);
	now += 20 * S;
	says(DAVY_LOG_OOM_KILL, "", 0);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_ALLOC_FAILURE);
}

static void lines_count_by_their_role(void **state)
{
	(void)state;
	watched_engine();
	says(DAVY_LOG_CS_NO_MEMORY, GPU, 60);
	says(DAVY_LOG_GPU_RESET_DONE, GPU, 0);
	says(DAVY_LOG_RESET_CHATTER, GPU, 0);
	assert_int_equal(failures(), 0);
	says(DAVY_LOG_PAGE_FAULT, GPU, 60);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "page_fault");
	now += 100 * S;
	says(DAVY_LOG_XID, GPU, 60); /* without a failure class */
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "other");
	now += 100 * S;
	says(DAVY_LOG_PANIC, "", 0);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "host_crash");
}

static void a_wedged_device_is_lost_unless_it_has_recovered(void **state)
{
	(void)state;
	watched_engine();
	device_says(DAVY_DEVICE_WEDGED, "none", 0);
	fact(DAVY_FACT_WEDGED_EVENT, 0, 1, 0);
	device_says(DAVY_DEVICE_ERROR, "0", 0);
	device_says(DAVY_DEVICE_COREDUMP, "x", 0);
	assert_int_equal(failures(), 0);
	device_says(DAVY_DEVICE_WEDGED, "rebind,bus-reset", 0);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "device_lost");
	now += 100 * S;
	fact(DAVY_FACT_WEDGED, 0, 0, 0);
	now += 100 * S;
	fact(DAVY_FACT_WEDGED_EVENT, 0, 4, 0);
	now += 100 * S;
	fact(DAVY_FACT_IOCTL_FAILED, 60, 0, -ENODEV);
	assert_int_equal(core.foresight.class[DAVY_CLASS_DEVICE_LOST].failures, 4);
	now += 100 * S;
	fact(DAVY_FACT_IOCTL_FAILED, 60, 0, -EINVAL);
	assert_int_equal(failures(), 4);
	device_says(DAVY_DEVICE_RESET, "1", 1);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "gpu_reset");
}

static void served_page_faults_are_not_failures(void **state)
{
	struct davy_event ev = { 0 };

	(void)state;
	watched_engine();
	ev = event(DAVY_EV_FAULT, 0);
	davy_copy_name(ev.fault.device, sizeof(ev.fault.device), GPU);
	ev.fault.fresh = 1;
	ev.fault.fault_class = DAVY_FAULT_VM;
	tell(&ev); /* of no PASID */
	ev.fault.pasid = 5;
	ev.fault.fault_class = DAVY_FAULT_VM_RETRY;
	tell(&ev);
	assert_int_equal(failures(), 0);
	ev.fault.fault_class = DAVY_FAULT_VM;
	tell(&ev);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "page_fault");
}

static void an_engine_found_wedged_hangs(void **state)
{
	struct davy_event ev;

	(void)state;
	served_engine();
	pass(30 * S);
	ring_on(GPU, 600, 1, 50);
	ring_on(GPU, 600, 2, 50);
	ev = event(DAVY_EV_GRAPH, 50);
	ev.graph.entered_ns = now - 11 * S;
	ev.graph.graph_count = 100;
	tell(&ev);
	now += 2 * S;
	probe(200, 0, 0);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "hang");
	assert_int_equal(last_failure()->hazard, DAVY_HZ_JOB_STALL);
	assert_int_equal(last_failure()->lead_time_ns, 2 * S);
}

/* A llama-server of an ordinary user, not adopted. */
static void stranger(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_PROCESS, pid);

	ev.process.start_ticks = pid * 10;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	ev.process.flags = DAVY_PROCESS_LOGIN_USER;
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
}

static void segv(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_PROCESS_EXIT, pid);

	ev.process_exit.status = 11;
	tell(&ev);
}

static void vm_fault(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_KFD, pid);

	ev.kfd.event = DAVY_KFD_VM_FAULT;
	davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), GPU);
	tell(&ev);
}

static void failures_of_a_users_own_engine_are_not_counted(void **state)
{
	(void)state;
	watched_engine();
	for (uint32_t pid = 100; pid < 140; pid++) {
		stranger(pid);
		timeout_on(GPU, pid);
		fact(DAVY_FACT_IOCTL_FAILED, pid, 0, -ENODEV);
		vm_fault(pid);
		vm_fault(pid + 1000); /* gone before it was read */
		segv(pid);
		now += 30 * S;
	}
	assert_int_equal(failures(), 0);
	for (size_t i = 0; i < DAVY_CLASS_COUNT; i++)
		assert_int_equal(core.foresight.class[i].failures, 0);
	segv(60); /* the engine beside it: its failure is not the ordinary user's */
	assert_int_equal(failures(), 1);
}

static void device_failures_caused_by_a_user_are_counted(void **state)
{
	(void)state;
	watched_engine();
	stranger(100);
	ring_on(GPU, 900, 1, 100);
	now += S;
	timeout_on(GPU, 100);
	assert_int_equal(failures(), 0);
	reset(true, 0);
	assert_int_equal(core.foresight.class[DAVY_CLASS_GPU_RESET].failures, 1);
	assert_int_equal(core.foresight.class[DAVY_CLASS_GPU_RESET].missed, 0);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->predictions, 1); /* it was right */
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->confirmed, 1);
}

static void a_user_cannot_raise_false_alarms(void **state)
{
	(void)state;
	watched_engine();
	for (uint32_t pid = 100; pid < 100 + 2 * DAVY_FORESIGHT_PREDICTIONS; pid++) {
		stranger(pid);
		ring_on(GPU, 900, pid, pid);
		now += 100 * MS;
	}
	pass(600 * S);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->predictions, 0);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->false_alarms, 0);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->late, 0);
}

static void an_adopted_engine_of_a_user_is_counted(void **state)
{
	(void)state;
	watched_engine();
	workload(1, 100, DAVY_WORKLOAD_REGISTERED, DAVY_BACKEND_VULKAN);
	{
		struct davy_event ev = event(DAVY_EV_PROCESS, 100);

		ev.process.start_ticks = 1000;
		ev.process.workload = 1;
		ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
		ev.process.flags = DAVY_PROCESS_LOGIN_USER;
		tell(&ev);
	}
	segv(100);
	assert_int_equal(failures(), 1);
}

static void only_alarms_of_the_level_are_signs(void **state)
{
	(void)state;
	watched_engine();
	set("foresight.level", 3);
	ring_on(GPU, 600, 1, 60);
	now += S;
	timeout_on(GPU, 60);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->predictions, 0);
}

static void the_tables_are_bounded_and_overflow_is_counted(void **state)
{
	(void)state;
	watched_engine();
	for (uint32_t pid = 1000; pid < 1200; pid++, now += MS)
		no_memory_for(pid);
	assert_int_equal(core.foresight.prediction_count, DAVY_FORESIGHT_PREDICTIONS);
	assert_true(core.dropped_count >= 200 - DAVY_FORESIGHT_PREDICTIONS);
	assert_int_equal(score(DAVY_HZ_ALLOC_FAILURE)->predictions, 200);
	for (uint32_t i = 0; i < 40; i++, now += MS) {
		char name[] = "0000:10:00.0";

		name[5] = (char)('0' + i % 10);
		name[6] = (char)('a' + i / 10);
		timeout_on(name, 2000 + i);
	}
	assert_int_equal(core.foresight.class[DAVY_CLASS_RING_TIMEOUT].failures, 40);
	pass(400 * S);
	assert_int_equal(core.foresight.prediction_count, 0);
}

static void every_hazard_lists_its_failure_classes(void **state)
{
	(void)state;
	for (int i = DAVY_HZ_NONE + 1; i < DAVY_HZ_COUNT; i++) {
		const struct davy_precursor *p = davy_precursor((enum davy_hazard)i);

		if (!p->leads && !p->fails_as && !p->seen_in_events)
			fail_msg("'%s' does not say what it is to failures",
				 davy_hazard_name((enum davy_hazard)i));
		if (p->leads) /* a time; a row without one would have the mode's */
			assert_int_equal(davy_config_rows[p->horizon].unit, DAVY_UNIT_MS);
	}
}

static void lead_times_are_kept_as_a_histogram(void **state)
{
	struct davy_foresight total = { 0 };
	struct davy_lead_times lead_time = { 0 };

	(void)state;
	assert_int_equal(davy_lead_time_median_ns(&lead_time), 0);
	for (uint64_t i = 1; i <= 5; i++) {
		watched_engine();
		ring_on(GPU, 800, 1, 60);
		now += i * i * S;
		timeout_on(GPU, 60);
		davy_foresight_add(&total, &core.foresight);
	}
	lead_time = total.class[DAVY_CLASS_RING_TIMEOUT].lead_time;
	assert_int_equal(lead_time.count, 5);
	assert_int_equal(lead_time.min_ns, S);
	assert_int_equal(lead_time.max_ns, 25 * S);
	assert_int_equal(lead_time.sum_ns, 55 * S);
	assert_in_range(davy_lead_time_median_ns(&lead_time), 9 * S, 18 * S);
	assert_int_equal(total.hazard[DAVY_HZ_JOB_STALL].predictions, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_names_its_first_sign_and_the_lead),
		cmocka_unit_test(a_failure_without_a_sign_is_missed),
		cmocka_unit_test(an_alarm_of_the_same_moment_is_no_sign),
		cmocka_unit_test(an_unrelated_alarm_earns_nothing),
		cmocka_unit_test(consequences_of_a_failure_are_the_same_failure),
		cmocka_unit_test(a_late_consequence_is_another_failure),
		cmocka_unit_test(failures_of_two_devices_are_separate),
		cmocka_unit_test(a_successful_reset_foresees_the_fatal_one),
		cmocka_unit_test(a_late_alarm_is_neither_correct_nor_false),
		cmocka_unit_test(a_sign_after_which_nothing_comes_is_a_false_alarm),
		cmocka_unit_test(a_sign_that_stands_has_no_horizon),
		cmocka_unit_test(an_alarm_that_comes_and_goes_with_each_job_is_one_sign),
		cmocka_unit_test(an_act_that_succeeds_in_time_averts_the_failure),
		cmocka_unit_test(an_act_that_fails_averts_nothing),
		cmocka_unit_test(want_of_memory_that_is_survived_is_no_failure),
		cmocka_unit_test(another_failure_takes_the_place_of_want_of_memory),
		cmocka_unit_test(the_exit_status_gives_the_failure_class),
		cmocka_unit_test(an_exit_caused_by_the_agent_is_not_a_failure),
		cmocka_unit_test(an_oom_kill_counts_by_its_victim),
		cmocka_unit_test(the_hosts_failure_is_foreseen_by_any_device),
		cmocka_unit_test(lines_count_by_their_role),
		cmocka_unit_test(a_wedged_device_is_lost_unless_it_has_recovered),
		cmocka_unit_test(served_page_faults_are_not_failures),
		cmocka_unit_test(an_engine_found_wedged_hangs),
		cmocka_unit_test(only_alarms_of_the_level_are_signs),
		cmocka_unit_test(failures_of_a_users_own_engine_are_not_counted),
		cmocka_unit_test(device_failures_caused_by_a_user_are_counted),
		cmocka_unit_test(a_user_cannot_raise_false_alarms),
		cmocka_unit_test(an_adopted_engine_of_a_user_is_counted),
		cmocka_unit_test(the_tables_are_bounded_and_overflow_is_counted),
		cmocka_unit_test(every_hazard_lists_its_failure_classes),
		cmocka_unit_test(lead_times_are_kept_as_a_histogram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

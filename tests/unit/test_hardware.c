/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hardware and driver_warning: reports of the kernel's log and the kernel programs, one by one. */
#include "record.h"

/* The same as the log's reader returns for a line of this kind. */
static struct davy_event line(uint16_t kind)
{
	const struct davy_log_meaning *m = davy_log_meaning(kind);
	struct davy_event ev = event(DAVY_EV_LOG, 0);

	davy_copy_name(ev.log.device, sizeof(ev.log.device), GPU);
	ev.log.kind = kind;
	ev.log.role = m->role;
	ev.log.log_class = m->class;
	ev.log.hazard = m->hazard;
	ev.log.weight = m->weight;
	ev.log.leads = m->leads;
	return ev;
}

static struct davy_event xid_line(uint32_t number)
{
	const struct davy_log_meaning *m = davy_xid_meaning(number);
	struct davy_event ev = line(DAVY_LOG_XID);

	ev.log.code = number;
	ev.log.role = m->role;
	ev.log.log_class = m->class;
	ev.log.hazard = m->hazard;
	ev.log.weight = m->weight;
	return ev;
}

/* The level that this event alone raises; 0: none. */
static uint32_t level_of(enum davy_hazard hazard, const struct davy_event *ev)
{
	struct davy_event now_ev = *ev;

	begin_history();
	now_ev.at_ns = now;
	tell(&now_ev);
	return count_of(DAVY_PLAN_NOTE, hazard) ? last_of(DAVY_PLAN_NOTE, hazard)->level : 0;
}

static uint32_t hardware(struct davy_event ev)
{
	return level_of(DAVY_HZ_HARDWARE, &ev);
}

static uint32_t warning(struct davy_event ev)
{
	return level_of(DAVY_HZ_DRIVER_WARNING, &ev);
}

static void a_line_has_the_level_of_its_weight(void **state)
{
	(void)state;
	assert_int_equal(hardware(line(DAVY_LOG_RAS_UNCORRECTABLE)), 3);
	assert_int_equal(hardware(line(DAVY_LOG_RAS_PAGES)), 1);
	assert_int_equal(hardware(line(DAVY_LOG_RAS_RESET)), 3);
	assert_int_equal(hardware(line(DAVY_LOG_POISON_SIGNAL)), 2);
	assert_int_equal(hardware(line(DAVY_LOG_OVER_TEMPERATURE)), 3);
	assert_int_equal(hardware(line(DAVY_LOG_MACHINE_CHECK)), 3);
	assert_int_equal(hardware(line(DAVY_LOG_AER)), 2);
	assert_int_equal(hardware(line(DAVY_LOG_PCI_ERROR)), 3);
	assert_int_equal(warning(line(DAVY_LOG_PME_SPURIOUS)), 1); /* of one reporter */
	assert_int_equal(hardware(line(DAVY_LOG_OFF_THE_BUS)), 3);
	assert_int_equal(hardware(line(DAVY_LOG_SXID)), 3);
	assert_int_equal(hardware(line(DAVY_LOG_RING_TIMEOUT)), 0);
	assert_int_equal(hardware(line(DAVY_LOG_GPU_RESET_BEGUN)), 0);
	assert_int_equal(hardware(line(DAVY_LOG_PAGE_FAULT)), 0);
}

static void an_xid_is_judged_by_its_class(void **state)
{
	(void)state;
	assert_int_equal(hardware(xid_line(48)), 3); /* double bit ECC */
	assert_int_equal(hardware(xid_line(79)), 3); /* off the bus */
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->observed, 79);
	assert_int_equal(hardware(xid_line(63)), 1); /* a row was remapped */
	assert_int_equal(hardware(xid_line(94)), 3); /* contained */
	assert_int_equal(hardware(xid_line(9999)), 1);
	assert_int_equal(hardware(xid_line(13)), 0);  /* a shader's exception */
	assert_int_equal(hardware(xid_line(31)), 0);  /* a page fault */
	assert_int_equal(hardware(xid_line(43)), 0);  /* a program's own */
	assert_int_equal(hardware(xid_line(119)), 0); /* firmware */
}

static struct davy_event fact(uint16_t number, uint32_t detail)
{
	struct davy_event ev = event(DAVY_EV_FACT, 0);

	davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
	ev.fact.fact = number;
	ev.fact.detail = detail;
	ev.fact.count = ev.fact.fresh = 1;
	return ev;
}

static void the_kernels_own_words_count_as_the_lines_do(void **state)
{
	struct davy_event ev;

	(void)state;
	assert_int_equal(hardware(fact(DAVY_FACT_RAS_RESET, 0)), 3);
	assert_int_equal(hardware(fact(DAVY_FACT_KFD_POISON, 0)), 2);
	assert_int_equal(hardware(fact(DAVY_FACT_NVIDIA_XID, 79)), 3);
	assert_int_equal(hardware(fact(DAVY_FACT_NVIDIA_XID, 13)), 0);
	assert_int_equal(hardware(fact(DAVY_FACT_RING_RESET, 0)), 0);
	ev = event(DAVY_EV_KFD, 0);
	davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), GPU);
	ev.kfd.event = DAVY_KFD_THERMAL_THROTTLE;
	assert_int_equal(hardware(ev), 1);
	ev.kfd.event = DAVY_KFD_RESET_BEGIN;
	assert_int_equal(hardware(ev), 0);
}

static void clocks_lowered_by_a_fault_are_a_note(void **state)
{
	struct davy_event ev = event(DAVY_EV_CLOCKS, 0);

	(void)state;
	davy_copy_name(ev.clocks.device, sizeof(ev.clocks.device), GPU);
	for (uint32_t reason = 0; reason <= DAVY_CLOCK_REASON_COUNT; reason++) {
		ev.clocks.reason = reason;
		assert_int_equal(davy_event_valid(&ev), reason < DAVY_CLOCK_REASON_COUNT);
		if (davy_event_valid(&ev))
			assert_int_equal(hardware(ev), davy_clock_reason_bad(reason));
	}
	ev.clocks.reason = DAVY_CLOCK_HW_THERMAL;
	assert_int_equal(hardware(ev), 1);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->detail,
			    "hw_thermal_slowdown");
	ev.clocks.reason = DAVY_CLOCK_SW_POWER_CAP; /* normal under load */
	assert_int_equal(hardware(ev), 0);
}

static void an_uncorrectable_error_names_the_affected_process(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = event(DAVY_EV_PASID, 60);
	ev.pasid.pasid = 9;
	tell(&ev);
	ev = event(DAVY_EV_FAULT, 0);
	davy_copy_name(ev.fault.device, sizeof(ev.fault.device), GPU);
	ev.fault.fault_class = DAVY_FAULT_ECC;
	ev.fault.pasid = 9;
	ev.fault.fresh = 1;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->level, 3);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->pid, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->victim_pid, 60);
	ev.fault.fault_class = DAVY_FAULT_VM;
	assert_int_equal(hardware(ev), 0);
}

static void an_error_reported_twice_is_one_alarm(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_recording("hardware-xid");
	ev = fact(DAVY_FACT_NVIDIA_XID, 79);
	tell(&ev);
	ev = xid_line(79);
	tell(&ev);
	ev = line(DAVY_LOG_OFF_THE_BUS);
	tell(&ev);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE), 1);
	pass(11 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_HARDWARE), 1);
	assert_replays();
}

/* A link that corrects itself sometimes, and a program with its own errors. */
static void errors_of_programs_are_only_recorded(void **state)
{
	static const uint32_t own[] = { 43, 45 };
	struct davy_event ev;

	(void)state;
	begin_recording("hardware-benign");
	for (size_t i = 0; i < 100; i++, now += 7 * S) {
		ev = line(DAVY_LOG_AER_CORRECTED);
		tell(&ev);
		ev = xid_line(own[i % 2]);
		tell(&ev);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE), 0);
	assert_replays();
}

static void corrected_link_errors_count_from_ten_a_minute(void **state)
{
	(void)state;
	begin_history();
	for (int i = 0; i < 100; i++, now += 7 * S) { /* nine a minute, for ever */
		struct davy_event ev = line(DAVY_LOG_AER_CORRECTED);

		tell(&ev);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE), 0);
	for (int i = 0; i < 100; i++, now += S) {
		struct davy_event ev = line(DAVY_LOG_AER_CORRECTED);

		tell(&ev);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE), 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->level, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->observed, 10);
}

/* wilicc/gpu-burn#1: "Surprise Down" of port 00:02.0, 0.1 s later the card is off the bus. */
static void an_error_of_a_port_is_the_hosts(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = event(DAVY_EV_MEMORY, 0);
	davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
	ev.memory.vram_total = 16ULL << 30;
	tell(&ev);
	ev = line(DAVY_LOG_AER);
	davy_copy_name(ev.log.device, sizeof(ev.log.device), "0000:00:02.0");
	tell(&ev);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->device, "");
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->detail, "aer 0000:00:02.0");
	pass(20 * S);
	ev = line(DAVY_LOG_AER);
	tell(&ev);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->device, GPU);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->detail, "aer");
}

/* leptonai/gpud#117: Xid 45 of six channels, 192 s later its monitor is blocked in the driver. */
static void a_process_without_channels_that_goes_on_is_a_sign(void **state)
{
	struct davy_event ev;

	(void)state;
	for (int goes_on = 0; goes_on < 2; goes_on++) {
		begin_history();
		process(60, 0, DAVY_ENGINE_NONE, DAVY_BACKEND_CUDA);
		ev = xid_line(45);
		ev.pid = 60;
		tell(&ev);
		pass(S);
		if (!goes_on)
			ends(60, 9);
		pass(11 * S);
		assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING), goes_on);
	}
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->pid, 60);
	pass(60 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING), 1);
}

static void precursors_of_the_field_warn(void **state)
{
	(void)state;
	assert_int_equal(warning(line(DAVY_LOG_FENCE_FALLBACK)), 2);
	assert_int_equal(warning(line(DAVY_LOG_I915_FENCE_EXPIRED)), 2); /* nobody waits */
	assert_int_equal(warning(line(DAVY_LOG_VM_LEAK)), 1);
	assert_int_equal(warning(line(DAVY_LOG_SMU_BUSY)), 3);
	assert_int_equal(warning(line(DAVY_LOG_KILLED_ENTITY)), 2);
	assert_int_equal(warning(line(DAVY_LOG_MES_FAILED)), 3);
	assert_int_equal(warning(line(DAVY_LOG_QUEUE_EVICT_FAILED)), 3); /* amd-hc-001 */
	assert_int_equal(warning(line(DAVY_LOG_QUIESCE_FAILED)), 3);
	assert_int_equal(warning(line(DAVY_LOG_OOM_INVOKED)), 3);
	assert_int_equal(warning(line(DAVY_LOG_DRIVER_WARNING)), 1);
	assert_int_equal(warning(xid_line(32)), 2);
	assert_int_equal(warning(xid_line(13)), 0);
}

/* int-i915-001 hung 8 s after it; another host logged 585 of them while its engine worked. */
static void an_expired_fence_counts_while_an_engine_waits(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	process(50, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	ev = event(DAVY_EV_GRAPH, 50);
	ev.graph.graph_count = 1;
	tell(&ev);
	ev = line(DAVY_LOG_I915_FENCE_EXPIRED);
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 2);
	ev = event(DAVY_EV_GRAPH, 50);
	ev.graph.graph_count = 1;
	ev.graph.entered_ns = now;
	tell(&ev);
	pass(6 * S);
	ev = line(DAVY_LOG_I915_FENCE_EXPIRED);
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 3);
}

/* The lines about a cgroup at its limit are the same as about the host. */
static void an_oom_kill_on_a_host_with_memory_is_its_cgroups(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = event(DAVY_EV_MEMORY, 0);
	davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
	ev.memory.vram_total = 16ULL << 30;
	ev.memory.host_total = 64ULL << 30;
	ev.memory.host_available = 40ULL << 30;
	tell(&ev);
	ev = line(DAVY_LOG_OOM_INVOKED);
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 1);
}

/* All kinds of these hazards, so that a new one is tested, and none of the others. */
static void each_precursor_has_one_hazard(void **state)
{
	(void)state;
	for (uint16_t kind = 1; kind < DAVY_LOG_KIND_COUNT; kind++) {
		const struct davy_log_meaning *m = davy_log_meaning(kind);
		bool mine = m->role == DAVY_PART_PRECURSOR &&
			    (m->hazard == DAVY_LOG_HZ_JOB_STALL ||
			     m->hazard == DAVY_LOG_HZ_QUEUE_STUCK ||
			     m->hazard == DAVY_LOG_HZ_HOST_MEMORY ||
			     m->hazard == DAVY_LOG_HZ_HOST_STALL ||
			     m->hazard == DAVY_LOG_HZ_DISCOVERY || kind == DAVY_LOG_VM_LEAK ||
			     kind == DAVY_LOG_WORKER_HOGGED || kind == DAVY_LOG_OVERSUBSCRIBED);

		assert_int_equal(warning(line(kind)) != 0, mine);
		if (m->role != DAVY_PART_PRECURSOR || kind == DAVY_LOG_AER_CORRECTED)
			continue;
		assert_int_equal(hardware(line(kind)) != 0,
				 m->hazard == DAVY_LOG_HZ_HARDWARE_ERROR);
	}
}

static void an_echo_of_a_failure_is_no_warning(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_recording("driver_warning-benign");
	for (int i = 0; i < 20; i++, now += S) {
		ev = line(i % 2 ? DAVY_LOG_FENCE_FALLBACK : DAVY_LOG_I915_FENCE_EXPIRED);
		ev.log.role = DAVY_PART_AFTERMATH;
		tell(&ev);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING), 0);
	ev = line(DAVY_LOG_DRIVER_WARNING); /* one alone is a hint */
	tell(&ev);
	pass(11 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 1);
	assert_replays();
	ev = line(DAVY_LOG_AER);
	ev.log.role = DAVY_PART_AFTERMATH;
	assert_int_equal(hardware(ev), 0);
}

static void a_warning_stands_while_it_is_repeated(void **state)
{
	const struct davy_plan *plan;
	struct davy_event ev;

	(void)state;
	begin_recording("driver_warning-fence");
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	for (int i = 0; i < 10; i++) {
		ev = line(DAVY_LOG_FENCE_FALLBACK);
		ev.pid = 60;
		davy_copy_name(ev.log.ring, sizeof(ev.log.ring), "sdma0");
		tell(&ev);
		pass(8 * S);
	}
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING), 2);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_DRIVER_WARNING), 0);
	assert_int_equal(plan->level, 3); /* interrupts are lost again and again */
	assert_int_equal(plan->pid, 60);
	assert_string_equal(plan->device, GPU);
	assert_string_equal(plan->ring, "sdma0");
	assert_string_equal(plan->detail, "fence_fallback");
	assert_string_equal(plan->model, "tiny.gguf");
	pass(10 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_DRIVER_WARNING), 1);
	assert_replays();
}

/* A trace is from outside: any weight is a level. */
static void a_weight_from_outside_is_bounded(void **state)
{
	struct davy_event ev = line(DAVY_LOG_AER);

	(void)state;
	ev.log.weight = 255;
	assert_int_equal(hardware(ev), 3);
	ev.log.weight = 0;
	assert_int_equal(hardware(ev), 1);
	ev = line(DAVY_LOG_RCU_STALL);
	ev.log.weight = 200;
	assert_int_equal(warning(ev), 3);
}

static void repeated_corrected_errors_count_with_their_number(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = line(DAVY_LOG_AER_CORRECTED);
	ev.log.repeats = 8;
	tell(&ev);
	assert_int_equal(kept_count, 0);
	ev.log.repeats = 0;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE)->observed, 10);
	ev.log.repeats = UINT32_MAX;
	tell(&ev);
	tell(&ev);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE), 1);
}

/* NVIDIA's driver names no process for Xid 13: the only engine, or who has the device's memory. */
static void an_xid_without_a_pid_is_the_only_clients(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_VLLM, DAVY_BACKEND_CUDA);
	ev = xid_line(13);
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->pid, 60);
	begin_history();
	process(60, 0, DAVY_ENGINE_VLLM, DAVY_BACKEND_CUDA);
	process(61, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_CUDA);
	ev = xid_line(13);
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->pid, 0);
	begin_history();
	ev = event(DAVY_EV_CLIENT, 61);
	davy_copy_name(ev.client.device, sizeof(ev.client.device), GPU);
	ev.client.vram = 1ULL << 33;
	tell(&ev);
	ev = xid_line(13);
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->pid, 61);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_the_level_of_its_weight),
		cmocka_unit_test(an_xid_is_judged_by_its_class),
		cmocka_unit_test(the_kernels_own_words_count_as_the_lines_do),
		cmocka_unit_test(clocks_lowered_by_a_fault_are_a_note),
		cmocka_unit_test(an_uncorrectable_error_names_the_affected_process),
		cmocka_unit_test(an_error_reported_twice_is_one_alarm),
		cmocka_unit_test(errors_of_programs_are_only_recorded),
		cmocka_unit_test(corrected_link_errors_count_from_ten_a_minute),
		cmocka_unit_test(an_error_of_a_port_is_the_hosts),
		cmocka_unit_test(a_process_without_channels_that_goes_on_is_a_sign),
		cmocka_unit_test(precursors_of_the_field_warn),
		cmocka_unit_test(an_expired_fence_counts_while_an_engine_waits),
		cmocka_unit_test(an_oom_kill_on_a_host_with_memory_is_its_cgroups),
		cmocka_unit_test(each_precursor_has_one_hazard),
		cmocka_unit_test(an_echo_of_a_failure_is_no_warning),
		cmocka_unit_test(a_warning_stands_while_it_is_repeated),
		cmocka_unit_test(a_weight_from_outside_is_bounded),
		cmocka_unit_test(repeated_corrected_errors_count_with_their_number),
		cmocka_unit_test(an_xid_without_a_pid_is_the_only_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

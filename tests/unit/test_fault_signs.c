/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fault_storm and alloc_failure from KFD, facts of the BPF programs and the log. */
#include "precursors.h"

#include "report/event_text.h"
#include "report/plan_text.h"

static const struct davy_plan *fault(void)
{
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM);
}

static const struct davy_plan *refused(void)
{
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE);
}

static void iv(uint32_t pasid, uint64_t fresh)
{
	struct davy_event ev = event(DAVY_EV_FAULT, 0);

	davy_copy_name(ev.fault.device, sizeof(ev.fault.device), GPU);
	ev.fault.pasid = pasid;
	ev.fault.fault_class = DAVY_FAULT_VM;
	ev.fault.fresh = fresh;
	tell(&ev);
}

static void one_fault_is_reported_once_by_the_best_source(void **state)
{
	struct davy_event ev;

	(void)state;
	engine_60("fault_storm-told-once");
	ev = event(DAVY_EV_PASID, 60);
	ev.pasid.pasid = 7;
	tell(&ev);
	iv(7, 1);
	now += 10 * MS;
	kfd(DAVY_KFD_VM_FAULT, "llama-server");
	now += 500 * MS;
	line(DAVY_LOG_PAGE_FAULT);
	line_of(DAVY_LOG_PAGE_FAULT, "", 0); /* a source without the process: the same fault */
	line_of(DAVY_LOG_PAGE_FAULT, GPU, 61);
	assert_int_equal(count_told(), 1);
	assert_int_equal(fault()->pid, 60);
	now += 2 * S;
	line_of(DAVY_LOG_PAGE_FAULT, GPU, 61); /* later, and of another: news */
	assert_int_equal(count_told(), 2);
	assert_replays();
}

static void another_devices_fault_is_another(void **state)
{
	(void)state;
	engine_60(NULL);
	iv(7, 1);
	line_of(DAVY_LOG_PAGE_FAULT, "0000:44:00.0", 61);
	assert_int_equal(count_told(), 2);
	assert_string_equal(fault()->device, "0000:44:00.0");
}

static void kfd_and_the_log_replace_missing_programs(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	engine_60("fault_storm-signs");
	kfd(DAVY_KFD_VM_FAULT, "");
	assert_int_equal(fault()->level, 1);
	line(DAVY_LOG_PAGE_FAULT);
	assert_int_equal(count_told(), 1);
	for (int i = 0; i < 9; i++)
		kfd(DAVY_KFD_VM_FAULT, "");
	assert_int_equal(fault()->level, 3);
	now += 3 * S;
	line_of(DAVY_LOG_PAGE_FAULT, GPU, 61); /* the process is unknown */
	assert_int_equal(fault()->level, 1);
	assert_string_equal(fault()->comm, "code:cs0");
	davy_reason_text(fault(), text, sizeof(text));
	assert_non_null(strstr(text, "according to the kernel log: page_fault"));
	assert_replays();
}

static void facts_of_unserved_faults_are_first_faults(void **state)
{
	(void)state;
	engine_60(NULL);
	fact(DAVY_FACT_SVM_FAULT, -11, 500, ""); /* it is tried again */
	fact(DAVY_FACT_SVM_FAULT, 0, 500, "");
	assert_int_equal(count_told(), 0);
	fact(DAVY_FACT_SVM_FAULT, -14, 1, "");
	assert_int_equal(fault()->level, 1);
	engine_60(NULL);
	fact(DAVY_FACT_KFD_VM_FAULT, 0, 1, "");
	assert_int_equal(fault()->level, 1);
	fact(DAVY_FACT_XE_CAT_ERROR, 0, 9, "ccs3");
	assert_int_equal(fault()->level, 3);
}

/* What an H200 gave: the tracepoint first, by an interrupt thread, then the line with the name. */
static void an_xid_is_told_by_its_tracepoint_and_named_by_its_line(void **state)
{
	const struct davy_log_meaning *mmu = davy_xid_meaning(31);
	char text[DAVY_PLAN_TEXT_SIZE];
	struct davy_event ev;

	(void)state;
	engine_60(NULL);
	ev = event(DAVY_EV_FACT, 0);
	davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "channel 0x0000000a, int");
	ev.fact.fact = DAVY_FACT_NVIDIA_XID;
	ev.fact.by_pid = 187;
	ev.fact.detail = 31;
	ev.fact.count = ev.fact.fresh = 1;
	tell(&ev);
	assert_int_equal(count_told(), 1);
	assert_int_equal(fault()->level, 1);
	assert_int_equal(fault()->pid, 0);
	davy_plan_text(fault(), text, sizeof(text));
	assert_non_null(strstr(text, "HAZARD   fault_storm level 1: " GPU ": 1 GPU faults"));
	assert_non_null(strstr(text, "Xid 31, MMU fault"));
	assert_true(davy_event_text(&ev, text, sizeof(text)));
	assert_non_null(strstr(text, "Xid 31, MMU fault: "));
	assert_null(strstr(text, "channel"));
	now += MS;
	ev = event(DAVY_EV_LOG, 703);
	davy_copy_name(ev.log.device, sizeof(ev.log.device), GPU);
	davy_copy_name(ev.log.comm, sizeof(ev.log.comm), "tenant-wild");
	ev.log.kind = DAVY_LOG_XID;
	ev.log.named_pid = 703;
	ev.log.code = 31;
	ev.log.role = mmu->role;
	ev.log.log_class = mmu->class;
	tell(&ev);
	assert_int_equal(count_told(), 2);
	assert_int_equal(fault()->pid, 703);
	davy_plan_text(fault(), text, sizeof(text));
	assert_non_null(strstr(text, "tenant-wild[703]"));
	assert_non_null(strstr(text, "according to the kernel log: Xid 31, MMU fault"));
	for (size_t i = 0; i < kept_count; i++) /* a stranger's fault is no failure of ours */
		assert_int_not_equal(kept[i].kind, DAVY_PLAN_FAILURE);
	ev.pid = 0; /* it was gone before its line was read */
	now += 3 * S;
	ev.at_ns = now;
	tell(&ev);
	davy_event_text(&ev, text, sizeof(text));
	assert_non_null(strstr(text, "Xid 31, MMU fault, tenant-wild[703]"));
}

/* Its count has no process: level 3 would move the engines beside it. */
static void a_storm_of_tracepoints_stays_a_note(void **state)
{
	struct davy_event ev;

	(void)state;
	engine_60(NULL);
	for (int i = 0; i < 20; i++) {
		ev = event(DAVY_EV_FACT, 0);
		davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
		ev.fact.fact = DAVY_FACT_NVIDIA_XID;
		ev.fact.detail = i % 2 ? 31 : 13; /* 13: the line has what it means */
		ev.fact.count = ev.fact.fresh = 1;
		tell(&ev);
		now += MS;
	}
	assert_int_equal(count_told(), 1);
	assert_int_equal(fault()->level, 1);
}

static void a_fact_without_a_pid_is_its_pasids(void **state)
{
	struct davy_event ev;

	(void)state;
	engine_60(NULL);
	ev = event(DAVY_EV_PASID, 60);
	ev.pasid.pasid = 7;
	tell(&ev);
	ev = event(DAVY_EV_FACT, 0);
	davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
	ev.fact.fact = DAVY_FACT_KFD_VM_FAULT;
	ev.fact.pasid = 7;
	ev.fact.fresh = 1;
	tell(&ev);
	assert_int_equal(fault()->pid, 60);
}

static void served_faults_are_reported_by_their_rate(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	engine_60("fault_storm-retries");
	for (int i = 0; i < 30; i++, now += 1100 * MS) /* a model that is touched first */
		fact(DAVY_FACT_KFD_PAGE_FAULT, 0, 999, "");
	assert_int_equal(count_told(), 0);
	for (int i = 0; i < 8; i++, now += 1100 * MS) { /* it may be a load still */
		fact(DAVY_FACT_KFD_PAGE_FAULT, 0, 1000, "");
		assert_int_equal(fault()->level, 1);
	}
	now += 2 * S; /* a pause: what follows is another storm */
	for (int i = 0; i < 11; i++, now += 1000 * MS + 1)
		fact(DAVY_FACT_KFD_PAGE_FAULT, 0, 1000, "");
	assert_int_equal(fault()->level, 2);
	davy_reason_text(fault(), text, sizeof(text));
	assert_string_equal(text, "1000 recoverable GPU faults (threshold 1000)");
	for (int i = 0; i < 2000; i++) /* the same faults from a source without a process */
		kfd_of(0, DAVY_KFD_PAGE_FAULT_BEGIN, "");
	assert_int_equal(count_told(), 2);
	now += 20 * S;
	for (int i = 0; i < 999; i++) {
		kfd(DAVY_KFD_PAGE_FAULT_BEGIN, "");
		kfd(DAVY_KFD_PAGE_FAULT_END, "");
	}
	assert_int_equal(count_told(), 2);
	kfd(DAVY_KFD_PAGE_FAULT_BEGIN, "");
	assert_int_equal(count_told(), 2); /* the alarm is active: no higher level */
	pass(20 * S);
	for (int i = 0; i < 1000; i++)
		kfd(DAVY_KFD_PAGE_FAULT_BEGIN, "");
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM), 3);
	assert_int_equal(fault()->level, 1);
	assert_replays();
}

/* XNACK: a model's pages are touched for 8 s at 50,000 faults a second, then no more. */
static void served_faults_of_a_load_are_a_note(void **state)
{
	(void)state;
	engine_60("fault_storm-benign-served");
	for (int i = 0; i < 8; i++, now += S)
		fact(DAVY_FACT_KFD_PAGE_FAULT, 0, 50000, "");
	pass(60 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM), 1);
	assert_int_equal(fault()->level, 1);
	assert_replays();
}

/* The first fault of the driver's own (VMID 0) came 18 s before an engine's: ollama/ollama#738. */
static void a_first_hint_of_a_fault_is_a_sign(void **state)
{
	(void)state;
	engine_60(NULL);
	line(DAVY_LOG_DRIVER_FAULT);
	assert_int_equal(fault()->level, 2);
	pass(3600 * S);
	line(DAVY_LOG_DRIVER_FAULT);
	assert_int_equal(fault()->level, 1);
}

static void hints_of_faults_have_their_weight(void **state)
{
	(void)state;
	engine_60(NULL);
	line(DAVY_LOG_WAVE_ERROR);
	assert_int_equal(fault()->level, 2); /* the first one in half a day */
	pass(900 * S);
	for (int i = 0; i < 40; i++)
		line(DAVY_LOG_WAVE_ERROR);
	assert_int_equal(fault()->level, 1);
	line(DAVY_LOG_IH_OVERFLOW);
	assert_int_equal(fault()->level, 2);
	line_of(DAVY_LOG_IOMMU_FAULT, "0000:44:00.0", 0);
	assert_int_equal(fault()->level, 2);
}

/* llama.cpp#9629: at each load, and pageable memory is used instead. */
static void memory_that_is_not_pinned_is_news_once(void **state)
{
	(void)state;
	engine_60(NULL);
	line_of(DAVY_LOG_NV_MAP_FAILED, "", 0);
	assert_int_equal(fault()->level, 2);
	pass(900 * S);
	line_of(DAVY_LOG_NV_MAP_FAILED, "", 0);
	assert_int_equal(fault()->level, 1);
}

/* ollama/ollama#13589: the child that looks for devices faults, 30 s later the CPU computes. */
static void a_fault_in_discovery_is_a_sign(void **state)
{
	struct davy_event ev;

	(void)state;
	engine_60(NULL);
	fact(DAVY_FACT_KFD_VM_FAULT, 0, 1, "");
	assert_int_equal(fault()->level, 1);

	begin_history();
	ev = event(DAVY_EV_PROCESS, 60);
	ev.process.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	ev.process.role = DAVY_ROLE_DISCOVERY;
	tell(&ev);
	fact(DAVY_FACT_KFD_VM_FAULT, 0, 1, "");
	assert_int_equal(fault()->level, 2);
}

static void other_lines_are_no_faults(void **state)
{
	static const enum davy_log_kind none[] = {
		DAVY_LOG_RESET_CHATTER, DAVY_LOG_USER_PAGES_FAILED, DAVY_LOG_NPU,
		DAVY_LOG_HUNG_TASK,	DAVY_LOG_AER_CORRECTED,	    DAVY_LOG_FAULT_STATUS,
	};

	(void)state;
	engine_60(NULL);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		line(none[i]);
	assert_int_equal(count_told(), 0);
}

static void failed(enum davy_alloc_stage stage)
{
	struct davy_event ev = event(DAVY_EV_ALLOC_FAILED, 60);

	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), GPU);
	ev.alloc_failed.stage = stage;
	ev.alloc_failed.count = ev.alloc_failed.fresh = 1;
	ev.alloc_failed.error = -12;
	tell(&ev);
}

static void failed_submissions_in_the_log_count_by_their_rate(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	engine_60("alloc_failure-lines");
	line(DAVY_LOG_CS_NO_MEMORY);
	assert_int_equal(refused()->level, 1);
	davy_reason_text(refused(), text, sizeof(text));
	assert_non_null(strstr(text, "kernel log: cs_no_memory, 1 times"));
	for (int i = 0; i < 4; i++, now += 9 * S) {
		line(DAVY_LOG_VALIDATE_FAILED);
		assert_int_equal(refused()->level, 2);
	}
	line(DAVY_LOG_CS_NO_MEMORY); /* the sixth within a minute */
	assert_int_equal(refused()->level, 3);
	assert_replays();
}

static void log_lines_of_reported_faults_are_ignored(void **state)
{
	(void)state;
	engine_60("alloc_failure-told");
	failed(DAVY_ALLOC_RESOURCE); /* no hazard yet, but the BPF program reports */
	now += 2 * S;
	line(DAVY_LOG_CS_NO_MEMORY);
	assert_int_equal(count_told(), 0);
	failed(DAVY_ALLOC_IOCTL);
	line(DAVY_LOG_CS_NO_MEMORY);
	assert_int_equal(count_told(), 1);
	line_of(DAVY_LOG_CS_NO_MEMORY, "0000:44:00.0", 60);
	assert_int_equal(count_told(), 2);
	now += 2 * S + 1;
	line_of(DAVY_LOG_CS_NO_MEMORY, GPU, 61);
	assert_int_equal(count_told(), 3);
	assert_replays();
}

static void weak_lines_count_when_they_are_frequent(void **state)
{
	(void)state;
	engine_60("alloc_failure-weak");
	for (int i = 0; i < 300; i++, now += 15 * S) /* hundreds a day, without harm */
		line(DAVY_LOG_PIN_FAILED);
	assert_int_equal(count_told(), 0);
	now += 60 * S;
	for (int i = 0; i < 6; i++)
		line(DAVY_LOG_PIN_FAILED);
	assert_int_equal(refused()->level, 1);
	assert_int_equal(refused()->observed, 6);
	line(DAVY_LOG_NV_NO_MEMORY);
	assert_int_equal(count_told(), 1);
	assert_replays();
}

static void repeated_lines_count_with_their_number(void **state)
{
	(void)state;
	engine_60(NULL);
	repeated_line_of(DAVY_LOG_PAGE_FAULT, GPU, 60, 8);
	assert_int_equal(fault()->level, 1);
	engine_60(NULL);
	repeated_line_of(DAVY_LOG_PAGE_FAULT, GPU, 60, 9);
	assert_int_equal(fault()->level, 3);
	assert_int_equal(fault()->observed, 10);
	repeated_line_of(DAVY_LOG_CS_NO_MEMORY, GPU, 60, 5);
	assert_int_equal(refused()->level, 3);
	assert_int_equal(refused()->observed, 6);
	engine_60(NULL);
	repeated_line_of(DAVY_LOG_PIN_FAILED, GPU, 60, UINT32_MAX);
	assert_int_equal(refused()->level, 1);
	assert_true(refused()->observed == 1ULL << 32);
}

static void a_failed_submission_an_hour_is_a_note(void **state)
{
	(void)state;
	engine_60("alloc_failure-benign-hourly");
	for (int i = 0; i < 6; i++) {
		line(DAVY_LOG_CS_NO_MEMORY);
		assert_int_equal(refused()->level, 1);
		pass(20 * S);
		now += 3580 * S;
	}
	assert_replays();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_fault_is_reported_once_by_the_best_source),
		cmocka_unit_test(another_devices_fault_is_another),
		cmocka_unit_test(kfd_and_the_log_replace_missing_programs),
		cmocka_unit_test(facts_of_unserved_faults_are_first_faults),
		cmocka_unit_test(an_xid_is_told_by_its_tracepoint_and_named_by_its_line),
		cmocka_unit_test(a_storm_of_tracepoints_stays_a_note),
		cmocka_unit_test(a_fact_without_a_pid_is_its_pasids),
		cmocka_unit_test(served_faults_are_reported_by_their_rate),
		cmocka_unit_test(served_faults_of_a_load_are_a_note),
		cmocka_unit_test(a_first_hint_of_a_fault_is_a_sign),
		cmocka_unit_test(hints_of_faults_have_their_weight),
		cmocka_unit_test(memory_that_is_not_pinned_is_news_once),
		cmocka_unit_test(a_fault_in_discovery_is_a_sign),
		cmocka_unit_test(other_lines_are_no_faults),
		cmocka_unit_test(failed_submissions_in_the_log_count_by_their_rate),
		cmocka_unit_test(log_lines_of_reported_faults_are_ignored),
		cmocka_unit_test(weak_lines_count_when_they_are_frequent),
		cmocka_unit_test(repeated_lines_count_with_their_number),
		cmocka_unit_test(a_failed_submission_an_hour_is_a_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Alarms that were false again and again, signs that are new, devices that are not proven. */
#include "history.h"

static void says(enum davy_log_kind kind, uint32_t pid)
{
	const struct davy_log_meaning *m = davy_log_meaning(kind);
	struct davy_event ev = event(DAVY_EV_LOG, pid);

	ev.log.kind = (uint16_t)kind;
	ev.log.role = m->role;
	ev.log.log_class = m->class;
	ev.log.hazard = m->hazard;
	ev.log.weight = m->weight;
	ev.log.leads = m->leads;
	davy_copy_name(ev.log.device, sizeof(ev.log.device), GPU);
	tell(&ev);
}

static void engine(uint32_t pid, uint16_t flags)
{
	struct davy_event ev = event(DAVY_EV_PROCESS, pid);

	ev.process.start_ticks = pid * 10;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_ROCM;
	ev.process.flags = flags;
	davy_copy_name(ev.process.comm, sizeof(ev.process.comm), "llama-server");
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
}

/* The engine computes all the time. */
static void compute(uint32_t pid, uint64_t ns)
{
	static uint64_t graphs;

	for (uint64_t end = now + ns; now < end; pass(S)) {
		struct davy_event ev = event(DAVY_EV_GRAPH, pid);

		ev.graph.graph_count = ++graphs;
		ev.graph.last_ns = ev.graph.max_ns = 20 * MS;
		tell(&ev);
	}
}

/* A sign that comes and is followed by nothing, until its prediction has expired. */
static uint32_t level_of_sign(uint32_t pid)
{
	says(DAVY_LOG_KILLED_ENTITY, pid);
	pass(1800 * S);
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level;
}

static void the_fourth_false_alarm_is_no_prediction(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(level_of_sign(50), 2);
	assert_int_equal(level_of_sign(50), 1);
	pass(25 * 3600 * S); /* a day without a false one */
	assert_int_equal(level_of_sign(50), 2);
}

static void one_that_comes_true_ends_the_doubt(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(level_of_sign(50), 2);
	says(DAVY_LOG_KILLED_ENTITY, 50);
	pass(5 * S);
	says(DAVY_LOG_LOCKUP, 0); /* the kernel stands still */
	pass(1800 * S);
	for (int i = 0; i < 3; i++)
		assert_int_equal(level_of_sign(50), 2);
	assert_int_equal(level_of_sign(50), 1);
}

static uint32_t level_of(enum davy_log_kind kind, enum davy_hazard hazard)
{
	says(kind, 50);
	pass(1800 * S);
	return last_of(DAVY_PLAN_NOTE, hazard)->level;
}

static void each_hazard_that_predicts_can_be_doubted(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(level_of(DAVY_LOG_IOMMU_FAULT, DAVY_HZ_FAULT_STORM), 2);
	assert_int_equal(level_of(DAVY_LOG_IOMMU_FAULT, DAVY_HZ_FAULT_STORM), 1);
}

/* ROCm/legacy-rocm-build#5952: signs of the restore workers for 21 h, then the host hung. */
static void what_repeats_for_hours_before_a_failure_is_not_doubted(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(level_of(DAVY_LOG_RESTORE_FAILED, DAVY_HZ_RESTORE_HOG), 2);
}

/* A device that was reset does not serve, however often it went on. */
static void a_failure_is_not_doubted(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	engine(50, 0);
	for (int i = 0; i < 8; i++) {
		ev = event(DAVY_EV_RESET, 0);
		davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
		tell(&ev);
		pass(2 * 3600 * S);
		assert_true(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET)->level > 1);
	}
}

/* Any user may start a program with an engine's name. */
static void a_strangers_false_alarms_cast_no_doubt_on_others(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	engine(60, DAVY_PROCESS_LOGIN_USER);
	for (int i = 0; i < 3; i++)
		level_of_sign(60);
	assert_int_equal(level_of_sign(60), 1);
	assert_int_equal(level_of_sign(50), 2);
}

static void a_first_line_is_a_sign_while_an_engine_computes(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	compute(50, 400 * S);
	says(DAVY_LOG_PME_SPURIOUS, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 2);
	compute(50, 3600 * S);
	says(DAVY_LOG_PME_SPURIOUS, 0); /* it is usual here */
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 1);

	begin_history();
	engine(50, 0);
	pass(400 * S);
	says(DAVY_LOG_PME_SPURIOUS, 0); /* nothing computes */
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 1);
}

static uint32_t warned(void)
{
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level;
}

/* A guest with a card by passthrough: now and then amdgpu's timer finds a fence. */
static void a_lost_interrupt_is_news_once(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	compute(50, 400 * S);
	says(DAVY_LOG_FENCE_FALLBACK, 0);
	assert_int_equal(warned(), 2);
	for (int i = 0; i < 6; i++) {
		compute(50, 1500 * S);
		says(DAVY_LOG_FENCE_FALLBACK, 0);
		assert_int_equal(warned(), 1);
	}
	compute(50, 200 * S);
	says(DAVY_LOG_FENCE_FALLBACK, 0);
	assert_int_equal(warned(), 1);
	compute(50, 200 * S);
	says(DAVY_LOG_FENCE_FALLBACK, 0); /* the third in ten minutes */
	assert_int_equal(warned(), 3);
}

/* amd-vk-002: 84 s after a ring was reset, and 7 min before the next reset. */
static void a_lost_interrupt_after_a_reset_is_the_next_ones_sign(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	engine(50, 0);
	compute(50, 400 * S);
	ev = event(DAVY_EV_RESET, 0);
	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
	tell(&ev);
	compute(50, 84 * S);
	says(DAVY_LOG_FENCE_FALLBACK, 0);
	assert_int_equal(warned(), 3);
}

/* ROCm/amdgpu#150, #227 and rocMLIR#1085; on other hosts it is usual (ROCm/cvs#169). */
static void more_queues_than_the_card_has_are_news_once(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	compute(50, 400 * S);
	says(DAVY_LOG_OVERSUBSCRIBED, 0);
	assert_int_equal(warned(), 2);
	compute(50, 3600 * S);
	says(DAVY_LOG_OVERSUBSCRIBED, 0);
	assert_int_equal(warned(), 1);
}

static void of_order(uint32_t order)
{
	struct davy_event ev = event(DAVY_EV_LOG, 0);
	const struct davy_log_meaning *m = davy_log_meaning(DAVY_LOG_PAGE_ALLOC_FAILED);

	ev.log.kind = DAVY_LOG_PAGE_ALLOC_FAILED;
	ev.log.role = m->role;
	ev.log.log_class = m->class;
	ev.log.hazard = m->hazard;
	ev.log.weight = m->weight;
	ev.log.code = order;
	tell(&ev);
}

/* legacy-rocm-build#6157: 13 GiB of page cache, no pages, 27 s later vLLM faults. */
static void a_host_with_a_full_page_cache_has_no_pages(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	engine(50, 0);
	ev = event(DAVY_EV_MEMORY, 0);
	davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
	ev.memory.host_total = 64ULL << 30;
	ev.memory.host_available = 13ULL << 30;
	tell(&ev);
	compute(50, 400 * S);
	of_order(4); /* a network driver, which goes on with smaller blocks */
	assert_int_equal(warned(), 1);
	compute(50, 400 * S);
	of_order(0);
	assert_int_equal(warned(), 2);
}

static void storm(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_FAULT, pid);

	ev.fault.fault_class = DAVY_FAULT_VM;
	ev.fault.pasid = 7;
	ev.fault.fresh = ev.fault.count = 100;
	davy_copy_name(ev.fault.device, sizeof(ev.fault.device), GPU);
	tell(&ev);
}

/* amd-hang-004: the next runner started two hours after the flood, and got no queue. */
static void a_device_stays_suspect_until_an_engine_computes_on_it(void **state)
{
	(void)state;
	begin_history();
	engine(50, 0);
	compute(50, 60 * S);
	storm(50);
	ends(50, 6);
	pass(2 * 3600 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM), 1);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_FAULT_STORM), 0);
	engine(51, 0);
	pass(60 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_FAULT_STORM), 0);
	compute(51, 20 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_FAULT_STORM), 1);
}

/* Twenty a second, for half a minute: HSA_XNACK=1 migrates pages for as long as an engine lives. */
static void retried_faults(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_PASID, pid);

	ev.pasid.pasid = 7;
	tell(&ev);
	for (int i = 0; i < 300; i++, pass(100 * MS)) {
		ev = event(DAVY_EV_FAULT, pid);
		ev.fault.fault_class = DAVY_FAULT_VM_RETRY;
		ev.fault.pasid = 7;
		ev.fault.fresh = ev.fault.count = 2;
		davy_copy_name(ev.fault.device, sizeof(ev.fault.device), GPU);
		tell(&ev);
	}
}

static void retried_faults_are_a_storm_while_a_graph_does_not_end(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	engine(50, 0);
	retried_faults(50);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM), 0);
	ev = event(DAVY_EV_GRAPH, 50);
	ev.graph.graph_count = 1;
	ev.graph.entered_ns = now;
	tell(&ev);
	retried_faults(50);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->level, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fourth_false_alarm_is_no_prediction),
		cmocka_unit_test(one_that_comes_true_ends_the_doubt),
		cmocka_unit_test(each_hazard_that_predicts_can_be_doubted),
		cmocka_unit_test(what_repeats_for_hours_before_a_failure_is_not_doubted),
		cmocka_unit_test(a_failure_is_not_doubted),
		cmocka_unit_test(a_strangers_false_alarms_cast_no_doubt_on_others),
		cmocka_unit_test(a_first_line_is_a_sign_while_an_engine_computes),
		cmocka_unit_test(a_lost_interrupt_is_news_once),
		cmocka_unit_test(a_lost_interrupt_after_a_reset_is_the_next_ones_sign),
		cmocka_unit_test(more_queues_than_the_card_has_are_news_once),
		cmocka_unit_test(a_host_with_a_full_page_cache_has_no_pages),
		cmocka_unit_test(retried_faults_are_a_storm_while_a_graph_does_not_end),
		cmocka_unit_test(a_device_stays_suspect_until_an_engine_computes_on_it),
	};

	return cmocka_run_group_tests_name("doubt", tests, NULL, NULL);
}

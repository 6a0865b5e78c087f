/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which alarm may foresee which failure: its class, device, process and time. */
#include "failures.h"

static void the_same_process_on_another_device_is_another_subject(void **state)
{
	(void)state;
	watched_engine();
	ring_on(OTHER_GPU, 900, 1, 60);
	now += S;
	timeout_on(GPU, 60);
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
}

/* A reset that succeeded, and 22 s later a page fault of the engine that was started again. */
static void a_reset_does_not_foresee_a_page_fault(void **state)
{
	(void)state;
	record_as = "reset-unrelated-fault";
	begin_recorded();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	timeout_on(GPU, 60);
	now += S;
	reset(true, 0);
	now += S;
	reset(false, 0);
	ends(60, 6);
	process(61, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	pass(22 * S);
	fact(DAVY_FACT_KFD_VM_FAULT, 61, 0, 0);
	assert_string_equal(davy_log_class_name(last_failure()->failure_class), "page_fault");
	assert_int_equal(last_failure()->hazard, DAVY_HZ_NONE);
	assert_int_equal(core.foresight.class[DAVY_CLASS_PAGE_FAULT].missed, 1);
	assert_replays();
}

static void signs_between_two_failures_of_an_incident_are_late(void **state)
{
	(void)state;
	watched_engine();
	fact(DAVY_FACT_KFD_VM_FAULT, 60, 0, 0);
	now += S;
	ring_on(GPU, 900, 1, 60); /* leads to a reset and not to a page fault */
	now += S;
	reset(true, 0);
	assert_int_equal(failures(), 1);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->confirmed, 0);
	pass(700 * S);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->late, 1);
	assert_int_equal(score(DAVY_HZ_JOB_STALL)->false_alarms, 0);
}

/* Memory and resets are the device's: another process may be the cause. A fault is its own. */
static void a_process_is_the_subject_of_its_own_failures_only(void **state)
{
	static const struct davy_subject alarm = { GPU, 60 }, failed = { GPU, 61 };

	(void)state;
	assert_true(davy_foresight_same_subject(DAVY_CLASS_OOM_VRAM, alarm, failed));
	assert_true(davy_foresight_same_subject(DAVY_CLASS_GPU_RESET, alarm, failed));
	assert_false(davy_foresight_same_subject(DAVY_CLASS_PAGE_FAULT, alarm, failed));
	assert_false(davy_foresight_same_subject(DAVY_CLASS_OTHER, alarm, failed));
	assert_true(davy_foresight_same_subject(DAVY_CLASS_RUNNER_CRASH_INIT, alarm, failed));
	assert_true(davy_foresight_same_subject(DAVY_CLASS_PAGE_FAULT, alarm, alarm));
	assert_true(davy_foresight_same_subject(DAVY_CLASS_PAGE_FAULT,
						(struct davy_subject){ GPU, 0 }, failed));
	assert_false(davy_foresight_same_subject(DAVY_CLASS_PAGE_FAULT,
						 (struct davy_subject){ "", 60 }, failed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_process_on_another_device_is_another_subject),
		cmocka_unit_test(a_reset_does_not_foresee_a_page_fault),
		cmocka_unit_test(signs_between_two_failures_of_an_incident_are_late),
		cmocka_unit_test(a_process_is_the_subject_of_its_own_failures_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

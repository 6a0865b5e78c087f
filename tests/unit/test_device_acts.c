/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acts on the engines of a device that is about to fail, and none where nothing is. */
#include "able.h"
#include "jobs.h"

/* A line of the kernel's log about the device, which names no process. */
static void device_line(uint16_t kind)
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
	tell(&ev);
}

/* Two engines on the device, one on another, one on the CPU. */
static void a_failing_device_moves_each_of_its_engines(void **state)
{
	const struct davy_plan *plan;
	struct davy_event ev;

	(void)state;
	begin_able("driver_warning-device", ALL_CAN);
	able(2, 60, ALL_CAN);
	sized_process(60, 2, DAVY_BACKEND_VULKAN, 512);
	ev = able_event(3, 70, ALL_CAN);
	davy_copy_name(ev.workload.device, sizeof(ev.workload.device), "0000:04:00.0");
	tell(&ev);
	ev = able_event(4, 80, ALL_CAN);
	ev.workload.backend = DAVY_BACKEND_CPU;
	tell(&ev);
	device_line(DAVY_LOG_MES_FAILED);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_DRIVER_WARNING);
	assert_int_equal(plan->workload, 1);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	pass(S);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_DRIVER_WARNING), 1);
	replaced_by(plan->id, 50, 51, DAVY_BACKEND_CPU, 512);
	pass(S);
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_DRIVER_WARNING);
	assert_int_equal(plan->workload, 2);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_DRIVER_WARNING), 2);
	assert_replays();
}

static void a_hot_device_gets_less_work(void **state)
{
	(void)state;
	begin_able("hardware-heat", ALL_CAN);
	device_line(DAVY_LOG_OVER_TEMPERATURE);
	assert_int_equal(last_action(DAVY_ACTION_THROTTLE, DAVY_HZ_HARDWARE)->verdict,
			 DAVY_VERDICT_GO);
	assert_replays();
	begin_able(NULL, ALL_CAN);
	device_line(DAVY_LOG_RAS_UNCORRECTABLE);
	assert_int_equal(count_of_action(DAVY_ACTION_THROTTLE, DAVY_HZ_HARDWARE), 0);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_HARDWARE), 1);
}

/* A driver's WARN() is no reason to move, however often; a kernel that is about to hang is one. */
static void an_engine_leaves_before_the_kernel_hangs(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	for (int i = 0; i < 4; i++)
		device_line(DAVY_LOG_DRIVER_WARNING);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 2);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_DRIVER_WARNING), 0);
	begin_able(NULL, ALL_CAN);
	device_line(DAVY_LOG_KILLED_ENTITY);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_DRIVER_WARNING)->level, 2);
	assert_int_equal(count_of_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_DRIVER_WARNING), 1);
}

/* Half of the timeout, each time: it is a hazard, but nothing leads to a timeout. */
static void equally_long_jobs_are_not_acted_on(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN & ~DAVY_CAN_FREEZE);
	lockup("compute", 10 * S);
	begin_jobs(50, RING);
	for (int i = 0; i < 4; i++)
		job(50, 5500 * MS);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_HEADROOM)->level, 2);
	for (size_t i = 0; i < kept_count; i++)
		assert_int_not_equal(kept[i].kind, DAVY_PLAN_ACTION);
}

static void restores_that_fail_unload_then_start_anew(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able("ladder-restore", DAVY_CAN_UNLOAD);
	for (int i = 0; i < 300 && !count_of_action(DAVY_ACTION_RESTART, DAVY_HZ_RESTORE_HOG);
	     i++, pass(100 * MS)) {
		struct davy_event ev = event(DAVY_EV_KFD, 50);

		davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), GPU);
		ev.kfd.event = DAVY_KFD_QUEUES_RESTORED;
		ev.kfd.flags = DAVY_KFD_RESCHEDULED;
		tell(&ev);
		if (first_workload()->act_action == DAVY_ACTION_UNLOAD &&
		    first_workload()->act_plan)
			act(last_action(DAVY_ACTION_UNLOAD, DAVY_HZ_RESTORE_HOG)->id,
			    DAVY_ACT_SERVING, 0, 0);
	}
	plan = last_action(DAVY_ACTION_RESTART, DAVY_HZ_RESTORE_HOG);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(plan->passed_action, DAVY_ACTION_SHRINK);
	assert_replays();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failing_device_moves_each_of_its_engines),
		cmocka_unit_test(a_hot_device_gets_less_work),
		cmocka_unit_test(an_engine_leaves_before_the_kernel_hangs),
		cmocka_unit_test(equally_long_jobs_are_not_acted_on),
		cmocka_unit_test(restores_that_fail_unload_then_start_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

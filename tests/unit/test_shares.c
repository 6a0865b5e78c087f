/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Usage of a device's memory and time in a plan: victim and culprit. */
#include "history.h"

#define MIB ((uint64_t)1 << 20)

static void use(uint32_t pid, uint64_t client, uint64_t vram, uint64_t busy_ns)
{
	struct davy_event ev = event(DAVY_EV_CLIENT, pid);

	davy_copy_name(ev.client.device, sizeof(ev.client.device), GPU);
	ev.client.client_id = client;
	ev.client.vram = vram;
	ev.client.busy_ns = busy_ns;
	tell(&ev);
}

static const struct davy_plan *time_out(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_JOB_TIMEOUT, pid);

	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), GPU);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), "gfx_0.0.0");
	ev.job_timeout.age_ns = 2 * S;
	kept_count = 0;
	tell(&ev);
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].kind == DAVY_PLAN_NOTE)
			return &kept[i];
	fail_msg("a timeout raises nothing");
	return NULL;
}

static void the_victim_is_named_with_everybodys_share(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_history();
	for (uint64_t second = 0; second <= 6; second++, pass(S)) {
		use(10, 1, 100 * MIB, second * 50 * MS); /* the compositor: 5 % of the time */
		use(20, 2, 300 * MIB, second * 950 * MS);
	}
	plan = time_out(10);
	assert_int_equal(plan->pid, 10);
	assert_int_equal(plan->usage_count, 2);
	assert_int_equal(plan->usages[0].pid, 20);
	assert_int_equal(plan->usages[0].memory_permille, 750);
	assert_true(plan->usages[0].memory_bytes == 300 * MIB);
	assert_in_range(plan->usages[0].engine_permille, 945, 955);
	assert_int_equal(plan->usages[1].pid, 10);
	assert_int_equal(plan->culprit_pid, 20);
}

static void a_process_that_causes_its_own_timeout_has_no_culprit(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_history();
	for (uint64_t second = 0; second <= 6; second++, pass(S)) {
		use(10, 1, 100 * MIB, second * 900 * MS);
		use(20, 2, 900 * MIB, second * 50 * MS); /* memory is not what a job waits for */
	}
	plan = time_out(10);
	assert_int_equal(plan->culprit_pid, 0);
	assert_int_equal(plan->usage_count, 2);
}

static void old_shares_expire(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_history();
	use(20, 2, MIB, 0);
	pass(S);
	use(20, 2, MIB, 900 * MS);
	for (uint64_t second = 0; second <= 12; second++, pass(S)) {
		use(20, 2, MIB, 900 * MS);
		use(10, 1, MIB, second * 100 * MS);
	}
	plan = time_out(10);
	assert_int_equal(plan->culprit_pid, 0);
	assert_int_equal(plan->usages[0].pid, 10);
	assert_int_equal(plan->usages[0].engine_permille, 1000);
}

static void files_of_one_process_are_added_and_kfd_is_not_counted_twice(void **state)
{
	struct davy_event ev;
	const struct davy_plan *plan;

	(void)state;
	begin_history();
	use(10, 1, 100 * MIB, 0);
	use(10, 3, 50 * MIB, 0);
	ev = event(DAVY_EV_KFD_USE, 10);
	davy_copy_name(ev.kfd_use.device, sizeof(ev.kfd_use.device), GPU);
	ev.kfd_use.vram = 120 * MIB;
	tell(&ev);
	plan = time_out(10);
	assert_int_equal(plan->usage_count, 1);
	assert_true(plan->usages[0].memory_bytes == 150 * MIB);
	assert_int_equal(plan->usages[0].memory_permille, 1000);
	ev.kfd_use.vram = 400 * MIB;
	tell(&ev);
	pass(20 * S);
	plan = time_out(10);
	assert_true(plan->usages[0].memory_bytes == 400 * MIB);
}

static void an_ended_process_has_no_share(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	use(10, 1, MIB, 0);
	use(20, 2, MIB, 0);
	use(30, 3, MIB, 0);
	ev = event(DAVY_EV_CLIENT, 20);
	davy_copy_name(ev.client.device, sizeof(ev.client.device), GPU);
	ev.client.client_id = 2;
	ev.client.gone = 1;
	tell(&ev);
	ev = event(DAVY_EV_PROCESS_EXIT, 30);
	tell(&ev);
	assert_int_equal(time_out(10)->usage_count, 1);
}

static void many_clients_are_reported_as_seven_and_the_rest(void **state)
{
	const struct davy_plan *plan;
	uint64_t sum = 0, permille = 0;

	(void)state;
	begin_history();
	for (uint32_t i = 1; i <= 40; i++)
		use(100 + i, i, i * MIB, 0);
	plan = time_out(101);
	assert_int_equal(plan->usage_count, DAVY_PLAN_USAGES);
	for (size_t i = 0; i < DAVY_PLAN_USAGES; i++) {
		sum += plan->usages[i].memory_bytes;
		permille += plan->usages[i].memory_permille;
		assert_int_equal(plan->usages[i].pid, i < DAVY_PLAN_USAGES - 1 ? 140 - i : 0);
	}
	assert_true(sum == 820 * MIB);
	assert_in_range(permille, 950, 1000);
}

static void counters_that_go_back_and_a_thousand_clients_are_survived(void **state)
{
	(void)state;
	begin_history();
	use(10, 1, UINT64_MAX / 4, UINT64_MAX);
	pass(S);
	use(10, 1, UINT64_MAX / 4, 0);
	for (uint32_t i = 1; i <= 1000; i++)
		use(i, i, UINT64_MAX / 8, i);
	assert_int_equal(time_out(1000)->usage_count, DAVY_PLAN_USAGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_victim_is_named_with_everybodys_share),
		cmocka_unit_test(a_process_that_causes_its_own_timeout_has_no_culprit),
		cmocka_unit_test(old_shares_expire),
		cmocka_unit_test(files_of_one_process_are_added_and_kfd_is_not_counted_twice),
		cmocka_unit_test(an_ended_process_has_no_share),
		cmocka_unit_test(many_clients_are_reported_as_seven_and_the_rest),
		cmocka_unit_test(counters_that_go_back_and_a_thousand_clients_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

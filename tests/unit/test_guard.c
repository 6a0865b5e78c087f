/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guard's normal operation: freezes, leases, duty cycles, deaths of processes. */
#include "guard_lab.h"

static void pauses_until_released(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup);

	(void)state;
	LAB_NEEDS_CGROUPS();
	assert_true(lab_runs(0));
	lab_hold(lab_order(1, 0, 5000));
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	assert_true(lab_stands(0));
	lab_release(1);
	lab_expect(DAVY_GUARD_RELEASED, 1, 0);
	assert_true(lab_runs(0));
	lab_end(pid);
}

static void a_lease_ends_without_an_order(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup);
	struct davy_guard_answer held, released;

	(void)state;
	LAB_NEEDS_CGROUPS();
	assert_true(lab_runs(0));
	lab_hold(lab_order(1, 0, 300));
	held = lab_answer(3000);
	assert_int_equal(held.stage, DAVY_GUARD_FROZEN);
	released = lab_answer(3000);
	assert_int_equal(released.stage, DAVY_GUARD_RELEASED);
	assert_int_equal(released.result, -ETIME);
	assert_in_range(released.frozen_ns, 290 * DAVY_NS_PER_MS, 1300 * DAVY_NS_PER_MS);
	assert_true(lab_runs(0));
	lab_end(pid);
}

/* The frozen part of two seconds matches the duty. */
static void duty(uint32_t on_permille, bool tree)
{
	pid_t pid = lab_worker(0, tree ? NULL : &lab_cgroup);
	struct davy_guard_answer released;
	uint64_t off_permille;

	assert_true(lab_runs(0));
	if (tree)
		lab_hold_tree(lab_order(1, on_permille, 2000), pid);
	else
		lab_hold(lab_order(1, on_permille, 2000));
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	released = lab_answer(4000);
	assert_int_equal(released.stage, DAVY_GUARD_RELEASED);
	assert_int_equal(released.result, -ETIME);
	off_permille = released.frozen_ns / (2000 * DAVY_NS_PER_MS / 1000);
	assert_in_range(off_permille + on_permille, 920, 1080);
	assert_true(lab_runs(0));
	lab_end(pid);
}

static void throttles_to_the_duty(void **state)
{
	(void)state;
	LAB_NEEDS_CGROUPS();
	duty(750, false);
	duty(500, false);
	duty(250, false);
}

static void a_process_without_a_cgroup_is_throttled(void **state)
{
	(void)state;
	duty(500, true);
}

static void a_hold_is_renewed_in_place(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup);
	struct davy_guard_order order = lab_order(1, 500, 400);
	struct davy_guard_answer answer;
	uint64_t begun = lab_ns();

	(void)state;
	LAB_NEEDS_CGROUPS();
	assert_true(lab_runs(0));
	lab_hold(order);
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	order.plan = 7;
	order.on_permille = 0;
	order.lease_ns = 800 * DAVY_NS_PER_MS;
	lab_hold(order);
	answer = lab_answer(2000);
	assert_int_equal(answer.stage, DAVY_GUARD_FROZEN);
	assert_int_equal(answer.plan, 7);
	assert_true(lab_stands(0));
	answer = lab_answer(3000);
	assert_int_equal(answer.stage, DAVY_GUARD_RELEASED);
	assert_int_equal(answer.plan, 7);
	assert_true(lab_ns() - begun >= 800 * DAVY_NS_PER_MS);
	assert_true(lab_runs(0));
	lab_end(pid);
}

static void wrong_terms_are_refused(void **state)
{
	pid_t pid = lab_worker(0, NULL);
	struct davy_guard_order order = lab_order(1, 0, 61000);

	(void)state;
	lab_hold_tree(order, pid);
	lab_expect(DAVY_GUARD_FAILED, 1, -EINVAL);
	order = lab_order(1, 1000, 1000);
	lab_hold_tree(order, pid);
	lab_expect(DAVY_GUARD_FAILED, 1, -EINVAL);
	order = lab_order(1, 500, 1000);
	order.period_ns = 1;
	lab_hold_tree(order, pid);
	lab_expect(DAVY_GUARD_FAILED, 1, -EINVAL);
	assert_int_equal(send(guard.fd, "x", 1, 0), 1); /* not a valid order */
	assert_true(lab_runs(0));
	lab_end(pid);
}

/* The agent's death closes the socket. */
static void the_end_of_the_socket_thaws(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup), tree = lab_worker(1, NULL);

	(void)state;
	assert_true(lab_runs(0) && lab_runs(1));
	if (lab_has_cgroups()) {
		lab_hold(lab_order(1, 0, 60000));
		lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	}
	lab_hold_tree(lab_order(2, 0, 60000), tree);
	lab_expect(DAVY_GUARD_FROZEN, 2, 0);
	assert_true(lab_stands(1));
	davy_guard_stop(&guard);
	assert_true(lab_runs(0) && lab_runs(1));
	lab_start();
	lab_end(pid);
	lab_end(tree);
}

static pid_t child_of(pid_t parent)
{
	char command[64], text[32] = "";
	FILE *out;

	snprintf(command, sizeof(command), "pgrep -P %d", (int)parent);
	out = popen(command, "r");
	if (out && !fgets(text, sizeof(text), out))
		text[0] = 0;
	if (out)
		pclose(out);
	return (pid_t)atoi(text);
}

static void a_killed_guard_is_answered_for_by_its_standby(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup), tree = lab_worker(1, NULL);

	(void)state;
	assert_true(lab_runs(0) && lab_runs(1));
	if (lab_has_cgroups()) {
		lab_hold(lab_order(1, 0, 60000));
		lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	}
	lab_hold_tree(lab_order(2, 0, 60000), tree);
	lab_expect(DAVY_GUARD_FROZEN, 2, 0);
	kill(guard.pid, SIGKILL);
	assert_true(lab_runs(0) && lab_runs(1));
	assert_int_equal(lab_answer(1000).stage, 0); /* the closed socket tells the agent */
	davy_guard_stop(&guard);
	lab_start();
	lab_end(pid);
	lab_end(tree);
}

static void a_killed_standby_is_replaced(void **state)
{
	pid_t pid = lab_worker(0, NULL), standby, next = 0;

	(void)state;
	lab_hold_tree(lab_order(1, 0, 60000), pid);
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	standby = child_of(guard.pid);
	assert_true(standby > 0);
	kill(standby, SIGKILL);
	for (int i = 0; i < 2000 && (!next || next == standby); i++) {
		lab_sleep_ms(10);
		next = child_of(guard.pid);
	}
	assert_true(next > 0 && next != standby);
	assert_true(lab_stands(0));
	kill(guard.pid, SIGKILL);
	assert_true(lab_runs(0));
	davy_guard_stop(&guard);
	lab_start();
	lab_end(pid);
}

static void the_lease_of_a_stopped_guard_ends_in_time(void **state)
{
	pid_t pid = lab_worker(0, NULL);
	uint64_t begun;

	(void)state;
	lab_hold_tree(lab_order(1, 0, 300), pid);
	begun = lab_ns();
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	kill(guard.pid, SIGSTOP);
	lab_sleep_ms(400);
	while (!lab_runs(0) && lab_ns() - begun < 5 * DAVY_NS_PER_S)
		;
	assert_true(lab_ns() - begun <= 1300 * DAVY_NS_PER_MS);
	kill(guard.pid, SIGCONT);
	lab_expect(DAVY_GUARD_RELEASED, 1, -ETIME);
	lab_end(pid);
}

static void sigterm_thaws(void **state)
{
	pid_t pid = lab_worker(0, NULL);

	(void)state;
	lab_hold_tree(lab_order(1, 0, 60000), pid);
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	kill(guard.pid, SIGTERM);
	lab_expect(DAVY_GUARD_RELEASED, 1, 0);
	assert_true(lab_runs(0));
	davy_guard_stop(&guard);
	lab_start();
	lab_end(pid);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_until_released),
		cmocka_unit_test(a_lease_ends_without_an_order),
		cmocka_unit_test(throttles_to_the_duty),
		cmocka_unit_test(a_process_without_a_cgroup_is_throttled),
		cmocka_unit_test(a_hold_is_renewed_in_place),
		cmocka_unit_test(wrong_terms_are_refused),
		cmocka_unit_test(the_end_of_the_socket_thaws),
		cmocka_unit_test(a_killed_guard_is_answered_for_by_its_standby),
		cmocka_unit_test(a_killed_standby_is_replaced),
		cmocka_unit_test(the_lease_of_a_stopped_guard_ends_in_time),
		cmocka_unit_test(sigterm_thaws),
	};

	if (argc && !strcmp(argv[0], DAVY_GUARD_PROGRAM))
		return davy_guard_run(DAVY_GUARD_FD, DAVY_GUARD_AGENT_FD);
	return cmocka_run_group_tests(tests, lab_open, lab_close);
}

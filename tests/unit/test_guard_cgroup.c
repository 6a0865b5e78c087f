/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cgroups that others freeze, thaw, empty or remove; deaths at random times. */
#include "guard_lab.h"

#include "act/freeze.h"

static void a_cgroup_frozen_by_others_stays_frozen(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup);

	(void)state;
	LAB_NEEDS_CGROUPS();
	assert_true(lab_runs(0));
	assert_int_equal(davy_cgroup_freeze(lab_dir, true), 0);
	assert_true(lab_stands(0));
	lab_hold(lab_order(1, 0, 100));
	lab_expect(DAVY_GUARD_FAILED, 1, -EALREADY);
	assert_true(lab_stands(0));
	assert_int_equal(davy_cgroup_freeze(lab_dir, false), 0);
	lab_end(pid);
}

static void a_cgroup_thawed_by_others_is_not_frozen_again(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup);

	(void)state;
	LAB_NEEDS_CGROUPS();
	assert_true(lab_runs(0));
	lab_hold(lab_order(1, 0, 60000));
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	assert_int_equal(davy_cgroup_freeze(lab_dir, false), 0);
	lab_expect(DAVY_GUARD_RELEASED, 1, -ECANCELED);
	assert_true(lab_runs(0));
	lab_end(pid);
}

static void an_empty_cgroup_is_reported(void **state)
{
	(void)state;
	LAB_NEEDS_CGROUPS();
	lab_hold(lab_order(1, 0, 1000));
	lab_expect(DAVY_GUARD_FAILED, 1, -ESRCH);
}

static void a_cgroup_that_becomes_empty_is_reported(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup);

	(void)state;
	LAB_NEEDS_CGROUPS();
	assert_true(lab_runs(0));
	lab_hold(lab_order(1, 0, 60000));
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	lab_end(pid);
	lab_expect(DAVY_GUARD_RELEASED, 1, -ESRCH);
	assert_int_equal(davy_cgroup_wants_frozen(lab_dir), 0); /* later processes are not frozen */
}

static void a_removed_cgroup_is_reported(void **state)
{
	struct davy_guard_order order = lab_order(1, 500, 60000);
	struct davy_guard_answer answer;
	struct davy_cgroup group;
	pid_t pid;
	int dir;

	(void)state;
	LAB_NEEDS_CGROUPS();
	assert_int_equal(davy_cgroup_make("davylamp-test-removed", &group), 0);
	dir = open(group.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid = lab_worker(0, &group);
	assert_true(lab_runs(0));
	assert_int_equal(davy_guard_send(&guard, &order, dir), 0);
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	lab_end(pid);
	for (int i = 0; i < 200 && rmdir(group.dir); i++)
		usleep(500);
	answer = lab_answer(3000);
	assert_int_equal(answer.stage, DAVY_GUARD_RELEASED);
	assert_true(answer.result == -ESRCH || answer.result == -ENODEV);
	assert_int_equal(davy_guard_send(&guard, &order, dir), 0);
	answer = lab_answer(3000);
	assert_int_equal(answer.stage, DAVY_GUARD_FAILED);
	assert_true(answer.result == -ENOENT || answer.result == -ENODEV);
	close(dir);
}

static void a_missing_cgroup_is_reported(void **state)
{
	struct davy_guard_order order = lab_order(1, 0, 1000);
	int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(davy_guard_send(&guard, &order, dir), 0);
	lab_expect(DAVY_GUARD_FAILED, 1, -ENOENT);
	close(dir);
}

static void our_own_is_never_opened(void **state)
{
	char text[512], *own;
	int fd = open("/proc/self/cgroup", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	(void)state;
	close(fd);
	text[n > 0 ? n : 0] = 0;
	own = strstr(text, "0::");
	LAB_NEEDS_CGROUPS();
	assert_non_null(own);
	own[strcspn(own, "\n")] = 0;
	assert_true(davy_cgroup_open(own + 3) < 0);
	assert_int_equal(davy_cgroup_open("/"), -EINVAL);
	assert_int_equal(davy_cgroup_open("/x/../y"), -EINVAL);
	assert_int_equal(davy_cgroup_open("/davylamp-nobody"), -ENOENT);
	fd = davy_cgroup_open(lab_cgroup.path);
	assert_true(fd >= 0);
	close(fd);
}

static uint32_t seed = 20261121;

static uint32_t next_random(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

/* A hundred deaths of the guard or its agent, at random times in a freeze of at most 200 ms. */
static void no_process_is_frozen_beyond_its_lease_when_others_die(void **state)
{
	pid_t pid = lab_worker(0, &lab_cgroup), tree = lab_worker(1, NULL);

	(void)state;
	LAB_NEEDS_CGROUPS();
	assert_true(lab_runs(0) && lab_runs(1));
	for (int i = 0; i < 100; i++) {
		uint64_t begun = lab_ns();
		uint32_t on = next_random(2) * 250;

		lab_hold(lab_order(1, on, 200));
		lab_hold_tree(lab_order(2, on, 200), tree);
		usleep(next_random(220000));
		if (next_random(2))
			kill(guard.pid, SIGKILL);
		davy_guard_stop(&guard);
		while (!lab_runs(0) || !lab_runs(1))
			;
		/* a freeze that nobody ends lasts for ever; a busy machine takes its time */
		assert_true(lab_ns() - begun < 60 * DAVY_NS_PER_S);
		lab_start();
	}
	lab_end(pid);
	lab_end(tree);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cgroup_frozen_by_others_stays_frozen),
		cmocka_unit_test(a_cgroup_thawed_by_others_is_not_frozen_again),
		cmocka_unit_test(an_empty_cgroup_is_reported),
		cmocka_unit_test(a_cgroup_that_becomes_empty_is_reported),
		cmocka_unit_test(a_removed_cgroup_is_reported),
		cmocka_unit_test(a_missing_cgroup_is_reported),
		cmocka_unit_test(our_own_is_never_opened),
		cmocka_unit_test(no_process_is_frozen_beyond_its_lease_when_others_die),
	};

	if (argc && !strcmp(argv[0], DAVY_GUARD_PROGRAM))
		return davy_guard_run(DAVY_GUARD_FD, DAVY_GUARD_AGENT_FD);
	return cmocka_run_group_tests(tests, lab_open, lab_close);
}

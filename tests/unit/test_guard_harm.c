/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Races between decision, freeze and thaw: no other process is stopped, and none stays stopped. */
#include "guard_lab.h"

#include <linux/sched.h>
#include <sys/resource.h>

#include "act/freeze.h"
#include "sensors/proc/process_id.h"

/*
 * Starts a process with a chosen pid, which counts in its slot, and its child in the next slot.
 * Both end with their group. 0: not possible here.
 */
static pid_t worker_with_pid(pid_t pid, int slot)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uint64_t)(uintptr_t)&pid,
				   .set_tid_size = 1 };
	long made = syscall(SYS_clone3, &args, sizeof(args));

	if (made < 0)
		return 0;
	if (!made) {
		setpgid(0, 0);
		lab_worker(slot + 1, NULL);
		lab_count(slot);
	}
	return (pid_t)made;
}

static void end_group(pid_t leader)
{
	kill(-leader, SIGKILL);
	waitpid(leader, NULL, 0);
}

static void a_process_with_a_reused_pid_is_not_touched(void **state)
{
	struct davy_guard_order order = lab_order(1, 0, 1000);
	pid_t pid = lab_worker(0, NULL), next;

	(void)state;
	order.pid = (uint32_t)pid;
	order.start_ticks = davy_process_start((uint32_t)pid);
	lab_end(pid);
	lab_sleep_ms(30); /* a tick is 10 ms */
	next = worker_with_pid(pid, 1);
	if (!next)
		skip();
	assert_int_equal(next, pid);
	assert_int_equal(davy_guard_send(&guard, &order, -1), 0);
	lab_expect(DAVY_GUARD_FAILED, 1, -ESRCH);
	assert_true(lab_runs(1) && lab_runs(2));
	end_group(next);
}

/* A child of the frozen tree dies, and an unrelated process with a child gets its pid. */
static void a_child_of_another_process_is_not_in_the_tree(void **state)
{
	pid_t root = fork(), child, stranger = 0;

	(void)state;
	if (!root) {
		signal(SIGCHLD, SIG_IGN); /* children are reaped at once */
		counters[10] = (uint64_t)lab_worker(0, NULL);
		lab_count(1);
	}
	assert_true(lab_runs(0) && lab_runs(1));
	child = (pid_t)counters[10];
	lab_hold_tree(lab_order(1, 500, 3000), root);
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	kill(child, SIGKILL);
	for (int i = 0; i < 300 && !kill(child, 0); i++)
		lab_sleep_ms(5);
	for (int i = 0; i < 50 && !(stranger = worker_with_pid(child, 2)); i++)
		lab_sleep_ms(10); /* its last reference is dropped later */
	if (!stranger) {
		lab_release(1);
		lab_end(root);
		lab_expect(DAVY_GUARD_RELEASED, 1, 0);
		skip();
	}
	for (int i = 0; i < 150; i++) { /* several periods: it is never stopped */
		assert_true(davy_process_state((uint32_t)stranger) != 'T');
		lab_sleep_ms(3);
	}
	assert_true(lab_runs(2) && lab_runs(3));
	lab_release(1);
	lab_expect(DAVY_GUARD_RELEASED, 1, 0);
	end_group(stranger);
	lab_end(root);
}

static void a_process_keeps_its_identity_over_exec(void **state)
{
	int go[2];
	pid_t pid;
	struct davy_guard_order order = lab_order(1, 0, 5000);
	char buf[256];
	int fd;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		(void)!read(go[0], buf, 1);
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(9);
	}
	order.pid = (uint32_t)pid;
	order.start_ticks = davy_process_start((uint32_t)pid);
	assert_int_equal(write(go[1], "x", 1), 1);
	lab_sleep_ms(100);
	assert_int_equal(davy_guard_send(&guard, &order, -1), 0);
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	snprintf(buf, sizeof(buf), "/proc/%d/stat", (int)pid);
	fd = open(buf, O_RDONLY);
	assert_true(read(fd, buf, sizeof(buf) - 1) > 0);
	close(fd);
	assert_non_null(strstr(buf, "(sleep) T "));
	lab_release(1);
	lab_expect(DAVY_GUARD_RELEASED, 1, 0);
	lab_end(pid);
	close(go[0]);
	close(go[1]);
}

/* Forks without end; each child counts for a moment. */
static _Noreturn void fork_on(int slot)
{
	signal(SIGCHLD, SIG_IGN);
	while (!kill(lab_pid, 0)) {
		if (!fork()) {
			for (int i = 0; i < 5; i++) {
				counters[slot]++;
				usleep(1000);
			}
			_exit(0);
		}
		usleep(2000);
	}
	_exit(0);
}

#define SLOW_FORK_SIZE (256UL << 20) /* bytes in small pages: fork copies page tables for ms */

/* Is nearly always within fork; of its children the last two live, and count. */
static _Noreturn void fork_slowly(int slot)
{
	char *pages = mmap(NULL, SLOW_FORK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t last = 0;

	if (pages == MAP_FAILED || madvise(pages, SLOW_FORK_SIZE, MADV_NOHUGEPAGE))
		_exit(9);
	for (size_t i = 0; i < SLOW_FORK_SIZE; i += 4096)
		pages[i] = 1;
	signal(SIGCHLD, SIG_IGN);
	while (!kill(lab_pid, 0)) {
		pid_t child = fork();

		if (!child)
			lab_count(slot);
		if (last > 0)
			kill(last, SIGKILL);
		last = child;
	}
	kill(last, SIGKILL);
	_exit(0);
}

/* A SIGSTOP that comes while fork copies page tables acts after the child was made. */
static void a_child_whose_fork_had_begun_is_frozen(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		int slot = 48 + round;
		pid_t pid = fork();

		if (!pid) {
			setpgid(0, 0);
			fork_slowly(slot);
		}
		for (int i = 0; i < 100 && !lab_runs(slot); i++)
			;
		lab_hold_tree(lab_order(1, 0, 5000), pid);
		lab_expect(DAVY_GUARD_FROZEN, 1, 0);
		assert_true(lab_stands(slot));
		lab_release(1);
		lab_expect(DAVY_GUARD_RELEASED, 1, 0);
		end_group(pid);
	}
}

static void children_of_a_frozen_process_are_frozen(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		int slot = 56 + round; /* children of the last round may still count in theirs */
		pid_t pid = fork();

		if (!pid)
			fork_on(slot);
		assert_true(lab_runs(slot));
		lab_hold_tree(lab_order(1, 0, 5000), pid);
		lab_expect(DAVY_GUARD_FROZEN, 1, 0);
		assert_true(lab_stands(slot));
		lab_release(1);
		lab_expect(DAVY_GUARD_RELEASED, 1, 0);
		assert_true(lab_runs(slot));
		lab_end(pid);
	}
}

static void too_large_a_tree_is_refused_and_goes_on(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		setpgid(0, 0);
		for (int i = 0; i < DAVY_TREE_MAX; i++)
			lab_worker(8 + i, NULL);
		lab_count(7);
	}
	for (int i = 0; i <= DAVY_TREE_MAX; i++)
		assert_true(lab_runs(7 + i));
	lab_hold_tree(lab_order(1, 0, 5000), pid);
	lab_expect(DAVY_GUARD_FAILED, 1, -E2BIG);
	for (int i = 0; i <= DAVY_TREE_MAX; i++)
		assert_true(lab_runs(7 + i));
	end_group(pid);
}

static void a_tree_whose_root_dies_is_released(void **state)
{
	pid_t root = fork(), child;

	(void)state;
	if (!root) {
		counters[10] = (uint64_t)lab_worker(0, NULL);
		lab_count(1);
	}
	assert_true(lab_runs(0) && lab_runs(1));
	child = (pid_t)counters[10];
	lab_hold_tree(lab_order(1, 0, 60000), root);
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	assert_true(lab_stands(0));
	lab_end(root);
	lab_expect(DAVY_GUARD_RELEASED, 1, -ESRCH);
	assert_true(lab_runs(0)); /* its child does not stay stopped */
	kill(child, SIGKILL);
}

/* Not reaped: its pidfd stays ready while it is a zombie. */
static void a_tree_whose_root_is_a_zombie_is_released(void **state)
{
	pid_t root = fork(), child;

	(void)state;
	if (!root) {
		counters[10] = (uint64_t)lab_worker(0, NULL);
		lab_count(1);
	}
	assert_true(lab_runs(0) && lab_runs(1));
	child = (pid_t)counters[10];
	lab_hold_tree(lab_order(1, 500, 60000), root);
	lab_expect(DAVY_GUARD_FROZEN, 1, 0);
	kill(root, SIGKILL);
	lab_expect(DAVY_GUARD_RELEASED, 1, -ESRCH);
	assert_true(lab_runs(0));
	kill(child, SIGKILL);
	waitpid(root, NULL, 0);
}

/* If processes or their states cannot be read, it is an error, not "all stopped". */
static void without_descriptors_no_tree_is_seen_to_stand_still(void **state)
{
	pid_t root = fork();
	struct rlimit files, few;
	struct davy_tree tree;
	int free_fd;

	(void)state;
	if (!root) {
		setpgid(0, 0);
		lab_worker(0, NULL);
		lab_count(1);
	}
	assert_true(lab_runs(0) && lab_runs(1));
	assert_int_equal(davy_tree_open(&tree, (uint32_t)root, davy_process_start((uint32_t)root)),
			 0);
	free_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	few = (struct rlimit){ (rlim_t)free_fd + 1,
			       files.rlim_max }; /* the folder opens, its files do not */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(davy_tree_stop(&tree), -EMFILE);
	assert_int_equal(davy_tree_stopped(&tree), -EMFILE);
	davy_tree_continue(&tree);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_true(lab_runs(0) && lab_runs(1));
	davy_tree_close(&tree);
	end_group(root);
}

static void a_process_that_ended_before_is_reported(void **state)
{
	struct davy_guard_order order = lab_order(1, 0, 1000);
	pid_t pid = lab_worker(0, NULL);

	(void)state;
	order.pid = (uint32_t)pid;
	order.start_ticks = davy_process_start((uint32_t)pid);
	kill(pid, SIGKILL);
	lab_sleep_ms(30); /* a zombie still owns its pid */
	assert_int_equal(davy_guard_send(&guard, &order, -1), 0);
	lab_expect(DAVY_GUARD_FAILED, 1, -ESRCH);
	waitpid(pid, NULL, 0);
	assert_int_equal(davy_guard_send(&guard, &order, -1), 0);
	lab_expect(DAVY_GUARD_FAILED, 1, -ESRCH);
}

static void a_process_that_was_stopped_before_stays_stopped(void **state)
{
	pid_t pid = lab_worker(0, NULL);

	(void)state;
	assert_true(lab_runs(0));
	kill(pid, SIGSTOP);
	assert_true(lab_stands(0));
	lab_hold_tree(lab_order(1, 0, 100), pid);
	lab_expect(DAVY_GUARD_FAILED, 1, -EALREADY);
	assert_true(lab_stands(0));
	lab_end(pid);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_with_a_reused_pid_is_not_touched),
		cmocka_unit_test(a_child_of_another_process_is_not_in_the_tree),
		cmocka_unit_test(a_process_keeps_its_identity_over_exec),
		cmocka_unit_test(children_of_a_frozen_process_are_frozen),
		cmocka_unit_test(a_child_whose_fork_had_begun_is_frozen),
		cmocka_unit_test(too_large_a_tree_is_refused_and_goes_on),
		cmocka_unit_test(a_tree_whose_root_dies_is_released),
		cmocka_unit_test(a_tree_whose_root_is_a_zombie_is_released),
		cmocka_unit_test(without_descriptors_no_tree_is_seen_to_stand_still),
		cmocka_unit_test(a_process_that_ended_before_is_reported),
		cmocka_unit_test(a_process_that_was_stopped_before_stays_stopped),
	};

	if (argc && !strcmp(argv[0], DAVY_GUARD_PROGRAM))
		return davy_guard_run(DAVY_GUARD_FD, DAVY_GUARD_AGENT_FD);
	return cmocka_run_group_tests(tests, lab_open, lab_close);
}

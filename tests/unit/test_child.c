/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The function that starts children: what they inherit, what they do not inherit, and their end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"

#define LONG_MS 30000 /* no check here waits so long unless it fails */

static int pair[2];

static int make_pipe(void **state)
{
	(void)state;
	return pipe2(pair, O_CLOEXEC);
}

static int close_pipe(void **state)
{
	(void)state;
	close(pair[0]);
	return pair[1] < 0 ? 0 : close(pair[1]);
}

/* The text that the child wrote until all its ends of the pipe are closed. */
static const char *said(void)
{
	static char text[4096];
	size_t used = 0;
	ssize_t n;

	close(pair[1]);
	pair[1] = -1;
	while ((n = read(pair[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = 0;
	return text;
}

static int status_of(struct davy_child *child)
{
	int status = -1;

	assert_int_equal(davy_child_wait(child, LONG_MS, &status), 1);
	assert_int_equal(child->pid, 0);
	assert_int_equal(child->pidfd, -1);
	return status;
}

static void no_child_is_left(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static ino_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

/* 3 and 4 of the child, both given in the other order, and what else it has. */
static void a_program_has_the_descriptors_it_was_given_and_no_other(void **state)
{
	int a = memfd_create("a", 0), b = memfd_create("b", 0), leak = open("/etc/passwd", 0);
	int low = dup2(a, 40), high = dup2(b, 41);
	const int given[] = { high, low };
	char script[] = "cd /proc/self/fd && echo * && stat -L -c %i 3 4 && readlink 0";
	char *argv[] = { "sh", "-c", script, NULL };
	struct davy_child_spec spec = { .path = "/bin/sh",
					.argv = argv,
					.stdio = { 0, pair[1] },
					.fds = given,
					.fd_count = 2 };
	struct davy_child child;
	char wanted[256];

	(void)state;
	assert_true(leak >= 0);
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_true(fcntl(child.pidfd, F_GETFD) & FD_CLOEXEC);
	/* "sh" opens the folder for its "*" as 5 */
	snprintf(wanted, sizeof(wanted), "0 1 2 3 4 5\n%lu\n%lu\n/dev/null\n",
		 (unsigned long)inode_of(b), (unsigned long)inode_of(a));
	assert_string_equal(said(), wanted);
	assert_int_equal(status_of(&child), 0);
	for (size_t i = 0; i < 5; i++)
		close((int[]){ a, b, leak, 40, 41 }[i]);
}

/* Gives a program descriptors that are each other's numbers: 1 and 2, 3 and 4. */
static int swap(void *arg)
{
	int out = fcntl(pair[1], F_DUPFD, 50);
	char script[] = "i=$(cd /proc/$$/fd && stat -L -c %i 1 3 4); echo \"$i\" >&2";
	char *argv[] = { "sh", "-c", script, NULL };
	struct davy_child_spec spec = { .path = "sh",
					.argv = argv,
					.stdio = { 0, 2, 1 },
					.fds = (const int[]){ 4, 3 },
					.fd_count = 2 };
	struct davy_child child;

	(void)arg;
	for (int i = 2; i < 5; i++)
		dup2(memfd_create("x", 0), i);
	dup2(out, 1);
	dprintf(out, "%lu\n%lu\n%lu\n=\n", (unsigned long)inode_of(2), (unsigned long)inode_of(4),
		(unsigned long)inode_of(3));
	return davy_child_start(&spec, &child) || !davy_child_wait(&child, LONG_MS, NULL);
}

static void descriptors_with_overlapping_numbers_are_kept_apart(void **state)
{
	struct davy_child_spec spec = { .run = swap, .fds = &pair[1], .fd_count = 1 };
	struct davy_child child;
	const char *text, *got;

	(void)state;
	assert_int_equal(davy_child_start(&spec, &child), 0);
	text = said();
	got = strstr(text, "=\n");
	assert_non_null(got);
	assert_int_equal(strlen(got + 2), got - text);
	assert_memory_equal(text, got + 2, (size_t)(got - text));
	assert_int_equal(status_of(&child), 0);
}

static int list_descriptors(void *arg)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd = *(int *)arg;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
			dprintf(fd, "%s ", entry->d_name);
	return 7;
}

static void a_function_has_the_descriptors_it_was_given_and_no_other(void **state)
{
	int leak = open("/etc/passwd", O_RDONLY), far = fcntl(pair[1], F_DUPFD, 77);
	struct davy_child_spec spec = {
		.run = list_descriptors, .arg = &far, .fds = &far, .fd_count = 1
	};
	struct davy_child child;
	int status;

	(void)state;
	assert_true(leak >= 0);
	assert_int_equal(davy_child_start(&spec, &child), 0);
	close(leak);
	close(far);
	assert_string_equal(said(), "0 1 2 77 ");
	status = status_of(&child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void a_users_command_inherits_the_users_descriptors(void **state)
{
	int left = fcntl(pair[0], F_DUPFD, 60), ours = fcntl(pair[0], F_DUPFD_CLOEXEC, 61);
	char script[] = "cd /proc/self/fd && for i in 60 61; do test -e $i && echo $i; done";
	char *argv[] = { "sh", "-c", script, NULL };
	struct davy_child_spec spec = {
		.path = "sh", .argv = argv, .stdio = { 0, pair[1] }, .inherit_fds = true
	};
	struct davy_child child;

	(void)state;
	assert_int_equal(davy_child_start(&spec, &child), 0);
	close(left);
	close(ours);
	assert_string_equal(said(), "60\n");
	status_of(&child);
}

static int refuse(void *arg)
{
	(void)arg;
	return -EXDEV;
}

static void a_failed_exec_is_an_error_and_leaves_no_child(void **state)
{
	char *argv[] = { "x", NULL };
	struct davy_child_spec spec = { .path = "/no/such/program", .argv = argv };
	struct davy_child child = { 42, 43 };

	(void)state;
	assert_int_equal(davy_child_start(&spec, &child), -ENOENT);
	spec.path = "/etc/passwd";
	assert_int_equal(davy_child_start(&spec, &child), -EACCES);
	spec.path = "/bin/true";
	spec.run = refuse;
	assert_int_equal(davy_child_start(&spec, &child), -EXDEV);
	spec.run = NULL;
	spec.fds = (const int[]){ 9999 };
	spec.fd_count = 1;
	assert_int_equal(davy_child_start(&spec, &child), -EBADF);
	spec.fd_count = DAVY_CHILD_FDS_MAX + 1;
	assert_int_equal(davy_child_start(&spec, &child), -EINVAL);
	assert_int_equal(child.pid, 42); /* untouched */
	no_child_is_left();
}

static void limits_are_lowered_and_never_raised(void **state)
{
	const struct davy_child_limit limits[] = { { RLIMIT_NOFILE, 9 },
						   { RLIMIT_CORE, 0 },
						   { RLIMIT_CPU, 5 },
						   { RLIMIT_FSIZE, RLIM_INFINITY } };
	char script[] = "ulimit -n; ulimit -Hn; ulimit -c; ulimit -t; ulimit -f";
	char *argv[] = { "sh", "-c", script, NULL };
	struct davy_child_spec spec = { .path = "sh",
					.argv = argv,
					.stdio = { 0, pair[1] },
					.limits = limits,
					.limit_count = 4 };
	struct rlimit before, low = { 1 << 20, 1 << 20 };
	struct davy_child child;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	low.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_string_equal(said(), "9\n9\n0\n5\n2048\n");
	assert_int_equal(status_of(&child), 0);
}

/* Bits of what is not as it should be. */
static int wrong_signals(void *arg)
{
	struct sigaction usr1, hup, pipe;
	sigset_t blocked;
	char name[16];

	(void)arg;
	sigaction(SIGUSR1, NULL, &usr1);
	sigaction(SIGHUP, NULL, &hup);
	sigaction(SIGPIPE, NULL, &pipe);
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	prctl(PR_GET_NAME, name);
	return (usr1.sa_handler != SIG_DFL) | (hup.sa_handler != SIG_DFL) << 1 |
	       (pipe.sa_handler != SIG_DFL) << 2 | sigismember(&blocked, SIGTERM) << 3 |
	       (getpgid(0) != getpid()) << 4 | (getsid(0) != getpid()) << 5 |
	       (strcmp(name, "lamp-child") != 0) << 6;
}

static void on_signal(int signal)
{
	(void)signal;
}

static void signals_group_and_session_follow_the_spec(void **state)
{
	struct davy_child_spec spec = { .run = wrong_signals, .name = "lamp-child" };
	struct davy_child child;
	sigset_t term, before;

	(void)state;
	signal(SIGUSR1, on_signal);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_int_equal(status_of(&child), (16 | 32) << 8);
	spec.keep_ignored = spec.own_group = true;
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_int_equal(status_of(&child), (2 | 32) << 8);
	spec.mask = &term;
	spec.own_session = true;
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_int_equal(status_of(&child), (2 | 8) << 8);
	sigprocmask(SIG_SETMASK, &before, NULL);
	for (size_t i = 0; i < 3; i++)
		signal((int[]){ SIGUSR1, SIGHUP, SIGPIPE }[i], SIG_DFL);
}

static int wait_for_ever(void *arg)
{
	while (!arg)
		pause();
	return 0;
}

/* Starts another that outlives it unless the death signal works. */
static int start_and_die(void *arg)
{
	struct davy_child_spec spec = {
		.run = wait_for_ever, .fds = arg, .fd_count = 1, .death_signal = SIGKILL
	};
	struct davy_child child;

	return -davy_child_start(&spec, &child);
}

static void a_child_with_a_death_signal_dies_with_its_parent(void **state)
{
	struct davy_child_spec spec = {
		.run = start_and_die, .arg = &pair[1], .fds = &pair[1], .fd_count = 1
	};
	struct davy_child child;

	(void)state;
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_int_equal(status_of(&child), 0);
	assert_string_equal(said(), ""); /* ends only when the grandchild has ended */
}

static void a_child_and_its_group_are_killed(void **state)
{
	char script[] = "sleep 1000 & echo; wait";
	char *argv[] = { "sh", "-c", script, NULL };
	struct davy_child_spec spec = {
		.path = "sh", .argv = argv, .stdio = { 0, pair[1] }, .own_group = true
	};
	struct davy_child child;
	char line;

	(void)state;
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_int_equal(read(pair[0], &line, 1), 1);
	assert_int_equal(davy_child_reap(&child, NULL), 0);
	assert_int_equal(davy_child_wait(&child, 0, NULL), 0);
	assert_int_equal(davy_child_end(&child, LONG_MS), 0);
	assert_string_equal(said(), ""); /* the pipe ends with the last of the group */
	assert_int_equal(davy_child_reap(&child, NULL), 0);
	assert_int_equal(davy_child_end(&child, LONG_MS), 0);
	no_child_is_left();
}

/*
 * A traced child stops on its way out and is not ended by SIGKILL: as one in D state. Nothing waits
 * for it without a limit, and it is reaped once it can end.
 */
static void a_child_that_even_sigkill_does_not_end_is_left_and_reaped_later(void **state)
{
	struct davy_child_spec spec = { .run = wait_for_ever };
	struct davy_child child;
	siginfo_t info;
	pid_t pid;

	(void)state;
	assert_int_equal(davy_child_start(&spec, &child), 0);
	pid = child.pid;
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXIT), 0);
	assert_int_equal(davy_child_end(&child, 50), -ETIMEDOUT);
	assert_int_equal(child.pid, 0);
	assert_int_equal(child.pidfd, -1);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(davy_child_reap_left(), 1);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(davy_child_reap_left(), 0);
	no_child_is_left();
}

static void a_full_table_of_descriptors_starts_nothing_and_two_free_ones_are_enough(void **state)
{
	static int fill[4096];
	struct davy_child_spec spec = {
		.run = list_descriptors, .arg = &pair[1], .fds = &pair[1], .fd_count = 1
	};
	char *argv[] = { "true", NULL };
	struct rlimit before, low = { 128, 0 };
	struct davy_child child;
	size_t count = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	while ((fill[count] = dup(pair[0])) >= 0)
		count++;
	assert_int_equal(davy_child_start(&spec, &child), -EMFILE);
	close(fill[--count]);
	assert_int_equal(davy_child_start(&spec, &child), -EMFILE);
	no_child_is_left();
	close(fill[--count]);
	assert_int_equal(davy_child_start(&spec, &child), 0);
	while (count)
		close(fill[--count]);
	assert_int_equal(status_of(&child), 7 << 8);
	spec = (struct davy_child_spec){ .path = "true", .argv = argv };
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_int_equal(status_of(&child), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Three descriptors, stdio and the report: seven numbers, and eight are allowed. */
static void a_low_limit_of_descriptors_is_enough_for_a_program(void **state)
{
	int given[3] = { fcntl(pair[0], F_DUPFD, 90), fcntl(pair[0], F_DUPFD, 90),
			 fcntl(pair[0], F_DUPFD, 90) };
	char script[] =
		"ulimit -n; cd /proc/self/fd && test -e 3 && test -e 4 && test -e 5 && echo";
	char *argv[] = { "sh", "-c", script, NULL };
	struct davy_child_spec spec = { .path = "/bin/sh",
					.argv = argv,
					.stdio = { 0, pair[1] },
					.fds = given,
					.fd_count = 3 };
	struct rlimit before, low = { 8, 0 };
	struct davy_child child;
	int err, high[2];

	(void)state;
	high[0] = fcntl(pair[0], F_DUPFD, 20);
	high[1] = fcntl(pair[1], F_DUPFD, 20);
	spec.stdio[1] = high[1];
	for (int i = 3; i < 20; i++)
		close(i); /* the test's own, the pipe among them */
	pair[0] = high[0];
	pair[1] = high[1];
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	err = davy_child_start(&spec, &child);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(err, 0);
	for (size_t i = 0; i < 3; i++)
		close(given[i]);
	assert_string_equal(said(), "8\n\n");
	assert_int_equal(status_of(&child), 0);
}

static void an_exit_status_is_known_although_sigchld_was_ignored(void **state)
{
	char *argv[] = { "false", NULL };
	struct davy_child_spec spec = { .path = "false", .argv = argv };
	struct pollfd end = { .events = POLLIN };
	struct davy_child child;
	int status = 0;

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(davy_child_start(&spec, &child), 0);
	end.fd = davy_child_take_pidfd(&child);
	assert_int_equal(poll(&end, 1, LONG_MS), 1);
	close(end.fd);
	assert_int_equal(davy_child_reap(&child, &status), 1);
	assert_int_equal(status, 1 << 8);
}

static int notes_ready(void *arg)
{
	int fd = *(int *)arg;

	return write(fd, "ready ", 6) == 6 ? 0 : -EIO;
}

static pid_t announced;

/* The child is there and has run its function; it does not go on before this ends. */
static void announces(void *arg, pid_t pid)
{
	char comm[32] = "", path[64];
	struct pollfd ready = { .fd = pair[0], .events = POLLIN };
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	assert_int_equal(poll(&ready, 1, 0), 1);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(comm, sizeof(comm), f));
	fclose(f);
	assert_string_not_equal(comm, "sh\n");
	assert_int_equal(write(*(int *)arg, "announced ", 10), 10);
	announced = pid;
}

static void the_parent_may_act_before_the_exec(void **state)
{
	int out = fcntl(pair[1], F_DUPFD_CLOEXEC, 3);
	char *argv[] = { "sh", "-c", "echo runs", NULL };
	struct davy_child_spec spec = { .path = "/bin/sh",
					.argv = argv,
					.run = notes_ready,
					.arg = &out,
					.before_exec = announces,
					.stdio = { 0, pair[1] },
					.inherit_fds = true };
	struct davy_child child;

	(void)state;
	announced = 0;
	assert_int_equal(davy_child_start(&spec, &child), 0);
	assert_int_equal(announced, child.pid);
	close(out);
	assert_string_equal(said(), "ready announced runs\n");
	assert_int_equal(status_of(&child), 0);
	announced = 0;
	out = -1; /* its function fails: nothing is announced */
	assert_int_equal(davy_child_start(&spec, &child), -EIO);
	assert_int_equal(announced, 0);
	spec.inherit_fds = false;
	assert_int_equal(davy_child_start(&spec, &child), -EINVAL);
	no_child_is_left();
}

#define CHECK(name) cmocka_unit_test_setup_teardown(name, make_pipe, close_pipe)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHECK(a_program_has_the_descriptors_it_was_given_and_no_other),
		CHECK(descriptors_with_overlapping_numbers_are_kept_apart),
		CHECK(a_function_has_the_descriptors_it_was_given_and_no_other),
		CHECK(a_users_command_inherits_the_users_descriptors),
		CHECK(the_parent_may_act_before_the_exec),
		CHECK(a_failed_exec_is_an_error_and_leaves_no_child),
		CHECK(limits_are_lowered_and_never_raised),
		CHECK(signals_group_and_session_follow_the_spec),
		CHECK(a_child_with_a_death_signal_dies_with_its_parent),
		CHECK(a_child_and_its_group_are_killed),
		CHECK(a_child_that_even_sigkill_does_not_end_is_left_and_reaped_later),
		CHECK(a_full_table_of_descriptors_starts_nothing_and_two_free_ones_are_enough),
		CHECK(a_low_limit_of_descriptors_is_enough_for_a_program),
		CHECK(an_exit_status_is_known_although_sigchld_was_ignored),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}

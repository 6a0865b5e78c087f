/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an agent can and cannot do after it has given up its rights. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent_confine.h"

/*
 * Each would be harmless if it went through: an argument is wrong, so that another errno is a
 * hole.
 */
static long try_process_vm_writev(void)
{
	char from = 1, to = 0;
	struct iovec local = { &from, 1 }, remote = { &to, 1 };

	return process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
}

static long try_pidfd_getfd(void)
{
	return syscall(SYS_pidfd_getfd, -1, 0, 0);
}

static long try_kexec(void)
{
	return syscall(SYS_kexec_load, 0, 1UL << 20, NULL, 0);
}

static long try_module(void)
{
	return syscall(SYS_finit_module, -1, "", 0);
}

static long try_delete_module(void)
{
	return syscall(SYS_delete_module, "no such module", 0);
}

static long try_mount(void)
{
	return mount(NULL, "/nonexistent", NULL, MS_REMOUNT, NULL);
}

static long try_fsopen(void)
{
	return syscall(SYS_fsopen, "no such", 0);
}

static long try_move_mount(void)
{
	return syscall(SYS_move_mount, -1, "", -1, "", 0);
}

static long try_reboot(void)
{
	return syscall(SYS_reboot, 0, 0, 0, NULL);
}

static long try_swapon(void)
{
	return swapon("/nonexistent", 0);
}

static long try_settimeofday(void)
{
	return syscall(SYS_settimeofday, (void *)1, NULL);
}

static long try_clock_settime(void)
{
	return syscall(SYS_clock_settime, -1, NULL);
}

static long try_io_uring(void)
{
	return syscall(SYS_io_uring_setup, 1, NULL);
}

static long try_userfaultfd(void)
{
	return syscall(SYS_userfaultfd, -1);
}

static long try_keyctl(void)
{
	return syscall(SYS_keyctl, -1, 0, 0);
}

static long try_setns(void)
{
	return setns(-1, 0);
}

static long try_unshare(void)
{
	return unshare(CLONE_NEWUSER);
}

static long try_clone_namespace(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);

	if (!pid)
		_exit(0);
	return pid;
}

static long try_chroot(void)
{
	return chroot("/nonexistent");
}

static long try_open_by_handle(void)
{
	return syscall(SYS_open_by_handle_at, -1, NULL, 0);
}

static long try_mknod(void)
{
	return mknod("/nonexistent/x", S_IFCHR | 0600, 0);
}

static long try_set_user_id(void)
{
	return chmod("/nonexistent", 04755);
}

static long try_packet_socket(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0);
}

static long try_raw_socket(void) /* without CAP_NET_RAW */
{
	return socket(AF_INET, SOCK_RAW, 1);
}

static long try_chown(void) /* without CAP_CHOWN */
{
	return chown("/proc/self/oom_score_adj", 1, 1);
}

static const struct {
	const char *name;
	long (*try)(void);
} tries[] = {
	{ "process_vm_writev", try_process_vm_writev },
	{ "pidfd_getfd", try_pidfd_getfd },
	{ "kexec_load", try_kexec },
	{ "finit_module", try_module },
	{ "delete_module", try_delete_module },
	{ "mount", try_mount },
	{ "fsopen", try_fsopen },
	{ "move_mount", try_move_mount },
	{ "reboot", try_reboot },
	{ "swapon", try_swapon },
	{ "settimeofday", try_settimeofday },
	{ "clock_settime", try_clock_settime },
	{ "io_uring_setup", try_io_uring },
	{ "userfaultfd", try_userfaultfd },
	{ "keyctl", try_keyctl },
	{ "setns", try_setns },
	{ "unshare", try_unshare },
	{ "clone_newuser", try_clone_namespace },
	{ "chroot", try_chroot },
	{ "open_by_handle_at", try_open_by_handle },
	{ "mknod", try_mknod },
	{ "chmod u+s", try_set_user_id },
	{ "socket AF_PACKET", try_packet_socket },
	{ "socket SOCK_RAW", try_raw_socket },
	{ "chown", try_chown },
};

/* Runs it in a process that has given up its rights; its result is the exit status. */
static int confined(int (*run)(void))
{
	pid_t pid;
	int status;

	if (geteuid())
		skip();
	pid = fork();
	if (!pid)
		_exit(davy_agent_confine() ? 99 : run());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The number of the first that is no EPERM, from 1. */
static int try_all(void)
{
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		errno = 0;
		if (tries[i].try() < 0 && errno == EPERM)
			continue;
		fprintf(stderr, "%s: errno %d\n", tries[i].name, errno);
		return (int)i + 1;
	}
	return 0;
}

static void system_calls_outside_the_filter_are_refused(void **state)
{
	(void)state;
	assert_int_equal(confined(try_all), 0);
}

static int compare_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3];
	uint64_t keep = davy_agent_capabilities();

	if (syscall(SYS_capget, &header, now))
		return 1;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if (now[i].inheritable || now[i].permitted & ~(uint32_t)(keep >> 32 * i))
			return 2;
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) > 0 && !(keep >> cap & 1))
			return 3;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 4;
}

static void only_the_rights_of_the_table_are_left(void **state)
{
	(void)state;
	assert_int_equal(confined(compare_rights), 0);
}

/* What its children do: the guard's scheduling, the probe's change of user, an exec. */
static int be_a_child(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	const struct rlimit files = { 4096, 4096 };
	int nice = getpriority(PRIO_PROCESS, 0), status;
	pid_t pid = fork();

	if (pid) {
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			return 90;
		return WEXITSTATUS(status);
	}
	if (setrlimit(RLIMIT_NOFILE, &files) || getpriority(PRIO_PROCESS, 0) != nice)
		_exit(1);
	if (sched_setscheduler(0, SCHED_FIFO, &first) && errno != EPERM)
		_exit(2); /* EPERM: the test's own cgroup may have no real time */
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(3);
	execl("/bin/true", "true", NULL);
	_exit(4);
}

static void its_children_can_do_their_work(void **state)
{
	(void)state;
	assert_int_equal(confined(be_a_child), 0);
}

static int read_the_kernel_log_and_others(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)getppid());
	if (access(path, R_OK) || access("/proc/1/environ", R_OK))
		return 1;
	if (access("/dev/kmsg", F_OK) == 0 && access("/dev/kmsg", R_OK))
		return 2;
	return syscall(SYS_bpf, -1, NULL, 0) < 0 && errno == EPERM ? 3 : 0;
}

static void its_sensors_can_go_on(void **state)
{
	(void)state;
	assert_int_equal(confined(read_the_kernel_log_and_others), 0);
}

static int hurry(void)
{
	pid_t pid;
	int status;

	errno = 0;
	davy_agent_hurry();
	if (getpriority(PRIO_PROCESS, 0) != -15)
		return 1;
	pid = fork();
	if (!pid)
		_exit(getpriority(PRIO_PROCESS, 0) == 0 ? 0 : 2);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void the_agent_has_priority_and_its_children_have_none(void **state)
{
	(void)state;
	assert_int_equal(confined(hurry), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(system_calls_outside_the_filter_are_refused),
		cmocka_unit_test(only_the_rights_of_the_table_are_left),
		cmocka_unit_test(its_children_can_do_their_work),
		cmocka_unit_test(its_sensors_can_go_on),
		cmocka_unit_test(the_agent_has_priority_and_its_children_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

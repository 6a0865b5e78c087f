/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests the sandbox from inside: tries each forbidden thing, in a way that is harmless if it
 * succeeds. Expected are EPERM and EACCES; "done" is a hole.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/log.h"
#include "probe/answer.h"
#include "probe/probe.h"

#define PROCESSES_MAX 256 /* more than allowed */

/* Another process of the same user, started before the tests. It ends when the pipe is closed. */
static pid_t victim;

static pid_t begin_process(const int hold[2])
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	char byte;

	if (pid)
		return pid;
	close(hold[1]);
	while (read(hold[0], &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static long try_prlimit(void)
{
	return prlimit(victim, RLIMIT_CPU, &(struct rlimit){ 1000, 1000 }, NULL);
}

static long try_setscheduler(void)
{
	return sched_setscheduler(victim, SCHED_BATCH, &(struct sched_param){ 0 });
}

static long try_setparam(void)
{
	return sched_setparam(victim, &(struct sched_param){ 0 });
}

static long try_setattr(void)
{
	return syscall(SYS_sched_setattr, victim, NULL, 0);
}

/* The filter reports success: check whether it took effect. */
static long try_setaffinity(void)
{
	cpu_set_t before, after, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(victim, sizeof(before), &before))
		return -1;
	for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &before))
			CPU_SET(i, &one);
	if (CPU_EQUAL(&one, &before))
		CPU_ZERO(&one); /* one CPU: an empty set would fail in the kernel */
	if (sched_setaffinity(victim, sizeof(one), &one) ||
	    sched_getaffinity(victim, sizeof(after), &after) || !CPU_EQUAL(&before, &after))
		return errno == EPERM ? -1 : 0;
	errno = EPERM;
	return -1;
}

static long try_setpriority(void)
{
	return setpriority(PRIO_PROCESS, (id_t)victim, 1);
}

static long try_setpriority_user(void)
{
	return setpriority(PRIO_USER, 0, 1);
}

static long try_ioprio(void)
{
	return syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, victim, 0);
}

static long try_kill(void)
{
	return kill(victim, 0);
}

static long try_kill_group(void)
{
	return kill(0, 0);
}

static long try_tgkill(void)
{
	return syscall(SYS_tgkill, victim, victim, 0);
}

static long try_tkill(void)
{
	return syscall(SYS_tkill, victim, 0);
}

static long try_sigqueue(void)
{
	return sigqueue(victim, 0, (union sigval){ 0 });
}

static long try_pidfd_open(void)
{
	return syscall(SYS_pidfd_open, victim, 0);
}

static long try_pidfd_signal(void)
{
	return syscall(SYS_pidfd_send_signal, -1, 0, NULL, 0);
}

static long try_pidfd_getfd(void)
{
	return syscall(SYS_pidfd_getfd, -1, 0, 0);
}

static long try_kcmp(void)
{
	return syscall(SYS_kcmp, victim, victim, 0, 0, 0);
}

static long try_process_madvise(void)
{
	return syscall(SYS_process_madvise, -1, NULL, 0, 0, 0);
}

static long try_chmod(void)
{
	return chmod("/nonexistent/file", 04755);
}

static long try_fchmod(void)
{
	return fchmod(-1, 02755);
}

static long try_fchmodat(void)
{
	return fchmodat(-1, "file", 04755, 0);
}

static long try_fchmodat2(void)
{
	return syscall(452 /* since Linux 6.6 */, -1, "file", 04755, 0);
}

static long try_open_suid(void)
{
	return open("/nonexistent/file", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 04755);
}

static long try_mknod(void)
{
	return mknod("/nonexistent/file", S_IFREG | 04755, 0);
}

static long try_udp(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static long try_raw(void)
{
	return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
}

static long try_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
}

static long try_fastopen(void)
{
	return sendto(-1, "", 0, MSG_FASTOPEN, NULL, 0);
}

static long try_listen(void)
{
	return listen(-1, 1);
}

static long try_queue(void)
{
	return msgget(IPC_PRIVATE, 0);
}

static long try_setns(void)
{
	return setns(-1, 0);
}

static long try_mount_api(void)
{
	return syscall(SYS_fsopen, "tmpfs", 0);
}

static long try_execveat(void)
{
	char *none[] = { NULL };

	return syscall(SYS_execveat, -1, "", none, none, AT_EMPTY_PATH);
}

/* Starts as many as possible. */
static long try_processes(void)
{
	int hold[2];
	long pid = 1;

	if (pipe2(hold, O_CLOEXEC))
		return -1;
	for (int i = 0; i < PROCESSES_MAX && pid > 0; i++)
		pid = begin_process(hold);
	close(hold[0]);
	close(hold[1]);
	return pid;
}

static long try_ptrace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long try_process_vm_readv(void)
{
	char from = 1, to = 0;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

static long try_mount(void)
{
	return mount(NULL, "/nonexistent", NULL, MS_REMOUNT, NULL);
}

static long try_user_namespace(void)
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

static long try_bpf(void)
{
	return syscall(SYS_bpf, -1, NULL, 0);
}

static long try_perf(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
}

static long try_userfaultfd(void)
{
	return syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
}

static long try_keyctl(void)
{
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1);
}

static long try_io_uring(void)
{
	return syscall(SYS_io_uring_setup, 1, NULL);
}

static long try_module(void)
{
	return syscall(SYS_finit_module, -1, "", 0);
}

static long try_exec(void)
{
	char *none[] = { NULL };

	return execve("/nonexistent", none, none);
}

static long try_setpgid(void)
{
	return setpgid(0, 0);
}

static long try_inet6(void)
{
	return socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static long try_write_file(void)
{
	return open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

static long try_become_root(void)
{
	return setuid(0);
}

static const struct {
	const char *name;
	long (*try)(void);
} tries[] = {
	{ "ptrace", try_ptrace },
	{ "process_vm_readv", try_process_vm_readv },
	{ "mount", try_mount },
	{ "unshare", try_user_namespace },
	{ "clone_newuser", try_clone_namespace },
	{ "bpf", try_bpf },
	{ "perf_event_open", try_perf },
	{ "userfaultfd", try_userfaultfd },
	{ "keyctl", try_keyctl },
	{ "io_uring_setup", try_io_uring },
	{ "finit_module", try_module },
	{ "execve", try_exec },
	{ "setpgid", try_setpgid },
	{ "socket_inet6", try_inet6 },
	{ "write_file", try_write_file },
	{ "setuid", try_become_root },
	{ "prlimit", try_prlimit },
	{ "sched_setscheduler", try_setscheduler },
	{ "sched_setparam", try_setparam },
	{ "sched_setattr", try_setattr },
	{ "sched_setaffinity", try_setaffinity },
	{ "setpriority", try_setpriority },
	{ "setpriority_user", try_setpriority_user },
	{ "ioprio_set", try_ioprio },
	{ "kill", try_kill },
	{ "kill_group", try_kill_group },
	{ "tgkill", try_tgkill },
	{ "tkill", try_tkill },
	{ "rt_sigqueueinfo", try_sigqueue },
	{ "pidfd_open", try_pidfd_open },
	{ "pidfd_send_signal", try_pidfd_signal },
	{ "pidfd_getfd", try_pidfd_getfd },
	{ "kcmp", try_kcmp },
	{ "process_madvise", try_process_madvise },
	{ "chmod_suid", try_chmod },
	{ "fchmod_sgid", try_fchmod },
	{ "fchmodat_suid", try_fchmodat },
	{ "fchmodat2_suid", try_fchmodat2 },
	{ "open_suid", try_open_suid },
	{ "mknod_suid", try_mknod },
	{ "socket_udp", try_udp },
	{ "socket_raw", try_raw },
	{ "socket_netlink", try_netlink },
	{ "tcp_fastopen", try_fastopen },
	{ "listen", try_listen },
	{ "msgget", try_queue },
	{ "setns", try_setns },
	{ "fsopen", try_mount_api },
	{ "execveat", try_execveat },
	{ "processes", try_processes },
};

/* Operations of a process on itself. Drivers need them. */
static long may_limit(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_CPU, &r) || setrlimit(RLIMIT_CPU, &r) ? -1 : 0;
}

static long may_set_affinity(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) || sched_setaffinity(0, sizeof(set), &set) ||
			       sched_setaffinity(getpid(), sizeof(set), &set)
		       ? -1
		       : 0;
}

static long may_be_nice(void)
{
	return setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0));
}

static long may_batch(void)
{
	return sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
}

static long may_raise(void)
{
	signal(SIGUSR1, SIG_IGN);
	return raise(SIGUSR1) || kill(getpid(), SIGUSR1) ? -1 : 0;
}

static long may_map(void)
{
	return syscall(SYS_memfd_create, "driver", 1 /* MFD_CLOEXEC */);
}

static long may_pair(void)
{
	int pair[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
}

static const struct {
	const char *name;
	long (*try)(void);
} needs[] = {
	{ "own_limits", may_limit },  { "own_affinity", may_set_affinity },
	{ "own_nice", may_be_nice },  { "own_policy", may_batch },
	{ "own_signals", may_raise }, { "memfd_create", may_map },
	{ "socketpair", may_pair },
};

static bool is_refused(long (*try)(void), int error)
{
	if (try == try_processes)
		return error == EAGAIN; /* RLIMIT_NPROC */
	/* Landlock protects files; a kernel may lack it. */
	return error == EPERM || error == EACCES || try == try_write_file;
}

/* Whether each of "needs" works; adds the others to "failed". */
static bool has_needs(json_t *failed)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (needs[i].try() < 0)
			json_object_set_new(failed, needs[i].name,
					    json_string(strerrorname_np(errno)));
	return !json_object_size(failed);
}

int davy_probe_confined(bool network)
{
	json_t *answer = json_object(), *tried = json_object(), *failed = json_object();
	int hold[2] = { -1, -1 };
	bool held = true;

	if (pipe2(hold, O_CLOEXEC))
		return DAVY_EXIT_FAILED;
	victim = begin_process(hold);
	held = victim > 0 && has_needs(failed);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		long done;

		if (network && tries[i].try == try_inet6)
			continue; /* TCP, needed to ask the engine */
		errno = 0;
		done = tries[i].try();
		if (!is_refused(tries[i].try, done < 0 ? errno : 0))
			held = false;
		json_object_set_new(tried, tries[i].name,
				    json_string(done >= 0 ? "done" : strerrorname_np(errno)));
	}
	json_object_set_new(answer, "ok", json_boolean(held));
	json_object_set_new(answer, "stage", json_string("done"));
	json_object_set_new(answer, "uid", json_integer((json_int_t)geteuid()));
	json_object_set_new(answer, "tried", tried);
	json_object_set_new(answer, "failed", failed);
	return davy_answer_give(answer);
}

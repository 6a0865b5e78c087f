/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sandbox seen from inside: each thing that a probe must not do is tried, in a way that would
 * be harmless if it went through. "EPERM" and "EACCES" are what is to be read; "done" is a hole.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "answer.h"
#include "probe.h"

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
	return socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
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
};

int dl_probe_confined(void)
{
	json_t *answer = json_object(), *tried = json_object();
	bool held = true;

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		const char *error;

		errno = 0;
		error = tries[i].try() >= 0 ? "done" : strerrorname_np(errno);
		/* Files are Landlock's part, which a kernel may lack. */
		if (errno != EPERM && errno != EACCES && tries[i].try != try_write_file)
			held = false;
		json_object_set_new(tried, tries[i].name, json_string(error ? error : "?"));
	}
	json_object_set_new(answer, "ok", json_boolean(held));
	json_object_set_new(answer, "stage", json_string("done"));
	json_object_set_new(answer, "uid", json_integer((json_int_t)geteuid()));
	json_object_set_new(answer, "tried", tried);
	return dl_answer_give(answer);
}

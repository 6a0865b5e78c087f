/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/rights.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/seccomp.h"

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/*
 * A reader runs no foreign code, so its filter lists the allowed calls: those for reading files and
 * answering on one socket. Other filters list refused calls.
 */
static const uint16_t allowed[] = {
	/* files; openat2 has its flags in memory, but a reader owns no file that it could write */
	__NR_openat2, __NR_close, __NR_read, __NR_pread64, __NR_lseek, __NR_fstat, __NR_newfstatat,
	__NR_statx, __NR_readlinkat, __NR_getdents64, __NR_faccessat, __NR_faccessat2, __NR_fcntl,
	__NR_dup, __NR_dup3,
#ifdef __x86_64__
	__NR_stat, __NR_lstat, __NR_readlink, __NR_access, __NR_dup2,
#endif
	/* the socket, stderr */
	__NR_recvfrom, __NR_recvmsg, __NR_sendto, __NR_sendmsg, __NR_write, __NR_writev,
	/* memory; also executable, for the disassembler and libkmod */
	__NR_brk, __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect, __NR_madvise,
	/* the process itself */
	__NR_exit, __NR_exit_group, __NR_getpid, __NR_gettid, __NR_getppid, __NR_getuid,
	__NR_geteuid, __NR_getgid, __NR_getegid, __NR_getrandom, __NR_getrusage, __NR_clock_gettime,
	__NR_clock_nanosleep, __NR_futex, __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn,
	__NR_sigaltstack, __NR_restart_syscall, __NR_sched_yield, __NR_sched_getaffinity,
	__NR_sysinfo, __NR_uname,
	__NR_tgkill, /* abort(); without CAP_KILL and as its own user, it can signal only itself */
};

void davy_rights_bound(uint64_t keep)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep >> cap & 1))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

int davy_rights_cap(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3];

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, now))
		return -errno;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		now[i].permitted &= (uint32_t)(keep >> 32 * i);
		now[i].effective = now[i].permitted;
		now[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, now) ? -errno : 0;
}

int davy_rights_seal(pid_t parent)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

void davy_rights_oom_score(const char *score)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, score, strlen(score)) < 0)
		errno = 0; /* unchanged */
	close(fd);
}

/* Keeps its user in a user namespace that lacks the reader's id, and if it is not root. */
static int rights_change_user(void)
{
	if (geteuid())
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return -errno;
	if (setgroups(0, NULL) || setresgid(DAVY_READER_UID, DAVY_READER_UID, DAVY_READER_UID) ||
	    setresuid(DAVY_READER_UID, DAVY_READER_UID, DAVY_READER_UID))
		return errno == EINVAL || errno == EPERM ? 0 : -errno;
	return 0;
}

static int rights_filter_calls(bool devices)
{
	static const uint32_t itself = 0;
	struct davy_filter f;

	davy_filter_begin(&f);
	davy_filter_calls(&f, allowed, sizeof(allowed) / sizeof(allowed[0]), SECCOMP_RET_ALLOW);
	if (devices) {
		davy_filter_call(&f, __NR_ioctl, SECCOMP_RET_ALLOW);
		davy_filter_call(&f, __NR_openat, SECCOMP_RET_ALLOW);
	}
	davy_filter_only_values(&f, __NR_prlimit64, 0, &itself, 1, DAVY_FILTER_EPERM);
#ifdef __x86_64__
	davy_filter_refuse_bits(&f, __NR_open, 1, WRITES);
	davy_filter_call(&f, __NR_open, SECCOMP_RET_ALLOW);
#endif
	davy_filter_refuse_bits(&f, __NR_openat, 2, WRITES);
	davy_filter_call(&f, __NR_openat, SECCOMP_RET_ALLOW);
	return davy_filter_install(&f, DAVY_FILTER_EPERM);
}

int davy_rights_keep(const struct davy_rights *rights, pid_t parent)
{
	int err = 0;

	davy_rights_oom_score("0"); /* the agent is protected; a reader can be replaced */
	davy_rights_bound(rights->capabilities);
	if (!rights->stays_root)
		err = rights_change_user();
	if (!err)
		err = davy_rights_cap(rights->capabilities);
	if (!err)
		err = davy_rights_seal(parent);
	return err ? err : rights_filter_calls(rights->devices);
}

void davy_rights_limit_cpu(unsigned int seconds)
{
	struct rusage used;
	struct rlimit cpu;

	if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &cpu))
		return;
	cpu.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
	if (cpu.rlim_cur < cpu.rlim_max)
		setrlimit(RLIMIT_CPU, &cpu);
}

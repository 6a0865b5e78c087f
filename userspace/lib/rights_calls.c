/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of a reader: those that reading files and answering on one socket need. It runs
 * no code of others, so the list names what is allowed, unlike the probe's. What is not named fails
 * with EPERM: a library that merely tries goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/rights.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "seccomp.c: name the audit architecture of this machine"
#endif

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

static const uint16_t allowed[] = {
	/* files; openat2 has its flags in memory, but a reader owns nothing it could write to */
	__NR_openat2, __NR_close, __NR_read, __NR_pread64, __NR_lseek, __NR_fstat, __NR_newfstatat,
	__NR_statx, __NR_readlinkat, __NR_getdents64, __NR_faccessat, __NR_faccessat2, __NR_fcntl,
	__NR_dup, __NR_dup3,
#ifdef __x86_64__
	__NR_stat, __NR_lstat, __NR_readlink, __NR_access, __NR_dup2,
#endif
	/* the socket, stderr */
	__NR_recvfrom, __NR_recvmsg, __NR_sendto, __NR_sendmsg, __NR_write, __NR_writev,
	/* memory; executable, too, for the disassembler and libkmod */
	__NR_brk, __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect, __NR_madvise,
	/* the process itself */
	__NR_exit, __NR_exit_group, __NR_getpid, __NR_gettid, __NR_getppid, __NR_getuid,
	__NR_geteuid, __NR_getgid, __NR_getegid, __NR_getrandom, __NR_getrusage, __NR_clock_gettime,
	__NR_clock_nanosleep, __NR_futex, __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn,
	__NR_sigaltstack, __NR_restart_syscall, __NR_sched_yield, __NR_sched_getaffinity,
	__NR_sysinfo, __NR_uname,
	__NR_tgkill, /* abort(); without CAP_KILL and with a user of its own it reaches itself */
};

#define ALLOWED_COUNT (sizeof(allowed) / sizeof(allowed[0]))

struct calls {
	struct sock_filter code[2 * ALLOWED_COUNT + 32];
	unsigned short count;
};

static void calls_add(struct calls *f, struct sock_filter instruction)
{
	f->code[f->count++] = instruction;
}

static void calls_load(struct calls *f, size_t offset)
{
	calls_add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void calls_return(struct calls *f, uint32_t action)
{
	calls_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void calls_allow(struct calls *f, uint32_t nr)
{
	calls_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1));
	calls_return(f, SECCOMP_RET_ALLOW);
}

/*
 * Call "nr" if no bit of "bits" is set in its argument, or if the argument is 0: "bits" all ones.
 */
static void calls_allow_unless(struct calls *f, uint32_t nr, size_t argument, uint32_t bits)
{
	size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;

	calls_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4));
	calls_load(f, offsetof(struct seccomp_data, args) + argument * 8 + low);
	calls_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0));
	calls_return(f, SECCOMP_RET_ALLOW);
	calls_return(f, SECCOMP_RET_ERRNO | EPERM);
}

int davy_rights_calls(bool devices)
{
	struct calls f = { .count = 0 };
	struct sock_fprog program;

	calls_load(&f, offsetof(struct seccomp_data, arch));
	calls_add(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	calls_return(&f, SECCOMP_RET_KILL_PROCESS);
	calls_load(&f, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ALLOWED_COUNT; i++)
		calls_allow(&f, allowed[i]);
	if (devices) {
		calls_allow(&f, __NR_ioctl);
		calls_allow(&f, __NR_openat);
	}
	calls_allow_unless(&f, __NR_prlimit64, 0, ~0U); /* its own limits */
#ifdef __x86_64__
	calls_allow_unless(&f, __NR_open, 1, WRITES);
#endif
	calls_allow_unless(&f, __NR_openat, 2, WRITES);
	calls_return(&f, SECCOMP_RET_ERRNO | EPERM);
	program = (struct sock_fprog){ .len = f.count, .filter = f.code };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container_confine.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "lib/rights.h"
#include "lib/seccomp.h"

#define MEMORY_MAX  ((rlim_t)512 * 1024 * 1024)
#define CPU_SECONDS 20

static const uint16_t allowed[] = {
	__NR_connect,	     __NR_setsockopt,	 __NR_getsockopt,
	__NR_getsockname,    __NR_getpeername,	 __NR_sendto,
	__NR_recvfrom,	     __NR_sendmsg,	 __NR_recvmsg,
	__NR_shutdown,	     __NR_socketpair,	 __NR_pipe2,
	__NR_eventfd2,	     __NR_ppoll,	 __NR_close,
	__NR_read,	     __NR_write,	 __NR_writev,
	__NR_newfstatat,     __NR_fstat,	 __NR_lseek,
	__NR_fcntl,	     __NR_ioctl,	 __NR_brk,
	__NR_mmap,	     __NR_munmap,	 __NR_mremap,
	__NR_mprotect,	     __NR_madvise,	 __NR_exit,
	__NR_exit_group,     __NR_getpid,	 __NR_gettid,
	__NR_getrandom,	     __NR_clock_gettime, __NR_clock_nanosleep,
	__NR_nanosleep,	     __NR_futex,	 __NR_rt_sigaction,
	__NR_rt_sigprocmask, __NR_rt_sigreturn,	 __NR_restart_syscall,
	__NR_tgkill,	     __NR_openat,	 __NR_renameat,
	__NR_renameat2,	     __NR_unlinkat,	 __NR_fchmod,
	__NR_fsync,	     __NR_flock,	 __NR_getdents64,
	__NR_prlimit64,
#ifdef __x86_64__
	__NR_poll,	     __NR_rename,	 __NR_unlink,
	__NR_lstat,	     __NR_stat,		 __NR_pipe,
	__NR_readlink,
#endif
};

static int confine_calls(bool network)
{
	static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6 };
	struct davy_filter f;

	davy_filter_begin(&f);
	davy_filter_calls(&f, allowed, sizeof(allowed) / sizeof(allowed[0]), SECCOMP_RET_ALLOW);
	davy_filter_only_values(&f, __NR_socket, 0, families, network ? 3 : 1, DAVY_FILTER_EPERM);
	return davy_filter_install(&f, DAVY_FILTER_EPERM);
}

int davy_container_confine(bool network)
{
	const struct rlimit memory __attribute__((unused)) = { MEMORY_MAX, MEMORY_MAX };
	int err;

#ifndef __SANITIZE_ADDRESS__ /* it reserves terabytes */
	if (setrlimit(RLIMIT_AS, &memory))
		return -errno;
#endif
	davy_rights_limit_cpu(CPU_SECONDS);
	davy_rights_bound(0);
	err = davy_rights_cap(0);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err ? err : confine_calls(network);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exporter/exporter.h"
#include "lib/rights.h"
#include "lib/seccomp.h"

/* No distribution allocates this uid. Not that of the readers: it could send them signals. */
#define EXPORTER_UID 65522

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* Shared by both modes: the agent's socket, messages, memory, time, the process itself. */
static const uint16_t allowed[] = {
	__NR_connect,	    __NR_setsockopt,
	__NR_sendto,	    __NR_recvfrom,
	__NR_ppoll,	    __NR_close,
	__NR_read,	    __NR_write,
	__NR_writev,	    __NR_newfstatat,
	__NR_fstat,	    __NR_lseek,
	__NR_brk,	    __NR_mmap,
	__NR_munmap,	    __NR_mremap,
	__NR_mprotect,	    __NR_madvise,
	__NR_exit,	    __NR_exit_group,
	__NR_getpid,	    __NR_gettid,
	__NR_geteuid,	    __NR_getrandom,
	__NR_clock_gettime, __NR_clock_nanosleep,
	__NR_nanosleep,	    __NR_futex,
	__NR_rt_sigaction,  __NR_rt_sigprocmask,
	__NR_rt_sigreturn,  __NR_restart_syscall,
	__NR_tgkill,
#ifdef __x86_64__
	__NR_poll,
#endif
};

static const uint16_t allowed_http[] = {
	__NR_accept4,	 __NR_epoll_pwait, __NR_epoll_ctl,  __NR_sendmsg, __NR_recvmsg,
	__NR_shutdown,	 __NR_getsockname, __NR_getsockopt, __NR_fcntl,
#ifdef __x86_64__
	__NR_epoll_wait,
#endif
};

static const uint16_t allowed_file[] = {
	__NR_openat, __NR_renameat, __NR_renameat2, __NR_unlinkat, __NR_fchmod, __NR_fsync,
#ifdef __x86_64__
	__NR_rename, __NR_unlink,
#endif
};

static int confine_user(void)
{
	if (geteuid())
		return 0;
	if (setgroups(0, NULL) || setresgid(EXPORTER_UID, EXPORTER_UID, EXPORTER_UID) ||
	    setresuid(EXPORTER_UID, EXPORTER_UID, EXPORTER_UID))
		return errno == EINVAL ? 0 : -errno; /* a user namespace without this id */
	return 0;
}

static int confine_calls(bool writes)
{
	static const uint32_t unix_only = AF_UNIX;
	struct davy_filter f;

	davy_filter_begin(&f);
	davy_filter_calls(&f, allowed, sizeof(allowed) / sizeof(allowed[0]), SECCOMP_RET_ALLOW);
	if (writes)
		davy_filter_calls(&f, allowed_file, sizeof(allowed_file) / sizeof(allowed_file[0]),
				  SECCOMP_RET_ALLOW);
	else
		davy_filter_calls(&f, allowed_http, sizeof(allowed_http) / sizeof(allowed_http[0]),
				  SECCOMP_RET_ALLOW);
	davy_filter_only_values(&f, __NR_socket, 0, &unix_only, 1, DAVY_FILTER_EPERM);
	davy_filter_refuse_bits(&f, __NR_openat, 2,
				WRITES); /* the time zone of a message is read */
	davy_filter_call(&f, __NR_openat, SECCOMP_RET_ALLOW);
	return davy_filter_install(&f, DAVY_FILTER_EPERM);
}

int davy_exporter_confine(bool writes)
{
	int err;

	davy_rights_bound(0);
	err = writes ? 0 : confine_user();
	if (!err)
		err = davy_rights_cap(0);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err ? err : confine_calls(writes);
}

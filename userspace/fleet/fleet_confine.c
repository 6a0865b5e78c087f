/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fleet/keeper.h"
#include "lib/rights.h"
#include "lib/seccomp.h"

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* HTTPS, names, time, memory, threads of the resolver; reading files. */
static const uint16_t network[] = {
	__NR_connect,
	__NR_setsockopt,
	__NR_getsockopt,
	__NR_getsockname,
	__NR_getpeername,
	__NR_sendto,
	__NR_recvfrom,
	__NR_sendmsg,
	__NR_recvmsg,
	__NR_sendmmsg,
	__NR_shutdown,
	__NR_socketpair,
	__NR_bind,
	__NR_pipe2,
	__NR_eventfd2,
	__NR_ppoll,
	__NR_close,
	__NR_read,
	__NR_write,
	__NR_writev,
	__NR_readv,
	__NR_newfstatat,
	__NR_fstat,
	__NR_lseek,
	__NR_fcntl,
	__NR_ioctl,
	__NR_brk,
	__NR_mmap,
	__NR_munmap,
	__NR_mremap,
	__NR_mprotect,
	__NR_madvise,
	__NR_exit,
	__NR_exit_group,
	__NR_getpid,
	__NR_gettid,
	__NR_geteuid,
	__NR_getuid,
	__NR_uname,
	__NR_getrandom,
	__NR_clock_gettime,
	__NR_clock_nanosleep,
	__NR_nanosleep,
	__NR_futex,
	__NR_rt_sigaction,
	__NR_rt_sigprocmask,
	__NR_rt_sigreturn,
	__NR_restart_syscall,
	__NR_tgkill,
	__NR_getdents64,
	__NR_prlimit64,
	__NR_rseq,
	__NR_set_robust_list,
	__NR_sysinfo,
	__NR_sched_getaffinity,
#ifdef __x86_64__
	__NR_poll,
	__NR_readlink,
	__NR_stat,
	__NR_access,
	__NR_pipe,
#endif
};

/* What the keeper never needs; the rest is SQLite's and libc's. */
static const uint16_t never[] = {
	__NR_execve,
	__NR_execveat,
	__NR_ptrace,
	__NR_mount,
	__NR_umount2,
	__NR_bpf,
	__NR_perf_event_open,
	__NR_init_module,
	__NR_finit_module,
	__NR_delete_module,
	__NR_kexec_load,
	__NR_reboot,
	__NR_process_vm_readv,
	__NR_process_vm_writev,
	__NR_setns,
	__NR_unshare,
	__NR_pivot_root,
	__NR_chroot,
	__NR_swapon,
	__NR_swapoff,
	__NR_keyctl,
	__NR_add_key,
	__NR_request_key,
	__NR_userfaultfd,
	__NR_clone,
	__NR_clone3,
	__NR_bind,
	__NR_listen,
};

static int fleet_confine_user(void)
{
	if (geteuid())
		return 0;
	if (setgroups(0, NULL) || setresgid(DAVY_FLEET_UID, DAVY_FLEET_UID, DAVY_FLEET_UID) ||
	    setresuid(DAVY_FLEET_UID, DAVY_FLEET_UID, DAVY_FLEET_UID))
		return errno == EINVAL ? 0 : -errno; /* a user namespace without this id */
	return 0;
}

static int fleet_confine_seal(void)
{
	int err = davy_rights_cap(0);

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}

int davy_fleet_confine_keeper(void)
{
	static const uint32_t unix_only = AF_UNIX;
	struct davy_filter f;
	int err;

	davy_rights_bound(0);
	err = fleet_confine_seal();
	if (err)
		return err;
	davy_filter_begin(&f);
	davy_filter_calls(&f, never, sizeof(never) / sizeof(never[0]), DAVY_FILTER_EPERM);
	davy_filter_only_values(&f, __NR_socket, 0, &unix_only, 1, DAVY_FILTER_EPERM);
	return davy_filter_install(&f, SECCOMP_RET_ALLOW);
}

int davy_fleet_confine_network(void)
{
	static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
	struct davy_filter f;
	unsigned short begin;
	int err;

	davy_rights_bound(0);
	err = fleet_confine_user();
	if (!err)
		err = fleet_confine_seal();
	if (err)
		return err;
	davy_filter_begin(&f);
	davy_filter_calls(&f, network, sizeof(network) / sizeof(network[0]), SECCOMP_RET_ALLOW);
	davy_filter_only_values(&f, __NR_socket, 0, families, 4, DAVY_FILTER_EPERM);
	davy_filter_refuse_bits(&f, __NR_openat, 2, WRITES);
	davy_filter_call(&f, __NR_openat, SECCOMP_RET_ALLOW);
	/* Threads, of libcurl's resolver, but no processes. glibc tries clone3 first. */
	begin = davy_filter_begin_call(&f, __NR_clone, 0);
	davy_filter_when(&f, BPF_JSET, CLONE_THREAD, SECCOMP_RET_ALLOW);
	davy_filter_return(&f, DAVY_FILTER_EPERM);
	davy_filter_end_call(&f, begin);
	davy_filter_call(&f, __NR_clone3, DAVY_FILTER_ENOSYS);
	return davy_filter_install(&f, DAVY_FILTER_EPERM);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system call filter. It lists refused calls, not allowed ones: drivers of four vendors and a
 * Vulkan loader make many different calls, and a filter that breaks one of them would be a false
 * finding. A driver may change its own process (limits, priorities, signals, the CPUs of its
 * threads). Other processes of the same user are protected.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/seccomp.h"
#include "probe/probe_confine.h"

#ifndef __NR_process_mrelease
#define __NR_process_mrelease 448
#endif
#ifndef __NR_quotactl_fd
#define __NR_quotactl_fd 443
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_lsm_set_self_attr
#define __NR_lsm_set_self_attr 460
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif

#define ANY_NAMESPACE                                                                              \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

static const uint16_t refused[] = {
	/* other processes */
	__NR_ptrace,
	__NR_process_vm_readv,
	__NR_process_vm_writev,
	__NR_kcmp,
	__NR_pidfd_getfd,
	__NR_process_madvise,
	__NR_move_pages,
	__NR_migrate_pages,
	__NR_process_mrelease,
	__NR_tkill,
	/* IPC objects that outlive the process */
	__NR_msgget,
	__NR_semget,
	__NR_shmget,
	__NR_mq_open,
	/* programs, sessions (the parent kills the process group), namespaces */
	__NR_execveat,
	__NR_setsid,
	__NR_setpgid,
	__NR_setns,
	__NR_unshare,
	__NR_chroot,
	__NR_pivot_root,
	__NR_personality,
	/* file systems */
	__NR_mount,
	__NR_umount2,
	__NR_open_tree,
	__NR_move_mount,
	__NR_fsopen,
	__NR_fsconfig,
	__NR_fsmount,
	__NR_fspick,
	__NR_mount_setattr,
	__NR_open_by_handle_at,
	__NR_quotactl,
	__NR_quotactl_fd,
	__NR_open_tree_attr,
	__NR_fanotify_init,
	__NR_swapon,
	__NR_swapoff,
	/* the kernel itself */
	__NR_bpf,
	__NR_perf_event_open,
	__NR_kexec_load,
	__NR_init_module,
	__NR_finit_module,
	__NR_delete_module,
	__NR_reboot,
	__NR_syslog,
	__NR_acct,
	__NR_userfaultfd,
	__NR_io_uring_setup,
	__NR_io_uring_enter,
	__NR_io_uring_register,
	__NR_lookup_dcookie,
#ifdef __NR_kexec_file_load
	__NR_kexec_file_load,
#endif
#ifdef __x86_64__
	__NR_iopl,
	__NR_ioperm,
	__NR_modify_ldt,
#endif
	/* keys, clocks, names */
	__NR_lsm_set_self_attr,
	__NR_keyctl,
	__NR_add_key,
	__NR_request_key,
	__NR_settimeofday,
	__NR_clock_settime,
	__NR_adjtimex,
	__NR_clock_adjtime,
	__NR_sethostname,
	__NR_setdomainname,
	__NR_vhangup,
};

/* Refused unless the probe may run programs: the pids of its children are unknown here. */
static const uint16_t refused_to_one[] = {
	__NR_execve,
	__NR_pidfd_open,
	__NR_pidfd_send_signal,
	__NR_listen,
};

/* The argument that is a pid; 0 is the caller. */
static const struct {
	uint16_t nr;
	uint8_t index;
} on_a_process[] = {
	{ __NR_prlimit64, 0 },	   { __NR_sched_setscheduler, 0 }, { __NR_sched_setparam, 0 },
	{ __NR_sched_setattr, 0 }, { __NR_setpriority, 1 },	   { __NR_ioprio_set, 1 },
};

/* Their first argument is a process. */
static const uint16_t signals[] = {
	__NR_kill,
	__NR_tgkill,
	__NR_rt_sigqueueinfo,
	__NR_rt_tgsigqueueinfo,
};

/* The argument that is the mode of a file. */
static const struct {
	uint16_t nr;
	uint8_t index;
} modes[] = {
#ifdef __NR_chmod
	{ __NR_chmod, 1 },  { __NR_creat, 1 },	  { __NR_mknod, 1 },
#endif
	{ __NR_fchmod, 1 }, { __NR_fchmodat, 2 }, { __NR_fchmodat2, 2 }, { __NR_mknodat, 2 },
};

#define COUNT(list)    (sizeof(list) / sizeof((list)[0]))
#define SUID_BITS      06000u
#define FASTOPEN_FLAG  0x20000000u /* MSG_FASTOPEN: connects without a check by Landlock */
#define TMPFILE_FLAG   020000000u
#define SOCK_TYPE_BITS 0xfu

static void seccomp_jump(struct davy_filter *f, uint16_t how, uint32_t value, uint8_t if_true,
			 uint8_t if_false)
{
	davy_filter_add(f, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | how | BPF_K), value,
							if_true, if_false));
}

/* The mode is used only if the call may create a file. */
static void seccomp_suid_open(struct davy_filter *f, uint32_t nr, unsigned int flags)
{
	unsigned short begin = davy_filter_begin_call(f, nr, flags);

	seccomp_jump(f, BPF_JSET, O_CREAT | TMPFILE_FLAG, 0, 3);
	davy_filter_argument(f, flags + 1);
	davy_filter_when(f, BPF_JSET, SUID_BITS, DAVY_FILTER_EPERM);
	davy_filter_end_call(f, begin);
}

static void seccomp_suid(struct davy_filter *f)
{
	for (size_t i = 0; i < COUNT(modes); i++)
		davy_filter_refuse_bits(f, modes[i].nr, modes[i].index, SUID_BITS);
#ifdef __NR_open
	seccomp_suid_open(f, __NR_open, 1);
#endif
	seccomp_suid_open(f, __NR_openat, 2);
}

/* Unix sockets for display servers, which drivers search; TCP if the engine may be asked. */
static void seccomp_sockets(struct davy_filter *f, bool network)
{
	static const uint32_t local = AF_UNIX;
	unsigned short begin = davy_filter_begin_call(f, __NR_socket, 0);

	davy_filter_when(f, BPF_JEQ, AF_UNIX, SECCOMP_RET_ALLOW);
	if (network) {
		davy_filter_argument(f, 1);
		davy_filter_add(
			f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCK_TYPE_BITS));
		seccomp_jump(f, BPF_JEQ, SOCK_STREAM, 1, 0);
		davy_filter_return(f, DAVY_FILTER_EPERM);
		davy_filter_argument(f, 2);
		seccomp_jump(f, BPF_JEQ, 0, 2, 0);
		seccomp_jump(f, BPF_JEQ, IPPROTO_TCP, 1, 0);
		davy_filter_return(f, DAVY_FILTER_EPERM);
		davy_filter_argument(f, 0);
		davy_filter_when(f, BPF_JEQ, AF_INET, SECCOMP_RET_ALLOW);
		davy_filter_when(f, BPF_JEQ, AF_INET6, SECCOMP_RET_ALLOW);
	}
	davy_filter_return(f, DAVY_FILTER_EPERM);
	davy_filter_end_call(f, begin);
	davy_filter_only_values(f, __NR_socketpair, 0, &local, 1, DAVY_FILTER_EPERM);
	davy_filter_refuse_bits(f, __NR_sendto, 3, FASTOPEN_FLAG);
	davy_filter_refuse_bits(f, __NR_sendmsg, 2, FASTOPEN_FLAG);
	davy_filter_refuse_bits(f, __NR_sendmmsg, 3, FASTOPEN_FLAG);
}

static void seccomp_processes(struct davy_filter *f, bool programs)
{
	const uint32_t itself[] = { (uint32_t)getpid(), 0 };
	unsigned short begin;

	for (size_t i = 0; i < COUNT(on_a_process); i++) {
		/* PRIO_PROCESS is 0, IOPRIO_WHO_PROCESS 1: no groups, no users */
		if (on_a_process[i].index) {
			begin = davy_filter_begin_call(f, on_a_process[i].nr, 0);
			davy_filter_when(f, BPF_JGT, on_a_process[i].nr == __NR_ioprio_set,
					 DAVY_FILTER_EPERM);
			davy_filter_end_call(f, begin);
		}
		davy_filter_only_values(f, on_a_process[i].nr, on_a_process[i].index, itself, 2,
					DAVY_FILTER_EPERM);
	}
	/*
	 * Runtimes set the CPUs of each thread that they start, and fail if that fails (ROCm's
	 * does). The ids of threads are unknown here: return 0 and do nothing.
	 */
	davy_filter_only_values(f, __NR_sched_setaffinity, 0, itself, 2, SECCOMP_RET_ERRNO);
	for (size_t i = 0; i < COUNT(signals) && !programs; i++)
		davy_filter_only_values(f, signals[i], 0, itself, 1, DAVY_FILTER_EPERM);
}

int davy_seccomp(bool network, bool programs)
{
	static const uint32_t terminal_input[] = { TIOCSTI, TIOCLINUX };
	struct davy_filter f;

	davy_filter_begin(&f);
	/* Their flags and modes are in memory, which a filter cannot read; libraries fall back. */
	davy_filter_call(&f, __NR_clone3, DAVY_FILTER_ENOSYS);
	davy_filter_call(&f, __NR_openat2, DAVY_FILTER_ENOSYS);
	davy_filter_calls(&f, refused, COUNT(refused), DAVY_FILTER_EPERM);
	if (!programs)
		davy_filter_calls(&f, refused_to_one, COUNT(refused_to_one), DAVY_FILTER_EPERM);
	davy_filter_refuse_bits(&f, __NR_clone, 0, ANY_NAMESPACE);
	davy_filter_refuse_values(&f, __NR_ioctl, 1, terminal_input, COUNT(terminal_input));
	seccomp_sockets(&f, network);
	seccomp_processes(&f, programs);
	seccomp_suid(&f);
	return davy_filter_install(&f, SECCOMP_RET_ALLOW);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system call filter: written by hand, since it is a list of numbers and some looks at
 * arguments; libseccomp would be one more library in a process whose address space is limited.
 *
 * It names what no probe needs instead of what one may do: drivers of four vendors and a Vulkan
 * loader call what they like, and a filter that breaks one of them would be a false finding. What
 * is refused fails with EPERM, so that a driver that merely tries goes on. What a driver does to
 * itself (limits, priorities, signals, its threads' CPUs) stays possible; other processes of the
 * same user are out of reach.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/probe_confine.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "seccomp.c: name the audit architecture of this machine"
#endif

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

#define X32_BIT 0x40000000u
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
	/* queues and segments that outlive it */
	__NR_msgget,
	__NR_semget,
	__NR_shmget,
	__NR_mq_open,
	/* programs, sessions, namespaces: the parent kills by process group */
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

/* Unless the probe is to run programs, whose processes have numbers that are not known here. */
static const uint16_t refused_to_one[] = {
	__NR_execve,
	__NR_pidfd_open,
	__NR_pidfd_send_signal,
	__NR_listen,
};

/* Which argument is a process, and whether 0 is the caller. */
static const struct {
	uint16_t nr;
	uint8_t index;
	bool zero;
} on_a_process[] = {
	{ __NR_prlimit64, 0, true },	  { __NR_sched_setscheduler, 0, true },
	{ __NR_sched_setparam, 0, true }, { __NR_sched_setattr, 0, true },
	{ __NR_setpriority, 1, true },	  { __NR_ioprio_set, 1, true },
};
static const struct {
	uint16_t nr;
	uint8_t index;
} signals[] = {
	{ __NR_kill, 0 },
	{ __NR_tgkill, 0 },
	{ __NR_rt_sigqueueinfo, 0 },
	{ __NR_rt_tgsigqueueinfo, 0 },
};

/* Which argument is the mode of a file. */
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
#define REFUSED_COUNT  (COUNT(refused) + COUNT(refused_to_one))
#define OTHERS_MAX     256
#define SUID_BITS      06000u
#define FASTOPEN_FLAG  0x20000000u /* MSG_FASTOPEN: connects out of Landlock's sight */
#define TMPFILE_FLAG   020000000u
#define SOCK_TYPE_BITS 0xfu

struct filter {
	struct sock_filter code[2 * REFUSED_COUNT + OTHERS_MAX];
	unsigned short count;
};

/* What does not fit makes the filter invalid. */
static void probe_seccomp_add(struct filter *f, struct sock_filter instruction)
{
	if (f->count < COUNT(f->code))
		f->code[f->count] = instruction;
	f->count++;
}

static void probe_seccomp_load(struct filter *f, size_t offset)
{
	probe_seccomp_add(f,
			  (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* When what is loaded compares by "how" with "value": "action". */
static void probe_seccomp_when(struct filter *f, uint16_t how, uint32_t value, uint32_t action)
{
	probe_seccomp_add(
		f, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | how | BPF_K), value, 0, 1));
	probe_seccomp_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* The low half of an argument, where these flags and numbers are. */
static void load_argument(struct filter *f, size_t index)
{
	size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;

	probe_seccomp_load(f, offsetof(struct seccomp_data, args) + index * 8 + low);
}

/* What follows up to call_end is for system call "nr" alone. */
static unsigned short call_begin(struct filter *f, uint32_t nr)
{
	probe_seccomp_load(f, offsetof(struct seccomp_data, nr));
	probe_seccomp_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 0));
	return (unsigned short)(f->count - 1);
}

static void call_end(struct filter *f, unsigned short begin)
{
	if (f->count <= COUNT(f->code))
		f->code[begin].jf = (uint8_t)(f->count - begin - 1);
}

static void refuse_rest(struct filter *f, uint32_t action)
{
	probe_seccomp_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Another process or thread than this one: "action". */
static void only_itself(struct filter *f, uint32_t nr, size_t index, bool zero, uint32_t action)
{
	unsigned short begin = call_begin(f, nr);

	load_argument(f, index);
	if (zero)
		probe_seccomp_when(f, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	probe_seccomp_when(f, BPF_JEQ, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
	refuse_rest(f, action);
	call_end(f, begin);
}

static void refuse_bits(struct filter *f, uint32_t nr, size_t index, uint32_t bits)
{
	unsigned short begin = call_begin(f, nr);

	load_argument(f, index);
	probe_seccomp_when(f, BPF_JSET, bits, SECCOMP_RET_ERRNO | EPERM);
	call_end(f, begin);
}

/* The mode means something only for a file that may be made. */
static void refuse_suid_open(struct filter *f, uint32_t nr, size_t flags)
{
	unsigned short begin = call_begin(f, nr);

	load_argument(f, flags);
	probe_seccomp_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
							  O_CREAT | TMPFILE_FLAG, 0, 3));
	load_argument(f, flags + 1);
	probe_seccomp_when(f, BPF_JSET, SUID_BITS, SECCOMP_RET_ERRNO | EPERM);
	call_end(f, begin);
}

static void refuse_suid(struct filter *f)
{
	for (size_t i = 0; i < COUNT(modes); i++)
		refuse_bits(f, modes[i].nr, modes[i].index, SUID_BITS);
#ifdef __NR_open
	refuse_suid_open(f, __NR_open, 1);
#endif
	refuse_suid_open(f, __NR_openat, 2);
}

/* Unix sockets: display servers, for which drivers look; TCP where the engine is asked. */
static void look_at_sockets(struct filter *f, bool network)
{
	const uint32_t eperm = SECCOMP_RET_ERRNO | EPERM;
	unsigned short begin = call_begin(f, __NR_socket);

	load_argument(f, 0);
	probe_seccomp_when(f, BPF_JEQ, AF_UNIX, SECCOMP_RET_ALLOW);
	if (network) {
		load_argument(f, 1);
		probe_seccomp_add(
			f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCK_TYPE_BITS));
		probe_seccomp_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								  SOCK_STREAM, 1, 0));
		refuse_rest(f, eperm);
		load_argument(f, 2);
		probe_seccomp_add(f,
				  (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0));
		probe_seccomp_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								  IPPROTO_TCP, 1, 0));
		refuse_rest(f, eperm);
		load_argument(f, 0);
		probe_seccomp_when(f, BPF_JEQ, AF_INET, SECCOMP_RET_ALLOW);
		probe_seccomp_when(f, BPF_JEQ, AF_INET6, SECCOMP_RET_ALLOW);
	}
	refuse_rest(f, eperm);
	call_end(f, begin);
	begin = call_begin(f, __NR_socketpair);
	load_argument(f, 0);
	probe_seccomp_when(f, BPF_JEQ, AF_UNIX, SECCOMP_RET_ALLOW);
	refuse_rest(f, eperm);
	call_end(f, begin);
	refuse_bits(f, __NR_sendto, 3, FASTOPEN_FLAG);
	refuse_bits(f, __NR_sendmsg, 2, FASTOPEN_FLAG);
	refuse_bits(f, __NR_sendmmsg, 3, FASTOPEN_FLAG);
}

static void look_at_processes(struct filter *f, bool programs)
{
	const uint32_t eperm = SECCOMP_RET_ERRNO | EPERM;
	unsigned short begin;

	for (size_t i = 0; i < COUNT(on_a_process); i++) {
		/* PRIO_PROCESS is 0, IOPRIO_WHO_PROCESS 1: no groups, no users */
		if (on_a_process[i].index) {
			begin = call_begin(f, on_a_process[i].nr);
			load_argument(f, 0);
			probe_seccomp_when(f, BPF_JGT, on_a_process[i].nr == __NR_ioprio_set,
					   eperm);
			call_end(f, begin);
		}
		only_itself(f, on_a_process[i].nr, on_a_process[i].index, on_a_process[i].zero,
			    eperm);
	}
	/*
	 * Runtimes set the CPUs of each thread that they start, and fail if that fails (ROCm's
	 * does).
	 * Threads have numbers that are not known here: 0 is answered, and nothing done.
	 */
	only_itself(f, __NR_sched_setaffinity, 0, true, SECCOMP_RET_ERRNO);
	for (size_t i = 0; i < COUNT(signals) && !programs; i++)
		only_itself(f, signals[i].nr, signals[i].index, false, eperm);
}

static void look_at_arguments(struct filter *f, bool network, bool programs)
{
	refuse_bits(f, __NR_clone, 0, ANY_NAMESPACE);
	unsigned short begin = call_begin(f, __NR_ioctl); /* no input put into a terminal */

	load_argument(f, 1);
	probe_seccomp_when(f, BPF_JEQ, TIOCSTI, SECCOMP_RET_ERRNO | EPERM);
	probe_seccomp_when(f, BPF_JEQ, TIOCLINUX, SECCOMP_RET_ERRNO | EPERM);
	call_end(f, begin);
	look_at_sockets(f, network);
	look_at_processes(f, programs);
	refuse_suid(f);
}

int davy_seccomp(bool network, bool programs)
{
	struct filter f = { .count = 0 };
	struct sock_fprog program;

	probe_seccomp_load(&f, offsetof(struct seccomp_data, arch));
	probe_seccomp_add(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	probe_seccomp_add(&f,
			  (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	probe_seccomp_load(&f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	probe_seccomp_when(&f, BPF_JGE, X32_BIT, SECCOMP_RET_ERRNO | ENOSYS);
#endif
	/*
	 * Flags and modes that lie in memory, out of a filter's sight; libraries then take
	 * others.
	 */
	probe_seccomp_when(&f, BPF_JEQ, __NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	probe_seccomp_when(&f, BPF_JEQ, __NR_openat2, SECCOMP_RET_ERRNO | ENOSYS);
	for (size_t i = 0; i < COUNT(refused); i++)
		probe_seccomp_when(&f, BPF_JEQ, refused[i], SECCOMP_RET_ERRNO | EPERM);
	for (size_t i = 0; i < COUNT(refused_to_one) && !programs; i++)
		probe_seccomp_when(&f, BPF_JEQ, refused_to_one[i], SECCOMP_RET_ERRNO | EPERM);
	look_at_arguments(&f, network, programs);
	refuse_rest(&f, SECCOMP_RET_ALLOW);
	if (f.count > COUNT(f.code))
		return -E2BIG;
	program = (struct sock_fprog){ .len = f.count, .filter = f.code };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

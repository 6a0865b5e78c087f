/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system call filter: written by hand, since it is a list of numbers and four looks at an
 * argument; libseccomp would be one more library in a process whose address space is limited.
 *
 * It names what no probe needs instead of what one may do: drivers of four vendors and a Vulkan
 * loader call what they like, and a filter that breaks one of them would be a false finding. What
 * is refused fails with EPERM, so that a driver that merely tries goes on.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "seccomp.c: name the audit architecture of this machine"
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
	/* programs, sessions, namespaces: the parent kills by process group */
	__NR_execve,
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

#define REFUSED_COUNT (sizeof(refused) / sizeof(refused[0]))
#define OTHERS_MAX    42

struct filter {
	struct sock_filter code[2 * REFUSED_COUNT + OTHERS_MAX];
	unsigned short count;
};

static void add(struct filter *f, struct sock_filter instruction)
{
	f->code[f->count++] = instruction;
}

static void load(struct filter *f, size_t offset)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* When what is loaded compares by "how" with "value": "action". */
static void when(struct filter *f, uint16_t how, uint32_t value, uint32_t action)
{
	add(f, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | how | BPF_K), value, 0, 1));
	add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* The next "length" instructions are for system call "nr" alone. */
static void only_for(struct filter *f, uint32_t nr, uint8_t length)
{
	load(f, offsetof(struct seccomp_data, nr));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, length));
}

/* The low half of an argument, where these flags and numbers are. */
static void load_argument(struct filter *f, size_t index)
{
	size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;

	load(f, offsetof(struct seccomp_data, args) + index * 8 + low);
}

static void look_at_arguments(struct filter *f, bool network)
{
	const uint32_t eperm = SECCOMP_RET_ERRNO | EPERM;

	only_for(f, __NR_clone, 3);
	load_argument(f, 0);
	when(f, BPF_JSET, ANY_NAMESPACE, eperm);
	only_for(f, __NR_ioctl, 5); /* no words put into a terminal's mouth */
	load_argument(f, 1);
	when(f, BPF_JEQ, TIOCSTI, eperm);
	when(f, BPF_JEQ, TIOCLINUX, eperm);
	only_for(f, __NR_socket, network ? 8 : 4);
	load_argument(f, 0);
	when(f, BPF_JEQ, AF_UNIX, SECCOMP_RET_ALLOW); /* display servers: drivers look for them */
	if (network)
		when(f, BPF_JEQ, AF_INET, SECCOMP_RET_ALLOW);
	if (network)
		when(f, BPF_JEQ, AF_INET6, SECCOMP_RET_ALLOW);
	add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, eperm));
}

int dl_seccomp(bool network, bool programs)
{
	struct filter f = { .count = 0 };
	struct sock_fprog program;

	load(&f, offsetof(struct seccomp_data, arch));
	add(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	add(&f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	load(&f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	when(&f, BPF_JGE, X32_BIT, SECCOMP_RET_ERRNO | ENOSYS);
#endif
	/* Its flags lie in memory, out of a filter's sight; glibc then takes clone. */
	when(&f, BPF_JEQ, __NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	for (size_t i = 0; i < REFUSED_COUNT; i++)
		if (!programs || (refused[i] != __NR_execve && refused[i] != __NR_execveat))
			when(&f, BPF_JEQ, refused[i], SECCOMP_RET_ERRNO | EPERM);
	look_at_arguments(&f, network);
	add(&f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	program = (struct sock_fprog){ .len = f.count, .filter = f.code };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

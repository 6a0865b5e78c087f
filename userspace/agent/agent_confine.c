/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/rights.h"
#include "lib/seccomp.h"

#define NICE (-15)

#define ANY_NAMESPACE                                                                              \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

/*
 * capability           needed by                       for
 *
 * SYS_ADMIN            bpf_object.c (late attach)      BTF of modules, by id
 *                      unit.c                          systemd's private socket
 * BPF, PERFMON         bpf_object.c, bpf_probes.c      programs for modules that
 *                                                      load later, uprobes,
 *                                                      security hooks
 * SYS_PTRACE           reader_main.c (child),          /proc/PID of other users
 *                      process_account.c
 * DAC_READ_SEARCH      reader_main.c (child)           files of engines' users
 * DAC_OVERRIDE         groups.c                        rmdir in the root cgroup,
 *                                                      whose mode is 0555
 * CHECKPOINT_RESTORE   reader_main.c (child)           /proc/PID/map_files
 * SYSLOG               kmsg_reader.c                   /dev/kmsg
 * KILL                 freeze_tree.c, probe_run.c      pause engines, end probes
 * SYS_NICE             agent_confine.c, guard.c (child)  CPU time on a busy host
 * SYS_RESOURCE         guard.c (child)                 descriptors, oom_score_adj
 * SETUID, SETGID,      reader, probe (children)        they become other users
 * SETPCAP              children                        they give up more
 *
 * Not needed: IPC_LOCK (the guard's memory is below RLIMIT_MEMLOCK), NET_ADMIN (uevents.c
 * is content with net.core.rmem_max, as few subsystems pass its filter), CHOWN,
 * FOWNER (what the agent writes is root's), SYS_MODULE, SYS_RAWIO, SYS_BOOT, SYS_TIME, SYS_CHROOT,
 * MKNOD.
 */
static const uint8_t kept[] = {
	CAP_SYS_ADMIN,		CAP_BPF,	  CAP_PERFMON, CAP_SYS_PTRACE,
	CAP_DAC_READ_SEARCH,	CAP_SYSLOG,	  CAP_KILL,    CAP_SYS_NICE,
	CAP_SYS_RESOURCE,	CAP_SETUID,	  CAP_SETGID,  CAP_SETPCAP,
	CAP_CHECKPOINT_RESTORE, CAP_DAC_OVERRIDE,
};

/*
 * System calls that neither the agent nor its children need. davylamp-probe refuses more of them.
 */
static const uint16_t refused[] = {
/* other processes */
#ifndef __SANITIZE_ADDRESS__ /* LeakSanitizer traces its own process */
	__NR_ptrace,
#endif
	__NR_process_vm_readv,
	__NR_process_vm_writev,
	__NR_process_madvise,
	__NR_pidfd_getfd,
	__NR_kcmp,
	__NR_move_pages,
	__NR_migrate_pages,
	/* namespaces and file systems */
	__NR_setns,
	__NR_unshare,
	__NR_chroot,
	__NR_pivot_root,
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
	__NR_mknodat,
#ifdef __x86_64__
	__NR_mknod,
#endif
	__NR_swapon,
	__NR_swapoff,
	/* the kernel itself */
	__NR_kexec_load,
#ifdef __NR_kexec_file_load
	__NR_kexec_file_load,
#endif
	__NR_init_module,
	__NR_finit_module,
	__NR_delete_module,
	__NR_reboot,
	__NR_syslog, /* the agent reads /dev/kmsg */
	__NR_acct,
	__NR_userfaultfd,
	__NR_io_uring_setup,
	__NR_io_uring_enter,
	__NR_io_uring_register,
	__NR_lookup_dcookie,
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
	__NR_personality,
};

uint64_t davy_agent_capabilities(void)
{
	uint64_t set = 0;

	for (size_t i = 0; i < sizeof(kept); i++)
		set |= (uint64_t)1 << kept[i];
	return set;
}

/*
 * Children need no more privileges than the agent: it starts guard and probe at any time, and none
 * of their programs is set-user-ID. Probe and readers change their user with CAP_SETUID, which
 * no_new_privs permits; the filter therefore allows setresuid and execve.
 */
static int confine_calls(void)
{
	static const uint32_t terminal_input[] = { TIOCSTI, TIOCLINUX };
	static const uint32_t families[] = { AF_UNIX, AF_NETLINK, AF_INET, AF_INET6 };
	static struct davy_filter f;

	davy_filter_begin(&f);
	/* A filter cannot read the flags of clone3, which are in memory; glibc then uses clone. */
	davy_filter_call(&f, __NR_clone3, DAVY_FILTER_ENOSYS);
	davy_filter_calls(&f, refused, sizeof(refused) / sizeof(refused[0]), DAVY_FILTER_EPERM);
	davy_filter_refuse_bits(&f, __NR_clone, 0, ANY_NAMESPACE);
	davy_filter_refuse_values(&f, __NR_ioctl, 1, terminal_input,
				  sizeof(terminal_input) / sizeof(terminal_input[0]));
	davy_filter_only_values(&f, __NR_socket, 0, families,
				sizeof(families) / sizeof(families[0]), DAVY_FILTER_EPERM);
	davy_filter_refuse_bits(&f, __NR_fchmod, 1, S_ISUID | S_ISGID);
	davy_filter_refuse_bits(&f, __NR_fchmodat, 2, S_ISUID | S_ISGID);
#ifdef __x86_64__
	davy_filter_refuse_bits(&f, __NR_chmod, 1, S_ISUID | S_ISGID);
#endif
	return davy_filter_install(&f, SECCOMP_RET_ALLOW);
}

int davy_agent_confine(void)
{
	int err, calls;

	davy_rights_bound(davy_agent_capabilities());
	err = davy_rights_cap(davy_agent_capabilities());
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = err ? err : -errno;
	calls = confine_calls();
	return err ? err : calls;
}

void davy_agent_hurry(void)
{
	const struct sched_param none = { 0 };

	if (sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) ||
	    setpriority(PRIO_PROCESS, 0, NICE))
		davy_debug("priority: %s; on a busy host the agent may react late",
			   strerror(errno));
}

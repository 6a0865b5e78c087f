/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes and modules: exec, fork, exit with code and signal, fatal signals, module loaded and
 * freed. Exits and signals are reported for watched processes and for crashes; forks for watched
 * ones. Everything is read through BTF pointers, never by bpf_probe_read_kernel, so that these
 * programs also load under lockdown=confidentiality.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * Processes that userspace watches; the key is the tgid. A child of a watched process is watched
 * too.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} watched SEC(".maps");

#define COPY_COMM(to, task)                                                                        \
	do {                                                                                       \
		for (int i_ = 0; i_ < DAVY_COMM_LEN; i_++)                                           \
			(to)[i_] = (task)->comm[i_];                                               \
	} while (0)

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct davy_wire_exec *e = davy_reserve(DAVY_WIRE_EXEC, sizeof(*e));

	if (!e)
		return 0;
	e->start_boot_ns = task->group_leader->start_boottime;
	e->ppid = (__u32)task->real_parent->tgid;
	COPY_COMM(e->comm, task);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tgid = (__u32)parent->tgid, child_tgid = (__u32)child->tgid;
	struct davy_wire_fork *e;
	__u8 yes = 1;

	if (child_tgid == parent_tgid || !bpf_map_lookup_elem(&watched, &parent_tgid))
		return 0;
	bpf_map_update_elem(&watched, &child_tgid, &yes, BPF_ANY);
	e = davy_reserve(DAVY_WIRE_FORK, sizeof(*e));
	if (!e)
		return 0;
	e->child_tgid = child_tgid;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* A process ends with its last thread: live is already decremented (kernel/exit.c). */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	__u32 tgid = (__u32)task->tgid;
	struct davy_wire_exit *e;
	int status;

	if (task->signal->live.counter != 0)
		return 0;
	status = task->signal->group_exit_code;
	if (!status)
		status = task->exit_code;
	if (!(status & 0x7f) && !bpf_map_lookup_elem(&watched, &tgid))
		return 0;
	bpf_map_delete_elem(&watched, &tgid);
	e = davy_reserve(DAVY_WIRE_EXIT, sizeof(*e));
	if (!e)
		return 0;
	e->start_boot_ns = task->group_leader->start_boottime;
	e->status = status;
	COPY_COMM(e->comm, task->group_leader);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* ILL, ABRT, BUS, FPE, SEGV, SYS are crashes; KILL and TERM are sent on request. */
#define CRASHES (1u << 4 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 11 | 1u << 31)
#define REQUESTS (1u << 9 | 1u << 15)

static __always_inline bool signal_matters(int sig, __u32 tgid)
{
	__u32 bit = sig > 0 && sig < 32 ? 1u << sig : 0;

	if (bit & CRASHES)
		return true;
	return (bit & REQUESTS) && bpf_map_lookup_elem(&watched, &tgid);
}

static __always_inline int signal_fact(enum davy_fact fact, int sig, struct task_struct *task)
{
	struct davy_wire_fact *e = fact_begin(fact, 0);

	if (!e)
		return 0;
	e->pid = (__u32)task->tgid;
	e->detail = (__u32)sig;
	COPY_COMM(e->name, task);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/*
 * In the sender's context; for a fault, the sender is the process itself. result 0: it was queued.
 * Only for watched processes: runtimes with handlers cause thousands of faults (a JVM's null
 * checks).
 */
SEC("?tp_btf/signal_generate")
int BPF_PROG(signal_sent, int sig, struct kernel_siginfo *info, struct task_struct *task, int group,
	     int result)
{
	__u32 tgid = (__u32)task->tgid;

	if (result || !bpf_map_lookup_elem(&watched, &tgid) || !signal_matters(sig, tgid))
		return 0;
	return signal_fact(DAVY_FACT_SIGNAL_SENT, sig, task);
}

/* In the receiver's context; handler SIG_DFL (0): the signal ends it. */
SEC("?tp_btf/signal_deliver")
int BPF_PROG(signal_taken, int sig, struct kernel_siginfo *info, struct k_sigaction *action)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (action->sa.sa_handler || !signal_matters(sig, (__u32)task->tgid))
		return 0;
	return signal_fact(DAVY_FACT_SIGNAL_TAKEN, sig, task);
}

static __always_inline int module_event(struct module *mod, __u32 loaded)
{
	struct davy_wire_module *e;

	if (!mod)
		return 0;
	e = davy_reserve(DAVY_WIRE_MODULE, sizeof(*e));
	if (!e)
		return 0;
	e->loaded = loaded;
	for (int i = 0; i < DAVY_MODULE_NAME_LEN; i++)
		e->name[i] = mod->name[i];
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* Called before the driver's init: its functions cannot be traced yet, its tracepoints can. */
SEC("?tp_btf/module_load")
int BPF_PROG(module_loaded, struct module *mod)
{
	return module_event(mod, 1);
}

SEC("?tp_btf/module_free")
int BPF_PROG(module_freed, struct module *mod)
{
	return module_event(mod, 0);
}

/* Userspace runs it twice, some time apart, to measure HZ: no config file is needed. */
SEC("?syscall")
int clock_now(struct davy_clock *ctx)
{
	ctx->boot_ns = bpf_ktime_get_boot_ns();
	ctx->jiffies = bpf_jiffies64();
	return 0;
}

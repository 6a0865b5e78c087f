/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Process life and module life: exec, fork, exit with code and signal, module loaded and freed.
 * Exits are reported for watched processes and for whoever a signal killed; forks for watched ones.
 */
#include "wire.h"
#include "maps.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Processes userspace cares about; key is the tgid. A watched parent's child is watched too. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} watched SEC(".maps");

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct dl_wire_exec *e = dl_reserve(DL_WIRE_EXEC, sizeof(*e));

	if (!e)
		return 0;
	e->start_boot_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	e->ppid = (__u32)BPF_CORE_READ(task, real_parent, tgid);
	BPF_CORE_READ_STR_INTO(&e->comm, task, comm);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tgid = (__u32)BPF_CORE_READ(parent, tgid);
	__u32 child_tgid = (__u32)BPF_CORE_READ(child, tgid);
	struct dl_wire_fork *e;
	__u8 yes = 1;

	if (child_tgid == parent_tgid || !bpf_map_lookup_elem(&watched, &parent_tgid))
		return 0;
	bpf_map_update_elem(&watched, &child_tgid, &yes, BPF_ANY);
	e = dl_reserve(DL_WIRE_FORK, sizeof(*e));
	if (!e)
		return 0;
	e->child_tgid = child_tgid;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* The process is gone when its last thread is: live was already decremented (kernel/exit.c). */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	__u32 tgid = (__u32)BPF_CORE_READ(task, tgid);
	struct dl_wire_exit *e;
	int status;

	if (BPF_CORE_READ(task, signal, live.counter) != 0)
		return 0;
	status = BPF_CORE_READ(task, signal, group_exit_code);
	if (!status)
		status = BPF_CORE_READ(task, exit_code);
	if (!(status & 0x7f) && !bpf_map_lookup_elem(&watched, &tgid))
		return 0;
	bpf_map_delete_elem(&watched, &tgid);
	e = dl_reserve(DL_WIRE_EXIT, sizeof(*e));
	if (!e)
		return 0;
	e->start_boot_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	e->status = status;
	BPF_CORE_READ_STR_INTO(&e->comm, task, group_leader, comm);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static __always_inline int module_event(struct module *mod, __u32 loaded)
{
	struct dl_wire_module *e;

	if (!mod)
		return 0;
	e = dl_reserve(DL_WIRE_MODULE, sizeof(*e));
	if (!e)
		return 0;
	e->loaded = loaded;
	BPF_CORE_READ_STR_INTO(&e->name, mod, name);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* Fires before the driver's init: its functions cannot be traced yet, its tracepoints can. */
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

/* Run by userspace twice, some time apart, to learn the kernel's HZ: no config file needed. */
SEC("?syscall")
int clock_now(struct dl_clock *ctx)
{
	ctx->boot_ns = bpf_ktime_get_boot_ns();
	ctx->jiffies = bpf_jiffies64();
	return 0;
}

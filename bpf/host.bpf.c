/* SPDX-License-Identifier: GPL-2.0 */
/* Host events that affect a GPU's users: OOM kills, denied device nodes, coredumps. */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The first eight characters of a driver's name, as a little-endian word. */
#define DRIVER_AMDGPU  0x0000757067646d61ULL
#define DRIVER_I915    0x0000000035313969ULL
#define DRIVER_XE      0x0000000000006578ULL
#define DRIVER_RADEON  0x00006e6f65646172ULL
#define DRIVER_NOUVEAU 0x0075616576756f6eULL

#define DEV_PREFIX 5 /* strlen("/dev/") */

/* Threads in oom_kill_process(): true for a memory cgroup. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u8);
} oom_scope SEC(".maps");

/*
 * kernel.ftrace_enabled is written, under ftrace's lock (ftrace_enable_sysctl, 6.1 to 7.2): an agent
 * that reads it now sees the new value.
 */
SEC("?fentry/proc_dointvec")
int BPF_PROG(ftrace_switched, const struct ctl_table *table, int write)
{
	struct davy_wire_head *head;
	char name[16] = "";

	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(table, procname));
	if (!write || bpf_strncmp(name, sizeof(name), "ftrace_enabled"))
		return 0;
	head = davy_reserve(DAVY_WIRE_FTRACE, sizeof(*head));
	if (head)
		bpf_ringbuf_submit(head, 0);
	return 0;
}

SEC("?fentry/oom_kill_process")
int BPF_PROG(oom_begins, struct oom_control *oc)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u8 of_cgroup = BPF_CORE_READ(oc, memcg) != 0;

	bpf_map_update_elem(&oom_scope, &tid, &of_cgroup, BPF_ANY);
	return 0;
}

/* In the context of the process that ran out of memory; may be called repeatedly for a victim. */
SEC("?tp_btf/mark_victim")
int BPF_PROG(oom_victim, struct task_struct *task)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u8 *of_cgroup = bpf_map_lookup_elem(&oom_scope, &tid);
	struct davy_wire_fact *e = fact_begin(DAVY_FACT_OOM_VICTIM, 0);

	if (!e)
		return 0;
	e->pid = (__u32)BPF_CORE_READ(task, tgid);
	e->detail = of_cgroup ? *of_cgroup : 0;
	e->bytes = davy_resident_bytes(task);
	BPF_CORE_READ_STR_INTO(&e->name, task, comm);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* Only at the end: with memory.oom.group, all processes of the group are victims of one call. */
SEC("?fexit/oom_kill_process")
int BPF_PROG(oom_ends, struct oom_control *oc)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&oom_scope, &tid);
	return 0;
}

static __always_inline bool is_gpu_node(const char *path)
{
	const char *n = path + DEV_PREFIX;

	if (path[0] != '/' || path[1] != 'd' || path[2] != 'e' || path[3] != 'v' || path[4] != '/')
		return false;
	return (n[0] == 'd' && n[1] == 'r' && n[2] == 'i' && n[3] == '/') ||
	       (n[0] == 'k' && n[1] == 'f' && n[2] == 'd' && !n[3]) ||
	       (n[0] == 'n' && n[1] == 'v' && n[2] == 'i' && n[3] == 'd' && n[4] == 'i' && n[5] == 'a');
}

/* Most opens succeed and return here at once. A relative path to a node is not recognised. */
static __always_inline int open_done(void *ctx, struct filename *filename)
{
	__u64 file = 0; /* an integer: the verifier forbids arithmetic on pointers */
	long ret;
	char path[DEV_PREFIX + DAVY_FACT_NAME_LEN] = {};
	struct davy_wire_fact *e;

	if (bpf_get_func_ret(ctx, &file))
		return 0;
	ret = (long)file;
	/* libraries search for missing nodes all the time */
	if (ret >= 0 || ret < -4095 || ret == -ENOENT || ret == -ENXIO || ret == -EINTR)
		return 0;
	if (bpf_probe_read_kernel_str(path, sizeof(path), BPF_CORE_READ(filename, name)) < DEV_PREFIX)
		return 0;
	if (!is_gpu_node(path))
		return 0;
	e = fact_begin_in(true, DAVY_FACT_OPEN_REFUSED, 0); /* any user can cause it in a loop */
	if (!e)
		return 0;
	e->pid = davy_current();
	e->error = (int)ret;
	__builtin_memcpy(e->name, path + DEV_PREFIX, sizeof(e->name));
	e->name[sizeof(e->name) - 1] = 0;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?fexit/do_filp_open")
int BPF_PROG(open_done_until_7_0, int dfd, struct filename *filename)
{
	return open_done(ctx, filename);
}

SEC("?fexit/do_file_open")
int BPF_PROG(open_done_since_7_0, int dfd, struct filename *filename)
{
	return open_done(ctx, filename);
}

static __always_inline bool is_gpu_driver(__u64 word)
{
	return word == DRIVER_AMDGPU || word == DRIVER_I915 || word == DRIVER_XE ||
	       word == DRIVER_RADEON || word == DRIVER_NOUVEAU;
}

/*
 * A coredump is offered; the kernel drops it while it keeps an older one of the device. amdgpu and
 * xe report no length. More than six arguments: a kprobe, since the trampolines of 6.1 refuse it.
 */
static __always_inline int coredump(struct pt_regs *ctx)
{
	struct device *dev = (struct device *)PT_REGS_PARM1(ctx);
	struct davy_wire_fact *e;
	__u64 driver = 0;

	bpf_probe_read_kernel_str(&driver, sizeof(driver), BPF_CORE_READ(dev, driver, name));
	if (!is_gpu_driver(driver))
		return 0;
	e = fact_begin(DAVY_FACT_COREDUMP, dev);
	if (!e)
		return 0;
	e->bytes = PT_REGS_PARM4(ctx);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?kprobe/dev_coredumpm")
int coredump_until_6_11(struct pt_regs *ctx)
{
	return coredump(ctx);
}

SEC("?kprobe/dev_coredumpm_timeout")
int coredump_since_6_12(struct pt_regs *ctx)
{
	return coredump(ctx);
}

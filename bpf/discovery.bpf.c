/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 'davylamp trace discovery': exec, opens, executable mappings, calls of GPU runtimes, errors of
 * the dynamic linker, signals and exits of followed processes. Events of other processes are
 * dropped first.
 *
 * Holding: a uprobe in a library is possible only when its file is known, and the library's first
 * call may follow within microseconds. Two kinds of threads are therefore delayed. First: a process
 * that opens an unseen library with entry points waits in _dl_debug_state, which ld.so calls for
 * debuggers after mapping and before running the library. Second: a call waits if its return site
 * is not probed yet. They wait on the CPU, since BPF programs cannot sleep, until userspace has
 * attached its probes, at most delay_ns. SIGSTOP is not used: parents would see it, and it would
 * remain if the tracer is killed. The holding programs are sleepable: attaching a uprobe may need
 * an RCU grace period, which other programs would block, and only sleepable ones can yield their
 * CPU: __get_user_pages below bpf_copy_from_user_task calls cond_resched. The exec tracepoint can
 * do neither; for it, userspace has a reader on each of several CPUs, so that one of them can run.
 * Returns are seen by a plain uprobe on the instruction after the call, matched by stack pointer. A
 * uretprobe is never used: it breaks C++ exceptions that unwind through the frame (docs/kernel-notes.md).
 */
#include "wire.h"
#include "ktypes.bpf.h"
#include "discovery.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs___kernel {
	unsigned long r8, dx, si, di, orig_ax, cs;
};
#pragma clang attribute pop

char LICENSE[] SEC("license") = "GPL";

#define DELAY_TRIES   (1 << 23) /* maximum of bpf_loop */
#define DELAY_HARD_NS 30000000
#define POLITE_NS     20000
#define WAITING_MAX   256
#define LATE_MAX      16	/* then userspace does not respond: stop holding */
#define NAME_TAIL     64
#define MAX_ERRNO     4095
#define KERNEL_SENDER 1 /* SEND_SIG_PRIV */
#define FD_MAX	      (1 << 20)
#define PROT_EXEC     4
#define COMPAT_CS     0x23

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_OPEN	   2
#define NR_MMAP	   9
#define NR_CREAT   85
#define NR_OPENAT  257
#define NR_OPENAT2 437

const volatile __u64 delay_ns = 0;
const volatile char unit[DAVY_RAW_UNIT] = "";
__u32 late_count = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, DAVY_RAW_RING);
} steps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_RAW_FOLLOWED);
	__type(key, __u32);
	__type(value, __u8);
} followed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DAVY_RAW_LOSS_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} step_losses SEC(".maps");

/* Hashes of the names of libraries with entry points. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 128);
	__type(key, __u64);
	__type(value, __u8);
} known_names SEC(".maps");

/* Files that userspace has seen or been sent: libraries, programs, ld.so. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct davy_raw_file);
	__type(value, __u8);
} seen_files SEC(".maps");

/* Held threads; 1: released. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAITING_MAX);
	__type(key, __u32);
	__type(value, __u32);
} waiting SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DAVY_RAW_FUNCTIONS);
	__type(key, __u32);
	__type(value, struct davy_raw_function);
} functions SEC(".maps");

/* Processes that opened such a file but have not run it yet. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} fresh SEC(".maps");

struct frame {
	__u64 pid_tgid;
	__u64 stack;
};

struct pending {
	__u64 entered_ns;
	__u64 count_at;
	__u32 function;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct frame);
	__type(value, struct pending);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct davy_raw_site);
	__type(value, __u8);
} sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64); /* tgid, function */
	__type(value, __u32);
} call_counts SEC(".maps");

static __always_inline void lost(__u32 cause)
{
	__u64 *count = bpf_map_lookup_elem(&step_losses, &cause);

	if (count)
		*count += 1;
}

static __always_inline bool is_followed(__u32 tgid)
{
	return bpf_map_lookup_elem(&followed, &tgid) != 0;
}

static __always_inline void follow(__u32 tgid)
{
	__u8 yes = 1;

	if (bpf_map_update_elem(&followed, &tgid, &yes, BPF_ANY))
		lost(DAVY_RAW_LOSS_FOLLOWED);
}

/* Compare with NULL immediately. Only the head is initialized; the rest is old ring data. */
static __always_inline void *step(__u16 kind, __u64 size)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_boot_ns();
	struct davy_raw_head *head = bpf_ringbuf_reserve(&steps, size, 0);

	if (!head) {
		lost(DAVY_RAW_LOSS_RING);
		return 0;
	}
	head->kind = kind;
	head->delayed = 0;
	head->tgid = id >> 32;
	head->tid = (__u32)id;
	head->code = 0;
	head->boot_ns = now;
	head->number = 0;
	return head;
}

struct wait {
	__u64 until_ns;
	__u64 polite_ns;
	void *stack; /* a readable address of the thread */
	__u32 tid;
	__u32 released;
};

static long still_delayed(__u32 index, struct wait *w)
{
	__u32 *state = bpf_map_lookup_elem(&waiting, &w->tid);

	w->released = state && *(volatile __u32 *)state;
	return w->released || bpf_ktime_get_boot_ns() > w->until_ns;
}

/*
 * Takes mmap_lock for reading, which attaching a probe needs for writing. Therefore not at every
 * iteration, but often enough: the first probe waits for it twice.
 */
static long still_delayed_politely(__u32 index, struct wait *w)
{
	__u64 word, now = bpf_ktime_get_boot_ns();

	if (now >= w->polite_ns) {
		w->polite_ns = now + POLITE_NS;
		bpf_copy_from_user_task(&word, sizeof(word), w->stack, bpf_get_current_task_btf(), 0);
	}
	return still_delayed(index, w);
}

/* True if the thread is to be delayed: then delay() or skip_delay() must follow. */
static __always_inline bool may_delay(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), no = 0;

	if (late_count >= LATE_MAX)
		return false;
	if (delay_ns && !bpf_map_update_elem(&waiting, &tid, &no, BPF_ANY))
		return true;
	lost(DAVY_RAW_LOSS_DELAY);
	return false;
}

static __always_inline void skip_delay(bool delayed)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (delayed)
		bpf_map_delete_elem(&waiting, &tid);
}

static __always_inline bool delayed_on_time(struct wait *w)
{
	bpf_map_delete_elem(&waiting, &w->tid);
	if (w->released)
		return true;
	late_count++;
	lost(DAVY_RAW_LOSS_DELAY);
	return false;
}

/* For sleepable programs. */
static __always_inline bool delay(struct pt_regs *ctx)
{
	struct wait w = {
		.until_ns = bpf_ktime_get_boot_ns() + delay_ns,
		.stack = (void *)PT_REGS_SP(ctx),
		.tid = (__u32)bpf_get_current_pid_tgid(),
	};

	bpf_loop(DELAY_TRIES, still_delayed_politely, &w, 0);
	return delayed_on_time(&w);
}

/* For other programs. */
static __always_inline void delay_hard(void)
{
	struct wait w = {
		.until_ns = bpf_ktime_get_boot_ns() + DELAY_HARD_NS,
		.tid = (__u32)bpf_get_current_pid_tgid(),
	};

	bpf_loop(DELAY_TRIES, still_delayed, &w, 0);
	delayed_on_time(&w);
}

/* Userspace polls the ring. It is woken for a delayed thread, or if the ring fills up. */
static __always_inline void send(void *record, bool delayed)
{
	bool wake = delayed || bpf_ringbuf_query(&steps, BPF_RB_AVAIL_DATA) > DAVY_RAW_RING / 4;

	bpf_ringbuf_submit(record, wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void file_key(struct file *file, struct davy_raw_file *ret_key)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	ret_key->inode = BPF_CORE_READ(inode, i_ino);
	ret_key->device = BPF_CORE_READ(inode, i_sb, s_dev);
	ret_key->pad = 0;
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(discovery_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 child_tgid = (__u32)child->tgid;
	struct davy_raw_head *e;

	if (child->tgid == parent->tgid || !is_followed((__u32)parent->tgid))
		return 0;
	follow(child_tgid);
	e = step(DAVY_RAW_FORK, sizeof(*e));
	if (!e)
		return 0;
	e->number = child_tgid;
	send(e, false);
	return 0;
}

static __always_inline void send_chunk(__u16 kind, __u64 from, __u32 offset, __u32 total)
{
	struct davy_raw_chunk *e = step(kind, sizeof(*e));
	__u64 size = total - offset;

	if (!e)
		return;
	size &= 0xffffffff;
	asm volatile("" : "+r"(size)); /* the verifier must see the compared value in use */
	if (size > DAVY_RAW_CHUNK)
		size = DAVY_RAW_CHUNK;
	e->offset = offset;
	e->total = total;
	e->size = (__u32)size;
	e->pad = 0;
	if (bpf_probe_read_user(e->data, size, (void *)(from + offset)))
		e->size = 0;
	send(e, false);
}

/* The kernel has just written these pages, so they are present. */
static __always_inline void send_strings(struct mm_struct *mm)
{
	__u64 argv = mm->arg_start, argv_end = mm->arg_end;
	__u64 envp = mm->env_start, envp_end = mm->env_end;

	if (argv < argv_end)
		send_chunk(DAVY_RAW_ARGV, argv, 0, (__u32)(argv_end - argv));
	if (envp >= envp_end)
		return;
	for (__u32 i = 0; i < DAVY_RAW_CHUNKS; i++) {
		if (i * DAVY_RAW_CHUNK >= (__u32)(envp_end - envp))
			return;
		send_chunk(DAVY_RAW_ENVP, envp, i * DAVY_RAW_CHUNK, (__u32)(envp_end - envp));
	}
}

/*
 * True if the task's cgroup has the unit's name. Processes in child cgroups are children of such
 * tasks.
 */
static __always_inline bool in_unit(struct task_struct *task)
{
	char name[DAVY_RAW_UNIT];

	if (!unit[0])
		return false;
	__builtin_memset(name, 0, sizeof(name));
	if (bpf_probe_read_kernel_str(name, sizeof(name),
				      BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, name)) < 2)
		return false;
	for (int i = 0; i < DAVY_RAW_UNIT; i++) {
		if (name[i] != unit[i])
			return false;
		if (!name[i])
			return true;
	}
	return false;
}

/* True if the file is new; marks it as seen. */
static __always_inline bool is_new(struct davy_raw_file *key)
{
	__u8 yes = 1;

	return !bpf_map_update_elem(&seen_files, key, &yes, BPF_NOEXIST);
}

static long vma_file(struct task_struct *task, struct vm_area_struct *vma, struct davy_raw_file *key)
{
	if (vma->vm_file)
		file_key(vma->vm_file, key);
	return 0;
}

/* A dynamic program starts in its ld.so, a static one in its own file. */
static __always_inline bool has_new_linker(struct task_struct *task, const struct davy_raw_file *program)
{
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);
	struct davy_raw_file linker = {};

	bpf_find_vma(task, PT_REGS_IP(user), vma_file, &linker, 0);
	return linker.inode && linker.inode != program->inode && is_new(&linker);
}

/*
 * End of an exec. If userspace has not seen its ld.so, the program waits here, where no grace
 * period can pass; it may be reported as late.
 */
static __always_inline int send_ready(struct task_struct *task, __u32 tgid)
{
	struct davy_raw_file program = {};
	struct davy_raw_head *e;
	__u8 yes = 1;
	bool delayed;

	file_key(BPF_CORE_READ(task, mm, exe_file), &program);
	delayed = has_new_linker(task, &program) && may_delay();
	e = step(DAVY_RAW_READY, sizeof(*e));
	if (!e) {
		skip_delay(delayed);
		return 0;
	}
	if (is_new(&program)) {
		e->number = 1;
		bpf_map_update_elem(&fresh, &tgid, &yes, BPF_ANY);
	}
	e->delayed = delayed;
	send(e, delayed || e->number);
	if (delayed)
		delay_hard();
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(discovery_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct davy_raw_path *e;

	if (!is_followed(tgid)) {
		if (!in_unit(task))
			return 0;
		follow(tgid);
	}
	e = step(DAVY_RAW_EXEC, sizeof(*e));
	if (!e)
		return 0;
	e->head.number = (__u32)task->real_parent->tgid;
	e->path[0] = 0;
	bpf_probe_read_kernel_str(e->path, sizeof(e->path), bprm->filename);
	send(e, false);
	send_strings(task->mm);
	return send_ready(task, tgid);
}

/* A process ends with its last thread: live is already decremented (kernel/exit.c). */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(discovery_exit, struct task_struct *task)
{
	__u32 tgid = (__u32)task->tgid;
	struct davy_raw_head *e;

	if (task->signal->live.counter != 0 || !is_followed(tgid))
		return 0;
	bpf_map_delete_elem(&followed, &tgid);
	e = step(DAVY_RAW_EXIT, sizeof(*e));
	if (!e)
		return 0;
	e->code = task->signal->group_exit_code;
	if (!e->code)
		e->code = task->exit_code;
	send(e, false);
	return 0;
}

/* Runs in the sender's context. HUP, INT, QUIT, ILL, ABRT, BUS, FPE, KILL, SEGV, TERM, SYS. */
#define ENDING                                                                                     \
	(1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 9 | 1u << 11 | \
	 1u << 15 | 1u << 31)

SEC("?tp_btf/signal_generate")
int BPF_PROG(discovery_signal, int sig, struct kernel_siginfo *info, struct task_struct *task,
	     int group, int result)
{
	struct davy_raw_signal *e;

	if (result || sig < 1 || sig > 31 || !(1u << sig & ENDING) || !is_followed((__u32)task->tgid))
		return 0;
	e = step(DAVY_RAW_SIGNAL, sizeof(*e));
	if (!e)
		return 0;
	e->head.number = (unsigned long)info == KERNEL_SENDER ? 0 : e->head.tgid;
	e->head.tgid = (__u32)task->tgid;
	e->head.tid = (__u32)task->pid;
	e->head.code = sig;
	bpf_get_current_comm(e->sender, sizeof(e->sender));
	send(e, false);
	return 0;
}

/* "path/libcuda.so.1": hash of "libcuda". Names that are no library give some other hash. */
static __always_inline __u64 hash_of_name(const char *path, long length)
{
	char tail[NAME_TAIL + 3];
	__u64 hash = DAVY_RAW_HASH_START;
	bool over = false;

	__builtin_memset(tail, 0, sizeof(tail));
	if (length > NAME_TAIL)
		path += length - NAME_TAIL;
	if (bpf_probe_read_user_str(tail, NAME_TAIL, path) < 0)
		return 0;
	for (int i = 0; i < NAME_TAIL; i++) {
		if (tail[i] == '/') {
			hash = DAVY_RAW_HASH_START;
			over = false;
			continue;
		}
		if (!tail[i] || (tail[i] == '.' && tail[i + 1] == 's' && tail[i + 2] == 'o'))
			over = true;
		if (!over)
			hash = (hash ^ (__u8)tail[i]) * DAVY_RAW_HASH_PRIME;
	}
	return hash;
}

/* The file of a descriptor of current; "name", DAVY_RAW_NAME bytes, may be NULL. */
static __always_inline void file_at(long fd, struct davy_raw_file *ret_key, char *ret_name)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file **table = BPF_CORE_READ(task, files, fdt, fd), *file = 0;

	if (bpf_probe_read_kernel(&file, sizeof(file), table + fd) || !file)
		return;
	file_key(file, ret_key);
	if (ret_name)
		bpf_probe_read_kernel_str(ret_name, DAVY_RAW_NAME,
					  BPF_CORE_READ(file, f_path.dentry, d_name.name));
}

static __always_inline bool is_known(const char *path, long length)
{
	__u64 hash = hash_of_name(path, length);

	return bpf_map_lookup_elem(&known_names, &hash) != 0;
}

static __always_inline int open_left(const char *path, long ret)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct davy_raw_file key = {};
	struct davy_raw_path *e;
	__u8 yes = 1;
	long length;

	if (ret >= 0 && ret < FD_MAX)
		file_at(ret, &key, 0);
	e = step(DAVY_RAW_OPEN, sizeof(*e));
	if (!e)
		return 0;
	e->head.code = ret < -MAX_ERRNO || ret >= FD_MAX ? -1 : (__s32)ret;
	e->file = key;
	length = bpf_probe_read_user_str(e->path, sizeof(e->path), path);
	if (length < 0)
		e->path[0] = 0;
	if (ret >= 0 && length > 1 && is_known(path, length) && is_new(&key)) {
		e->head.number = 1;
		bpf_map_update_elem(&fresh, &tgid, &yes, BPF_ANY);
	}
	send(e, e->head.number);
	return 0;
}

static __always_inline int map_left(long fd, __u64 prot, long ret)
{
	struct davy_raw_file key = {};
	struct davy_raw_map *e;

	if (!(prot & PROT_EXEC) || fd < 0 || fd >= FD_MAX)
		return 0;
	e = step(DAVY_RAW_MAP, sizeof(*e));
	if (!e)
		return 0;
	e->name[0] = 0;
	file_at(fd, &key, e->name);
	e->head.code = ret < 0 && ret >= -MAX_ERRNO ? (__s32)ret : 0;
	e->file = key;
	send(e, false);
	return 0;
}

/*
 * All system calls of all processes pass here, so the number is checked first. The arguments are
 * still in the registers. Uses a tracepoint, because some kernels cannot trace functions. System
 * calls of 32-bit programs have other numbers and are ignored.
 */
SEC("?tp_btf/sys_exit")
int BPF_PROG(discovery_syscall, struct pt_regs *user, long ret)
{
	struct pt_regs___kernel *regs = (void *)user;
	__u64 number = regs->orig_ax;

	if (number != NR_MMAP && number != NR_OPEN && number != NR_OPENAT && number != NR_OPENAT2 &&
	    number != NR_CREAT)
		return 0;
	if (!is_followed(bpf_get_current_pid_tgid() >> 32) || (regs->cs & 0xffff) == COMPAT_CS)
		return 0;
	if (number == NR_MMAP)
		return map_left((__s32)regs->r8, regs->dx, ret);
	if (number == NR_OPEN || number == NR_CREAT)
		return open_left((const char *)regs->di, ret);
	return open_left((const char *)regs->si, ret);
}

/* Reads all and selects one: the verifier allows no variable address within the context. */
static __always_inline __u64 argument(struct pt_regs *ctx, __u8 index)
{
	__u64 first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx), third = PT_REGS_PARM3(ctx);

	asm volatile("" : "+r"(first), "+r"(second), "+r"(third));
	return index == 0 ? first : index == 1 ? second : index == 2 ? third : 0;
}

static __always_inline bool too_many(__u32 tgid, __u32 function, __u16 limit)
{
	__u64 key = (__u64)tgid << 32 | function;
	__u32 *count = bpf_map_lookup_elem(&call_counts, &key), one = 1;

	if (!count) {
		bpf_map_update_elem(&call_counts, &key, &one, BPF_ANY);
		return false;
	}
	if (*count >= limit)
		return true;
	*count += 1;
	return false;
}

struct range {
	__u64 begin, end, page;
};

static long vma_found(struct task_struct *task, struct vm_area_struct *vma, struct range *r)
{
	r->begin = vma->vm_start;
	r->end = vma->vm_end;
	r->page = vma->vm_pgoff;
	return 0;
}

SEC("?uprobe.s")
int discovery_call(struct pt_regs *ctx)
{
	__u32 function = (__u32)bpf_get_attach_cookie(ctx);
	struct frame frame = { .pid_tgid = bpf_get_current_pid_tgid(), .stack = PT_REGS_SP(ctx) };
	struct pending p = { .function = function };
	struct davy_raw_site site = { .tgid = frame.pid_tgid >> 32 };
	struct davy_raw_function *f;
	struct range range = {};
	struct davy_raw_call *e;
	__u8 yes = 1;
	bool delayed;

	if (!is_followed(site.tgid))
		return 0;
	f = bpf_map_lookup_elem(&functions, &function);
	if (!f || too_many(site.tgid, function, f->limit))
		return 0;
	p.entered_ns = bpf_ktime_get_boot_ns();
	p.count_at = argument(ctx, f->count);
	bpf_probe_read_user(&site.address, sizeof(site.address), (void *)frame.stack);
	bpf_map_update_elem(&calls, &frame, &p, BPF_ANY);
	delayed = site.address && !bpf_map_lookup_elem(&sites, &site) && may_delay();
	if (delayed) /* otherwise userspace searches a long list */
		bpf_find_vma(bpf_get_current_task_btf(), site.address, vma_found, &range, 0);
	e = step(DAVY_RAW_CALL, sizeof(*e));
	if (!e) {
		skip_delay(delayed);
		return 0;
	}
	e->head.delayed = delayed;
	e->head.number = site.address;
	e->function = function;
	e->count = 0;
	e->result = 0;
	e->size = PT_REGS_PARM2(ctx);
	e->entered_ns = p.entered_ns;
	e->vma_begin = range.begin;
	e->vma_end = range.end;
	e->vma_page = range.page;
	e->text[0] = 0;
	if (f->text != DAVY_RAW_NO_ARGUMENT)
		bpf_probe_read_user_str(e->text, sizeof(e->text), (void *)argument(ctx, f->text));
	send(e, delayed);
	if (delayed && delay(ctx))
		bpf_map_update_elem(&sites, &site, &yes, BPF_ANY);
	return 0;
}

/* void _dl_debug_state(void) of ld.so: called after mapping and before running the libraries. */
SEC("?uprobe.s")
int discovery_loaded(struct pt_regs *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct davy_raw_head *e;
	bool delayed;

	if (!is_followed(tgid) || bpf_map_delete_elem(&fresh, &tgid))
		return 0;
	delayed = may_delay();
	e = step(DAVY_RAW_LOADED, sizeof(*e));
	if (!e) {
		skip_delay(delayed);
		return 0;
	}
	e->delayed = delayed;
	send(e, delayed);
	if (delayed)
		delay(ctx);
	return 0;
}

/* The instruction after a call. If another jump reaches it, the stack pointer differs. */
SEC("?uprobe")
int discovery_return(struct pt_regs *ctx)
{
	struct frame frame = { .pid_tgid = bpf_get_current_pid_tgid(),
			       .stack = PT_REGS_SP(ctx) - sizeof(long) };
	struct pending *p = bpf_map_lookup_elem(&calls, &frame), done;
	struct davy_raw_call *e;

	if (!p)
		return 0;
	done = *p;
	bpf_map_delete_elem(&calls, &frame);
	e = step(DAVY_RAW_RETURN, sizeof(*e));
	if (!e)
		return 0;
	e->function = done.function;
	e->count = 0;
	e->result = PT_REGS_RC(ctx);
	e->size = 0;
	e->entered_ns = done.entered_ns;
	e->text[0] = 0;
	if (done.count_at)
		bpf_probe_read_user(&e->count, sizeof(e->count), (void *)done.count_at);
	send(e, false);
	return 0;
}

static __always_inline int link_error(__s32 code, __u64 object, __u64 format, __u64 a, __u64 b, __u64 c)
{
	struct davy_raw_link_error *e;

	if (!is_followed(bpf_get_current_pid_tgid() >> 32))
		return 0;
	e = step(DAVY_RAW_LINK_ERROR, sizeof(*e));
	if (!e)
		return 0;
	e->head.code = code;
	e->object[0] = e->format[0] = 0;
	e->argument[0][0] = e->argument[1][0] = e->argument[2][0] = 0;
	bpf_probe_read_user_str(e->object, DAVY_RAW_TEXT, (void *)object);
	bpf_probe_read_user_str(e->format, DAVY_RAW_TEXT, (void *)format);
	bpf_probe_read_user_str(e->argument[0], DAVY_RAW_TEXT, (void *)a);
	bpf_probe_read_user_str(e->argument[1], DAVY_RAW_TEXT, (void *)b);
	bpf_probe_read_user_str(e->argument[2], DAVY_RAW_TEXT, (void *)c);
	send(e, false);
	return 0;
}

/*
 * glibc's ld.so exports the functions that create its messages (GLIBC_PRIVATE, since 2.26):
 * _dl_signal_error(code, object, occasion, text), _dl_exception_create(exception, object, text),
 * and _dl_exception_create_format(exception, object, format, ...), whose arguments are all texts.
 * The first calls the second.
 */
SEC("?uprobe")
int discovery_signal_error(struct pt_regs *ctx)
{
	return link_error((__s32)PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM4(ctx), 0, 0, 0);
}

SEC("?uprobe")
int discovery_exception(struct pt_regs *ctx)
{
	return link_error(0, PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), 0, 0, 0);
}

SEC("?uprobe")
int discovery_exception_format(struct pt_regs *ctx)
{
	return link_error(0, PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), PT_REGS_PARM4(ctx),
			  PT_REGS_PARM5(ctx), ctx->r9);
}

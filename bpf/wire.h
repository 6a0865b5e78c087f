/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract between the BPF programs and userspace: formats and kinds of records, and all limits
 * that both sides rely on. Plain C, included by both; includes no other header of davylamp.
 *
 * Rules: kinds are append-only with explicit numbers. A retired number stays as a comment. Every
 * record begins with struct davy_wire_head. Sizes are asserted below. A record is zeroed before it
 * is filled (padding is data too). Counters are cumulative, so a lost record delays a report but
 * loses no count.
 */
#ifndef DAVY_WIRE_H
#define DAVY_WIRE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DAVY_WIRE_VERSION    1
#define DAVY_COMM_LEN	     16	  /* TASK_COMM_LEN */
#define DAVY_DEV_LEN	     16	  /* "0000:03:00.0" and its NUL */
#define DAVY_RING_NAME_LEN   16	  /* "comp_1.0.0", "gfx_0.0.0" */
#define DAVY_TYPE_NAME_LEN   64	  /* mangled name of a thrown C++ type */
#define DAVY_MODULE_NAME_LEN 56	  /* MODULE_NAME_LEN on 64 bit */
#define DAVY_MAX_JOBS	     8192 /* queued or running jobs, all rings */
#define DAVY_MAX_SCHEDS	     2048 /* xe and nouveau have one per queue */
#define DAVY_MAX_MOVERS	     1024 /* (device, evictor, owner) triples */
#define DAVY_MAX_ENGINES     1024
#define DAVY_MAX_EVICTED     8192  /* BOs out of VRAM; the oldest are replaced */
#define DAVY_MAX_SUMS	     8192  /* (fact, device, process) counted in the kernel */
#define DAVY_MAX_OWNERS	     65536 /* BOs with a known creator; the oldest are replaced */
#define DAVY_MAX_TIMES	     1024  /* (ring, process) with a histogram of job times */
/* Histogram of job times: slot n starts at DAVY_TIME_SLOT_NS << n; slot 0 also has shorter ones. */
#define DAVY_TIME_SLOTS	   24
#define DAVY_TIME_SLOT_NS  (1ULL << 16) /* 65.536 us; the last slot is open */
#define DAVY_FACT_NAME_LEN 24		/* ring, engine, driver, device node, comm */
#define DAVY_EVENT_RING	   (1 << 20)	/* bytes: for records that may come in storms */
#define DAVY_URGENT_RING   (1 << 18)	/* bytes: for records that a storm must not displace */
#define DAVY_MOVE_EDGE_NS  20000000ULL	/* minimum interval between reports of a mover */

enum davy_wire_kind {
	DAVY_WIRE_EXEC = 1,
	DAVY_WIRE_EXIT = 2,
	DAVY_WIRE_FORK = 3,
	DAVY_WIRE_THROW = 4,
	/* 5 was a single GPU fault, now counted in the kernel: DAVY_FACT_GPU_FAULT */
	DAVY_WIRE_BO_MOVED = 6,
	DAVY_WIRE_JOB_TIMEOUT = 7,
	DAVY_WIRE_GPU_RESET = 8,
	DAVY_WIRE_PASID = 9,
	DAVY_WIRE_MODULE = 10,
	/* 11 was a failed allocation: DAVY_FACT_ALLOC_FAILED */
	DAVY_WIRE_FACT = 12,
	DAVY_WIRE_JOB = 13, /* the first job after davy_settings.tell_job; a head alone */
	DAVY_WIRE_VRAM = 14,
	DAVY_WIRE_FTRACE = 15, /* kernel.ftrace_enabled is written; a head alone */
};

/*
 * Other reports of the BPF programs, all as struct davy_wire_fact. The comment names the valid
 * fields; "error" is 0 or -errno, "pid" the affected process, head.tgid the context. From
 * DAVY_FACT_HOT on, a fact may occur thousands of times per second. It is counted in the sums map
 * and reported at its first time, when a threshold is crossed, and on the tick. Append-only, like
 * the kinds.
 */
enum davy_fact {
	DAVY_FACT_NONE = 0,
	DAVY_FACT_SIGNAL_SENT = 1,     /* pid, name (its comm), detail: the fatal signal */
	DAVY_FACT_SIGNAL_TAKEN = 2,    /* pid, name, detail: a fatal signal without a handler */
	DAVY_FACT_OOM_VICTIM = 3,      /* pid, name, bytes: resident; detail 1: memory cgroup */
	DAVY_FACT_OPEN_REFUSED = 4,    /* pid, name: "dri/renderD128", error */
	DAVY_FACT_FENCE_FAILED = 5,    /* dev, name: ring, pid: owner, fence, error */
	DAVY_FACT_SOFT_RECOVERY = 6,   /* dev, name: ring, fence; error 0: the wave was killed */
	DAVY_FACT_RING_RESET = 7,      /* dev, name: ring, error, duration */
	DAVY_FACT_ENGINE_RESET = 8,    /* dev, name: engine, error (i915) */
	DAVY_FACT_WEDGED = 9,	       /* dev, name: the driver that declared it */
	DAVY_FACT_COREDUMP = 10,       /* dev, bytes */
	DAVY_FACT_RAS_RESET = 11,      /* dev: uncorrectable errors require a reset */
	DAVY_FACT_GT_ERROR = 12,       /* dev, detail: engine mask (i915: a hang was declared) */
	DAVY_FACT_CONTEXT_BANNED = 13, /* dev, name: engine, pid (i915) */
	DAVY_FACT_KFD_LIMIT = 14,      /* dev, pid, bytes, detail: allocation flags, error */
	DAVY_FACT_KFD_EVICTION_FENCE = 15, /* pid: TTM needs memory of this KFD process */
	DAVY_FACT_KFD_EVICT_WANTED = 16,   /* pid: process whose queues will be stopped */
	/* pid, detail: trigger (KFD_QUEUE_EVICTION_TRIGGER_*), error */
	DAVY_FACT_KFD_QUEUES_EVICTED = 17,
	DAVY_FACT_KFD_QUEUES_RESTORED = 18, /* pid, duration since the eviction, error */
	DAVY_FACT_KFD_RESTORE_FAILED = 19,  /* pid, error, count: consecutive failures */
	DAVY_FACT_KFD_VM_FAULT = 20,	    /* dev, pasid (since 6.15 pid), addr */
	DAVY_FACT_KFD_HW_EXCEPTION = 21,    /* pasid */
	DAVY_FACT_KFD_RESET_SIGNAL = 22,    /* dev: KFD reports a reset to all its processes */
	DAVY_FACT_KFD_POISON = 23,	    /* dev, pasid */
	DAVY_FACT_KFD_GPU_RESET = 24,	    /* dev: KFD requests one */
	DAVY_FACT_XE_VM_KILLED = 25,	    /* dev, pid, detail: asid */
	DAVY_FACT_XE_VM_OPS_FAILED = 26,    /* dev, pid, detail: asid */
	DAVY_FACT_XE_CAT_ERROR = 27,	    /* dev, pid, name: queue, detail: GuC id */
	DAVY_FACT_XE_QUEUE_RESET = 28,	    /* dev, pid, name: queue, detail: GuC id */
	DAVY_FACT_XE_TLB_TIMEOUT = 29,	    /* dev */
	DAVY_FACT_WEDGED_EVENT = 30, /* dev, name: driver, detail: DRM_WEDGE_RECOVERY_* (1 none) */
	DAVY_FACT_NVIDIA_XID = 31,   /* dev, detail: the Xid, name: start of its text */
	DAVY_FACT_HOT = 64,
	/* dev, pasid, detail: packed by DAVY_FAULT_DETAIL, what: class, addr */
	DAVY_FACT_GPU_FAULT = 64,
	/* dev, pid, what: stage, detail: memory type or ioctl number */
	DAVY_FACT_ALLOC_FAILED = 65,
	/* dev, pid, name: driver, detail: command number, error (not ENOMEM), what: verdict */
	DAVY_FACT_IOCTL_FAILED = 66,
	/* dev, pid, bytes: VRAM was preferred, but GTT or system memory used */
	DAVY_FACT_VRAM_SPILL = 67,
	DAVY_FACT_TTM_SWAPOUT = 68,    /* dev, pid: current, bytes */
	DAVY_FACT_SVM_FAULT = 69,      /* dev, pasid, addr, error of restoring the range */
	DAVY_FACT_KFD_PAGE_FAULT = 70, /* dev, pid, addr */
	/* dev, pid: current, bytes, what: 0 room, 1 node, 2 a whole VM */
	DAVY_FACT_I915_EVICT = 71,
	DAVY_FACT_I915_SHRINK = 72, /* dev, pid: current, bytes requested, detail: flags */
	/* dev, pid: current, addr: offset in the object, what: 1 write */
	DAVY_FACT_I915_FAULT = 73,
	DAVY_FACT_XE_PAGE_FAULT = 74,	/* dev, pid, detail: asid, addr */
	DAVY_FACT_XE_VMA_EVICT = 75,	/* dev, pid, detail: asid, bytes */
	DAVY_FACT_XE_REBIND_RETRY = 76, /* dev, pid, detail: asid */
	DAVY_FACT_COUNT = 77,
};

/* Why a record is missing. */
enum davy_loss {
	DAVY_LOSS_RING_FULL = 0,
	DAVY_LOSS_JOBS_FULL = 1,
	DAVY_LOSS_SCHEDS_FULL = 2,
	DAVY_LOSS_MOVERS_FULL = 3,
	DAVY_LOSS_URGENT_FULL = 4,
	DAVY_LOSS_SUMS_FULL = 5,
	DAVY_LOSS_TIMES_FULL = 6,
	DAVY_LOSS_MAP_BUSY = 7, /* its lock was not available in time (rqspinlock, since 6.15) */
	DAVY_LOSS_COUNT = 8,
};

struct davy_wire_head {
	__u16 kind;
	__u16 size;    /* of the whole record */
	__u32 tgid;    /* current at the event; for GPU events not necessarily the culprit */
	__u64 boot_ns; /* CLOCK_BOOTTIME */
};

struct davy_wire_exec {
	struct davy_wire_head head;
	/* task->start_boottime: identifies the process together with tgid */
	__u64 start_boot_ns;
	__u32 ppid;
	__u32 pad;
	char comm[DAVY_COMM_LEN];
};

struct davy_wire_exit {
	struct davy_wire_head head;
	__u64 start_boot_ns;
	__s32 status; /* as from wait(2) */
	__u32 pad;
	char comm[DAVY_COMM_LEN];
};

struct davy_wire_fork {
	struct davy_wire_head head;
	__u32 child_tgid;
	__u32 pad;
};

struct davy_wire_throw {
	struct davy_wire_head head;
	__u32 tid;
	__u32 pad;
	char type[DAVY_TYPE_NAME_LEN];
};

enum davy_fault_class {
	DAVY_FAULT_NONE = 0,
	DAVY_FAULT_VM = 1,	 /* no-retry: the work of the fault is lost */
	DAVY_FAULT_VM_RETRY = 2, /* recoverable, many are normal with XNACK */
	DAVY_FAULT_ILLEGAL = 3,	 /* illegal opcode, register or privileged instruction */
	DAVY_FAULT_ECC = 4,	 /* memory or cache error that hardware could not correct */
	DAVY_FAULT_SDMA = 5,	 /* page fault, timeout, bad doorbell of a copy engine */
	DAVY_FAULT_WAVE = 6,	 /* SQ: error of a shader wave */
	DAVY_FAULT_CLASS_COUNT = 7,
};

#define DAVY_FAULT_WRITE      1u
#define DAVY_FAULT_ADDR_KNOWN 2u /* otherwise it is in a register (gfx6 to gfx8) */

/*
 * detail of DAVY_FACT_GPU_FAULT: VMID, client and source of the interrupt vector, DAVY_FAULT_*
 * flags
 */
#define DAVY_FAULT_DETAIL(vmid, client, src, flags)                                                \
	(((__u32)(vmid)&0xff) | ((__u32)(client)&0xff) << 8 | ((__u32)(src)&0xfff) << 16 |         \
	 (__u32)(flags) << 28)

struct davy_wire_fact {
	struct davy_wire_head head;
	__u64 device; /* identity of the device while it exists: names may be reused */
	char dev[DAVY_DEV_LEN];
	char name[DAVY_FACT_NAME_LEN];
	__u64 bytes;
	__u64 addr;
	__u64 duration_ns;
	__u64 fence_context;
	__u64 fence_seqno;
	__u64 count; /* cumulative for a hot fact, otherwise 1 */
	__u32 pid;   /* a tgid; 0: unknown */
	__u32 pasid;
	__s32 error;
	__u32 detail;
	__u16 fact; /* enum davy_fact */
	__u16 what;
	__u32 pad;
};

struct davy_wire_bo_moved {
	struct davy_wire_head head; /* head.tgid: the evictor, in whose context the move happened */
	__u64 device;		    /* as in davy_wire_fact */
	char dev[DAVY_DEV_LEN];
	__u32 owner_tgid; /* owner of the buffers; 0 if the BO belongs to no VM */
	__u32 owner_pasid;
	__u64 out_bytes; /* from VRAM to elsewhere, cumulative */
	__u64 in_bytes;	 /* back into VRAM, only BOs seen leaving, cumulative */
	__u32 out_count;
	__u32 in_count;
};

struct davy_wire_job_timeout {
	struct davy_wire_head head;
	char dev[DAVY_DEV_LEN];
	char ring[DAVY_RING_NAME_LEN];
	__u64 fence_context;
	__u64 fence_seqno;
	__u64 age_ns;	  /* since it was passed to the hardware; 0: unknown */
	__u32 owner_tgid; /* process that queued the job; 0: unknown */
	__u32 pasid;
};

struct davy_wire_gpu_reset {
	struct davy_wire_head head;
	char dev[DAVY_DEV_LEN];
	__s32 result; /* 0 or -errno; invalid at the start */
	__u32 begun;  /* 1 at the start, 0 at the end */
};

struct davy_wire_pasid {
	struct davy_wire_head head; /* head.tgid: process that opened the device */
	__u32 pasid;
	__u32 freed;
};

struct davy_wire_module {
	struct davy_wire_head head;
	__u32 loaded;
	__u32 pad;
	char name[DAVY_MODULE_NAME_LEN];
};

/* Where an allocation failed, in the order of occurrence. */
enum davy_alloc_stage {
	DAVY_ALLOC_RESOURCE = 1, /* a heap has no room: eviction follows */
	DAVY_ALLOC_VALIDATE = 2, /* no placement left after evicting */
	DAVY_ALLOC_IOCTL = 3,	 /* the application got the error */
	DAVY_ALLOC_POPULATE = 4, /* no pages of system memory for a BO in GTT */
};

/* Map values that userspace polls. */
struct davy_sum_key {
	__u64 device; /* address of its struct device; 0 if the fact has none */
	__u32 pid;
	__u32 pasid;
	__u32 detail;
	__s32 error;
	__u16 fact;
	__u16 what;
	__u32 pad;
};

struct davy_sum {
	char dev[DAVY_DEV_LEN];
	char name[DAVY_FACT_NAME_LEN];
	__u64 count;
	__u64 bytes;
	__u64 addr; /* of the last occurrence */
	__u64 last_ns;
	__u64 spoke_ns;
	__u64 spoke_count;
	__u64 spoke_bytes;
};

/* Set by userspace. If two objects can report a fact, the better one reports it. */
struct davy_settings {
	__u8 amdgpu_moves;    /* amdgpu's tracepoint reports its moves: ttm must not */
	__u8 amdgpu_timeouts; /* the same for the timeouts of its jobs */
	__u8 xe_timeouts;
	__u8 fence_ends;  /* dma_fence_signaled is live and removes jobs */
	__u8 ring_helper; /* amdgpu_ring_reset_helper_end reports ring resets */
	__u8 tell_job;	  /* the agent rests: the next job is reported, once */
	__u8 pad[2];
};

/*
 * Meaning of a failed ioctl, from userspace's table. Looked up by the first 8 characters of the
 * driver's name ("kfd"), the command number and the error; then with DAVY_IOCTL_ANY as the number;
 * then the same two, in reverse order, without a driver.
 */
#define DAVY_IOCTL_ANY	  0xffffffffu
#define DAVY_MAX_VERDICTS 512

struct davy_verdict_key {
	char driver[8];
	__u32 number;
	__s32 error;
};

enum davy_ioctl_verdict {
	DAVY_IOCTL_UNLISTED = 0, /* counted and reported, but not judged */
	DAVY_IOCTL_MATTERS = 1,
	DAVY_IOCTL_BENIGN = 2, /* not counted */
};

/*
 * When to report a hot fact immediately, set by userspace; the index is the fact. 0: first time
 * only.
 */
struct davy_threshold {
	__u64 count; /* new occurrences since the last report */
	__u64 bytes;
	__u64 quiet_ns; /* minimum time between two reports */
};

/* Map values that userspace polls. */
struct davy_job_key {
	__u64 fence_context;
	__u64 fence_seqno;
};

struct davy_job {
	__u64 sched; /* key into the scheds map */
	__u64 queued_ns;
	__u64 run_ns; /* 0 while it is queued */
	__u32 tgid;
	__u32 done; /* finished on the hardware, but its fence is not signaled yet */
};

struct davy_sched {
	__u64 device; /* address */
	char dev[DAVY_DEV_LEN];
	char ring[DAVY_RING_NAME_LEN];
	__s64 timeout_jiffies; /* drm_gpu_scheduler.timeout; LONG_MAX: never */
	__u64 last_run_ns;     /* or queued, for the first job */
	__u64 last_done_ns;
	__u64 done_count;
	__u64 run_count;
	__u64 max_run_ns;
};

struct davy_times_key {
	__u64 sched;
	__u32 tgid;
	__u32 pad;
};

/*
 * Hardware time of the finished jobs of a process on a ring. A program adds to values while the
 * agent copies them, in order: here and in davy_mover and davy_engine_state, a field by which the
 * agent looks for news is before the others, and is written after them.
 */
struct davy_times {
	__u64 device; /* address */
	char dev[DAVY_DEV_LEN];
	char ring[DAVY_RING_NAME_LEN];
	__u64 count;
	__u64 sum_ns;
	__u64 max_ns;
	__u64 slot[DAVY_TIME_SLOTS];
};

struct davy_mover_key {
	__u64 device;
	__u32 evictor_tgid;
	__u32 owner_tgid;
};

struct davy_mover {
	char dev[DAVY_DEV_LEN];
	__u64 out_bytes;
	__u64 in_bytes;
	__u64 spoke_ns;
	__u32 out_count;
	__u32 in_count;
	__u32 owner_pasid;
	__u32 pad;
};

struct davy_engine_state {
	__u64 entered_ns;	/* latest event of a run in progress; 0: idle */
	__u64 first_entered_ns; /* first event of that run */
	__u64 graph_count;	/* finished runs */
	__u64 failed_count;	/* runs ended by a vk:: exception or with GGML_STATUS_FAILED */
	__u64 last_ns;
	__u64 max_ns;
	__u64 lone_count; /* runs whose end was seen only by the start of the next */
	__u32 tid;
	__u32 copying; /* entered by an input copy; its graph has not started */
	__u32 syncs;   /* synchronize calls since the last event */
	__u32 failing; /* graphs that failed since the last one that succeeded */
	__u64 prompt_count;    /* tokens of batches that continue one sequence */
	__u64 generated_count; /* all others: one token per sequence */
	__u32 depth;	       /* position after the last token of the last batch */
	__u32 pad;
};

struct davy_clock {
	__u64 boot_ns;
	__u64 jiffies;
};

/*
 * Account of VRAM (admit.bpf.c): what the driver made and has not freed, for each cgroup below the
 * root and each device. A cgroup's bytes contain those of the cgroups below it.
 */
#define DAVY_VRAM_LEVELS     10	  /* of cgroups below the root; deeper ones are not counted alone */
#define DAVY_VRAM_NAME_LEN   48	  /* last component of the cgroup's path */
#define DAVY_MAX_VRAM	     4096 /* (cgroup, device) pairs */
#define DAVY_MAX_VRAM_LIMITS 256  /* cgroups with a quota, or that leave the reserve alone */
#define DAVY_MAX_VRAM_BOS    262144	 /* objects that exist at the same time */
#define DAVY_VRAM_EDGE_NS    20000000ULL /* minimum interval between two reports of a pair */
#define DAVY_VRAM_NO_MAX     (~0ULL)

struct davy_vram_key {
	__u64 cgroup; /* its id: the inode number of its directory */
	__u64 device; /* address of its struct device */
};

struct davy_vram {
	__u64 bytes; /* the allocation that is being decided included */
	__u64 peak;
	__u64 refused; /* allocations over the quota or into the reserve */
	__u64 raced;   /* made otherwise than what was looked at: the argument was changed */
	__u64 told_ns;
	__u64 gone; /* its cgroup was removed: deleted with its last object */
	char name[DAVY_VRAM_NAME_LEN];
};

struct davy_vram_limit {
	__u64 max; /* DAVY_VRAM_NO_MAX: only the reserve counts */
};

struct davy_vram_device {
	char dev[DAVY_DEV_LEN];
	__u64 bytes;   /* of all cgroups, the root too */
	__u64 managed; /* of cgroups with a struct davy_vram_limit */
	__u64 pending; /* looked at and allowed, not made yet */
	__u64 wiping;  /* freed, not returned to the heap yet */
	__u64 size;    /* of the heap */
};

enum davy_vram_why {
	DAVY_VRAM_NONE = 0,
	DAVY_VRAM_QUOTA = 1,	 /* refused: over the quota */
	DAVY_VRAM_RESERVE = 2,	 /* refused: into the reserve of the device */
	DAVY_VRAM_PLACEMENT = 3, /* refused: an object of system memory is moved into VRAM */
	DAVY_VRAM_RACED = 4,	 /* made larger or elsewhere than allowed */
	DAVY_VRAM_HIGH = 5,	 /* allowed; the cgroup has more than its rule's vram_high */
	DAVY_VRAM_WHY_COUNT = 6,
};

/* head.tgid is the process that asked. */
struct davy_wire_vram {
	struct davy_wire_head head;
	__u64 device;
	char dev[DAVY_DEV_LEN];
	char name[DAVY_VRAM_NAME_LEN];
	__u64 cgroup;
	__u64 bytes; /* asked for */
	__u64 used;  /* by the cgroup before that; of a reserve, by the device */
	__u64 limit; /* the quota, or what the reserve leaves */
	__u64 count; /* of this kind and cgroup, cumulative */
	__u32 why;   /* enum davy_vram_why */
	__u32 pad;
};

/*
 * How many entries the tables have. Processes that nobody limits get half of each, so that they
 * cannot leave a limited one without an account.
 */
struct davy_vram_counts {
	__u64 accounts;
	__u64 objects;
};

/* Set by userspace: a new generation makes the programs read the limits again. */
struct davy_vram_state {
	__u32 generation;
	__u32 pad;
};

_Static_assert(sizeof(struct davy_wire_head) == 16, "wire head");
_Static_assert(sizeof(struct davy_wire_exec) == 48, "wire exec");
_Static_assert(sizeof(struct davy_wire_exit) == 48, "wire exit");
_Static_assert(sizeof(struct davy_wire_fork) == 24, "wire fork");
_Static_assert(sizeof(struct davy_wire_throw) == 88, "wire throw");
_Static_assert(sizeof(struct davy_wire_bo_moved) == 72, "wire bo_moved");
_Static_assert(sizeof(struct davy_wire_job_timeout) == 80, "wire job_timeout");
_Static_assert(sizeof(struct davy_wire_gpu_reset) == 40, "wire gpu_reset");
_Static_assert(sizeof(struct davy_wire_pasid) == 24, "wire pasid");
_Static_assert(sizeof(struct davy_wire_module) == 80, "wire module");
_Static_assert(sizeof(struct davy_wire_fact) == 136, "wire fact");
_Static_assert(sizeof(struct davy_wire_vram) == 136, "wire vram");
_Static_assert(sizeof(struct davy_vram) == 96, "vram");
_Static_assert(sizeof(struct davy_sum_key) == 32, "sum key");
_Static_assert(sizeof(struct davy_sum) == 96, "sum");

#endif

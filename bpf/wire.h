/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract between the kernel programs and userspace: what a record looks like, which kinds
 * exist, and every limit both sides rely on. Plain C, included by both, includes nothing of ours.
 *
 * Rules: kinds are append-only and carry explicit numbers; a retired number stays as a commented
 * hole; every record begins with struct dl_wire_head; sizes are pinned below; a record is zeroed
 * before it is filled (padding is data too). Counters are cumulative, so that a lost record costs
 * promptness and never a byte count.
 */
#ifndef DL_WIRE_H
#define DL_WIRE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DL_WIRE_VERSION	   1
#define DL_COMM_LEN	   16  /* TASK_COMM_LEN */
#define DL_DEV_LEN	   16  /* "0000:03:00.0" and its NUL */
#define DL_RING_NAME_LEN   16  /* "comp_1.0.0", "gfx_0.0.0" */
#define DL_TYPE_NAME_LEN   64  /* mangled name of a thrown C++ type */
#define DL_MODULE_NAME_LEN 56  /* MODULE_NAME_LEN on 64 bit */
#define DL_MAX_JOBS	   8192 /* queued or running jobs remembered over all rings */
#define DL_MAX_SCHEDS	   2048 /* xe and nouveau have one for every queue */
#define DL_MAX_MOVERS	   1024 /* (device, evictor, owner) triples */
#define DL_MAX_ENGINES	   1024
#define DL_MAX_EVICTED	   8192 /* BOs out of VRAM that are remembered, oldest go first */
#define DL_MAX_SUMS	   8192 /* (fact, device, process) counted in the kernel */
#define DL_MAX_OWNERS	   65536 /* BOs whose creator is remembered, oldest go first */
#define DL_MAX_TIMES	   1024 /* (ring, process) with a histogram of job times */
/* Histogram of job times: slot n counts those from DL_TIME_SLOT_NS << n on, 0 the shorter too. */
#define DL_TIME_SLOTS	   24
#define DL_TIME_SLOT_NS	   (1ULL << 16) /* 65.536 us; the last slot is open */
#define DL_FACT_NAME_LEN   24 /* ring, engine, driver, device node, comm */
#define DL_EVENT_RING	   (1 << 20) /* bytes: what may come in storms */
#define DL_URGENT_RING	   (1 << 18) /* bytes: what must not be crowded out by a storm */
#define DL_MOVE_EDGE_NS	   20000000ULL /* a mover speaks at most this often */

enum dl_wire_kind {
	DL_WIRE_EXEC = 1,
	DL_WIRE_EXIT = 2,
	DL_WIRE_FORK = 3,
	DL_WIRE_THROW = 4,
	/* 5 was a single GPU fault, counted in the kernel now: DL_FACT_GPU_FAULT */
	DL_WIRE_BO_MOVED = 6,
	DL_WIRE_JOB_TIMEOUT = 7,
	DL_WIRE_GPU_RESET = 8,
	DL_WIRE_PASID = 9,
	DL_WIRE_MODULE = 10,
	/* 11 was a failed allocation: DL_FACT_ALLOC_FAILED */
	DL_WIRE_FACT = 12,
};

/*
 * What the kernel programs can say beside the kinds above, all as struct dl_wire_fact. The comment
 * names the fields that mean something; "error" is 0 or -errno, "pid" whom it is about, head.tgid
 * in whose context it happened. From DL_FACT_HOT on a fact may come thousands of times a second: it
 * is counted in the sums map, told at its first time and when a threshold is crossed, else on the
 * tick.
 * Append only, like the kinds.
 */
enum dl_fact {
	DL_FACT_NONE = 0,
	DL_FACT_SIGNAL_SENT = 1, /* pid, name (its comm), detail: the fatal signal */
	DL_FACT_SIGNAL_TAKEN = 2, /* pid, name, detail: a fatal signal no handler takes */
	DL_FACT_OOM_VICTIM = 3, /* pid, name, bytes: resident; detail 1: of a memory cgroup */
	DL_FACT_OPEN_REFUSED = 4, /* pid, name: "dri/renderD128", error */
	DL_FACT_FENCE_FAILED = 5, /* dev, name: ring, pid: owner, fence, error */
	DL_FACT_SOFT_RECOVERY = 6, /* dev, name: ring, fence; error 0: the wave was killed */
	DL_FACT_RING_RESET = 7, /* dev, name: ring, error, duration */
	DL_FACT_ENGINE_RESET = 8, /* dev, name: engine, error (i915) */
	DL_FACT_WEDGED = 9, /* dev, name: the driver that declared it */
	DL_FACT_COREDUMP = 10, /* dev, bytes */
	DL_FACT_RAS_RESET = 11, /* dev: uncorrectable errors ask for a reset */
	DL_FACT_GT_ERROR = 12, /* dev, detail: engine mask (i915: a hang was declared) */
	DL_FACT_CONTEXT_BANNED = 13, /* dev, name: engine, pid (i915) */
	DL_FACT_KFD_LIMIT = 14, /* dev, pid, bytes, detail: allocation flags, error */
	DL_FACT_KFD_EVICTION_FENCE = 15, /* pid: TTM wants memory of this KFD process */
	DL_FACT_KFD_EVICT_WANTED = 16, /* pid: whose queues will be stopped */
	/* pid, detail: trigger (KFD_QUEUE_EVICTION_TRIGGER_*), error */
	DL_FACT_KFD_QUEUES_EVICTED = 17,
	DL_FACT_KFD_QUEUES_RESTORED = 18, /* pid, duration since the eviction, error */
	DL_FACT_KFD_RESTORE_FAILED = 19, /* pid, error, count: in a row */
	DL_FACT_KFD_VM_FAULT = 20, /* dev, pasid (since 6.15 pid), addr */
	DL_FACT_KFD_HW_EXCEPTION = 21, /* pasid */
	DL_FACT_KFD_RESET_SIGNAL = 22, /* dev: every KFD process is told of a reset */
	DL_FACT_KFD_POISON = 23, /* dev, pasid */
	DL_FACT_KFD_GPU_RESET = 24, /* dev: KFD asks for one */
	DL_FACT_XE_VM_KILLED = 25, /* dev, pid, detail: asid */
	DL_FACT_XE_VM_OPS_FAILED = 26, /* dev, pid, detail: asid */
	DL_FACT_XE_CAT_ERROR = 27, /* dev, pid, name: queue, detail: GuC id */
	DL_FACT_XE_QUEUE_RESET = 28, /* dev, pid, name: queue, detail: GuC id */
	DL_FACT_XE_TLB_TIMEOUT = 29, /* dev */
	DL_FACT_WEDGED_EVENT = 30, /* dev, name: driver, detail: DRM_WEDGE_RECOVERY_* (1 none) */
	DL_FACT_NVIDIA_XID = 31, /* dev, detail: the Xid, name: begin of its text */
	DL_FACT_HOT = 64,
	/* dev, pasid, detail: packed by DL_FAULT_DETAIL, what: class, addr */
	DL_FACT_GPU_FAULT = 64,
	/* dev, pid, what: stage, detail: memory type or ioctl number */
	DL_FACT_ALLOC_FAILED = 65,
	/* dev, pid, name: driver, detail: command number, error (not ENOMEM), what: verdict */
	DL_FACT_IOCTL_FAILED = 66,
	DL_FACT_VRAM_SPILL = 67, /* dev, pid, bytes: VRAM was preferred, GTT or system given */
	DL_FACT_TTM_SWAPOUT = 68, /* dev, pid: current, bytes */
	DL_FACT_SVM_FAULT = 69, /* dev, pasid, addr, error of restoring the range */
	DL_FACT_KFD_PAGE_FAULT = 70, /* dev, pid, addr */
	/* dev, pid: current, bytes, what: 0 room, 1 node, 2 a whole VM */
	DL_FACT_I915_EVICT = 71,
	DL_FACT_I915_SHRINK = 72, /* dev, pid: current, bytes asked for, detail: flags */
	/* dev, pid: current, addr: offset in the object, what: 1 write */
	DL_FACT_I915_FAULT = 73,
	DL_FACT_XE_PAGE_FAULT = 74, /* dev, pid, detail: asid, addr */
	DL_FACT_XE_VMA_EVICT = 75, /* dev, pid, detail: asid, bytes */
	DL_FACT_XE_REBIND_RETRY = 76, /* dev, pid, detail: asid */
	DL_FACT_COUNT = 77,
};

/* Why a record could not be written. */
enum dl_loss {
	DL_LOSS_RING_FULL = 0,
	DL_LOSS_JOBS_FULL = 1,
	DL_LOSS_SCHEDS_FULL = 2,
	DL_LOSS_MOVERS_FULL = 3,
	DL_LOSS_URGENT_FULL = 4,
	DL_LOSS_SUMS_FULL = 5,
	DL_LOSS_TIMES_FULL = 6,
	DL_LOSS_MAP_BUSY = 7, /* its lock was not to be had in time (rqspinlock, since 6.15) */
	DL_LOSS_COUNT = 8,
};

struct dl_wire_head {
	__u16 kind;
	__u16 size;	/* of the whole record */
	__u32 tgid;	/* current at the event; for GPU events not necessarily the culprit */
	__u64 boot_ns;	/* CLOCK_BOOTTIME */
};

struct dl_wire_exec {
	struct dl_wire_head head;
	__u64 start_boot_ns;	/* task->start_boottime: identity together with tgid */
	__u32 ppid;
	__u32 pad;
	char comm[DL_COMM_LEN];
};

struct dl_wire_exit {
	struct dl_wire_head head;
	__u64 start_boot_ns;
	__s32 status;		/* as from wait(2) */
	__u32 pad;
	char comm[DL_COMM_LEN];
};

struct dl_wire_fork {
	struct dl_wire_head head;
	__u32 child_tgid;
	__u32 pad;
};

struct dl_wire_throw {
	struct dl_wire_head head;
	__u32 tid;
	__u32 pad;
	char type[DL_TYPE_NAME_LEN];
};

enum dl_fault_class {
	DL_FAULT_NONE = 0,
	DL_FAULT_VM = 1,	/* no-retry: the work that caused it is lost */
	DL_FAULT_VM_RETRY = 2,	/* recoverable, many are normal with XNACK */
	DL_FAULT_ILLEGAL = 3,	/* illegal opcode, register or privileged instruction */
	DL_FAULT_ECC = 4,	/* memory or cache error that hardware could not correct */
	DL_FAULT_SDMA = 5,	/* page fault, timeout, bad doorbell of a copy engine */
	DL_FAULT_WAVE = 6,	/* SQ: error of a shader wave */
	DL_FAULT_CLASS_COUNT = 7,
};

#define DL_FAULT_WRITE	    1u
#define DL_FAULT_ADDR_KNOWN 2u	/* else it is in a register (gfx6 to gfx8) */

/* detail of DL_FACT_GPU_FAULT: VMID, client and source of the interrupt vector, DL_FAULT_* flags */
#define DL_FAULT_DETAIL(vmid, client, src, flags)                                                  \
	(((__u32)(vmid) & 0xff) | ((__u32)(client) & 0xff) << 8 |                                  \
	 ((__u32)(src) & 0xfff) << 16 | (__u32)(flags) << 28)

struct dl_wire_fact {
	struct dl_wire_head head;
	__u64 device; /* identity of the device while it is there: a name may be used again */
	char dev[DL_DEV_LEN];
	char name[DL_FACT_NAME_LEN];
	__u64 bytes;
	__u64 addr;
	__u64 duration_ns;
	__u64 fence_context;
	__u64 fence_seqno;
	__u64 count;	/* cumulative for a hot fact, else 1 */
	__u32 pid;	/* a tgid; 0 unknown */
	__u32 pasid;
	__s32 error;
	__u32 detail;
	__u16 fact;	/* enum dl_fact */
	__u16 what;
	__u32 pad;
};

struct dl_wire_bo_moved {
	struct dl_wire_head head; /* head.tgid: the evictor, in whose context the move happened */
	__u64 device;		 /* as in dl_wire_fact */
	char dev[DL_DEV_LEN];
	__u32 owner_tgid;	/* owner of the buffers; 0 when the BO belongs to no VM */
	__u32 owner_pasid;
	__u64 out_bytes;	/* VRAM to anywhere else, cumulative */
	__u64 in_bytes;		/* of BOs seen going out: back into VRAM, cumulative */
	__u32 out_count;
	__u32 in_count;
};

struct dl_wire_job_timeout {
	struct dl_wire_head head;
	char dev[DL_DEV_LEN];
	char ring[DL_RING_NAME_LEN];
	__u64 fence_context;
	__u64 fence_seqno;
	__u64 age_ns;		/* since it was given to the hardware; 0: unknown */
	__u32 owner_tgid;	/* who queued the job; 0 when unknown */
	__u32 pasid;
};

struct dl_wire_gpu_reset {
	struct dl_wire_head head;
	char dev[DL_DEV_LEN];
	__s32 result;		/* 0 or -errno; meaningless while begun */
	__u32 begun;		/* 1 at the start, 0 at the end */
};

struct dl_wire_pasid {
	struct dl_wire_head head; /* head.tgid: who opened the device */
	__u32 pasid;
	__u32 freed;
};

struct dl_wire_module {
	struct dl_wire_head head;
	__u32 loaded;
	__u32 pad;
	char name[DL_MODULE_NAME_LEN];
};

/* Where an allocation failed, in the order in which it comes to that. */
enum dl_alloc_stage {
	DL_ALLOC_RESOURCE = 1, /* a heap has no room: eviction is tried next */
	DL_ALLOC_VALIDATE = 2, /* no placement is left after evicting */
	DL_ALLOC_IOCTL = 3,    /* the application was told */
	DL_ALLOC_POPULATE = 4, /* no pages of system memory for a BO in GTT */
};

/* Map values that userspace polls. */
struct dl_sum_key {
	__u64 device; /* address of its struct device; 0 where the fact has none */
	__u32 pid;
	__u32 pasid;
	__u32 detail;
	__s32 error;
	__u16 fact;
	__u16 what;
	__u32 pad;
};

struct dl_sum {
	char dev[DL_DEV_LEN];
	char name[DL_FACT_NAME_LEN];
	__u64 count;
	__u64 bytes;
	__u64 addr; /* of the last one */
	__u64 last_ns;
	__u64 spoke_ns;
	__u64 spoke_count;
	__u64 spoke_bytes;
};

/* Set by userspace, so that what two objects could tell is told by the one that knows more. */
struct dl_settings {
	__u8 amdgpu_moves;    /* amdgpu's own tracepoint tells its moves: ttm keeps quiet on them */
	__u8 amdgpu_timeouts; /* likewise the timeouts of its jobs */
	__u8 xe_timeouts;
	__u8 fence_ends;      /* dma_fence_signaled is live: there a job is forgotten */
	__u8 ring_helper;     /* amdgpu_ring_reset_helper_end tells resets of rings */
	__u8 pad[3];
};

/*
 * What a failed ioctl means, filled by userspace from its table. Looked up by the driver's name
 * (its first 8 characters; "kfd"), the command's number and the error; then with DL_IOCTL_ANY
 * for the number; then the same two, the other way round, without a driver.
 */
#define DL_IOCTL_ANY	0xffffffffu
#define DL_MAX_VERDICTS 512

struct dl_verdict_key {
	char driver[8];
	__u32 number;
	__s32 error;
};

enum dl_ioctl_verdict {
	DL_IOCTL_UNLISTED = 0, /* counted, told, not judged */
	DL_IOCTL_MATTERS = 1,
	DL_IOCTL_BENIGN = 2, /* not even counted */
};

/* When a hot fact is told at once, set by userspace; index is the fact. 0: only its first time. */
struct dl_threshold {
	__u64 count; /* new ones since it was last told */
	__u64 bytes;
	__u64 quiet_ns; /* between two tellings */
};

/* Map values that userspace polls. */
struct dl_job_key {
	__u64 fence_context;
	__u64 fence_seqno;
};

struct dl_job {
	__u64 sched;		/* key into the scheds map */
	__u64 queued_ns;
	__u64 run_ns;		/* 0 while only queued */
	__u32 tgid;
	__u32 done;		/* off the hardware, its fence not signaled yet */
};

struct dl_sched {
	__u64 device; /* address */
	char dev[DL_DEV_LEN];
	char ring[DL_RING_NAME_LEN];
	__s64 timeout_jiffies;	/* drm_gpu_scheduler.timeout; LONG_MAX: never */
	__u64 last_run_ns; /* or queued, for the first */
	__u64 last_done_ns;
	__u64 done_count;
	__u64 run_count;
	__u64 max_run_ns;
};

struct dl_times_key {
	__u64 sched;
	__u32 tgid;
	__u32 pad;
};

/* Time on the hardware of the finished jobs of a process on a ring. */
struct dl_times {
	__u64 device; /* address */
	char dev[DL_DEV_LEN];
	char ring[DL_RING_NAME_LEN];
	__u64 count;
	__u64 sum_ns;
	__u64 max_ns;
	__u64 slot[DL_TIME_SLOTS];
};

struct dl_mover_key {
	__u64 device;
	__u32 evictor_tgid;
	__u32 owner_tgid;
};

struct dl_mover {
	char dev[DL_DEV_LEN];
	__u64 out_bytes;
	__u64 in_bytes;
	__u64 spoke_ns;
	__u32 out_count;
	__u32 in_count;
	__u32 owner_pasid;
	__u32 pad;
};

struct dl_engine_state {
	__u64 entered_ns; /* latest sign of a run not yet left; 0: idle */
	__u64 first_entered_ns; /* first of that run */
	__u64 graph_count; /* runs left */
	__u64 failed_count; /* runs ended by a vk:: exception */
	__u64 last_ns;
	__u64 max_ns;
	__u64 lone_count; /* runs whose end was seen only by the begin of the next */
	__u32 tid;
	__u32 copying; /* entered by an input copy, its graph has not begun */
	__u32 syncs; /* synchronize entered since the last sign */
	__u32 depth; /* position behind the last token of the last batch */
	__u64 prompt_count; /* tokens of batches that go on one sequence */
	__u64 generated_count; /* all others: a token a sequence */
};

struct dl_clock {
	__u64 boot_ns;
	__u64 jiffies;
};

_Static_assert(sizeof(struct dl_wire_head) == 16, "wire head");
_Static_assert(sizeof(struct dl_wire_exec) == 48, "wire exec");
_Static_assert(sizeof(struct dl_wire_exit) == 48, "wire exit");
_Static_assert(sizeof(struct dl_wire_fork) == 24, "wire fork");
_Static_assert(sizeof(struct dl_wire_throw) == 88, "wire throw");
_Static_assert(sizeof(struct dl_wire_bo_moved) == 72, "wire bo_moved");
_Static_assert(sizeof(struct dl_wire_job_timeout) == 80, "wire job_timeout");
_Static_assert(sizeof(struct dl_wire_gpu_reset) == 40, "wire gpu_reset");
_Static_assert(sizeof(struct dl_wire_pasid) == 24, "wire pasid");
_Static_assert(sizeof(struct dl_wire_module) == 80, "wire module");
_Static_assert(sizeof(struct dl_wire_fact) == 136, "wire fact");
_Static_assert(sizeof(struct dl_sum_key) == 32, "sum key");
_Static_assert(sizeof(struct dl_sum) == 96, "sum");

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract between the kernel programs and userspace: what a record looks like, which kinds
 * exist, and every limit both sides rely on. Plain C, included by both, includes nothing of ours.
 *
 * Rules: kinds are append-only and carry explicit numbers; a retired number stays as a commented
 * hole; every record begins with struct davy_wire_head; sizes are pinned below; a record is zeroed
 * before it is filled (padding is data too). Counters are cumulative, so that a lost record costs
 * promptness and never a byte count.
 */
#ifndef DAVY_WIRE_H
#define DAVY_WIRE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DAVY_WIRE_VERSION	   1
#define DAVY_COMM_LEN	   16  /* TASK_COMM_LEN */
#define DAVY_DEV_LEN	   16  /* "0000:03:00.0" and its NUL */
#define DAVY_RING_NAME_LEN   16  /* "comp_1.0.0", "gfx_0.0.0" */
#define DAVY_TYPE_NAME_LEN   64  /* mangled name of a thrown C++ type */
#define DAVY_MODULE_NAME_LEN 56  /* MODULE_NAME_LEN on 64 bit */
#define DAVY_MAX_JOBS	   8192 /* queued or running jobs remembered over all rings */
#define DAVY_MAX_SCHEDS	   2048 /* xe and nouveau have one for every queue */
#define DAVY_MAX_MOVERS	   1024 /* (device, evictor, owner) triples */
#define DAVY_MAX_ENGINES	   1024
#define DAVY_MAX_EVICTED	   8192 /* BOs out of VRAM that are remembered, oldest go first */
#define DAVY_MAX_SUMS	   8192 /* (fact, device, process) counted in the kernel */
#define DAVY_MAX_OWNERS	   65536 /* BOs whose creator is remembered, oldest go first */
#define DAVY_MAX_TIMES	   1024 /* (ring, process) with a histogram of job times */
/* Histogram of job times: slot n counts those from DAVY_TIME_SLOT_NS << n on, 0 the shorter too. */
#define DAVY_TIME_SLOTS	   24
#define DAVY_TIME_SLOT_NS	   (1ULL << 16) /* 65.536 us; the last slot is open */
#define DAVY_FACT_NAME_LEN   24 /* ring, engine, driver, device node, comm */
#define DAVY_EVENT_RING	   (1 << 20) /* bytes: what may come in storms */
#define DAVY_URGENT_RING	   (1 << 18) /* bytes: what must not be crowded out by a storm */
#define DAVY_MOVE_EDGE_NS	   20000000ULL /* a mover speaks at most this often */

enum davy_wire_kind {
	DAVY_WIRE_EXEC = 1,
	DAVY_WIRE_EXIT = 2,
	DAVY_WIRE_FORK = 3,
	DAVY_WIRE_THROW = 4,
	/* 5 was a single GPU fault, counted in the kernel now: DAVY_FACT_GPU_FAULT */
	DAVY_WIRE_BO_MOVED = 6,
	DAVY_WIRE_JOB_TIMEOUT = 7,
	DAVY_WIRE_GPU_RESET = 8,
	DAVY_WIRE_PASID = 9,
	DAVY_WIRE_MODULE = 10,
	/* 11 was a failed allocation: DAVY_FACT_ALLOC_FAILED */
	DAVY_WIRE_FACT = 12,
};

/*
 * What the kernel programs can say beside the kinds above, all as struct davy_wire_fact. The
 * comment names the fields that mean something; "error" is 0 or -errno, "pid" its process,
 * head.tgid in whose context it happened. From DAVY_FACT_HOT on a fact may come thousands of times
 * a second: it is counted in the sums map, told at its first time and when a threshold is crossed,
 * else on the tick. Append only, like the kinds.
 */
enum davy_fact {
	DAVY_FACT_NONE = 0,
	DAVY_FACT_SIGNAL_SENT = 1, /* pid, name (its comm), detail: the fatal signal */
	DAVY_FACT_SIGNAL_TAKEN = 2, /* pid, name, detail: a fatal signal no handler takes */
	DAVY_FACT_OOM_VICTIM = 3, /* pid, name, bytes: resident; detail 1: of a memory cgroup */
	DAVY_FACT_OPEN_REFUSED = 4, /* pid, name: "dri/renderD128", error */
	DAVY_FACT_FENCE_FAILED = 5, /* dev, name: ring, pid: owner, fence, error */
	DAVY_FACT_SOFT_RECOVERY = 6, /* dev, name: ring, fence; error 0: the wave was killed */
	DAVY_FACT_RING_RESET = 7, /* dev, name: ring, error, duration */
	DAVY_FACT_ENGINE_RESET = 8, /* dev, name: engine, error (i915) */
	DAVY_FACT_WEDGED = 9, /* dev, name: the driver that declared it */
	DAVY_FACT_COREDUMP = 10, /* dev, bytes */
	DAVY_FACT_RAS_RESET = 11, /* dev: uncorrectable errors ask for a reset */
	DAVY_FACT_GT_ERROR = 12, /* dev, detail: engine mask (i915: a hang was declared) */
	DAVY_FACT_CONTEXT_BANNED = 13, /* dev, name: engine, pid (i915) */
	DAVY_FACT_KFD_LIMIT = 14, /* dev, pid, bytes, detail: allocation flags, error */
	DAVY_FACT_KFD_EVICTION_FENCE = 15, /* pid: TTM wants memory of this KFD process */
	DAVY_FACT_KFD_EVICT_WANTED = 16, /* pid: whose queues will be stopped */
	/* pid, detail: trigger (KFD_QUEUE_EVICTION_TRIGGER_*), error */
	DAVY_FACT_KFD_QUEUES_EVICTED = 17,
	DAVY_FACT_KFD_QUEUES_RESTORED = 18, /* pid, duration since the eviction, error */
	DAVY_FACT_KFD_RESTORE_FAILED = 19, /* pid, error, count: in a row */
	DAVY_FACT_KFD_VM_FAULT = 20, /* dev, pasid (since 6.15 pid), addr */
	DAVY_FACT_KFD_HW_EXCEPTION = 21, /* pasid */
	DAVY_FACT_KFD_RESET_SIGNAL = 22, /* dev: KFD reports a reset to all its processes */
	DAVY_FACT_KFD_POISON = 23, /* dev, pasid */
	DAVY_FACT_KFD_GPU_RESET = 24, /* dev: KFD asks for one */
	DAVY_FACT_XE_VM_KILLED = 25, /* dev, pid, detail: asid */
	DAVY_FACT_XE_VM_OPS_FAILED = 26, /* dev, pid, detail: asid */
	DAVY_FACT_XE_CAT_ERROR = 27, /* dev, pid, name: queue, detail: GuC id */
	DAVY_FACT_XE_QUEUE_RESET = 28, /* dev, pid, name: queue, detail: GuC id */
	DAVY_FACT_XE_TLB_TIMEOUT = 29, /* dev */
	DAVY_FACT_WEDGED_EVENT = 30, /* dev, name: driver, detail: DRM_WEDGE_RECOVERY_* (1 none) */
	DAVY_FACT_NVIDIA_XID = 31, /* dev, detail: the Xid, name: begin of its text */
	DAVY_FACT_HOT = 64,
	/* dev, pasid, detail: packed by DAVY_FAULT_DETAIL, what: class, addr */
	DAVY_FACT_GPU_FAULT = 64,
	/* dev, pid, what: stage, detail: memory type or ioctl number */
	DAVY_FACT_ALLOC_FAILED = 65,
	/* dev, pid, name: driver, detail: command number, error (not ENOMEM), what: verdict */
	DAVY_FACT_IOCTL_FAILED = 66,
	DAVY_FACT_VRAM_SPILL = 67, /* dev, pid, bytes: VRAM was preferred, GTT or system given */
	DAVY_FACT_TTM_SWAPOUT = 68, /* dev, pid: current, bytes */
	DAVY_FACT_SVM_FAULT = 69, /* dev, pasid, addr, error of restoring the range */
	DAVY_FACT_KFD_PAGE_FAULT = 70, /* dev, pid, addr */
	/* dev, pid: current, bytes, what: 0 room, 1 node, 2 a whole VM */
	DAVY_FACT_I915_EVICT = 71,
	DAVY_FACT_I915_SHRINK = 72, /* dev, pid: current, bytes asked for, detail: flags */
	/* dev, pid: current, addr: offset in the object, what: 1 write */
	DAVY_FACT_I915_FAULT = 73,
	DAVY_FACT_XE_PAGE_FAULT = 74, /* dev, pid, detail: asid, addr */
	DAVY_FACT_XE_VMA_EVICT = 75, /* dev, pid, detail: asid, bytes */
	DAVY_FACT_XE_REBIND_RETRY = 76, /* dev, pid, detail: asid */
	DAVY_FACT_COUNT = 77,
};

/* Why a record could not be written. */
enum davy_loss {
	DAVY_LOSS_RING_FULL = 0,
	DAVY_LOSS_JOBS_FULL = 1,
	DAVY_LOSS_SCHEDS_FULL = 2,
	DAVY_LOSS_MOVERS_FULL = 3,
	DAVY_LOSS_URGENT_FULL = 4,
	DAVY_LOSS_SUMS_FULL = 5,
	DAVY_LOSS_TIMES_FULL = 6,
	DAVY_LOSS_MAP_BUSY = 7, /* its lock was not to be had in time (rqspinlock, since 6.15) */
	DAVY_LOSS_COUNT = 8,
};

struct davy_wire_head {
	__u16 kind;
	__u16 size;	/* of the whole record */
	__u32 tgid;	/* current at the event; for GPU events not necessarily the culprit */
	__u64 boot_ns;	/* CLOCK_BOOTTIME */
};

struct davy_wire_exec {
	struct davy_wire_head head;
	__u64 start_boot_ns;	/* task->start_boottime: identity together with tgid */
	__u32 ppid;
	__u32 pad;
	char comm[DAVY_COMM_LEN];
};

struct davy_wire_exit {
	struct davy_wire_head head;
	__u64 start_boot_ns;
	__s32 status;		/* as from wait(2) */
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
	DAVY_FAULT_VM = 1,	/* no-retry: the work that caused it is lost */
	DAVY_FAULT_VM_RETRY = 2,	/* recoverable, many are normal with XNACK */
	DAVY_FAULT_ILLEGAL = 3,	/* illegal opcode, register or privileged instruction */
	DAVY_FAULT_ECC = 4,	/* memory or cache error that hardware could not correct */
	DAVY_FAULT_SDMA = 5,	/* page fault, timeout, bad doorbell of a copy engine */
	DAVY_FAULT_WAVE = 6,	/* SQ: error of a shader wave */
	DAVY_FAULT_CLASS_COUNT = 7,
};

#define DAVY_FAULT_WRITE	    1u
#define DAVY_FAULT_ADDR_KNOWN 2u	/* else it is in a register (gfx6 to gfx8) */

/*
 * detail of DAVY_FACT_GPU_FAULT: VMID, client and source of the interrupt vector, DAVY_FAULT_*
 * flags
 */
#define DAVY_FAULT_DETAIL(vmid, client, src, flags) \
	(((__u32)(vmid) & 0xff) | ((__u32)(client) & 0xff) << 8 |                                  \
	 ((__u32)(src) & 0xfff) << 16 | (__u32)(flags) << 28)

struct davy_wire_fact {
	struct davy_wire_head head;
	__u64 device; /* identity of the device while it is there: a name may be used again */
	char dev[DAVY_DEV_LEN];
	char name[DAVY_FACT_NAME_LEN];
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
	__u16 fact;	/* enum davy_fact */
	__u16 what;
	__u32 pad;
};

struct davy_wire_bo_moved {
	struct davy_wire_head head; /* head.tgid: the evictor, in whose context the move happened */
	__u64 device;		 /* as in davy_wire_fact */
	char dev[DAVY_DEV_LEN];
	__u32 owner_tgid;	/* owner of the buffers; 0 when the BO belongs to no VM */
	__u32 owner_pasid;
	__u64 out_bytes;	/* VRAM to anywhere else, cumulative */
	__u64 in_bytes;		/* of BOs seen going out: back into VRAM, cumulative */
	__u32 out_count;
	__u32 in_count;
};

struct davy_wire_job_timeout {
	struct davy_wire_head head;
	char dev[DAVY_DEV_LEN];
	char ring[DAVY_RING_NAME_LEN];
	__u64 fence_context;
	__u64 fence_seqno;
	__u64 age_ns;		/* since it was given to the hardware; 0: unknown */
	__u32 owner_tgid;	/* who queued the job; 0 when unknown */
	__u32 pasid;
};

struct davy_wire_gpu_reset {
	struct davy_wire_head head;
	char dev[DAVY_DEV_LEN];
	__s32 result;		/* 0 or -errno; meaningless while begun */
	__u32 begun;		/* 1 at the start, 0 at the end */
};

struct davy_wire_pasid {
	struct davy_wire_head head; /* head.tgid: who opened the device */
	__u32 pasid;
	__u32 freed;
};

struct davy_wire_module {
	struct davy_wire_head head;
	__u32 loaded;
	__u32 pad;
	char name[DAVY_MODULE_NAME_LEN];
};

/* Where an allocation failed, in the order in which it comes to that. */
enum davy_alloc_stage {
	DAVY_ALLOC_RESOURCE = 1, /* a heap has no room: eviction is tried next */
	DAVY_ALLOC_VALIDATE = 2, /* no placement is left after evicting */
	DAVY_ALLOC_IOCTL = 3,    /* the application got the error */
	DAVY_ALLOC_POPULATE = 4, /* no pages of system memory for a BO in GTT */
};

/* Map values that userspace polls. */
struct davy_sum_key {
	__u64 device; /* address of its struct device; 0 where the fact has none */
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
	__u64 addr; /* of the last one */
	__u64 last_ns;
	__u64 spoke_ns;
	__u64 spoke_count;
	__u64 spoke_bytes;
};

/* Set by userspace, so that what two objects could tell is told by the one that knows more. */
struct davy_settings {
	__u8 amdgpu_moves;    /* amdgpu's own tracepoint tells its moves: ttm keeps quiet on them */
	__u8 amdgpu_timeouts; /* likewise the timeouts of its jobs */
	__u8 xe_timeouts;
	__u8 fence_ends;      /* dma_fence_signaled is live: there a job is forgotten */
	__u8 ring_helper;     /* amdgpu_ring_reset_helper_end tells resets of rings */
	__u8 pad[3];
};

/*
 * What a failed ioctl means, filled by userspace from its table. Looked up by the driver's name
 * (its first 8 characters; "kfd"), the command's number and the error; then with DAVY_IOCTL_ANY
 * for the number; then the same two, the other way round, without a driver.
 */
#define DAVY_IOCTL_ANY	0xffffffffu
#define DAVY_MAX_VERDICTS 512

struct davy_verdict_key {
	char driver[8];
	__u32 number;
	__s32 error;
};

enum davy_ioctl_verdict {
	DAVY_IOCTL_UNLISTED = 0, /* counted, told, not judged */
	DAVY_IOCTL_MATTERS = 1,
	DAVY_IOCTL_BENIGN = 2, /* not even counted */
};

/* When a hot fact is told at once, set by userspace; index is the fact. 0: only its first time. */
struct davy_threshold {
	__u64 count; /* new ones since it was last told */
	__u64 bytes;
	__u64 quiet_ns; /* between two tellings */
};

/* Map values that userspace polls. */
struct davy_job_key {
	__u64 fence_context;
	__u64 fence_seqno;
};

struct davy_job {
	__u64 sched;		/* key into the scheds map */
	__u64 queued_ns;
	__u64 run_ns;		/* 0 while only queued */
	__u32 tgid;
	__u32 done;		/* off the hardware, its fence not signaled yet */
};

struct davy_sched {
	__u64 device; /* address */
	char dev[DAVY_DEV_LEN];
	char ring[DAVY_RING_NAME_LEN];
	__s64 timeout_jiffies;	/* drm_gpu_scheduler.timeout; LONG_MAX: never */
	__u64 last_run_ns; /* or queued, for the first */
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

/* Time on the hardware of the finished jobs of a process on a ring. */
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

struct davy_clock {
	__u64 boot_ns;
	__u64 jiffies;
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
_Static_assert(sizeof(struct davy_sum_key) == 32, "sum key");
_Static_assert(sizeof(struct davy_sum) == 96, "sum");

#endif

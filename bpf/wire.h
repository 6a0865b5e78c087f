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
#define DL_MAX_SCHEDS	   256
#define DL_MAX_MOVERS	   1024 /* (device, evictor, owner) triples */
#define DL_MAX_ENGINES	   1024
#define DL_MAX_EVICTED	   8192 /* BOs out of VRAM that are remembered, oldest go first */
#define DL_MAX_ALLOCS	   1024 /* (device, process, stage), oldest go first */
#define DL_EVENT_RING	   (1 << 20) /* bytes: what may come in storms */
#define DL_URGENT_RING	   (1 << 18) /* bytes: what must not be crowded out by a storm */
#define DL_MOVE_EDGE_NS	   20000000ULL /* a mover speaks at most this often */

enum dl_wire_kind {
	DL_WIRE_EXEC = 1,
	DL_WIRE_EXIT = 2,
	DL_WIRE_FORK = 3,
	DL_WIRE_THROW = 4,
	DL_WIRE_GPU_FAULT = 5,
	DL_WIRE_BO_MOVED = 6,
	DL_WIRE_JOB_TIMEOUT = 7,
	DL_WIRE_GPU_RESET = 8,
	DL_WIRE_PASID = 9,
	DL_WIRE_MODULE = 10,
	DL_WIRE_ALLOC_FAILED = 11,
};

/* Why a record could not be written. */
enum dl_loss {
	DL_LOSS_RING_FULL = 0,
	DL_LOSS_JOBS_FULL = 1,
	DL_LOSS_SCHEDS_FULL = 2,
	DL_LOSS_MOVERS_FULL = 3,
	DL_LOSS_URGENT_FULL = 4,
	DL_LOSS_COUNT = 5,
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
};

#define DL_FAULT_WRITE	   1u
#define DL_FAULT_ADDR_KNOWN 2u	/* else it is in a register (gfx6 to gfx8) */

struct dl_wire_gpu_fault {
	struct dl_wire_head head;
	char dev[DL_DEV_LEN];
	__u64 addr;		/* bytes */
	__u32 pasid;
	__u32 vmid;
	__u16 client_id;
	__u16 src_id;
	__u16 fault_class;	/* enum dl_fault_class */
	__u16 flags; /* DL_FAULT_* */
};

struct dl_wire_bo_moved {
	struct dl_wire_head head; /* head.tgid: the evictor, in whose context the move happened */
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
};

struct dl_wire_alloc_failed {
	struct dl_wire_head head; /* head.tgid: who asked for the memory */
	char dev[DL_DEV_LEN];
	__u64 bytes; /* of the last one; 0 unknown */
	__u32 count; /* of this (device, process, stage), cumulative */
	__s32 error;
	__u32 what; /* memory type, or the ioctl's number */
	__u16 stage;
	__u16 pad;
};

struct dl_alloc_key {
	__u64 device;
	__u32 tgid;
	__u32 stage;
};

struct dl_alloc {
	__u64 spoke_ns;
	__u32 count;
	__u32 pad;
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
	__u32 pad;
};

struct dl_sched {
	char dev[DL_DEV_LEN];
	char ring[DL_RING_NAME_LEN];
	__s64 timeout_jiffies;	/* drm_gpu_scheduler.timeout; LONG_MAX: never */
	__u64 last_done_ns;
	__u64 done_count;
	__u64 run_count;
	__u64 max_run_ns;
};

struct dl_mover_key {
	__u64 adev;
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
	__u32 pad;
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
_Static_assert(sizeof(struct dl_wire_gpu_fault) == 56, "wire gpu_fault");
_Static_assert(sizeof(struct dl_wire_bo_moved) == 64, "wire bo_moved");
_Static_assert(sizeof(struct dl_wire_job_timeout) == 80, "wire job_timeout");
_Static_assert(sizeof(struct dl_wire_gpu_reset) == 40, "wire gpu_reset");
_Static_assert(sizeof(struct dl_wire_pasid) == 24, "wire pasid");
_Static_assert(sizeof(struct dl_wire_module) == 80, "wire module");
_Static_assert(sizeof(struct dl_wire_alloc_failed) == 56, "wire alloc_failed");

#endif

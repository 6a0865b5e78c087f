/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a kernel log can say about a GPU: kinds of lines, and what each is evidence of. A failure is
 * named by its class; a precursor by the hazard it shows and by the classes it was seen to lead to;
 * an aftermath belongs to a failure that was told before, or whose lines are missing; a detail
 * belongs to a block of lines; a look-alike raises nothing. Numbers are append-only.
 */
#ifndef DL_CORE_LOG_KIND_H
#define DL_CORE_LOG_KIND_H

#include "core/event/types.h"

enum dl_log_class {
	DL_CLASS_NONE = 0,
	DL_CLASS_PAGE_FAULT = 1,
	DL_CLASS_GPU_RESET = 2,
	DL_CLASS_HANG = 3,
	DL_CLASS_RING_TIMEOUT = 4,
	DL_CLASS_HOST_CRASH = 5,
	DL_CLASS_DEVICE_LOST = 6,
	DL_CLASS_OOM_GTT_HOST = 7,
	DL_CLASS_OOM_VRAM = 8,
	DL_CLASS_EVICTION_THRASH = 9,
	DL_CLASS_RUNNER_CRASH_INIT = 10,
	DL_CLASS_DISCOVERY_MISS = 11,
	DL_CLASS_WRONG_OUTPUT = 12,
	DL_CLASS_OTHER = 13,
	DL_CLASS_COUNT = 14,
};

/* The classes that a precursor may lead to, as bits. */
enum dl_log_class_bit {
	DL_CAN_PAGE_FAULT = 1 << DL_CLASS_PAGE_FAULT,
	DL_CAN_GPU_RESET = 1 << DL_CLASS_GPU_RESET,
	DL_CAN_HANG = 1 << DL_CLASS_HANG,
	DL_CAN_RING_TIMEOUT = 1 << DL_CLASS_RING_TIMEOUT,
	DL_CAN_HOST_CRASH = 1 << DL_CLASS_HOST_CRASH,
	DL_CAN_DEVICE_LOST = 1 << DL_CLASS_DEVICE_LOST,
	DL_CAN_OOM_GTT_HOST = 1 << DL_CLASS_OOM_GTT_HOST,
	DL_CAN_OOM_VRAM = 1 << DL_CLASS_OOM_VRAM,
	DL_CAN_EVICTION_THRASH = 1 << DL_CLASS_EVICTION_THRASH,
	DL_CAN_RUNNER_CRASH_INIT = 1 << DL_CLASS_RUNNER_CRASH_INIT,
	DL_CAN_DISCOVERY_MISS = 1 << DL_CLASS_DISCOVERY_MISS,
	DL_CAN_WRONG_OUTPUT = 1 << DL_CLASS_WRONG_OUTPUT,
	DL_CAN_OTHER = 1 << DL_CLASS_OTHER,
};

enum dl_log_role {
	DL_PART_NONE = 0,
	DL_PART_FAILURE = 1,
	DL_PART_PRECURSOR = 2,
	DL_PART_AFTERMATH = 3,
	DL_PART_DETAIL = 4,
	DL_PART_LOOKALIKE = 5,
	DL_PART_COUNT = 6,
};

/* What a precursor shows; where the core knows the hazard, it has the name it has there. */
enum dl_log_hazard {
	DL_LOG_HZ_NONE = 0,
	DL_LOG_HZ_FAULT_STORM = 1,
	DL_LOG_HZ_EVICTION_STORM = 2,
	DL_LOG_HZ_ALLOC_FAILURE = 3,
	DL_LOG_HZ_JOB_STALL = 4,
	DL_LOG_HZ_QUEUE_STUCK = 5,    /* the firmware scheduler does not answer */
	DL_LOG_HZ_HOST_MEMORY = 6,    /* system memory, which is a UMA device's memory too */
	DL_LOG_HZ_HOST_STALL = 7,     /* the kernel itself gets stuck */
	DL_LOG_HZ_HARDWARE_ERROR = 8, /* ECC, link, bus */
	DL_LOG_HZ_COUNT = 9,
};

enum dl_log_kind {
	DL_LOG_NOTHING = 0,
	DL_LOG_PAGE_FAULT = 1, /* a VM fault of the GPU; its block: process, address, status */
	DL_LOG_FAULT_ADDRESS = 2,
	DL_LOG_FAULT_STATUS = 3,
	DL_LOG_FAULT_FLAGS = 4,	   /* says nothing without the lines before it */
	DL_LOG_PROCESS_INFO = 5,   /* of a fault or of a ring timeout */
	DL_LOG_FAULT_UNSERVED = 6, /* nobody could repair it */
	DL_LOG_FAULT_PROCESS = 7,
	DL_LOG_RING_TIMEOUT = 10,
	DL_LOG_SOFT_RECOVERED = 11, /* the wave was killed, the ring runs on */
	DL_LOG_RING_RESET_BEGUN = 12,
	DL_LOG_RING_RESET_DONE = 13,
	DL_LOG_RING_RESET_FAILED = 14,
	DL_LOG_GPU_RESET_BEGUN = 15,
	DL_LOG_GPU_RESET_STEP = 16,
	DL_LOG_GPU_RESET_DONE = 17,
	DL_LOG_GPU_RESET_FAILED = 18,
	DL_LOG_VRAM_LOST = 19,
	DL_LOG_DEVICE_LOST = 20,
	DL_LOG_RECOVERED = 21,
	DL_LOG_WEDGED = 22,
	DL_LOG_COREDUMP = 23, /* the state of a hung device was saved */
	DL_LOG_IP_DUMP_BEGUN = 24,
	DL_LOG_IP_DUMP_DONE = 25,
	DL_LOG_IP_DUMP_UNFINISHED = 26, /* made of a dump without its end */
	DL_LOG_JOBS_SKIPPED = 27,
	DL_LOG_FENCE_FALLBACK = 28, /* interrupts are missing */
	DL_LOG_ILLEGAL_OPCODE = 29,
	DL_LOG_CS_NO_MEMORY = 30,
	DL_LOG_VALIDATE_FAILED = 31,
	DL_LOG_SUBMISSION_REFUSED = 32,
	DL_LOG_PIN_FAILED = 33,
	DL_LOG_KERNEL_BO_FAILED = 34,
	DL_LOG_VM_LEAK = 35, /* a VM is gone and its memory is not */
	DL_LOG_MAP_FAILED = 36,
	DL_LOG_KILLED_ENTITY = 37,
	DL_LOG_SMU_BUSY = 38,
	DL_LOG_SMU_FAILED = 39,
	DL_LOG_RESUME_FAILED = 40, /* a block of the GPU did not come back */
	DL_LOG_DISPLAY_STALLED = 41,
	DL_LOG_RAS_UNCORRECTABLE = 42,
	DL_LOG_RAS_RESET = 43,
	DL_LOG_RAS_PAGES = 44,
	DL_LOG_PCI_ERROR = 45,
	DL_LOG_INIT_FAILED = 46,
	DL_LOG_KIQ_TIMEOUT = 47,
	DL_LOG_RESET_CHATTER = 48,	/* what a recovering GPU says, and a resuming one */
	DL_LOG_USER_PAGES_FAILED = 49,	/* comes in bursts without harm */
	DL_LOG_QUEUE_BUFFER_FREED = 50, /* a consequence */
	DL_LOG_NPU = 51,		/* amdxdna is no GPU */
	DL_LOG_IH_OVERFLOW = 52,	/* more interrupts than can be taken: mostly of faults */
	DL_LOG_OVER_TEMPERATURE = 53,
	DL_LOG_MES_FAILED = 60,
	DL_LOG_MES_UNRECOVERABLE = 61,
	DL_LOG_HWS_HANG = 62,
	DL_LOG_QUEUE_CREATE_FAILED = 63,
	DL_LOG_QUEUE_EVICT_FAILED = 64,
	DL_LOG_QUIESCE_FAILED = 65,
	DL_LOG_RESTORE_FAILED = 66,
	DL_LOG_RESTORE_WORKER_HOGGED = 67,
	DL_LOG_SVM_OVER_LIMIT = 68,
	DL_LOG_QUEUE_RESET = 69,
	DL_LOG_QUEUE_HANG = 70,
	DL_LOG_WAVE_ERROR = 71,
	DL_LOG_POISON_SIGNAL = 72,
	DL_LOG_USERPTR_UNMAPPED = 73,
	DL_LOG_GPU_MAP_FAILED = 74,
	DL_LOG_OVERSUBSCRIBED = 75,
	DL_LOG_WORKER_HOGGED = 76,
	DL_LOG_RESTORE_WORKER_STACK = 77,
	DL_LOG_TTM_NO_MEMORY = 80,
	DL_LOG_I915_HANG = 90,
	DL_LOG_I915_CONTEXT_RESET = 91,
	DL_LOG_I915_FENCE_EXPIRED = 92,
	DL_LOG_I915_ENGINE_RESET = 93,
	DL_LOG_I915_GT_RESET = 94,
	DL_LOG_I915_RESET_FAILED = 95,
	DL_LOG_I915_PURGED = 96,
	DL_LOG_XE_JOB_TIMEOUT = 100,
	DL_LOG_XE_ENGINE_RESET = 101, /* its block: the job that timed out with it */
	DL_LOG_XE_GT_RESET = 102,
	DL_LOG_XE_GT_RESET_DONE = 103,
	DL_LOG_XE_GT_RESET_FAILED = 104,
	DL_LOG_XE_CAT_ERROR = 105,
	DL_LOG_XE_FAULT_UNSERVED = 106,
	DL_LOG_XE_FAULT_DETAIL = 107,
	DL_LOG_XE_TLB_TIMEOUT = 108,
	DL_LOG_XE_GUC_SILENT = 109,
	DL_LOG_XE_VM_ERROR = 110,
	DL_LOG_XE_ENGINES_DEAD = 111, /* made of resets of several engines: it does not come back */
	DL_LOG_XID = 120, /* class and role by its code; its block: the lines of Xid 31 */
	DL_LOG_XID_DETAIL = 121,
	DL_LOG_XID_UNDECODABLE = 122, /* a fault of nobody the driver knows */
	DL_LOG_GSP_DEAD = 123,
	DL_LOG_OFF_THE_BUS = 124,
	DL_LOG_SXID = 125,
	DL_LOG_NV_NO_MEMORY = 126,
	DL_LOG_NV_UVM_FATAL = 127,
	DL_LOG_NV_PROGRESS = 128,
	DL_LOG_NV_INIT_FAILED = 129,
	DL_LOG_NV_MISMATCH = 130, /* library and module are of two versions */
	DL_LOG_OOM_KILL = 140,
	DL_LOG_OOM_INVOKED = 141,
	DL_LOG_PAGE_ALLOC_FAILED = 142,
	DL_LOG_MEMORY_REPORT = 143,
	DL_LOG_HUNG_TASK = 144, /* only when its stack names a GPU driver */
	DL_LOG_TRACE = 145,	/* stack, registers and the like */
	DL_LOG_LOCKUP = 146,
	DL_LOG_PANIC = 147,
	DL_LOG_OOPS = 148,
	DL_LOG_RCU_STALL = 149,
	DL_LOG_MACHINE_CHECK = 150,
	DL_LOG_IOMMU_FAULT = 151,
	DL_LOG_PME_SPURIOUS = 152,
	DL_LOG_AER = 153,
	DL_LOG_ENGINE_SEGFAULT = 154, /* in a library of the GPU's */
	DL_LOG_AER_CORRECTED = 155,
	DL_LOG_IOMMU_STUCK = 156,
	DL_LOG_DRIVER_WARNING = 157, /* a WARN() in a GPU driver */
	DL_LOG_ENGINE_CRASHED = 158,
	DL_LOG_KIND_COUNT = 159,
};

struct dl_log_meaning {
	const char *name; /* NULL: no such kind */
	uint8_t role;	  /* enum dl_log_role */
	uint8_t class;	  /* enum dl_log_class; of a precursor the likeliest */
	uint8_t hazard;	  /* enum dl_log_hazard, of a precursor */
	uint8_t weight;	  /* of a precursor: 1 weak alone, 2, 3 strong */
	uint16_t leads;	  /* of a precursor: bits of enum dl_log_class_bit */
};

/* Never NULL; of a number that is no kind, that of DL_LOG_NOTHING. */
const struct dl_log_meaning *dl_log_meaning(uint32_t kind);

/* What an Xid of NVIDIA's driver says by its number alone, without a name. Never NULL. */
const struct dl_log_meaning *dl_xid_meaning(uint32_t xid);

/* "ring_timeout"; "nothing", "none" and the like for what is not known. */
const char *dl_log_kind_name(uint32_t kind);
const char *dl_log_class_name(uint32_t class);
/* The other way; DL_CLASS_NONE of what is no class's name. */
enum dl_log_class dl_log_class_from_name(const char *name);
const char *dl_log_role_name(uint32_t role);
const char *dl_log_hazard_name(uint32_t hazard);

#endif

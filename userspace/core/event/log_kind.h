/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of lines about a GPU in a kernel log, and what each is evidence of. A failure has a
 * class. A precursor has a hazard and the classes to which it is known to lead. An aftermath
 * belongs to a failure that was reported before, or whose lines are missing. A detail belongs to a
 * block of lines. A look-alike raises nothing. Numbers are append-only.
 */
#ifndef DAVY_LOG_KIND_H
#define DAVY_LOG_KIND_H

#include "core/event/types.h"

enum davy_log_class {
	DAVY_CLASS_NONE = 0,
	DAVY_CLASS_PAGE_FAULT = 1,
	DAVY_CLASS_GPU_RESET = 2,
	DAVY_CLASS_HANG = 3,
	DAVY_CLASS_RING_TIMEOUT = 4,
	DAVY_CLASS_HOST_CRASH = 5,
	DAVY_CLASS_DEVICE_LOST = 6,
	DAVY_CLASS_OOM_GTT_HOST = 7,
	DAVY_CLASS_OOM_VRAM = 8,
	DAVY_CLASS_EVICTION_THRASH = 9,
	DAVY_CLASS_RUNNER_CRASH_INIT = 10,
	DAVY_CLASS_DISCOVERY_MISS = 11,
	DAVY_CLASS_WRONG_OUTPUT = 12,
	DAVY_CLASS_OTHER = 13,
	DAVY_CLASS_COUNT = 14,
};

/* The classes to which a precursor may lead, as bits. */
enum davy_log_class_bit {
	DAVY_CAN_PAGE_FAULT = 1 << DAVY_CLASS_PAGE_FAULT,
	DAVY_CAN_GPU_RESET = 1 << DAVY_CLASS_GPU_RESET,
	DAVY_CAN_HANG = 1 << DAVY_CLASS_HANG,
	DAVY_CAN_RING_TIMEOUT = 1 << DAVY_CLASS_RING_TIMEOUT,
	DAVY_CAN_HOST_CRASH = 1 << DAVY_CLASS_HOST_CRASH,
	DAVY_CAN_DEVICE_LOST = 1 << DAVY_CLASS_DEVICE_LOST,
	DAVY_CAN_OOM_GTT_HOST = 1 << DAVY_CLASS_OOM_GTT_HOST,
	DAVY_CAN_OOM_VRAM = 1 << DAVY_CLASS_OOM_VRAM,
	DAVY_CAN_EVICTION_THRASH = 1 << DAVY_CLASS_EVICTION_THRASH,
	DAVY_CAN_RUNNER_CRASH_INIT = 1 << DAVY_CLASS_RUNNER_CRASH_INIT,
	DAVY_CAN_DISCOVERY_MISS = 1 << DAVY_CLASS_DISCOVERY_MISS,
	DAVY_CAN_WRONG_OUTPUT = 1 << DAVY_CLASS_WRONG_OUTPUT,
	DAVY_CAN_OTHER = 1 << DAVY_CLASS_OTHER,
};

enum davy_log_role {
	DAVY_PART_NONE = 0,
	DAVY_PART_FAILURE = 1,
	DAVY_PART_PRECURSOR = 2,
	DAVY_PART_AFTERMATH = 3,
	DAVY_PART_DETAIL = 4,
	DAVY_PART_LOOKALIKE = 5,
	DAVY_PART_COUNT = 6,
};

/* The hazard of a precursor; where the core has that hazard, it has the same name. */
enum davy_log_hazard {
	DAVY_LOG_HZ_NONE = 0,
	DAVY_LOG_HZ_FAULT_STORM = 1,
	DAVY_LOG_HZ_EVICTION_STORM = 2,
	DAVY_LOG_HZ_ALLOC_FAILURE = 3,
	DAVY_LOG_HZ_JOB_STALL = 4,
	DAVY_LOG_HZ_QUEUE_STUCK = 5,	/* the firmware scheduler does not reply */
	DAVY_LOG_HZ_HOST_MEMORY = 6,	/* system memory, which is a UMA device's memory too */
	DAVY_LOG_HZ_HOST_STALL = 7,	/* the kernel itself hangs */
	DAVY_LOG_HZ_HARDWARE_ERROR = 8, /* ECC, link, bus */
	DAVY_LOG_HZ_DISCOVERY = 9,	/* the next start finds no device */
	DAVY_LOG_HZ_COUNT = 10,
};

enum davy_log_kind {
	DAVY_LOG_NOTHING = 0,
	DAVY_LOG_PAGE_FAULT = 1, /* a VM fault of the GPU; its block: process, address, status */
	DAVY_LOG_FAULT_ADDRESS = 2,
	DAVY_LOG_FAULT_STATUS = 3,
	DAVY_LOG_FAULT_FLAGS = 4,    /* meaningless without the lines before it */
	DAVY_LOG_PROCESS_INFO = 5,   /* of a fault or of a ring timeout */
	DAVY_LOG_FAULT_UNSERVED = 6, /* recovery failed */
	DAVY_LOG_FAULT_PROCESS = 7,
	DAVY_LOG_DRIVER_FAULT = 8, /* made of a fault without process outside a reset */
	DAVY_LOG_RING_TIMEOUT = 10,
	DAVY_LOG_SOFT_RECOVERED = 11, /* the wave was killed, the ring continues */
	DAVY_LOG_RING_RESET_BEGUN = 12,
	DAVY_LOG_RING_RESET_DONE = 13,
	DAVY_LOG_RING_RESET_FAILED = 14,
	DAVY_LOG_GPU_RESET_BEGUN = 15,
	DAVY_LOG_GPU_RESET_STEP = 16,
	DAVY_LOG_GPU_RESET_DONE = 17,
	DAVY_LOG_GPU_RESET_FAILED = 18,
	DAVY_LOG_VRAM_LOST = 19,
	DAVY_LOG_DEVICE_LOST = 20,
	DAVY_LOG_RECOVERED = 21,
	DAVY_LOG_WEDGED = 22,
	DAVY_LOG_COREDUMP = 23, /* the state of a hung device was saved */
	DAVY_LOG_IP_DUMP_BEGUN = 24,
	DAVY_LOG_IP_DUMP_DONE = 25,
	DAVY_LOG_IP_DUMP_UNFINISHED = 26, /* of a dump without its end */
	DAVY_LOG_JOBS_SKIPPED = 27,
	DAVY_LOG_FENCE_FALLBACK = 28, /* interrupts are missing */
	DAVY_LOG_ILLEGAL_OPCODE = 29,
	DAVY_LOG_CS_NO_MEMORY = 30,
	DAVY_LOG_VALIDATE_FAILED = 31,
	DAVY_LOG_SUBMISSION_REFUSED = 32,
	DAVY_LOG_PIN_FAILED = 33,
	DAVY_LOG_KERNEL_BO_FAILED = 34,
	DAVY_LOG_VM_LEAK = 35, /* a VM was destroyed, but not its memory */
	DAVY_LOG_MAP_FAILED = 36,
	DAVY_LOG_KILLED_ENTITY = 37,
	DAVY_LOG_SMU_BUSY = 38,
	DAVY_LOG_SMU_FAILED = 39,
	DAVY_LOG_RESUME_FAILED = 40, /* a block of the GPU did not recover */
	DAVY_LOG_DISPLAY_STALLED = 41,
	DAVY_LOG_RAS_UNCORRECTABLE = 42,
	DAVY_LOG_RAS_RESET = 43,
	DAVY_LOG_RAS_PAGES = 44,
	DAVY_LOG_PCI_ERROR = 45,
	DAVY_LOG_INIT_FAILED = 46,
	DAVY_LOG_KIQ_TIMEOUT = 47,
	DAVY_LOG_RESET_CHATTER = 48,	  /* of a recovering or resuming GPU */
	DAVY_LOG_USER_PAGES_FAILED = 49,  /* comes in bursts, harmless */
	DAVY_LOG_QUEUE_BUFFER_FREED = 50, /* a consequence */
	DAVY_LOG_NPU = 51,		  /* amdxdna is not a GPU */
	DAVY_LOG_IH_OVERFLOW = 52,	  /* too many interrupts, mostly of faults */
	DAVY_LOG_OVER_TEMPERATURE = 53,
	DAVY_LOG_MES_FAILED = 60,
	DAVY_LOG_MES_UNRECOVERABLE = 61,
	DAVY_LOG_HWS_HANG = 62,
	DAVY_LOG_QUEUE_CREATE_FAILED = 63,
	DAVY_LOG_QUEUE_EVICT_FAILED = 64,
	DAVY_LOG_QUIESCE_FAILED = 65,
	DAVY_LOG_RESTORE_FAILED = 66,
	DAVY_LOG_RESTORE_WORKER_HOGGED = 67,
	DAVY_LOG_SVM_OVER_LIMIT = 68,
	DAVY_LOG_QUEUE_RESET = 69,
	DAVY_LOG_QUEUE_HANG = 70,
	DAVY_LOG_WAVE_ERROR = 71,
	DAVY_LOG_POISON_SIGNAL = 72,
	DAVY_LOG_USERPTR_UNMAPPED = 73,
	DAVY_LOG_GPU_MAP_FAILED = 74,
	DAVY_LOG_OVERSUBSCRIBED = 75,
	DAVY_LOG_WORKER_HOGGED = 76,
	DAVY_LOG_RESTORE_WORKER_STACK = 77,
	DAVY_LOG_KFD_EXCEPTION = 78, /* KFD ends a process whose fault nobody handled */
	DAVY_LOG_TTM_NO_MEMORY = 80,
	DAVY_LOG_I915_HANG = 90,
	DAVY_LOG_I915_CONTEXT_RESET = 91,
	DAVY_LOG_I915_FENCE_EXPIRED = 92,
	DAVY_LOG_I915_ENGINE_RESET = 93,
	DAVY_LOG_I915_GT_RESET = 94,
	DAVY_LOG_I915_RESET_FAILED = 95,
	DAVY_LOG_I915_PURGED = 96,
	DAVY_LOG_I915_NO_REPLY = 97, /* of the GPU or of its firmware */
	DAVY_LOG_XE_JOB_TIMEOUT = 100,
	DAVY_LOG_XE_ENGINE_RESET = 101, /* its block: the job that timed out */
	DAVY_LOG_XE_GT_RESET = 102,
	DAVY_LOG_XE_GT_RESET_DONE = 103,
	DAVY_LOG_XE_GT_RESET_FAILED = 104,
	DAVY_LOG_XE_CAT_ERROR = 105,
	DAVY_LOG_XE_FAULT_UNSERVED = 106,
	DAVY_LOG_XE_FAULT_DETAIL = 107,
	DAVY_LOG_XE_TLB_TIMEOUT = 108,
	DAVY_LOG_XE_GUC_SILENT = 109,
	DAVY_LOG_XE_VM_ERROR = 110,
	DAVY_LOG_XE_ENGINES_DEAD = 111, /* of resets of several engines: it does not recover */
	DAVY_LOG_XID = 120, /* class and role by its code; its block: the lines of Xid 31 */
	DAVY_LOG_XID_DETAIL = 121,
	DAVY_LOG_XID_UNDECODABLE = 122, /* a fault of no process that the driver knows */
	DAVY_LOG_GSP_DEAD = 123,
	DAVY_LOG_OFF_THE_BUS = 124,
	DAVY_LOG_SXID = 125,
	DAVY_LOG_NV_NO_MEMORY = 126,
	DAVY_LOG_NV_UVM_FATAL = 127,
	DAVY_LOG_NV_PROGRESS = 128,
	DAVY_LOG_NV_INIT_FAILED = 129,
	DAVY_LOG_NV_MISMATCH = 130,   /* library and module have different versions */
	DAVY_LOG_NV_LOCKED = 131,     /* its watchdog's own work is not done; Xid 8 follows */
	DAVY_LOG_NV_MAP_FAILED = 132, /* host memory could not be pinned; Xid 31 may follow */
	DAVY_LOG_OOM_KILL = 140,
	DAVY_LOG_OOM_INVOKED = 141,
	DAVY_LOG_PAGE_ALLOC_FAILED = 142,
	DAVY_LOG_MEMORY_REPORT = 143,
	DAVY_LOG_HUNG_TASK = 144, /* only if its stack names a GPU driver */
	DAVY_LOG_TRACE = 145,	  /* stack, registers and the like */
	DAVY_LOG_LOCKUP = 146,
	DAVY_LOG_PANIC = 147,
	DAVY_LOG_OOPS = 148,
	DAVY_LOG_RCU_STALL = 149,
	DAVY_LOG_MACHINE_CHECK = 150,
	DAVY_LOG_IOMMU_FAULT = 151,
	DAVY_LOG_PME_SPURIOUS = 152,
	DAVY_LOG_AER = 153,
	DAVY_LOG_ENGINE_SEGFAULT = 154, /* in a library of the GPU */
	DAVY_LOG_AER_CORRECTED = 155,
	DAVY_LOG_IOMMU_STUCK = 156,
	DAVY_LOG_DRIVER_WARNING = 157, /* a WARN() in a GPU driver */
	DAVY_LOG_ENGINE_CRASHED = 158,
	DAVY_LOG_KIND_COUNT = 159,
};

struct davy_log_meaning {
	const char *name; /* NULL: unknown kind */
	uint8_t role;	  /* enum davy_log_role */
	uint8_t class;	  /* enum davy_log_class; the most likely one for a precursor */
	uint8_t hazard;	  /* enum davy_log_hazard, of a precursor */
	uint8_t weight;	  /* of a precursor: 1 weak alone, 2, 3 strong */
	uint16_t leads;	  /* of a precursor: bits of enum davy_log_class_bit */
};

/* Never NULL; for an unknown number, that of DAVY_LOG_NOTHING. */
const struct davy_log_meaning *davy_log_meaning(uint32_t kind);

/*
 * What an Xid of NVIDIA's driver says by its number alone (nverror.h of the open module 595.45.04,
 * NVIDIA's catalogue of Xid errors). Never NULL. Its name is "Xid 31, MMU fault", or NULL.
 */
const struct davy_log_meaning *davy_xid_meaning(uint32_t xid);

/* The name of a line: of an Xid of the catalogue its number and meaning, else that of its kind. */
const char *davy_log_line_name(uint32_t kind, uint32_t code);

/* "ring_timeout"; "nothing", "none" and the like for what is not known. */
const char *davy_log_kind_name(uint32_t kind);
const char *davy_log_class_name(uint32_t class);
const char *davy_log_role_name(uint32_t role);
const char *davy_log_hazard_name(uint32_t hazard);

#endif

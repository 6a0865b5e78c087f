/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/log_kind.h"

#define FAILURE(name, class)                                                                       \
	{                                                                                          \
		name, DAVY_PART_FAILURE, DAVY_CLASS_##class, 0, 0, 0                               \
	}
#define AFTERMATH(name, class)                                                                     \
	{                                                                                          \
		name, DAVY_PART_AFTERMATH, DAVY_CLASS_##class, 0, 0, 0                             \
	}
#define DETAIL(name, class)                                                                        \
	{                                                                                          \
		name, DAVY_PART_DETAIL, DAVY_CLASS_##class, 0, 0, 0                                \
	}
#define LOOKALIKE(name)                                                                            \
	{                                                                                          \
		name, DAVY_PART_LOOKALIKE, 0, 0, 0, 0                                              \
	}
#define PRECURSOR(name, class, hazard, weight, leads)                                              \
	{                                                                                          \
		name, DAVY_PART_PRECURSOR, DAVY_CLASS_##class, DAVY_LOG_HZ_##hazard, weight, leads \
	}
#define NO_ROOM (DAVY_CAN_OOM_VRAM | DAVY_CAN_OOM_GTT_HOST | DAVY_CAN_EVICTION_THRASH)

static const struct davy_log_meaning meanings[DAVY_LOG_KIND_COUNT] = {
	[DAVY_LOG_NOTHING] = { "nothing", 0, 0, 0, 0, 0 },
	[DAVY_LOG_PAGE_FAULT] = FAILURE("page_fault", PAGE_FAULT),
	[DAVY_LOG_FAULT_ADDRESS] = DETAIL("fault_address", PAGE_FAULT),
	[DAVY_LOG_FAULT_STATUS] = DETAIL("fault_status", PAGE_FAULT),
	[DAVY_LOG_FAULT_FLAGS] = DETAIL("fault_flags", NONE),
	[DAVY_LOG_PROCESS_INFO] = DETAIL("process_info", NONE),
	[DAVY_LOG_FAULT_UNSERVED] = FAILURE("fault_unserved", PAGE_FAULT),
	[DAVY_LOG_FAULT_PROCESS] = DETAIL("fault_process", PAGE_FAULT),
	[DAVY_LOG_DRIVER_FAULT] = PRECURSOR("driver_fault", PAGE_FAULT, FAULT_STORM, 1,
					    DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG |
						    DAVY_CAN_GPU_RESET | DAVY_CAN_RING_TIMEOUT),
	[DAVY_LOG_RING_TIMEOUT] = FAILURE("ring_timeout", RING_TIMEOUT),
	[DAVY_LOG_SOFT_RECOVERED] = AFTERMATH("soft_recovered", RING_TIMEOUT),
	[DAVY_LOG_RING_RESET_BEGUN] = AFTERMATH("ring_reset_begun", RING_TIMEOUT),
	[DAVY_LOG_RING_RESET_DONE] = AFTERMATH("ring_reset_done", RING_TIMEOUT),
	[DAVY_LOG_RING_RESET_FAILED] = FAILURE("ring_reset_failed", RING_TIMEOUT),
	[DAVY_LOG_GPU_RESET_BEGUN] = FAILURE("gpu_reset_begun", GPU_RESET),
	[DAVY_LOG_GPU_RESET_STEP] = AFTERMATH("gpu_reset_step", GPU_RESET),
	[DAVY_LOG_GPU_RESET_DONE] = AFTERMATH("gpu_reset_done", GPU_RESET),
	[DAVY_LOG_GPU_RESET_FAILED] = FAILURE("gpu_reset_failed", GPU_RESET),
	[DAVY_LOG_VRAM_LOST] = FAILURE("vram_lost", GPU_RESET),
	[DAVY_LOG_DEVICE_LOST] = FAILURE("device_lost", DEVICE_LOST),
	[DAVY_LOG_RECOVERED] = AFTERMATH("recovered", GPU_RESET),
	[DAVY_LOG_WEDGED] = FAILURE("wedged", DEVICE_LOST),
	[DAVY_LOG_COREDUMP] = AFTERMATH("coredump", GPU_RESET),
	[DAVY_LOG_IP_DUMP_BEGUN] = DETAIL("ip_dump_begun", NONE),
	[DAVY_LOG_IP_DUMP_DONE] = DETAIL("ip_dump_done", NONE),
	[DAVY_LOG_IP_DUMP_UNFINISHED] = PRECURSOR("ip_dump_unfinished", HOST_CRASH, HOST_STALL, 2,
						  DAVY_CAN_HOST_CRASH | DAVY_CAN_GPU_RESET),
	[DAVY_LOG_JOBS_SKIPPED] = AFTERMATH("jobs_skipped", GPU_RESET),
	[DAVY_LOG_FENCE_FALLBACK] = PRECURSOR("fence_fallback", RING_TIMEOUT, JOB_STALL, 3,
					      DAVY_CAN_RING_TIMEOUT | DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_ILLEGAL_OPCODE] =
		PRECURSOR("illegal_opcode", RING_TIMEOUT, JOB_STALL, 3,
			  DAVY_CAN_RING_TIMEOUT | DAVY_CAN_GPU_RESET | DAVY_CAN_PAGE_FAULT),
	[DAVY_LOG_CS_NO_MEMORY] = PRECURSOR("cs_no_memory", OOM_VRAM, ALLOC_FAILURE, 3, NO_ROOM),
	[DAVY_LOG_VALIDATE_FAILED] =
		PRECURSOR("validate_failed", OOM_VRAM, ALLOC_FAILURE, 3, NO_ROOM),
	[DAVY_LOG_SUBMISSION_REFUSED] =
		PRECURSOR("submission_refused", OOM_VRAM, ALLOC_FAILURE, 1, NO_ROOM),
	[DAVY_LOG_PIN_FAILED] = PRECURSOR("pin_failed", OOM_VRAM, ALLOC_FAILURE, 2, NO_ROOM),
	[DAVY_LOG_KERNEL_BO_FAILED] =
		PRECURSOR("kernel_bo_failed", OOM_VRAM, ALLOC_FAILURE, 2, NO_ROOM),
	[DAVY_LOG_VM_LEAK] = PRECURSOR("vm_leak", OOM_VRAM, ALLOC_FAILURE, 1, DAVY_CAN_OOM_VRAM),
	[DAVY_LOG_MAP_FAILED] = PRECURSOR("map_failed", OOM_VRAM, ALLOC_FAILURE, 2, NO_ROOM),
	[DAVY_LOG_KILLED_ENTITY] = PRECURSOR("killed_entity", HOST_CRASH, HOST_STALL, 2,
					     DAVY_CAN_HOST_CRASH | DAVY_CAN_HANG),
	[DAVY_LOG_SMU_BUSY] = PRECURSOR("smu_busy", GPU_RESET, QUEUE_STUCK, 3,
					DAVY_CAN_GPU_RESET | DAVY_CAN_HANG | DAVY_CAN_HOST_CRASH |
						DAVY_CAN_DEVICE_LOST),
	[DAVY_LOG_SMU_FAILED] = PRECURSOR("smu_failed", GPU_RESET, QUEUE_STUCK, 1,
					  DAVY_CAN_GPU_RESET | DAVY_CAN_HANG),
	[DAVY_LOG_RESUME_FAILED] = FAILURE("resume_failed", GPU_RESET),
	[DAVY_LOG_DISPLAY_STALLED] =
		PRECURSOR("display_stalled", RING_TIMEOUT, JOB_STALL, 2,
			  DAVY_CAN_RING_TIMEOUT | DAVY_CAN_GPU_RESET | DAVY_CAN_HANG),
	[DAVY_LOG_RAS_UNCORRECTABLE] =
		PRECURSOR("ras_uncorrectable", GPU_RESET, HARDWARE_ERROR, 3,
			  DAVY_CAN_GPU_RESET | DAVY_CAN_DEVICE_LOST | DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_RAS_RESET] = FAILURE("ras_reset", GPU_RESET),
	[DAVY_LOG_RAS_PAGES] = PRECURSOR("ras_pages", GPU_RESET, HARDWARE_ERROR, 1,
					 DAVY_CAN_GPU_RESET | DAVY_CAN_DEVICE_LOST),
	[DAVY_LOG_PCI_ERROR] =
		PRECURSOR("pci_error", DEVICE_LOST, HARDWARE_ERROR, 3,
			  DAVY_CAN_DEVICE_LOST | DAVY_CAN_GPU_RESET | DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_INIT_FAILED] = FAILURE("init_failed", DEVICE_LOST),
	[DAVY_LOG_KIQ_TIMEOUT] =
		PRECURSOR("kiq_timeout", HANG, QUEUE_STUCK, 2, DAVY_CAN_HANG | DAVY_CAN_GPU_RESET),
	[DAVY_LOG_RESET_CHATTER] = LOOKALIKE("reset_chatter"),
	[DAVY_LOG_USER_PAGES_FAILED] = LOOKALIKE("user_pages_failed"),
	[DAVY_LOG_QUEUE_BUFFER_FREED] = LOOKALIKE("queue_buffer_freed"),
	[DAVY_LOG_NPU] = LOOKALIKE("npu"),
	[DAVY_LOG_IH_OVERFLOW] =
		PRECURSOR("ih_overflow", PAGE_FAULT, FAULT_STORM, 2,
			  DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG | DAVY_CAN_GPU_RESET),
	[DAVY_LOG_OVER_TEMPERATURE] = PRECURSOR("over_temperature", HOST_CRASH, HARDWARE_ERROR, 3,
						DAVY_CAN_HOST_CRASH | DAVY_CAN_GPU_RESET),
	[DAVY_LOG_MES_FAILED] = PRECURSOR("mes_failed", GPU_RESET, QUEUE_STUCK, 3,
					  DAVY_CAN_GPU_RESET | DAVY_CAN_HANG),
	[DAVY_LOG_MES_UNRECOVERABLE] = FAILURE("mes_unrecoverable", GPU_RESET),
	[DAVY_LOG_HWS_HANG] = FAILURE("hws_hang", HANG),
	[DAVY_LOG_QUEUE_CREATE_FAILED] =
		PRECURSOR("queue_create_failed", HANG, QUEUE_STUCK, 2,
			  DAVY_CAN_HANG | DAVY_CAN_GPU_RESET | DAVY_CAN_OOM_VRAM),
	[DAVY_LOG_QUEUE_EVICT_FAILED] =
		PRECURSOR("queue_evict_failed", GPU_RESET, QUEUE_STUCK, 3,
			  DAVY_CAN_GPU_RESET | DAVY_CAN_HANG | DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_QUIESCE_FAILED] =
		PRECURSOR("quiesce_failed", GPU_RESET, QUEUE_STUCK, 3,
			  DAVY_CAN_GPU_RESET | DAVY_CAN_HANG | DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_RESTORE_FAILED] = PRECURSOR("restore_failed", EVICTION_THRASH, EVICTION_STORM, 3,
					      DAVY_CAN_EVICTION_THRASH | DAVY_CAN_HANG |
						      DAVY_CAN_PAGE_FAULT | DAVY_CAN_GPU_RESET),
	[DAVY_LOG_RESTORE_WORKER_HOGGED] =
		PRECURSOR("restore_worker_hogged", EVICTION_THRASH, EVICTION_STORM, 2,
			  DAVY_CAN_EVICTION_THRASH | DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG),
	[DAVY_LOG_SVM_OVER_LIMIT] = PRECURSOR("svm_over_limit", EVICTION_THRASH, EVICTION_STORM, 3,
					      DAVY_CAN_EVICTION_THRASH | DAVY_CAN_HANG |
						      DAVY_CAN_PAGE_FAULT | DAVY_CAN_OOM_GTT_HOST),
	[DAVY_LOG_QUEUE_RESET] = FAILURE("queue_reset", GPU_RESET),
	[DAVY_LOG_QUEUE_HANG] = FAILURE("queue_hang", HANG),
	[DAVY_LOG_WAVE_ERROR] = PRECURSOR("wave_error", PAGE_FAULT, FAULT_STORM, 1,
					  DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG),
	[DAVY_LOG_POISON_SIGNAL] = PRECURSOR("poison_signal", GPU_RESET, HARDWARE_ERROR, 2,
					     DAVY_CAN_GPU_RESET | DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_USERPTR_UNMAPPED] =
		PRECURSOR("userptr_unmapped", PAGE_FAULT, FAULT_STORM, 1, DAVY_CAN_PAGE_FAULT),
	[DAVY_LOG_GPU_MAP_FAILED] =
		PRECURSOR("gpu_map_failed", OOM_VRAM, ALLOC_FAILURE, 2, NO_ROOM),
	[DAVY_LOG_OVERSUBSCRIBED] = PRECURSOR("oversubscribed", EVICTION_THRASH, EVICTION_STORM, 1,
					      DAVY_CAN_EVICTION_THRASH | DAVY_CAN_PAGE_FAULT |
						      DAVY_CAN_HANG | DAVY_CAN_RUNNER_CRASH_INIT),
	[DAVY_LOG_WORKER_HOGGED] =
		PRECURSOR("worker_hogged", EVICTION_THRASH, EVICTION_STORM, 1,
			  DAVY_CAN_EVICTION_THRASH | DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG),
	[DAVY_LOG_RESTORE_WORKER_STACK] =
		PRECURSOR("restore_worker_stack", EVICTION_THRASH, EVICTION_STORM, 2,
			  DAVY_CAN_EVICTION_THRASH | DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG),
	[DAVY_LOG_KFD_EXCEPTION] = AFTERMATH("kfd_exception", PAGE_FAULT),
	[DAVY_LOG_TTM_NO_MEMORY] = PRECURSOR("ttm_no_memory", OOM_VRAM, ALLOC_FAILURE, 3, NO_ROOM),
	[DAVY_LOG_I915_HANG] = FAILURE("i915_hang", RING_TIMEOUT),
	[DAVY_LOG_I915_CONTEXT_RESET] = AFTERMATH("i915_context_reset", RING_TIMEOUT),
	[DAVY_LOG_I915_FENCE_EXPIRED] =
		PRECURSOR("i915_fence_expired", RING_TIMEOUT, JOB_STALL, 3,
			  DAVY_CAN_RING_TIMEOUT | DAVY_CAN_HANG | DAVY_CAN_GPU_RESET),
	[DAVY_LOG_I915_ENGINE_RESET] = FAILURE("i915_engine_reset", RING_TIMEOUT),
	[DAVY_LOG_I915_GT_RESET] = FAILURE("i915_gt_reset", GPU_RESET),
	[DAVY_LOG_I915_RESET_FAILED] = FAILURE("i915_reset_failed", GPU_RESET),
	[DAVY_LOG_I915_PURGED] =
		PRECURSOR("i915_purged", OOM_GTT_HOST, HOST_MEMORY, 2, DAVY_CAN_OOM_GTT_HOST),
	[DAVY_LOG_I915_NO_REPLY] = PRECURSOR("i915_no_reply", HANG, QUEUE_STUCK, 3,
					     DAVY_CAN_HANG | DAVY_CAN_GPU_RESET),
	[DAVY_LOG_XE_JOB_TIMEOUT] = FAILURE("xe_job_timeout", RING_TIMEOUT),
	[DAVY_LOG_XE_ENGINE_RESET] = FAILURE("xe_engine_reset", GPU_RESET),
	[DAVY_LOG_XE_GT_RESET] = FAILURE("xe_gt_reset", GPU_RESET),
	[DAVY_LOG_XE_GT_RESET_DONE] = AFTERMATH("xe_gt_reset_done", GPU_RESET),
	[DAVY_LOG_XE_GT_RESET_FAILED] = FAILURE("xe_gt_reset_failed", GPU_RESET),
	[DAVY_LOG_XE_CAT_ERROR] = FAILURE("xe_cat_error", PAGE_FAULT),
	[DAVY_LOG_XE_FAULT_UNSERVED] = FAILURE("xe_fault_unserved", PAGE_FAULT),
	[DAVY_LOG_XE_FAULT_DETAIL] = DETAIL("xe_fault_detail", PAGE_FAULT),
	[DAVY_LOG_XE_TLB_TIMEOUT] =
		PRECURSOR("xe_tlb_timeout", HANG, QUEUE_STUCK, 3,
			  DAVY_CAN_HANG | DAVY_CAN_GPU_RESET | DAVY_CAN_RING_TIMEOUT),
	[DAVY_LOG_XE_GUC_SILENT] = PRECURSOR("xe_guc_silent", HANG, QUEUE_STUCK, 3,
					     DAVY_CAN_HANG | DAVY_CAN_GPU_RESET),
	[DAVY_LOG_XE_VM_ERROR] = PRECURSOR("xe_vm_error", OOM_VRAM, ALLOC_FAILURE, 2,
					   DAVY_CAN_OOM_VRAM | DAVY_CAN_EVICTION_THRASH),
	[DAVY_LOG_XE_ENGINES_DEAD] = FAILURE("xe_engines_dead", HANG),
	[DAVY_LOG_XID] = FAILURE("xid", NONE),
	[DAVY_LOG_XID_DETAIL] = DETAIL("xid_detail", NONE),
	[DAVY_LOG_XID_UNDECODABLE] = PRECURSOR("xid_undecodable", HOST_CRASH, HARDWARE_ERROR, 3,
					       DAVY_CAN_HOST_CRASH | DAVY_CAN_PAGE_FAULT),
	[DAVY_LOG_GSP_DEAD] = FAILURE("gsp_dead", HANG),
	[DAVY_LOG_OFF_THE_BUS] = FAILURE("off_the_bus", DEVICE_LOST),
	[DAVY_LOG_SXID] = PRECURSOR("sxid", GPU_RESET, HARDWARE_ERROR, 3,
				    DAVY_CAN_GPU_RESET | DAVY_CAN_HANG | DAVY_CAN_HOST_CRASH |
					    DAVY_CAN_DEVICE_LOST),
	[DAVY_LOG_NV_NO_MEMORY] =
		PRECURSOR("nv_no_memory", OOM_VRAM, ALLOC_FAILURE, 2, DAVY_CAN_OOM_VRAM),
	[DAVY_LOG_NV_UVM_FATAL] = FAILURE("nv_uvm_fatal", HANG),
	[DAVY_LOG_NV_PROGRESS] = PRECURSOR("nv_progress", RING_TIMEOUT, JOB_STALL, 3,
					   DAVY_CAN_RING_TIMEOUT | DAVY_CAN_HANG),
	[DAVY_LOG_NV_INIT_FAILED] = FAILURE("nv_init_failed", DEVICE_LOST),
	/* one client has failed; the engine that runs goes on, and the next one finds no device */
	[DAVY_LOG_NV_MISMATCH] =
		PRECURSOR("nv_mismatch", DISCOVERY_MISS, DISCOVERY, 2, DAVY_CAN_DISCOVERY_MISS),
	[DAVY_LOG_NV_LOCKED] = FAILURE("nv_locked", HANG),
	[DAVY_LOG_NV_MAP_FAILED] =
		PRECURSOR("nv_map_failed", PAGE_FAULT, FAULT_STORM, 2, DAVY_CAN_PAGE_FAULT),
	[DAVY_LOG_OOM_KILL] = FAILURE("oom_kill", OOM_GTT_HOST),
	[DAVY_LOG_OOM_INVOKED] =
		PRECURSOR("oom_invoked", OOM_GTT_HOST, HOST_MEMORY, 3, DAVY_CAN_OOM_GTT_HOST),
	[DAVY_LOG_PAGE_ALLOC_FAILED] =
		PRECURSOR("page_alloc_failed", OOM_GTT_HOST, HOST_MEMORY, 3, DAVY_CAN_OOM_GTT_HOST),
	[DAVY_LOG_MEMORY_REPORT] =
		PRECURSOR("memory_report", OOM_GTT_HOST, HOST_MEMORY, 2, DAVY_CAN_OOM_GTT_HOST),
	[DAVY_LOG_HUNG_TASK] = FAILURE("hung_task", HOST_CRASH),
	[DAVY_LOG_TRACE] = DETAIL("trace", NONE),
	[DAVY_LOG_LOCKUP] = FAILURE("lockup", HOST_CRASH),
	[DAVY_LOG_PANIC] = FAILURE("panic", HOST_CRASH),
	[DAVY_LOG_OOPS] = FAILURE("oops", HOST_CRASH),
	[DAVY_LOG_RCU_STALL] =
		PRECURSOR("rcu_stall", HOST_CRASH, HOST_STALL, 3, DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_MACHINE_CHECK] =
		PRECURSOR("machine_check", HOST_CRASH, HARDWARE_ERROR, 3, DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_IOMMU_FAULT] =
		PRECURSOR("iommu_fault", PAGE_FAULT, FAULT_STORM, 2,
			  DAVY_CAN_PAGE_FAULT | DAVY_CAN_WRONG_OUTPUT | DAVY_CAN_HANG),
	[DAVY_LOG_PME_SPURIOUS] =
		PRECURSOR("pme_spurious", HOST_CRASH, HOST_STALL, 1, DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_AER] = PRECURSOR("aer", DEVICE_LOST, HARDWARE_ERROR, 2,
				   DAVY_CAN_DEVICE_LOST | DAVY_CAN_GPU_RESET | DAVY_CAN_HOST_CRASH |
					   DAVY_CAN_HANG),
	[DAVY_LOG_AER_CORRECTED] =
		PRECURSOR("aer_corrected", DEVICE_LOST, HARDWARE_ERROR, 1,
			  DAVY_CAN_DEVICE_LOST | DAVY_CAN_GPU_RESET | DAVY_CAN_HOST_CRASH),
	[DAVY_LOG_IOMMU_STUCK] = PRECURSOR("iommu_stuck", HOST_CRASH, HOST_STALL, 3,
					   DAVY_CAN_HOST_CRASH | DAVY_CAN_HANG),
	[DAVY_LOG_DRIVER_WARNING] =
		PRECURSOR("driver_warning", HOST_CRASH, HOST_STALL, 1,
			  DAVY_CAN_HOST_CRASH | DAVY_CAN_GPU_RESET | DAVY_CAN_HANG),
	[DAVY_LOG_ENGINE_CRASHED] = FAILURE("engine_crashed", RUNNER_CRASH_INIT),
	[DAVY_LOG_ENGINE_SEGFAULT] = FAILURE("engine_segfault", RUNNER_CRASH_INIT),
};

static const char *const classes[] = {
	"none",		"page_fault",	   "gpu_reset",		"hang",
	"ring_timeout", "host_crash",	   "device_lost",	"oom_gtt_host",
	"oom_vram",	"eviction_thrash", "runner_crash_init", "discovery_miss",
	"wrong_output", "other",
};

static const char *const roles[] = {
	"none", "failure", "precursor", "aftermath", "detail", "lookalike",
};

static const char *const hazards[] = {
	"none",	       "fault_storm", "eviction_storm", "alloc_failure",  "job_stall",
	"queue_stuck", "host_memory", "host_stall",	"hardware_error", "discovery",
};

const struct davy_log_meaning *davy_log_meaning(uint32_t kind)
{
	return &meanings[kind < DAVY_LOG_KIND_COUNT && meanings[kind].name ? kind
									   : DAVY_LOG_NOTHING];
}

const char *davy_log_kind_name(uint32_t kind)
{
	return davy_log_meaning(kind)->name;
}

const char *davy_log_class_name(uint32_t class)
{
	return classes[class < DAVY_CLASS_COUNT ? class : DAVY_CLASS_NONE];
}

const char *davy_log_role_name(uint32_t role)
{
	return roles[role < DAVY_PART_COUNT ? role : DAVY_PART_NONE];
}

const char *davy_log_hazard_name(uint32_t hazard)
{
	return hazards[hazard < DAVY_LOG_HZ_COUNT ? hazard : DAVY_LOG_HZ_NONE];
}

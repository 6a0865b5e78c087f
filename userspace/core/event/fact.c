/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/fact.h"

static const struct {
	const char *name;
	const char *text;
} facts[DAVY_FACT_COUNT] = {
	[DAVY_FACT_SIGNAL_SENT] = { "signal_sent", "a fatal signal was sent" },
	[DAVY_FACT_SIGNAL_TAKEN] = { "signal_taken", "a fatal signal was taken" },
	[DAVY_FACT_OOM_VICTIM] = { "oom_victim", "the OOM killer chose it" },
	[DAVY_FACT_OPEN_REFUSED] = { "open_refused", "a device node could not be opened" },
	[DAVY_FACT_FENCE_FAILED] = { "fence_failed", "a job failed" },
	[DAVY_FACT_SOFT_RECOVERY] = { "soft_recovery", "soft recovery of a ring" },
	[DAVY_FACT_RING_RESET] = { "ring_reset", "reset of a ring" },
	[DAVY_FACT_ENGINE_RESET] = { "engine_reset", "reset of an engine" },
	[DAVY_FACT_WEDGED] = { "wedged", "the driver declared the device wedged" },
	[DAVY_FACT_COREDUMP] = { "coredump", "a device coredump was taken" },
	[DAVY_FACT_RAS_RESET] = { "ras_reset", "uncorrectable errors require a reset" },
	[DAVY_FACT_GT_ERROR] = { "gt_error", "a hang was declared" },
	[DAVY_FACT_CONTEXT_BANNED] = { "context_banned", "a context was banned" },
	[DAVY_FACT_KFD_LIMIT] = { "kfd_limit", "KFD refused memory over its limit" },
	[DAVY_FACT_KFD_EVICTION_FENCE] = { "kfd_eviction_fence", "TTM evicts its memory" },
	[DAVY_FACT_KFD_EVICT_WANTED] = { "kfd_evict_wanted", "its queues will be stopped" },
	[DAVY_FACT_KFD_QUEUES_EVICTED] = { "kfd_queues_evicted", "its queues were stopped" },
	[DAVY_FACT_KFD_QUEUES_RESTORED] = { "kfd_queues_restored", "its queues run again" },
	[DAVY_FACT_KFD_RESTORE_FAILED] = { "kfd_restore_failed",
					   "its buffers could not be restored" },
	[DAVY_FACT_KFD_VM_FAULT] = { "kfd_vm_fault", "a VM fault ends its queues" },
	[DAVY_FACT_KFD_HW_EXCEPTION] = { "kfd_hw_exception", "a hardware exception" },
	[DAVY_FACT_KFD_RESET_SIGNAL] = { "kfd_reset_signal",
					 "KFD reports a reset to its processes" },
	[DAVY_FACT_KFD_POISON] = { "kfd_poison", "poisoned memory was read" },
	[DAVY_FACT_KFD_GPU_RESET] = { "kfd_gpu_reset", "KFD requests a GPU reset" },
	[DAVY_FACT_XE_VM_KILLED] = { "xe_vm_killed", "its address space was killed" },
	[DAVY_FACT_XE_VM_OPS_FAILED] = { "xe_vm_ops_failed", "binding memory failed" },
	[DAVY_FACT_XE_CAT_ERROR] = { "xe_cat_error", "a catastrophic memory error" },
	[DAVY_FACT_XE_QUEUE_RESET] = { "xe_queue_reset", "reset of an exec queue" },
	[DAVY_FACT_XE_TLB_TIMEOUT] = { "xe_tlb_timeout", "a TLB invalidation timed out" },
	[DAVY_FACT_WEDGED_EVENT] = { "wedged_event", "the kernel announced a wedged device" },
	[DAVY_FACT_NVIDIA_XID] = { "nvidia_xid", "the driver reported an Xid" },
	[DAVY_FACT_GPU_FAULT] = { "gpu_fault", "a GPU fault" },
	[DAVY_FACT_ALLOC_FAILED] = { "alloc_failed", "memory was refused" },
	[DAVY_FACT_IOCTL_FAILED] = { "ioctl_failed", "an ioctl failed" },
	[DAVY_FACT_VRAM_SPILL] = { "vram_spill", "a buffer for VRAM was placed in GTT" },
	[DAVY_FACT_TTM_SWAPOUT] = { "ttm_swapout", "GPU memory was swapped out" },
	[DAVY_FACT_SVM_FAULT] = { "svm_fault", "recoverable GPU page faults" },
	[DAVY_FACT_KFD_PAGE_FAULT] = { "kfd_page_fault", "recoverable GPU page faults (KFD)" },
	[DAVY_FACT_I915_EVICT] = { "i915_evict", "no room in the GPU's address space" },
	[DAVY_FACT_I915_SHRINK] = { "i915_shrink", "the shrinker takes GPU memory" },
	[DAVY_FACT_I915_FAULT] = { "i915_fault", "CPU faults on GPU objects" },
	[DAVY_FACT_XE_PAGE_FAULT] = { "xe_page_fault", "GPU page faults" },
	[DAVY_FACT_XE_VMA_EVICT] = { "xe_vma_evict", "its mappings lost their memory" },
	[DAVY_FACT_XE_REBIND_RETRY] = { "xe_rebind_retry", "its memory is rebound repeatedly" },
};

bool davy_fact_known(uint32_t fact)
{
	return fact < DAVY_FACT_COUNT && facts[fact].name;
}

const char *davy_fact_name(uint32_t fact)
{
	return davy_fact_known(fact) ? facts[fact].name : "unknown";
}

const char *davy_fact_text(uint32_t fact)
{
	return davy_fact_known(fact) ? facts[fact].text : "unknown";
}

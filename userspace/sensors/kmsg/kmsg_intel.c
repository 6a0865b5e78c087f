/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i915 of Linux 6.1 to 7.2 (i915_gpu_error.c, intel_reset.c, i915_sw_fence.c,
 * intel_guc_submission.c) and xe of 6.12 to 7.2 (xe_guc_submit.c, xe_gt.c, xe_pagefault.c,
 * xe_guc_ct.c, xe_tlb_inval.c).
 */
#include "sensors/kmsg/kmsg_table.h"

static const struct davy_kmsg_row i915_rows[] = {
	{ "GPU HANG: ecode %w, in %n [%p]", DAVY_LOG_I915_HANG },
	{ "GPU HANG: ecode %w", DAVY_LOG_I915_HANG },
	{ "%n[%p] context reset due to GPU hang", DAVY_LOG_I915_CONTEXT_RESET },
	{ "GPU error state saved to", DAVY_LOG_I915_CONTEXT_RESET },
	/* "i915-DEVICE:", then a context's name, comm[pid], or again the device */
	{ "Fence expiration time out i915-%b:%n[%p]", DAVY_LOG_I915_FENCE_EXPIRED },
	{ "Fence expiration time out i915-%b:", DAVY_LOG_I915_FENCE_EXPIRED },
	{ "Fence expiration time out i915", DAVY_LOG_I915_FENCE_EXPIRED },
	{ "Asynchronous wait on fence i915-%b", DAVY_LOG_I915_FENCE_EXPIRED },
	{ "Asynchronous wait on fence %w", DAVY_LOG_I915_FENCE_EXPIRED },
	{ "Resetting chip for", DAVY_LOG_I915_GT_RESET },
	{ "Resetting %r for", DAVY_LOG_I915_ENGINE_RESET },
	{ "{GUC: |GuC: |}{GuC e|E|e}ngine reset {request |}failed on %d:%d (%r",
	  DAVY_LOG_I915_GT_RESET },
	{ "Failed to reset {chip|GuC, ret = }", DAVY_LOG_I915_RESET_FAILED },
	{ "Failed to initialise HW following reset (%e", DAVY_LOG_I915_RESET_FAILED },
	{ "Failed to restart {rcs|bcs|vcs|vecs|ccs|gsc}%w (%e", DAVY_LOG_I915_RESET_FAILED },
	{ "GPU reset not supported", DAVY_LOG_I915_RESET_FAILED },
	{ "%w timed out, cancelling all in-flight rendering", DAVY_LOG_I915_RESET_FAILED },
	{ "%r reset request timed out", DAVY_LOG_I915_RESET_FAILED },
	{ "GPU recovery timed out", DAVY_LOG_I915_RESET_FAILED },
	{ "Failed to {initialize GPU|re-initialize GPU}*, declaring it wedged", DAVY_LOG_WEDGED },
	{ "{CI tainted|GPU}*declaring it wedged", DAVY_LOG_WEDGED },
	{ "Purging GPU memory, %d pages freed", DAVY_LOG_I915_PURGED },
	{ "%r TLB invalidation did not complete in %d", DAVY_LOG_I915_NO_REPLY },
	{ "{GUC: |}TLB invalidation response timed out", DAVY_LOG_I915_NO_REPLY },
	{ "{GUC: |}CT: {Communication stalled|No response for request|Corrupted descriptor}",
	  DAVY_LOG_I915_NO_REPLY },
	{ "{GUC: |}mmio request %d: no reply", DAVY_LOG_I915_NO_REPLY },
	{ "{GUC: |}Received early {GuC |}{crash dump|exception} notification",
	  DAVY_LOG_I915_NO_REPLY },
	{ "GUC: {Crash dump|Exception|Unknown crash} notification", DAVY_LOG_I915_NO_REPLY },
};

static const struct davy_kmsg_row xe_rows[] = {
	{ "Timedout job: seqno=%d, lrc_seqno=%d, guc_id=%c, flags=%w in %n [%p]",
	  DAVY_LOG_XE_JOB_TIMEOUT },
	{ "Timedout job: seqno=%d", DAVY_LOG_XE_JOB_TIMEOUT },
	{ "Engine reset: engine_class=%r, logical_mask: %w, guc_id=%c", DAVY_LOG_XE_ENGINE_RESET },
	{ "Engine memory CAT error*class=%r, guc_id=%c", DAVY_LOG_XE_CAT_ERROR },
	{ "Engine memory CAT error", DAVY_LOG_XE_CAT_ERROR },
	{ "Memory CAT error reported by GuC", DAVY_LOG_XE_CAT_ERROR },
	{ "Fault response: Unsuccessful %e", DAVY_LOG_XE_FAULT_UNSERVED },
	{ "TLB invalidation {fence |}timeout", DAVY_LOG_XE_TLB_TIMEOUT },
	{ "CRITICAL: Xe has declared device %b as wedged", DAVY_LOG_WEDGED },
	{ "Xe has declared device %b as wedged", DAVY_LOG_WEDGED },
	{ "Xe device coredump has been created", DAVY_LOG_COREDUMP },
};

/* Short and common words: valid only after the driver's name. */
static const struct davy_kmsg_row xe_short_rows[] = {
	{ "{Kernel-submitted job|VM job} timed out", DAVY_LOG_XE_JOB_TIMEOUT },
	{ "Check job timeout:", DAVY_LOG_XE_JOB_TIMEOUT },
	{ "Engine reset:", DAVY_LOG_XE_ENGINE_RESET },
	{ "{GuC e|E}ngine reset request failed on %d:%d because", DAVY_LOG_XE_GT_RESET },
	{ "trying reset", DAVY_LOG_XE_GT_RESET },
	{ "reset {queued|started}", DAVY_LOG_XE_GT_RESET },
	{ "reset done", DAVY_LOG_XE_GT_RESET_DONE },
	{ "reset failed (%e", DAVY_LOG_XE_GT_RESET_FAILED },
	{ "failed to clear GRDOM_FULL (%e", DAVY_LOG_XE_GT_RESET_FAILED },
	{ "GuC reset timed out", DAVY_LOG_XE_GT_RESET_FAILED },
	{ "Failed to reset GuC, ret = %e", DAVY_LOG_XE_GT_RESET_FAILED },
	{ "{runtime |}resume failed (%e", DAVY_LOG_RESUME_FAILED },
	/* one record; a saved log may have its lines apart */
	{ "ASID: %d Faulted Address: %a", DAVY_LOG_XE_FAULT_DETAIL },
	{ "Faulted Address: %a", DAVY_LOG_XE_FAULT_DETAIL },
	{ "{PageFault|PF} Queue*full", DAVY_LOG_IH_OVERFLOW },
	{ "{ASID|VFID|PDATA|FaultType|FaultLevel|AccessType|EngineClass|"
	  "EngineInstance}: ",
	  DAVY_LOG_XE_FAULT_DETAIL },
	{ "Schedule disable failed to respond", DAVY_LOG_XE_GUC_SILENT },
	{ "Schedule enable failed to respond", DAVY_LOG_XE_GUC_SILENT },
	{ "{Timed out wait for G2H|G2H fence|H2G request}", DAVY_LOG_XE_GUC_SILENT },
	{ "Pending enable*failed to respond", DAVY_LOG_XE_GUC_SILENT },
	{ "Suspend fence, guc_id=%d, failed to respond", DAVY_LOG_XE_GUC_SILENT },
	{ "Wait for CGP_SYNC_DONE response failed", DAVY_LOG_XE_GUC_SILENT },
	{ "{GuC Crash dump|GuC Exception|Unknown GuC crash} notification", DAVY_LOG_XE_GUC_SILENT },
	{ "Received early GuC {crash dump|exception} notification", DAVY_LOG_XE_GUC_SILENT },
	{ "G2H channel broken on read", DAVY_LOG_XE_GUC_SILENT },
	{ "No forward process on H2G", DAVY_LOG_XE_GUC_SILENT },
	{ "GuC mmio request %d: {no reply|lost}", DAVY_LOG_XE_GUC_SILENT },
	{ "CT dequeue failed: %e", DAVY_LOG_XE_GUC_SILENT },
	{ "Force wake domain %d failed to ack", DAVY_LOG_XE_GUC_SILENT },
	{ "Force wake domain %d:*MMIO unreliable", DAVY_LOG_DEVICE_LOST },
	{ "VM worker error: %e", DAVY_LOG_XE_VM_ERROR },
	{ "{VRAM allocation|Get pages} failed, retry count exceeded", DAVY_LOG_XE_VM_ERROR },
	{ "[Hardware Error]: *uncorrectable", DAVY_LOG_RAS_UNCORRECTABLE },
	{ "Runtime Survivability mode enabled", DAVY_LOG_WEDGED },
	{ "In Survivability Mode", DAVY_LOG_INIT_FAILED },
	{ "PCODE initialization timedout", DAVY_LOG_INIT_FAILED },
	{ "Check your /sys/class/drm/", DAVY_LOG_RESET_CHATTER },
};

const struct davy_kmsg_group davy_kmsg_i915 =
	DAVY_KMSG_GROUP(i915_rows, DAVY_KMSG_BIT(ANYBODY) | DAVY_KMSG_BIT(I915));
const struct davy_kmsg_group davy_kmsg_xe =
	DAVY_KMSG_GROUP(xe_rows, DAVY_KMSG_BIT(ANYBODY) | DAVY_KMSG_BIT(XE));
const struct davy_kmsg_group davy_kmsg_xe_short = DAVY_KMSG_GROUP(xe_short_rows, DAVY_KMSG_BIT(XE));

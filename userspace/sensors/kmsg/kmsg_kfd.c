/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD, the compute part of amdgpu, Linux 6.1 to 7.2: kfd_device_queue_manager.c and amdgpu_mes.c
 * (queues), amdgpu_amdkfd_gpuvm.c and kfd_svm.c (memory), kfd_int_process_v*.c (waves).
 */
#include "sensors/kmsg/kmsg_table.h"

static const struct davy_kmsg_row rows[] = {
	/* queues: MES since gfx11, HIQ (HWS) before */
	{ "MES failed to {respond to|response} msg=%w", DAVY_LOG_MES_FAILED },
	{ "MES({0|1}) failed to respond to msg=%w", DAVY_LOG_MES_FAILED },
	{ "MES(%d, %d) {failed to respond to msg=|ring buffer is full}", DAVY_LOG_MES_FAILED },
	{ "MES ring buffer is full", DAVY_LOG_MES_FAILED },
	{ "reset via MES failed", DAVY_LOG_MES_FAILED },
	{ "MES might be in unrecoverable state", DAVY_LOG_MES_UNRECOVERABLE },
	{ "failed to {add|remove|reset} hardware queue", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "failed to {suspend|resume} {all |}gangs", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to detect {hung queues|and reset}", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "failed to execute runlist", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "{Suspending all queues|Resuming all queues|Evicting process queues|Removing bad queue} "
	  "failed",
	  DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "cp queue preemption time out", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "cp queue pipe %d queue %d preemption failed", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "CP HQD {IQ timer status|dequeue request} time out", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Couldn't unmap all the queues, eviction failed ret=%e", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to {map|unmap} queue in HW, err (%e", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "failed to {unmap|map|reset} legacy queue", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to {add|remove|evict|remap|restore} queue %d", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "%w Failed to {add|remove} queue %d for dev %d", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to {evict|restore} process queues", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to {evict|restore} queues of process pid %p", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to {evict|restore} queues of pasid %q", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to suspend process pid %p", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to suspend process %q", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Resetting wave fronts", DAVY_LOG_QUEUE_EVICT_FAILED },
	{ "Failed to quiesce KFD", DAVY_LOG_QUIESCE_FAILED },
	{ "HIQ MQD's queue_doorbell_id%d is not 0, Queue preemption time out", DAVY_LOG_HWS_HANG },
	{ "qcm fence wait loop timeout expired", DAVY_LOG_HWS_HANG },
	{ "The cp might be in an unrecoverable state", DAVY_LOG_HWS_HANG },
	{ "Pasid %q DQM create queue type %d failed. ret -62", DAVY_LOG_HWS_HANG },
	{ "Pasid %q DQM create queue type %d failed. ret %e", DAVY_LOG_QUEUE_CREATE_FAILED },
	{ "process pid %p DQM create queue type %d failed. ret -62", DAVY_LOG_HWS_HANG },
	{ "process pid %p DQM create queue type %d failed. ret %e", DAVY_LOG_QUEUE_CREATE_FAILED },
	{ "DQM create queue type %d failed. ret -62", DAVY_LOG_HWS_HANG },
	{ "DQM create queue type %d failed. ret %e", DAVY_LOG_QUEUE_CREATE_FAILED },
	{ "Hang detected doorbell %w pipe %d queue %d", DAVY_LOG_QUEUE_HANG },
	{ "%w queue hung, but ring reset disabled", DAVY_LOG_QUEUE_HANG },
	{ "queue id %w at pasid %q is reset", DAVY_LOG_QUEUE_RESET },
	{ "Queues reset on process %n tid %d thread %N pid %p", DAVY_LOG_QUEUE_RESET },

	/* eviction and restore */
	{ "%w Failed to resume KFD", DAVY_LOG_RESTORE_FAILED },
	{ "Failed to resume KFD", DAVY_LOG_RESTORE_FAILED },
	{ "Failed to map all the queues, restore failed ret=%e", DAVY_LOG_RESTORE_FAILED },
	{ "Failed to validate BOs to restore ret=%e", DAVY_LOG_RESTORE_FAILED },
	{ "Restore process pid %p failed during resume", DAVY_LOG_RESTORE_FAILED },
	{ "Restore process %d failed during resume", DAVY_LOG_RESTORE_FAILED }, /* its PASID */
	{ "SVM mapping failed, exceeds resident system memory limit", DAVY_LOG_SVM_OVER_LIMIT },
	{ "Runlist is getting oversubscribed", DAVY_LOG_OVERSUBSCRIBED },
	{ "Pid %p unmapped memory before destroying userptr", DAVY_LOG_USERPTR_UNMAPPED },

	/* memory */
	{ "Failed to map {VA|bo}", DAVY_LOG_GPU_MAP_FAILED },
	{ "Failed to add BO object to VM. ret == %e", DAVY_LOG_GPU_MAP_FAILED },
	{ "update_gpuvm_pte() failed", DAVY_LOG_GPU_MAP_FAILED },
	{ "validate_pt_pd_bos() failed", DAVY_LOG_GPU_MAP_FAILED },
	{ "failed to validate PT BOs", DAVY_LOG_GPU_MAP_FAILED },
	{ "Failed to update page directories", DAVY_LOG_GPU_MAP_FAILED },
	{ "%w failed to validate BO", DAVY_LOG_GPU_MAP_FAILED },
	{ "%w update PTE failed", DAVY_LOG_GPU_MAP_FAILED },
	{ "amdgpu_vm_bo_update failed", DAVY_LOG_GPU_MAP_FAILED },

	/* the signal for a fault that no event of the process takes */
	{ "Sending SIG{SEGV|TERM} to process {pid |}%p", DAVY_LOG_KFD_EXCEPTION },
	{ "Process %p (pasid %q) got unhandled exception", DAVY_LOG_KFD_EXCEPTION },
	{ "Process pid %p got unhandled exception", DAVY_LOG_KFD_EXCEPTION },

	{ "Send SIGBUS to process %n(pasid", DAVY_LOG_POISON_SIGNAL },
	{ "Send SIGBUS to process %p", DAVY_LOG_POISON_SIGNAL },
	{ "sq_intr: error,", DAVY_LOG_WAVE_ERROR },
	{ "print_sq_intr_info_error: %d callbacks suppressed", DAVY_LOG_WAVE_ERROR },

	/* look-alikes */
	{ "%w Failed to get user pages", DAVY_LOG_USER_PAGES_FAILED },
	{ "Failed to get user pages", DAVY_LOG_USER_PAGES_FAILED },
	{ "Freeing queue vital buffer", DAVY_LOG_QUEUE_BUFFER_FREED },
};

const struct davy_kmsg_group davy_kmsg_kfd =
	DAVY_KMSG_GROUP(rows, DAVY_KMSG_BIT(ANYBODY) | DAVY_KMSG_BIT(AMDGPU));

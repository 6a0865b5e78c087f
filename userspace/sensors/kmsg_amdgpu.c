/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * amdgpu and radeon, Linux 6.1 to 7.2: gmc_v*_0.c (faults), amdgpu_job.c (timeouts),
 * amdgpu_device.c (resets), amdgpu_cs.c, amdgpu_object.c, amdgpu_vm.c (memory), amdgpu_fence.c,
 * amdgpu_smu.c, amdgpu_ras.c. The process line of a fault or timeout has three forms, see rows.
 */
#include "kmsg_table.h"

static const struct dl_kmsg_row rows[] = {
	/* faults: the process is in the line (gfx9 to 11 of 6.1), or in the next one */
	{ "[%w] {retry |no-retry |}page fault (src_id:%d ring:%d vmid:%v pasid:%q, for process %n "
	  "pid %p",
	  DL_LOG_PAGE_FAULT },
	{ "[%w] {retry |no-retry |}page fault (src_id:%d ring:%d vmid:%v pasid:%q",
	  DL_LOG_PAGE_FAULT },
	{ "[%w] {retry |no-retry |}page fault", DL_LOG_PAGE_FAULT },
	{ "GPU fault detected: %d %d for process %n pid %p", DL_LOG_PAGE_FAULT },
	{ "GPU fault detected:", DL_LOG_PAGE_FAULT },
	{ "VM fault (%d, vmid %v, pasid %q) at page %d", DL_LOG_FAULT_STATUS },
	{ "VM_CONTEXT1_PROTECTION_FAULT_ADDR %a", DL_LOG_FAULT_ADDRESS },
	{ "VM_CONTEXT1_PROTECTION_FAULT_STATUS", DL_LOG_FAULT_STATUS },
	{ "{for|in} process %n pid %p", DL_LOG_FAULT_PROCESS },
	{ "Process information: process %n pid %p", DL_LOG_PROCESS_INFO },
	{ "Process %n pid %p", DL_LOG_PROCESS_INFO },
	{ "in page starting at address %a", DL_LOG_FAULT_ADDRESS },
	{ "at address %a from {IH |}client", DL_LOG_FAULT_ADDRESS },
	{ "cookie node_id %d fault from die %w", DL_LOG_FAULT_FLAGS },
	{ "{GCVM|MMVM|VM|VMC}_L2_PROTECTION_FAULT_STATUS", DL_LOG_FAULT_STATUS },
	{ "Faulty UTCL2 client ID: %w", DL_LOG_FAULT_STATUS },
	{ "{MORE_FAULTS|WALKER_ERROR|PERMISSION_FAULTS|MAPPING_ERROR|RW}: %d", DL_LOG_FAULT_FLAGS },
	{ "Can't handle page fault (%e", DL_LOG_FAULT_UNSERVED },

	/* timeouts and resets, from the mildest on */
	{ "ring %r timeout, but soft recovered", DL_LOG_SOFT_RECOVERED },
	{ "ring %r timeout", DL_LOG_RING_TIMEOUT },
	{ "ring %r stalled for more than", DL_LOG_RING_TIMEOUT }, /* radeon */
	{ "GPU lockup (", DL_LOG_RING_TIMEOUT },
	{ "Starting %r ring reset", DL_LOG_RING_RESET_BEGUN },
	{ "Ring %r reset succe", DL_LOG_RING_RESET_DONE },
	{ "Ring %r reset fail", DL_LOG_RING_RESET_FAILED },
	{ "GPU {reset|jobs stop} begin!", DL_LOG_GPU_RESET_BEGUN },
	{ "GPU reset succeeded", DL_LOG_GPU_RESET_DONE },
	{ "GPU reset(%d) succeeded", DL_LOG_GPU_RESET_DONE },
	{ "GPU reset(%d) failed with error %e", DL_LOG_GPU_RESET_FAILED },
	{ "GPU reset(%d) failed", DL_LOG_GPU_RESET_FAILED },
	{ "GPU reset end with ret = 0", DL_LOG_GPU_RESET_DONE },
	{ "GPU reset end with ret = %e", DL_LOG_GPU_RESET_FAILED },
	{ "GPU Recovery Failed: %e", DL_LOG_GPU_RESET_FAILED },
	{ "GPU recovery disabled", DL_LOG_GPU_RESET_FAILED },
	{ "ASIC reset failed with error, %e", DL_LOG_GPU_RESET_FAILED },
	{ "GPU {smu |psp |}mode{1|2|3} reset failed", DL_LOG_GPU_RESET_FAILED },
	{ "GPU {smu |psp |}mode{1|2|3} reset", DL_LOG_GPU_RESET_STEP },
	{ "{MODE1|MODE2|BACO|PCI|Mode2|mode1} reset", DL_LOG_GPU_RESET_STEP },
	{ "Bailing on TDR for", DL_LOG_GPU_RESET_STEP },
	{ "VRAM is lost due to GPU reset", DL_LOG_VRAM_LOST },
	{ "recover vram bo from shadow", DL_LOG_GPU_RESET_STEP },
	{ "resume of IP block <%w failed %e", DL_LOG_RESUME_FAILED },
	{ "amdgpu_device_ip_resume failed (%e", DL_LOG_RESUME_FAILED },
	{ "IB test failed on %r (%e", DL_LOG_GPU_RESET_STEP },
	{ "ring %r test failed (%e", DL_LOG_GPU_RESET_STEP },
	{ "failed to halt cp", DL_LOG_GPU_RESET_STEP },
	{ "device lost from bus!", DL_LOG_DEVICE_LOST },
	{ "Dumping IP State Completed", DL_LOG_IP_DUMP_DONE },
	{ "Dumping IP State", DL_LOG_IP_DUMP_BEGUN },
	{ "AMDGPU device coredump file has been created", DL_LOG_COREDUMP },
	{ "Skip scheduling IBs", DL_LOG_JOBS_SKIPPED },
	{ "couldn't schedule ib on ring", DL_LOG_JOBS_SKIPPED },
	{ "scheduling IB failed (%e", DL_LOG_JOBS_SKIPPED },
	{ "Error scheduling IBs (%e", DL_LOG_JOBS_SKIPPED },

	/* what comes before */
	{ "Fence fallback timer expired on ring %r", DL_LOG_FENCE_FALLBACK },
	{ "Illegal {register access|instruction|opcode} in command stream", DL_LOG_ILLEGAL_OPCODE },
	{ "timeout waiting for kiq fence", DL_LOG_KIQ_TIMEOUT },
	{ "fence wait timeout", DL_LOG_KIQ_TIMEOUT },
	{ "failed to write reg %w wait reg", DL_LOG_KIQ_TIMEOUT },
	{ "Waiting for fences timed out", DL_LOG_DISPLAY_STALLED },
	{ "SMU: I'm not done with your previous command", DL_LOG_SMU_BUSY },
	{ "SMU: I'm not done with your command", DL_LOG_SMU_BUSY },
	{ "SMU: {No response|bad message|invalid message|response}", DL_LOG_SMU_FAILED },
	{ "last message was failed ret is %d", DL_LOG_SMU_FAILED },
	{ "failed send message: %w", DL_LOG_SMU_FAILED },

	/* memory */
	{ "Not enough memory for command submission", DL_LOG_CS_NO_MEMORY },
	{ "amdgpu_vm_validate() failed", DL_LOG_VALIDATE_FAILED },
	{ "amdgpu_vm_validate_pt_bos() failed", DL_LOG_VALIDATE_FAILED },
	{ "amdgpu_cs_list_validate(validated) failed", DL_LOG_VALIDATE_FAILED },
	{ "ttm_eu_reserve_buffers failed", DL_LOG_VALIDATE_FAILED },
	{ "Failed to process the buffer list %e", DL_LOG_VALIDATE_FAILED },
	{ "Failed to initialize parser %e", DL_LOG_SUBMISSION_REFUSED },
	{ "Failed to pin framebuffer with error %e", DL_LOG_PIN_FAILED },
	{ "%w pin failed", DL_LOG_PIN_FAILED },
	{ "(%e) {failed to allocate kernel bo|kernel bo pin failed|kernel bo map failed}",
	  DL_LOG_KERNEL_BO_FAILED },
	{ "Couldn't update BO_VA (%e", DL_LOG_MAP_FAILED },
	{ "validate_and_fence failed: %e", DL_LOG_MAP_FAILED },
	{ "VM memory stats for proc %n(%p) task %N(%d) is non-zero when fini", DL_LOG_VM_LEAK },
	{ "VM memory stats is non-zero when fini", DL_LOG_VM_LEAK },
	{ "leaking bo va", DL_LOG_VM_LEAK },

	/* hardware */
	{ "%d uncorrectable hardware errors detected in", DL_LOG_RAS_UNCORRECTABLE },
	{ "GPU reset for %w RAS poison consumption is issued", DL_LOG_RAS_RESET },
	{ "RAS records:%d exceed threshold", DL_LOG_RAS_PAGES },
	{ "Saved bad pages %d reaches threshold", DL_LOG_RAS_PAGES },
	{ "PCI error: detected callback", DL_LOG_PCI_ERROR },
	{ "PCI error: {permanent failure|slot reset}", DL_LOG_PCI_ERROR },
	{ "Fatal error during GPU init", DL_LOG_INIT_FAILED },

	/* look-alikes */
	{ "PCIE GART of %w enabled", DL_LOG_RESET_CHATTER },
	{ "SMU is {resuming|resumed}", DL_LOG_RESET_CHATTER },
	{ "PSP is resuming", DL_LOG_RESET_CHATTER },
	{ "DMUB hardware initialized", DL_LOG_RESET_CHATTER },
	{ "ring %r uses VM inv eng", DL_LOG_RESET_CHATTER },
	{ "Check your /sys/class/drm/", DL_LOG_RESET_CHATTER },
	{ "{RAS|RAP|SECUREDISPLAY}: {optional |}", DL_LOG_RESET_CHATTER },
	{ "reserve %w from %w for PSP TMR", DL_LOG_RESET_CHATTER },
};

const struct dl_kmsg_group dl_kmsg_amdgpu =
	DL_KMSG_GROUP(rows, DL_KMSG_BIT(ANYBODY) | DL_KMSG_BIT(AMDGPU) | DL_KMSG_BIT(RADEON));

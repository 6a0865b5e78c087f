/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages about the host, Linux 6.1 to 7.2: mm/oom_kill.c, mm/page_alloc.c and lib/show_mem.c,
 * kernel/hung_task.c, kernel/watchdog.c, kernel/workqueue.c, arch/x86 oops and machine check, the
 * IOMMU drivers, PCIe port services. Also stack frames whose functions show a stall.
 */
#include "sensors/kmsg/kmsg_table.h"

static const struct davy_kmsg_row rows[] = {
	/* host memory: on UMA devices also GPU memory */
	{ "Out of memory and no killable processes", DAVY_LOG_OOM_KILL },
	{ "Mem-Info:", DAVY_LOG_MEMORY_REPORT },
	{ "active_anon:%d inactive_anon:%d", DAVY_LOG_MEMORY_REPORT },
	{ "Node %d {DMA free|DMA32 free|Normal free|active_anon}:%d", DAVY_LOG_MEMORY_REPORT },
	{ "{[<0>] |? |}{warn_alloc|__alloc_pages_slowpath|__alloc_pages_direct_reclaim|"
	  "out_of_memory|oom_kill_process|dump_header}",
	  DAVY_LOG_MEMORY_REPORT },

	/* workers: the driver's own are marked "[module]" */
	{ "workqueue: {svm_range_restore_work|svm_range_deferred_list_work|restore_process_worker|"
	  "evict_process_worker|amdgpu_amdkfd_restore_userptr_worker} [%w] hogged CPU for >%dus %c "
	  "times",
	  DAVY_LOG_RESTORE_WORKER_HOGGED },
	{ "workqueue: %w [{amdgpu|i915|xe|ttm|gpu_sched|nouveau|radeon|nvidia}*] hogged CPU for "
	  ">%dus %c times",
	  DAVY_LOG_WORKER_HOGGED },
	{ "{[<0>] |? |}{svm_range_restore_work|svm_range_validate_and_map|restore_process_worker|"
	  "amdgpu_amdkfd_restore_userptr_worker|amdgpu_amdkfd_gpuvm_restore_process_bos}",
	  DAVY_LOG_RESTORE_WORKER_STACK },

	/* the kernel itself */
	{ "Workqueue: %w %w", DAVY_LOG_TRACE },
	{ "{watchdog: |}BUG: soft lockup", DAVY_LOG_LOCKUP },
	{ "{NMI watchdog|watchdog}: Watchdog detected hard LOCKUP", DAVY_LOG_LOCKUP },
	{ "{NMI watchdog|watchdog}: CPU%d: Watchdog detected hard LOCKUP", DAVY_LOG_LOCKUP },
	{ "Kernel panic - not syncing", DAVY_LOG_PANIC },
	{ "BUG: unable to handle", DAVY_LOG_OOPS },
	{ "BUG: kernel NULL pointer dereference", DAVY_LOG_OOPS },
	{ "kernel BUG at", DAVY_LOG_OOPS },
	{ "Oops: ", DAVY_LOG_OOPS },
	{ "general protection fault, maybe for address", DAVY_LOG_OOPS },
	{ "general protection fault: %d", DAVY_LOG_OOPS },
	{ "WARNING: CPU: %d PID: %p at drivers/{gpu/drm/|accel/}", DAVY_LOG_DRIVER_WARNING },
	{ "WARNING: drivers/gpu/drm/%w at", DAVY_LOG_DRIVER_WARNING },
	{ "rcu: INFO: rcu_%w {self-detected stall|detected}", DAVY_LOG_RCU_STALL },

	/* hardware */
	{ "mce: [Hardware Error]: CPU %d: Machine Check Exception", DAVY_LOG_MACHINE_CHECK },
	{ "AMD-Vi: Event logged [IO_PAGE_FAULT device=%b*address=%a", DAVY_LOG_IOMMU_FAULT },
	{ "AMD-Vi: Event logged [IO_PAGE_FAULT*address=%a", DAVY_LOG_IOMMU_FAULT },
	{ "iommu %w AMD-Vi: Event logged [IO_PAGE_FAULT device=%b*address=%a",
	  DAVY_LOG_IOMMU_FAULT },
	{ "{AMD-Vi: |}Completion-Wait loop timed out", DAVY_LOG_IOMMU_STUCK },
	{ "AMD-Vi: IOMMU %w Completion-Wait loop timed out", DAVY_LOG_IOMMU_STUCK },
	{ "AMD-Vi: Command buffer timeout", DAVY_LOG_IOMMU_STUCK },
	{ "DMAR: [DMA *] Request device [%b] fault addr %a", DAVY_LOG_IOMMU_FAULT },
	{ "DMAR: VT-d detected Invalidation {Queue|Time-out|Completion} Error",
	  DAVY_LOG_IOMMU_STUCK },
	{ "{amd_iommu_report_page_fault|amd_iommu_int_thread}: %d callbacks suppressed",
	  DAVY_LOG_IOMMU_FAULT },
	{ "PME: Spurious native interrupt", DAVY_LOG_PME_SPURIOUS },
	{ "AER: {Multiple |}Uncorrect*message received from %b", DAVY_LOG_AER },
	{ "AER: {Multiple |}Uncorrect", DAVY_LOG_AER },
	{ "AER: can't recover", DAVY_LOG_AER },
	{ "DPC: containment event, status:%d, *received from %b", DAVY_LOG_AER },
	{ "PCIe Bus Error: severity={Uncorrect|Fatal}", DAVY_LOG_AER },
	{ "PCIe Bus Error: severity=Correct", DAVY_LOG_AER_CORRECTED },
	{ "Refused to change power state from %w to %w", DAVY_LOG_RESET_CHATTER },
};

const struct davy_kmsg_group davy_kmsg_host =
	DAVY_KMSG_GROUP(rows, (1u << DAVY_KMSG_DRIVER_COUNT) - 1);

/*
 * Lines in which the kernel writes a process name. The owner chooses its up to 15 bytes, for
 * example "NVRM: Xid 79". Such lines are matched only against these rows.
 */
static const struct davy_kmsg_row named_rows[] = {
	{ "Out of memory{ (oom_kill_allocating_task)|}: Kill{ed|} process %p (%n)",
	  DAVY_LOG_OOM_KILL },
	{ "Memory cgroup out of memory: Kill{ed|} process %p (%n)", DAVY_LOG_OOM_KILL },
	{ "oom-kill:constraint=", DAVY_LOG_OOM_INVOKED },
	{ "%n invoked oom-killer:", DAVY_LOG_OOM_INVOKED },
	{ "%n: page allocation failure: order:%c", DAVY_LOG_PAGE_ALLOC_FAILED },
	{ "%N: *, mode:%d(", DAVY_LOG_NOTHING }, /* from vmalloc */
	{ "INFO: task %n:%p blocked{ in I/O wait|} for more than %d seconds", DAVY_LOG_HUNG_TASK },
	{ "INFO: task %N:%d ", DAVY_LOG_NOTHING }, /* the lock, and who may hold it */
	{ "task:%N state:D", DAVY_LOG_TRACE },
	{ "CPU: %d *PID: %d Comm: ", DAVY_LOG_NOTHING },
	{ "watchdog: BUG: soft lockup - CPU#%d stuck for %w! [%n:%p]", DAVY_LOG_LOCKUP },

	/* an engine that crashes in its own or the GPU's libraries */
	{ "%n[%p]: segfault at *in lib{ggml|llama|vulkan|amdhip|hsa|cuda|ze_|rocblas|nvidia}",
	  DAVY_LOG_ENGINE_SEGFAULT },
	{ "traps: %n[%p] *in lib{ggml|llama|vulkan|amdhip|hsa|cuda|ze_|rocblas|nvidia}",
	  DAVY_LOG_ENGINE_SEGFAULT },
	/* an engine that crashes elsewhere */
	{ "%n[%p]: segfault at", DAVY_LOG_ENGINE_CRASHED },
	{ "traps: %n[%p] {trap|general protection}", DAVY_LOG_ENGINE_CRASHED },
	{ "traps: %N[%d]", DAVY_LOG_NOTHING },
	{ "%N[%d]{:| }", DAVY_LOG_NOTHING },
	{ "%N (%d): ", DAVY_LOG_NOTHING },
};

const struct davy_kmsg_group davy_kmsg_named =
	DAVY_KMSG_GROUP(named_rows, (1u << DAVY_KMSG_DRIVER_COUNT) - 1);

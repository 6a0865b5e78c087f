/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drivers' own format strings, with arguments filled in: the table of messages is tested
 * against what a driver can write, not only against what reports have quoted.
 */
#include <stdio.h>

#include "kmsg_log.h"

/* Linux: what dev_err(), DRM_ERROR() and pr_err() put before a message of amdgpu. */
#define DEV "amdgpu 0000:03:00.0: amdgpu: "
#define DRM "[drm:amdgpu_function [amdgpu]] *ERROR* "
#define KFD "amdgpu: "
/* 580.142: NV_PRINTF() of nvprintf.h, NV_DEV_PRINTF() of os-interface.h, kernel_rc.c */
#define PRINTF	   "NVRM: function: "
#define DEV_PRINTF "NVRM: GPU %04x:%02x:%02x.%x: "
#define NAMED	   "NVRM: Xid (PCI:%04x:%02x:%02x): %d, pid=%s, name=%s, "
#define UNNAMED	   "NVRM: Xid (PCI:%04x:%02x:%02x): %d, "
#define IN_MIG	   "NVRM: Xid (PCI:%04x:%02x:%02x GPU-I:%02u GPU-CI:%02u): %d, pid=%s, name=%s, "
#define PCI	   "0000|65|00|"
#define PCI_DEV	   "0000|65|00|0|"

static const struct row {
	const char *source;
	const char *format;
	const char *args; /* for each conversion one, with "|" between them */
	uint16_t kind;	  /* DAVY_LOG_NOTHING: chatter */
	uint32_t pid;
	uint32_t code;
	const char *device; /* NULL: none in the line */
} rows[] = {
#define NV "0000:65:00.0"
	/* NVIDIA's open kernel module, branch 580 (580.142) */
	{ "src/kernel/gpu/mmu/arch/volta/kern_gmmu_gv100.c:578",
	  NAMED
	  "channel 0x%08x, intr %08x. MMU Fault: ENGINE %s %s faulted @ 0x%x_%08x. Fault is of "
	  "type %s %s\n",
	  PCI "31|703|tenant-wild|0000000a|00000000|GRAPHICS|GPC1 GPCCLIENT_T1_8|7f00|00001000|"
	      "FAULT_PDE|ACCESS_TYPE_VIRT_WRITE",
	  DAVY_LOG_XID, 703, 31, NV },
	{ "src/kernel/gpu/rc/kernel_rc.c:382", NAMED "%s%s\n",
	  PCI "45|4711|VLLM::EngineCor|Ch 00000008| caused by previous Xid 31", DAVY_LOG_XID, 4711,
	  45, NV },
	{ "src/kernel/gpu/rc/kernel_rc.c:382", NAMED "%s%s\n", PCI "43|4711|a, b|Ch 00000010|",
	  DAVY_LOG_XID, 4711, 43, NV },
	{ "src/kernel/gpu/rc/kernel_rc.c:395", IN_MIG "%s%s\n",
	  PCI "01|00|13|4711|python3|Graphics Exception: ESR 0x505730=0x24c000e|", DAVY_LOG_XID,
	  4711, 13, NV },
	{ "src/kernel/gpu/rc/kernel_rc.c:382", NAMED "%s%s\n",
	  PCI "8|463898|llama-server|channel "
	      "0x00000007|",
	  DAVY_LOG_XID, 463898, 8, NV },
	{ "arch/nvalloc/unix/src/osinit.c:365", UNNAMED "GPU has fallen off the bus.\n", PCI "79",
	  DAVY_LOG_XID, 0, 79, NV },
	{ "src/kernel/gpu/gsp/kernel_gsp.c:2158",
	  NAMED
	  "Timeout after %llus of waiting for RPC response from GPU%d GSP! Expected function %d "
	  "(%s) sequence %u (0x%llx 0x%llx).\n",
	  PCI "119|4711|python3|45|0|76|GSP_RM_CONTROL|9|20800a4c|4", DAVY_LOG_XID, 4711, 119, NV },
	{ "src/kernel/gpu/gpu.c:7036",
	  UNNAMED "GPU recovery action changed from 0x%x (%s) to 0x%x (%s)\n",
	  PCI "154|0|None|1|GPU Reset Required", DAVY_LOG_XID, 0, 154, NV },
	{ "src/kernel/gpu/arch/ampere/kern_gpu_error_cont_ga100.c:349",
	  NAMED "%s: %s (0x%x, 0x%x). physAddr: 0x%08llx RST: %s, D-RST: %s\n",
	  PCI "95|4711|python3|Uncontained|DRAM|2|1|0badf00d|Yes|No", DAVY_LOG_XID, 4711, 95, NV },
	{ "src/kernel/gpu/arch/turing/kern_gpu_tu102.c:358",
	  UNNAMED "An uncorrectable ECC error detected (possible firmware handling failure) "
		  "DRAM:%d, LTC:%d, MMU:%d, PCIE:%d\n",
	  PCI "140|1|0|0|0", DAVY_LOG_XID, 0, 140, NV },
	{ "src/kernel/gpu/gsp/arch/blackwell/kernel_gsp_ecc_gb100.c:140",
	  UNNAMED "GSP-RISCV, Uncorrectable SRAM error\n", PCI "172", DAVY_LOG_XID, 0, 172, NV },
	{ "src/kernel/gpu/mmu/arch/ampere/kern_gmmu_ga100.c:389",
	  UNNAMED "NVLink remote translation error: faulted @ 0x%x_%08x. Fault is of type %s %s\n",
	  PCI "108|7f00|00001000|FAULT_PDE|ACCESS_TYPE_VIRT_READ", DAVY_LOG_XID, 0, 108, NV },
	{ "src/kernel/gpu/rc/kernel_rc_watchdog_callback.c:269",
	  PRINTF "RC watchdog: GPU is probably locked!  Notify Timeout Seconds: %d\n", "7",
	  DAVY_LOG_NV_LOCKED, 0, 0, NULL },
	{ "kernel-open/nvidia/os-mlock.c:189",
	  "Cannot map memory with base addr 0x%llx and size of 0x%llx pages\n",
	  "7d523e000000|8700c", DAVY_LOG_NV_MAP_FAILED, 0, 0, NULL },
	{ "src/kernel/gpu/gsp/kernel_gsp.c:2220",
	  PRINTF
	  "GPU%d sanity check failed 0x%x waiting for RPC response from GSP. Expected function "
	  "%d (%s) sequence %u (0x%llx 0x%llx).\n",
	  "0|f|76|GSP_RM_CONTROL|9|20800a4c|4", DAVY_LOG_GSP_DEAD, 0, 0, NULL },
	{ "src/kernel/vgpu/rpc.c:1876",
	  PRINTF "rpcSendMessage failed with status 0x%08x for fn %d sequence %d!\n",
	  "00000065|76|9", DAVY_LOG_GSP_DEAD, 0, 0, NULL },
	{ "src/kernel/vgpu/rpc.c:1984",
	  PRINTF "rpcRecvPoll failed with status 0x%08x for fn %d sequence %u!\n", "00000065|76|9",
	  DAVY_LOG_GSP_DEAD, 0, 0, NULL },
	{ "src/kernel/vgpu/rpc.c:1984", /* NV_ERR_NOT_SUPPORTED */
	  PRINTF "rpcRecvPoll failed with status 0x%08x for fn %d sequence %u!\n", "00000056|76|9",
	  DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "arch/nvalloc/unix/src/osinit.c:370", DEV_PRINTF "GPU has fallen off the bus.\n", PCI_DEV,
	  DAVY_LOG_OFF_THE_BUS, 0, 0, NV },
	{ "arch/nvalloc/unix/src/osapi.c:3544",
	  "NVRM: The NVIDIA GPU %04x:%02x:%02x.%x\nNVRM: (PCI ID: %04x:%04x) installed in this "
	  "system "
	  "has\nNVRM: fallen off the bus and is not responding to commands.\n",
	  PCI_DEV "10de|2330", DAVY_LOG_OFF_THE_BUS, 0, 0, NV },
	{ "arch/nvalloc/unix/src/osinit.c:2285",
	  DEV_PRINTF "RmInitAdapter failed! (0x%x:0x%x:%d)\n", PCI_DEV "26|56|1474",
	  DAVY_LOG_NV_INIT_FAILED, 0, 0, NV },
	{ "kernel-open/nvidia/nv.c:1478",
	  DEV_PRINTF "rm_init_adapter failed, device minor number %d\n", PCI_DEV "0",
	  DAVY_LOG_NV_INIT_FAILED, 0, 0, NV },
	{ "kernel-open/nvidia/nv.c:865", "NVRM: No NVIDIA GPU found.\n", "",
	  DAVY_LOG_NV_INIT_FAILED, 0, 0, NULL },
	{ "kernel-open/nvidia/nv.c:918",
	  "NVRM: The NVIDIA probe routine failed for %d device(s).\n", "1", DAVY_LOG_NV_INIT_FAILED,
	  0, 0, NULL },
	{ "arch/nvalloc/unix/src/osapi.c:1126",
	  "NVRM: API mismatch: the client '%s' (pid %u)\nNVRM: has the version %s, but this kernel "
	  "module has\nNVRM: the version %s.  Please make sure that this\n",
	  "nvidia-smi|77|1.2|1.3", DAVY_LOG_NV_MISMATCH, 0, 0, NULL },
	{ "src/kernel/rmapi/nv_gpu_ops.c:11545",
	  PRINTF "uvm encountered global fatal error 0x%x, requiring os reboot to recover.\n", "60",
	  DAVY_LOG_NV_UVM_FATAL, 0, 0, NULL },
	{ "kernel-open/nvidia-uvm/uvm_global.c:429, uvm_common.h:62",
	  "nvidia-uvm: %s:%u %s[pid:%d] Encountered a global fatal error: %s\n",
	  "uvm_global.c|429|uvm_global_set_fatal_error_impl|4711|Unknown error",
	  DAVY_LOG_NV_UVM_FATAL, 0, 0, NULL },
	{ "src/libraries/utils/nvassert.c:135, nvstatuscodes.h:110",
	  PRINTF "Assertion failed: %s (0x%08X) returned from %s\n",
	  "Out of memory [NV_ERR_NO_MEMORY]|00000051|x() @ y.c:1", DAVY_LOG_NV_NO_MEMORY, 0, 0,
	  NULL },
	{ "src/nvidia-modeset/src/nvkms-dma.c:240",
	  "nvidia-modeset: ERROR: GPU:%d: Error while waiting for GPU progress: 0x%08x\n",
	  "0|0000c67d", DAVY_LOG_NV_PROGRESS, 0, 0, NULL },
	{ "src/nvidia-modeset/src/nvkms-rm.c:3608",
	  "nvidia-modeset: ERROR: GPU:%d: Idling display engine timed out: 0x%08x:%d:%d:%d\n",
	  "0|0000c67d|0|1|2", DAVY_LOG_NV_PROGRESS, 0, 0, NULL },
	{ "src/common/nvswitch/kernel/inc/common_nvswitch.h:163",
	  "nvidia-%s: SXid (PCI:%04x:%02x:%02x.%x): %05d, Fatal, Link %02d %s\n",
	  "nvswitch3|0000|04|00|0|20034|30|LTSSM Fault Up", DAVY_LOG_SXID, 0, 20034,
	  "0000:04:00.0" },
	{ "src/kernel/gpu/rc/kernel_rc.c:257", "NVRM: GPU at PCI:%04x:%02x:%02x: %s\n",
	  PCI "GPU-bd6803f5-40f0-7634-dda4-94901585c1a3", DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "src/kernel/gpu/rc/kernel_rc.c:267", "NVRM: GPU Board Serial Number: %s\n",
	  "1654124008112", DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "src/kernel/gpu/gsp/kernel_gsp.c:2149", PRINTF "Note: Please also check logs above.\n",
	  "", DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "src/kernel/gpu/gsp/kernel_gsp.c:2257",
	  PRINTF "Rate limiting GSP RPC error prints (printing 1 of every %d)\n", "30",
	  DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "src/kernel/gpu/gsp/kernel_gsp.c:709",
	  PRINTF "RC all %schannels for critical error %d.\n", "user |95", DAVY_LOG_NOTHING, 0, 0,
	  NULL },
	{ "kernel-open/nvidia/nv-mmap.c:466", "NVRM: Userspace mapping creation failed [%d]!\n",
	  "-12", DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "kernel-open/nvidia/nv-dmabuf.c:1496", "NVRM: failed to allocate dma-buf private\n", "",
	  DAVY_LOG_NOTHING, 0, 0, NULL },
#undef NV
#define AMD_GPU "0000:03:00.0"
	/* Linux 6.1 */
	{ "6.1 amdgpu_cs.c:956", DRM "ttm_eu_reserve_buffers failed.\n", "",
	  DAVY_LOG_VALIDATE_FAILED, 0, 0, NULL },
	{ "6.1 amdgpu_cs.c:974", DRM "amdgpu_vm_validate_pt_bos() failed.\n", "",
	  DAVY_LOG_VALIDATE_FAILED, 0, 0, NULL },
	{ "6.1 amdgpu_cs.c:1402", DRM "Failed to initialize parser %d!\n", "-125",
	  DAVY_LOG_JOBS_SKIPPED, 0, 0, NULL },
	{ "6.1 amdgpu_cs.c:1402", DRM "Failed to initialize parser %d!\n", "-12",
	  DAVY_LOG_SUBMISSION_REFUSED, 0, 0, NULL },
	{ "6.1 amdgpu_cs.c:1417", DRM "Not enough memory for command submission!\n", "",
	  DAVY_LOG_CS_NO_MEMORY, 0, 0, NULL },
	{ "6.1 amdgpu_object.c:257", DEV "(%d) failed to allocate kernel bo\n", "-12",
	  DAVY_LOG_KERNEL_BO_FAILED, 0, 0, AMD_GPU },
	{ "6.1 amdgpu_object.c:273", DEV "(%d) kernel bo pin failed\n", "-12",
	  DAVY_LOG_KERNEL_BO_FAILED, 0, 0, AMD_GPU },
	{ "6.1 amdgpu_object.c:952", DEV "%p pin failed\n", "00000000d1f0a6a2", DAVY_LOG_PIN_FAILED,
	  0, 0, AMD_GPU },
	{ "6.1 amdgpu_gem.c:647", DRM "Couldn't update BO_VA (%d)\n", "-12", DAVY_LOG_MAP_FAILED, 0,
	  0, NULL },
	{ "6.1 amdgpu_vm.c:2635", DRM "Can't handle page fault (%d)\n", "-12",
	  DAVY_LOG_FAULT_UNSERVED, 0, 0, NULL },
	{ "6.1 amdgpu_fence.c:328", "[drm] Fence fallback timer expired on ring %s\n", "gfx_0.0.0",
	  DAVY_LOG_FENCE_FALLBACK, 0, 0, NULL },
	{ "6.1 amdgpu_ib.c:159", DEV "couldn't schedule ib on ring <%s>\n", "comp_1.0.0",
	  DAVY_LOG_JOBS_SKIPPED, 0, 0, AMD_GPU },
	{ "6.1 amdgpu_ib.c:179", DEV "scheduling IB failed (%d).\n", "-22", DAVY_LOG_JOBS_SKIPPED,
	  0, 0, AMD_GPU },
	{ "6.1 amdgpu_amdkfd_gpuvm.c:382", KFD "failed to validate PT BOs\n", "",
	  DAVY_LOG_GPU_MAP_FAILED, 0, 0, NULL },
	{ "6.1 amdgpu_amdkfd_gpuvm.c:899", KFD "Failed to add BO object to VM. ret == %d\n", "-12",
	  DAVY_LOG_GPU_MAP_FAILED, 0, 0, NULL },
	{ "6.1 amdgpu_amdkfd_gpuvm.c:1021", KFD "%s: Failed to get user pages: %d\n",
	  "init_user_pages|-1", DAVY_LOG_USER_PAGES_FAILED, 0, 0, NULL },
	{ "6.1 amdgpu_amdkfd_gpuvm.c:1265", KFD "Failed to map VA 0x%llx in vm. ret %d\n",
	  "7f1200000000|-12", DAVY_LOG_GPU_MAP_FAILED, 0, 0, NULL },
	{ "6.1 amdgpu_amdkfd_gpuvm.c:2378", KFD "Failed to quiesce KFD\n", "",
	  DAVY_LOG_QUIESCE_FAILED, 0, 0, NULL },
	{ "6.1 amdgpu_amdkfd_gpuvm.c:2645", KFD "%s: Failed to resume KFD\n",
	  "amdgpu_amdkfd_restore_userptr_worker", DAVY_LOG_RESTORE_FAILED, 0, 0, NULL },
	{ "6.1 gmc_v10_0.c",
	  DEV
	  "[%s] page fault (src_id:%u ring:%u vmid:%u pasid:%u, for process %s pid %d thread %s "
	  "pid %d)\n",
	  "gfxhub|0|24|8|32777|llama-server|4711|ggml thread|4712", DAVY_LOG_PAGE_FAULT, 4711, 0,
	  AMD_GPU },
	{ "6.1 gmc_v10_0.c",
	  DEV
	  "[%s] page fault (src_id:%u ring:%u vmid:%u pasid:%u, for process %s pid %d thread %s "
	  "pid %d)\n",
	  "gfxhub|0|24|0|0||0||0", DAVY_LOG_PAGE_FAULT, 0, 0, AMD_GPU },
	{ "6.1 gmc_v9_0.c",
	  DEV
	  "[%s] %s page fault (src_id:%u ring:%u vmid:%u pasid:%u, for process %s pid %d thread %s "
	  "pid %d)\n",
	  "gfxhub0|no-retry|0|24|8|32777|python3|4711|python3|4712", DAVY_LOG_PAGE_FAULT, 4711, 0,
	  AMD_GPU },
	{ "6.1 amdgpu_ring.c:229", DEV "(%d) ring rptr_offs wb alloc failed\n", "-12",
	  DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "6.1 amdgpu_object.c:1062", "[drm] Detected VRAM RAM=%lluM, BAR=%lluM\n", "8176|8192",
	  DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "6.1 amdgpu_vm.c:2013",
	  "[drm] vm size is %u GB, %u levels, block size is %u-bit, fragment size is %u-bit\n",
	  "262144|4|9|9", DAVY_LOG_NOTHING, 0, 0, NULL },
	/* Linux 6.12, and amdgpu_job.c of torvalds/linux at commit 0014952b1754 */
	{ "6.12 amdgpu_cs.c:996", DRM "amdgpu_vm_validate() failed.\n", "",
	  DAVY_LOG_VALIDATE_FAILED, 0, 0, NULL },
	{ "6.12 amdgpu_gem.c:213", DEV "validate_and_fence failed: %d\n", "-12",
	  DAVY_LOG_MAP_FAILED, 0, 0, AMD_GPU },
	{ "6.12 amdgpu_gem.c:271", DEV "leaking bo va (%ld)\n", "-512", DAVY_LOG_VM_LEAK, 0, 0,
	  AMD_GPU },
	{ "6.12 gmc_v11_0.c", DEV "[%s] page fault (src_id:%u ring:%u vmid:%u pasid:%u)\n",
	  "gfxhub|0|24|8|32777", DAVY_LOG_PAGE_FAULT, 0, 0, AMD_GPU },
	{ "6.12 gmc_v11_0.c", DEV " in process %s pid %d thread %s pid %d)\n",
	  "llama-server|4711|llama-server|4712", DAVY_LOG_FAULT_PROCESS, 4711, 0, AMD_GPU },
	{ "0014952b amdgpu_job.c", DEV "ring %s timeout, signaled seq=%u, emitted seq=%u\n",
	  "comp_1.0.1|70|72", DAVY_LOG_RING_TIMEOUT, 0, 0, AMD_GPU },
	{ "0014952b amdgpu_job.c", DEV "ring %s timeout, but soft recovered\n", "gfx_0.0.0",
	  DAVY_LOG_SOFT_RECOVERED, 0, 0, AMD_GPU },
	{ "0014952b amdgpu_job.c", DEV "Process information: process %s pid %d thread %s pid %d\n",
	  "llama-server|4711|llama-server|4712", DAVY_LOG_PROCESS_INFO, 4711, 0, AMD_GPU },
	{ "0014952b amdgpu_job.c", DEV "Starting %s ring reset\n", "comp_1.0.1",
	  DAVY_LOG_RING_RESET_BEGUN, 0, 0, AMD_GPU },
	{ "0014952b amdgpu_job.c", DEV "Ring %s reset failure\n", "comp_1.0.1",
	  DAVY_LOG_RING_RESET_FAILED, 0, 0, AMD_GPU },
	{ "0014952b amdgpu_job.c", DEV "GPU Recovery Failed: %d\n", "-110",
	  DAVY_LOG_GPU_RESET_FAILED, 0, 0, AMD_GPU },
	{ "0014952b amdgpu_job.c", DEV "Error scheduling IBs (%d) in ring(%s)", "-22|gfx_0.0.0",
	  DAVY_LOG_JOBS_SKIPPED, 0, 0, AMD_GPU },
	{ "0014952b amdgpu_job.c", DEV "Dumping IP State\n", "", DAVY_LOG_IP_DUMP_BEGUN, 0, 0,
	  AMD_GPU },
	{ "6.12 amdgpu_ctx.c:945", DRM "ctx %p is still alive\n", "00000000d1f0a6a2",
	  DAVY_LOG_NOTHING, 0, 0, NULL },
	/* Linux 7.2 */
	{ "7.2 amdgpu_vm.c:3081", DEV "Can't handle page fault (%d)\n", "-14",
	  DAVY_LOG_FAULT_UNSERVED, 0, 0, AMD_GPU },
	{ "7.2 amdgpu_amdkfd_gpuvm.c:2630",
	  KFD "Pid %d unmapped memory before destroying userptr at GPU addr 0x%llx\n",
	  "4711|7f1200000000", DAVY_LOG_USERPTR_UNMAPPED, 4711, 0, NULL },
	{ "7.2 amdgpu_userq.c:1446", DEV "Failed to remap queue %ld\n", "3",
	  DAVY_LOG_QUEUE_EVICT_FAILED, 0, 0, AMD_GPU },
	{ "7.2 amdgpu_userq.c:101", DEV "userq reset disabled by debug mask\n", "",
	  DAVY_LOG_NOTHING, 0, 0, NULL },
	{ "7.2 amdgpu_cs.c:383", DEV "CE CS is blocked, use debug=0x400 to override\n", "",
	  DAVY_LOG_NOTHING, 0, 0, NULL },
};

/* Puts the arguments where the conversions are; the last newline stays out. */
static void fill(const struct row *row, char *line, size_t size)
{
	const char *f = row->format, *arg = row->args;
	size_t used = 0;

	for (; *f && !(*f == '\n' && !f[1]); f++) {
		size_t length = 1;
		const char *from = f;

		if (*f == '%') {
			f += 1 + strspn(f + 1, "#-0123456789.lhz");
			assert_true(strchr("duxXscp", *f));
			length = strcspn(arg, "|");
			from = arg;
			arg += length + (arg[length] == '|');
		}
		assert_true(used + length < size);
		memcpy(line + used, from, length);
		used += length;
	}
	line[used] = 0;
	if (*arg)
		fail_msg("%s: '%s' is left over", row->source, arg);
}

/* As /dev/kmsg gives it: a newline within is escaped. */
static bool parse(const char *text, struct davy_kmsg_line *line)
{
	char record[1024] = "3,1,1000000,-;";
	size_t used = strlen(record);

	for (; *text; text++) {
		assert_true(used + 6 < sizeof(record));
		if (*text == '\n')
			used += (size_t)sprintf(record + used, "\\x0a");
		else
			record[used++] = *text;
	}
	memcpy(record + used, "\n", 2);
	return !davy_kmsg_record_parse(record, used + 1, line);
}

static void each_format_of_a_driver_is_known_or_chatter(void **state)
{
	struct davy_kmsg_match match;
	struct davy_kmsg_line line;
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		bool known;

		fill(row, text, sizeof(text));
		assert_true(parse(text, &line));
		known = davy_kmsg_match(&line, &match);
		if ((known ? match.kind : DAVY_LOG_NOTHING) != row->kind)
			fail_msg("%s: '%s' is %s", row->source, text,
				 known ? davy_log_kind_name(match.kind) : "not known");
		if (!known)
			continue;
		if (match.pid != row->pid || match.code != row->code)
			fail_msg("%s: '%s' has pid %u, number %u", row->source, text, match.pid,
				 match.code);
		if (strcmp(match.device, row->device ? row->device : ""))
			fail_msg("%s: '%s' is of device '%s'", row->source, text, match.device);
		if (!match.pid)
			assert_string_equal(match.comm, "");
	}
}

/* Numbers of nverror.h of 580.142 and 595.45.04 whose meaning decides what is done. */
static void numbers_of_the_catalogue_have_their_meaning(void **state)
{
	static const struct {
		uint32_t from, to;
		uint8_t role, class;
	} known[] = {
		{ 8, 8, DAVY_PART_FAILURE, DAVY_CLASS_HANG },
		{ 13, 13, DAVY_PART_PRECURSOR, DAVY_CLASS_PAGE_FAULT },
		{ 16, 16, DAVY_PART_LOOKALIKE, DAVY_CLASS_NONE },
		{ 19, 19, DAVY_PART_LOOKALIKE, DAVY_CLASS_NONE },
		{ 31, 31, DAVY_PART_FAILURE, DAVY_CLASS_PAGE_FAULT },
		{ 39, 41, DAVY_PART_PRECURSOR, DAVY_CLASS_PAGE_FAULT },
		{ 43, 43, DAVY_PART_AFTERMATH, DAVY_CLASS_RING_TIMEOUT },
		{ 45, 45, DAVY_PART_AFTERMATH, DAVY_CLASS_RING_TIMEOUT },
		{ 70, 72, DAVY_PART_PRECURSOR, DAVY_CLASS_PAGE_FAULT },
		{ 75, 77, DAVY_PART_PRECURSOR, DAVY_CLASS_PAGE_FAULT },
		{ 79, 79, DAVY_PART_FAILURE, DAVY_CLASS_DEVICE_LOST },
		{ 85, 85, DAVY_PART_PRECURSOR, DAVY_CLASS_PAGE_FAULT },
		{ 87, 87, DAVY_PART_LOOKALIKE, DAVY_CLASS_NONE },
		{ 110, 110, DAVY_PART_FAILURE, DAVY_CLASS_DEVICE_LOST },
		{ 119, 120, DAVY_PART_FAILURE, DAVY_CLASS_HANG },
		{ 126, 135, DAVY_PART_PRECURSOR, DAVY_CLASS_PAGE_FAULT },
		{ 140, 140, DAVY_PART_FAILURE, DAVY_CLASS_GPU_RESET },
		{ 144, 150, DAVY_PART_PRECURSOR, DAVY_CLASS_GPU_RESET },
		{ 154, 154, DAVY_PART_AFTERMATH, DAVY_CLASS_GPU_RESET },
		{ 156, 157, DAVY_PART_PRECURSOR, DAVY_CLASS_GPU_RESET },
		{ 162, 163, DAVY_PART_LOOKALIKE, DAVY_CLASS_NONE },
		{ 171, 173, DAVY_PART_FAILURE, DAVY_CLASS_GPU_RESET },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (uint32_t xid = known[i].from; xid <= known[i].to; xid++) {
			const struct davy_log_meaning *m = davy_xid_meaning(xid);
			char begin[16];

			snprintf(begin, sizeof(begin), "Xid %u, ", xid);
			assert_non_null(m->name);
			assert_memory_equal(m->name, begin, strlen(begin));
			assert_true(strlen(m->name) < DAVY_DETAIL_LEN);
			assert_int_equal(m->role, known[i].role);
			assert_int_equal(m->class, known[i].class);
		}
	assert_null(davy_xid_meaning(9999)->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_format_of_a_driver_is_known_or_chatter),
		cmocka_unit_test(numbers_of_the_catalogue_have_their_meaning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

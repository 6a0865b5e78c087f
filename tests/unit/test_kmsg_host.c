/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel log lines about the host: processes with any name, memory, IOMMU. */
#include "kmsg_log.h"

#include <stdio.h>

static void an_iommu_fault_counts_for_a_device_called_a_gpu(void **state)
{
	static const char *const lines[] = {
		"[1.0] AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:03:00.0 address=0x2]",
		"[2.0] " AMD "Failed to evict queue 1",
		"[3.0] AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:03:00.0 address=0x2]",
		"[3.0] AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:04:00.0 address=0x2]",
	};

	(void)state;
	assert_int_equal(READ(lines), 2);
	assert_int_equal(reported[1].kind, DAVY_LOG_IOMMU_FAULT);
	assert_string_equal(reported[1].device, "0000:03:00.0");
}

static void suppressed_iommu_faults_are_those_of_a_gpu_that_faulted(void **state)
{
	static const char *const lines[] = {
		"4,1,1000000,-;amd_iommu_report_page_fault: 7 callbacks suppressed",
		"4,2,2000000,-;amdgpu 0000:03:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT "
		"domain=0x0014 address=0xf081000000 flags=0x0020]",
		"4,3,8000000,-;amd_iommu_report_page_fault: 8 callbacks suppressed",
		"4,4,19000000,-;amd_iommu_report_page_fault: 9 callbacks suppressed",
	};

	(void)state;
	begin();
	for (size_t i = 0; i < 4; i++)
		feed_record(lines[i]);
	assert_int_equal(told_count, 2);
	assert_string_equal(reported[1].device, "0000:03:00.0");
	feed("[1.0] amd_iommu_report_page_fault: 9 callbacks suppressed"); /* saved for its sake */
	assert_int_equal(told_count, 3);
}

static void a_hung_task_counts_with_a_gpu_on_its_stack(void **state)
{
	static const char *const lines[] = {
		"[492.1] INFO: task kworker/12:4:2320 blocked for more than 122 seconds.",
		"[492.1]       Tainted: G           OE      6.8.0-85-generic #85-Ubuntu",
		"[492.1] task:kworker/12:4    state:D stack:0     pid:2320  tgid:2320  ppid:2",
		"[492.1] Workqueue: events amdgpu_tlb_fence_work [amdgpu]",
		"[492.1]  svm_range_restore_work+0x1/0x2 [amdgpu]",
	};

	(void)state;
	assert_int_equal(READ(lines), 1);
	assert_int_equal(reported[0].class, DAVY_CLASS_HOST_CRASH);
	assert_int_equal(reported[0].pid, 2320);
	assert_string_equal(reported[0].comm, "kworker/12:4");
}

static void hostile_names_are_kept_as_they_are_and_move_nothing(void **state)
{
	static const char *const names[] = {
		"",
		"a b",
		"x pid 9 thread",
		"[evil] (pid 1)",
		"\"quoted\\\"",
		"fifteen_letters",
		"\xff\xfe\x80",
		"GPU reset begin",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		begin();
		feed(AMD "ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2");
		snprintf(text, sizeof(text), AMD " Process %s pid 4711 thread %s pid 4712",
			 names[i], names[i]);
		feed(text);
		assert_int_equal(told_count, 1);
		assert_int_equal(reported[0].pid, 4711);
		assert_string_equal(reported[0].comm, names[i]);
		snprintf(text, sizeof(text), "Out of memory: Killed process 4711 (%s) total-vm:1kB",
			 names[i]);
		feed(text);
		assert_string_equal(reported[1].comm, names[i]);
	}
}

/* Kernel messages with any process name, and their meaning. */
static const struct {
	const char *before, *after;
	uint16_t kind;
} of_processes[] = {
	{ "", "[79]: segfault at 0 ip 00001 sp 00002 error 4 in nginx[1+2]", DAVY_LOG_NOTHING },
	{ "traps: ", "[79] general protection fault ip:1 sp:2 error:0 in nginx[1]",
	  DAVY_LOG_NOTHING },
	{ "traps: ", "[79] trap int3 ip:1 sp:2 error:0", DAVY_LOG_NOTHING },
	{ "", "[79] bad frame in rt_sigreturn frame:1 ip:2 sp:3 orax:f", DAVY_LOG_NOTHING },
	{ "", " (79): VmData 8 exceed data ulimit 4. Update limits.", DAVY_LOG_NOTHING },
	{ "", ": vmalloc error: size 1, failed to allocate pages, mode:0xdc0(GFP_KERNEL)",
	  DAVY_LOG_NOTHING },
	{ "CPU: 3 UID: 0 PID: 79 Comm: ", " Not tainted 6.12.0", DAVY_LOG_NOTHING },
	{ "task:", "      state:D stack:0     pid:79    tgid:79", DAVY_LOG_NOTHING },
	{ "INFO: task ", ":79 blocked for more than 122 seconds.", DAVY_LOG_NOTHING },
	{ "", ": page allocation failure: order:0, mode:0xdc0(GFP_KERNEL)",
	  DAVY_LOG_PAGE_ALLOC_FAILED },
	{ "", " invoked oom-killer: gfp_mask=0xdc0(GFP_KERNEL), order=0", DAVY_LOG_OOM_INVOKED },
	{ "Out of memory: Killed process 79 (", ") total-vm:1kB", DAVY_LOG_OOM_KILL },
	{ "Memory cgroup out of memory: Killed process 79 (", ") total-vm:1kB", DAVY_LOG_NOTHING },
	{ "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [", ":79]", DAVY_LOG_LOCKUP },
};

static void check_process(const char *comm, size_t which, bool saved)
{
	uint16_t kind = of_processes[which].kind;
	char text[512];

	snprintf(text, sizeof(text), "%s%s%s%s", saved ? "" : "4,1,1000000,-;",
		 of_processes[which].before, comm, of_processes[which].after);
	begin();
	if (saved)
		feed(text);
	else
		feed_record(text);
	davy_log_blocks_finish(&blocks);
	if (told_count != (kind != DAVY_LOG_NOTHING) || (kind && reported[0].kind != kind))
		fail_msg("'%s' is %s", text,
			 told_count ? davy_log_kind_name(reported[0].kind) : "lost");
	if (kind)
		assert_string_equal(reported[0].comm, comm);
}

static void no_process_is_a_failure_by_its_name(void **state)
{
	/* clang-format off */
	static const char *const names[] = {
		"NVRM: Xid 79", "Xid 79", "kernel BUG at", "Oops: x", "GPU lockup (", "Mem-Info:",
		"x pin failed", "SMU: No response", "amdgpu: sq_int", "device is wedg", "xe: a",
		"Xid (PCI:0000:", "xe 0000:03:00.0", "nouveau: a", "[drm] *ERROR* ",
		"a]: b [drm:x",
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t j = 0; j < sizeof(of_processes) / sizeof(of_processes[0]); j++) {
			char comm[DAVY_COMM_LEN];

			davy_copy_name(comm, sizeof(comm), names[i]);
			check_process(comm, j, false);
			check_process(comm, j, true);
		}
}

static void the_kernels_own_log_is_not_searched_for_drivers(void **state)
{
	(void)state;
	begin();
	feed_record("6,1,1,-;usb 1-1: Product: NVRM: Xid (PCI:0000:65:00): 79, off");
	feed_record("6,2,1,-;usb 1-1: amdgpu 0000:03:00.0: GPU reset begin!");
	feed_record("6,3,1,-;Xid (PCI:0000:65:00): 79, pid=1, name=x,");
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 0);
	feed("Xid (PCI:0000:66:00): 79, pid=1, name=x,"); /* as users quote it */
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 1);
}

/* Kernel lines of Linux 6.1 to 7.2 with a place for what a user without rights chose. */
static const char *const with_chosen_text[] = {
	"tmpfs: Unknown parameter '%s'",	 /* mount(2) in a user namespace */
	"overlayfs: failed to resolve '%s': -2", /* the same */
	"cgroup: Unknown subsys name '%s'",	 /* the same */
	"fuse: Bad value for '%s'",		 /* the same */
	"EXT4-fs (loop0): Unrecognized mount option \"%s\" or missing value", /* fstab's "user" */
	"process '/tmp/%s' started with executable stack", /* execve(2) of any program */
	"a[79]: segfault at 0 ip 00001 sp 00002 error 4 in %s[1+2]",
	"traps: a[79] trap int3 ip:1 sp:2 error:0 in %s[1+2]",
	"capability: warning: `%s' uses deprecated v2 capabilities in a way that may be insecure",
	"usb 1-1: Product: %s",
	"usb 1-1: %s",
	"hid-generic 0003:046D:C31C.0001: input,hidraw0: USB HID v1.11 Keyboard [%s] "
	"on usb-0000:00:14.0-1/input0",
};

static const char *const forged[] = {
	"NVRM: Xid (PCI:0000:65:00): 79, pid=1, name=x, GPU has fallen off the bus.",
	"Xid (PCI:0000:65:00): 79, pid=1, name=x,",
	"amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
	"amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2",
	"[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=1, "
	"emitted seq=2",
	"i915 0000:00:02.0: [drm] GPU HANG: ecode 9:1:85dffffb, in x [1]",
	"xe 0000:03:00.0: [drm] GT0: Engine reset: engine_class=rcs, logical_mask: 0x1, guc_id=1",
	"nouveau 0000:01:00.0: fifo: SCHED_ERROR 0a [CTXSW_TIMEOUT]",
	"Kernel panic - not syncing: x",
	"x: NVRM: Xid (PCI:0000:65:00): 79, off",
};

static void check_forged(const char *line, const char *text, const char *how)
{
	char whole[1024];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(whole, sizeof(whole), line, text);
#pragma GCC diagnostic pop
	begin();
	if (!strcmp(how, "record")) {
		char record[1200];

		snprintf(record, sizeof(record), "4,1,1000000,-;%s", whole);
		feed_record(record);
	} else {
		char saved[1200], *at = saved, *next;
		bool indents = !strcmp(how, "journal"), first = true;

		snprintf(saved, sizeof(saved), "%s", whole);
		for (; at; at = next, first = false) { /* a newline in the text */
			char one[1300];

			next = strchr(at, '\n');
			if (next)
				*next++ = 0;
			snprintf(one, sizeof(one), "%s%s",
				 !indents ? how
				 : first  ? "Aug 16 21:15:49 host kernel: "
					  : "                                ",
				 at);
			feed(one);
		}
	}
	davy_log_blocks_finish(&blocks);
	for (size_t i = 0; i < told_count; i++)
		if (reported[i].kind != DAVY_LOG_ENGINE_CRASHED)
			fail_msg("'%s' (%s) is %s", whole, how,
				 davy_log_kind_name(reported[i].kind));
}

static void a_users_text_is_not_a_drivers_line(void **state)
{
	static const char *const hows[] = { "record",
					    "",
					    "[  327.803487] ",
					    "<4>[  327.803487] ",
					    "Aug 16 21:15:49 host kernel: ",
					    "Aug 16 21:15:49 host kernel: [  327.803487] ",
					    "[Wed Sep  2 09:32:42 2026] " };

	(void)state;
	for (size_t i = 0; i < sizeof(with_chosen_text) / sizeof(with_chosen_text[0]); i++)
		for (size_t j = 0; j < sizeof(forged) / sizeof(forged[0]); j++)
			for (size_t k = 0; k < sizeof(hows) / sizeof(hows[0]); k++)
				check_forged(with_chosen_text[i], forged[j], hows[k]);
}

/* In a text log these are separate lines, with the same stamp or indented. */
static void a_users_newline_does_not_start_a_drivers_line(void **state)
{
	static const char *const hows[] = { "record", "[  327.803487] ", "<4>[  327.803487] ",
					    "Aug 16 21:15:49 host kernel: [  327.803487] ",
					    "journal" };
	char text[512];

	(void)state;
	for (size_t i = 0; i < 9; i++) /* those that a program may choose */
		for (size_t j = 0; j < sizeof(forged) / sizeof(forged[0]); j++)
			for (size_t k = 0; k < sizeof(hows) / sizeof(hows[0]); k++) {
				snprintf(text, sizeof(text), "x%s\n%s", j % 2 ? "'" : "",
					 forged[j]);
				check_forged(with_chosen_text[i], text, hows[k]);
				snprintf(text, sizeof(text), "x\ny\n%s\n%s", forged[j], forged[j]);
				check_forged(with_chosen_text[i], text, hows[k]);
			}
}

static void drivers_lines_after_a_users_text_are_read(void **state)
{
	(void)state;
	begin();
	feed("[  327.803487] tmpfs: Unknown parameter 'x");
	feed("[  327.803487] NVRM: Xid (PCI:0000:65:00): 79, off'");
	feed("[  327.803490] NVRM: Xid (PCI:0000:65:00): 31, pid=1, name=x,");
	feed("[Wed Sep  2 09:32:42 2026] overlayfs: failed to resolve 'x': -2");
	feed("[Wed Sep  2 09:32:42 2026] NVRM: Xid (PCI:0000:66:00): 79, off");
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 2);
	for (size_t i = 0; i < told_count; i++)
		assert_int_equal(reported[i].code,
				 strcmp(reported[i].device, "0000:65:00.0") ? 79 : 31);
}

static void a_record_of_another_bus_is_no_gpus(void **state)
{
	(void)state;
	begin();
	feed_record(
		"6,1,1,-;NVRM: Xid (PCI:0000:65:00): 79, off\n SUBSYSTEM=usb\n DEVICE=+usb:1-1\n");
	feed_record("6,2,1,-;NVRM: Xid (PCI:0000:65:00): 79, off\n SUBSYSTEM=net\n DEVICE=n3\n");
	feed_record(
		"6,3,1,-;amdgpu 0000:03:00.0: GPU reset begin!\n SUBSYSTEM=block\n DEVICE=b7:0\n");
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 0);
	feed_record("6,4,1,-;amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n"
		    " SUBSYSTEM=pci\n DEVICE=+pci:0000:03:00.0\n");
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 1);
}

#define OOM_REPORT                                                                                 \
	"[7.0] nginx invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE), order=0",        \
		"[7.0] CPU: 3 PID: 4711 Comm: nginx Not tainted 6.8.0",                            \
		"[7.0] Call Trace:", "[7.0]  dump_header+0x4a/0x210",                              \
		"[7.0]  oom_kill_process+0x101/0x170", "[7.0]  out_of_memory+0x103/0x350",         \
		"[7.1]  __alloc_pages_slowpath.constprop.0+0xc3a/0xd10",                           \
		"[7.1] Mem-Info:", "[7.1] active_anon:10 inactive_anon:20 isolated_anon:0",        \
		"[7.1] Node 0 active_anon:40kB inactive_anon:80kB",                                \
		"[7.1] " AMD "Not enough memory for command submission!",                          \
		"[7.1] Node 0 DMA free:11264kB boost:0kB",                                         \
		"[7.2] Node 0 DMA32 free:1kB boost:0kB",                                           \
		"[7.2] [   1234]     0  1234     4711     1024    81920        0             0 sh"

static void a_report_about_memory_is_one_event(void **state)
{
	static const char *const global[] = {
		OOM_REPORT,
		"[8.0] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=llama-server",
		"[8.0] Out of memory: Killed process 4711 (llama-server) total-vm:1kB",
	};
	static const char *const of_engine[] = {
		OOM_REPORT,
		"[8.0] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=ollama",
		"[8.0] Memory cgroup out of memory: Killed process 4711 (ollama) total-vm:1kB",
	};
	static const char *const of_another[] = {
		OOM_REPORT,
		"[8.0] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=java",
		"[8.0] Memory cgroup out of memory: Killed process 4711 (java) total-vm:1kB",
	};
	static const char *const cut[] = { OOM_REPORT };
	static const char *const two[] = {
		"[1.0] a: page allocation failure: order:0, mode:0x40cc0(GFP_KERNEL)",
		"[1.0]  warn_alloc+0x1/0x2",
		"[1.0] Mem-Info:",
		"[30.0] Mem-Info:",
		"[30.1] Node 0 DMA free:11264kB boost:0kB",
	};

	(void)state;
	assert_int_equal(READ(global), 2);
	assert_int_equal(reported[0].kind, DAVY_LOG_CS_NO_MEMORY);
	assert_int_equal(reported[1].kind, DAVY_LOG_OOM_KILL);
	assert_int_equal(reported[1].class, DAVY_CLASS_OOM_GTT_HOST);
	assert_int_equal(reported[1].at_ns, 7 * S);
	assert_int_equal(reported[1].pid, 4711);
	assert_string_equal(reported[1].comm, "llama-server");
	assert_int_equal(READ(of_engine), 2);
	assert_int_equal(reported[1].kind, DAVY_LOG_OOM_KILL);
	assert_string_equal(reported[1].comm, "ollama");
	assert_int_equal(READ(of_another), 1);
	assert_int_equal(READ(cut), 2);
	assert_int_equal(reported[1].kind, DAVY_LOG_OOM_INVOKED);
	assert_string_equal(reported[1].comm, "nginx");
	assert_int_equal(READ(two), 2);
	assert_int_equal(reported[0].kind, DAVY_LOG_PAGE_ALLOC_FAILED);
	assert_int_equal(reported[1].kind, DAVY_LOG_MEMORY_REPORT);
}

static void a_crash_counts_when_an_engine_died(void **state)
{
	static const char *const lines[] = {
		"[1.0] firefox[9]: segfault at 0 ip 1 sp 2 error 4 in libvulkan_radeon.so[1+2]",
		"[2.0] traps: game[9] trap int3 ip:1 sp:2 error:0 in libnvidia-glcore.so[1+2]",
		"[3.0] python3[9]: segfault at 0 ip 1 sp 2 error 4 in libllama.so[1+2]",
		"[4.0] llmster[9]: segfault at 0 ip 1 sp 2 error 4 in libc.so.6[1+2]",
		"[5.0] sglang::schedul[9]: segfault at 0 ip 1 sp 2 error 4 in libcuda.so.1[1+2]",
	};

	(void)state;
	assert_int_equal(READ(lines), 3);
	assert_string_equal(reported[0].comm, "python3");
	assert_int_equal(reported[1].kind, DAVY_LOG_ENGINE_CRASHED);
	assert_int_equal(reported[2].kind, DAVY_LOG_ENGINE_SEGFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_iommu_fault_counts_for_a_device_called_a_gpu),
		cmocka_unit_test(suppressed_iommu_faults_are_those_of_a_gpu_that_faulted),
		cmocka_unit_test(a_hung_task_counts_with_a_gpu_on_its_stack),
		cmocka_unit_test(hostile_names_are_kept_as_they_are_and_move_nothing),
		cmocka_unit_test(no_process_is_a_failure_by_its_name),
		cmocka_unit_test(the_kernels_own_log_is_not_searched_for_drivers),
		cmocka_unit_test(a_users_text_is_not_a_drivers_line),
		cmocka_unit_test(a_users_newline_does_not_start_a_drivers_line),
		cmocka_unit_test(drivers_lines_after_a_users_text_are_read),
		cmocka_unit_test(a_record_of_another_bus_is_no_gpus),
		cmocka_unit_test(a_report_about_memory_is_one_event),
		cmocka_unit_test(a_crash_counts_when_an_engine_died),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

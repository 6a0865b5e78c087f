/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel log: prefixes, the table, blocks of lines, the verdict, /dev/kmsg. */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sensors/kmsg/kmsg_reader.h"
#include "kmsg_fixtures.h"
#include "kmsg_log.h"
#include "kmsg_sources.h"

#define MESSAGE "ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2"
#define AMD6	"amdgpu 0000:06:00.0: amdgpu: "
#define AMD66	"amdgpu 0000:66:00.0: amdgpu: "
#define I915	"i915 0000:00:02.0: [drm] "
#define XE	"xe 0000:03:00.0: [drm] GT0: "
#define XID	"NVRM: Xid (PCI:0000:65:00): "

static void every_prefix_leaves_the_same_message(void **state)
{
	static const char *const prefixes[] = {
		"[  327.803487] ",
		"[Wed Sep  2 09:32:42 2026] ",
		"[Mo, 11. Aug 2025, 23:29:08] ",
		"Aug 16 21:15:49 host kernel: ",
		"maj 08 19:27:35 host kernel: ",
		"kv\xc4\x9b 25 19:29:48 host kernel: ",
		"nov 06 06:01:01 host-1.lan kernel: ",
		"2024-08-18T01:19:27.141093+00:00 host kernel: ",
		"2024-08-18 01:19:27 host kernel: ",
		"Aug 16 21:15:49 host kernel: [349399.669937] ",
		"kern  :warn  : [  327.803487] ",
		"kern  :err   : [qua jul  8 09:49:25 2026] ",
		"host: kern: err: [2024-08-18T01:19:27.141Z]: ",
		"[  327.803487] [   T3577] ",
		"[  327.803487][   C12] ",
		"<3>[  327.803487] ",
		"[  327.803487 <    0.000012>] ",
		"[  +0.000012] ",
		"[Sep 8 13:34] ",
		"19:14:43  ",
		"08-04 06:43:55 ",
		"kernel: ",
		"[  327.803487] host kernel: ",
		"Aug 16 21:15:49 host kernel[0]: ",
		" ",
		"",
	};
	struct davy_kmsg_line line;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		snprintf(text, sizeof(text), "%s" AMD MESSAGE, prefixes[i]);
		assert_true(davy_kmsg_line_parse(text, strlen(text), &line));
		assert_string_equal(line.text, MESSAGE);
		assert_string_equal(line.device, "0000:03:00.0");
		assert_int_equal(line.driver, DAVY_KMSG_AMDGPU);
	}
}

static void every_driver_prefix_leaves_the_same_message(void **state)
{
	static const struct {
		const char *prefix, *device;
		uint8_t driver;
	} cases[] = {
		{ "amdgpu 0000:03:00.0: ", "0000:03:00.0", DAVY_KMSG_AMDGPU },
		{ "amdgpu 0000:03:00.0: amdgpu: [drm] *ERROR* ", "0000:03:00.0", DAVY_KMSG_AMDGPU },
		{ "amdgpu: ", "", DAVY_KMSG_AMDGPU },
		{ "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ", "", DAVY_KMSG_AMDGPU },
		{ "[drm:amddrm_sched_job [amd_sched]] *ERROR* ", "", DAVY_KMSG_ANYBODY },
		{ "[drm:x] ", "", DAVY_KMSG_ANYBODY },
		{ "[drm] ", "", DAVY_KMSG_ANYBODY },
		{ "i915 0000:00:02.0: [drm] GT0: ", "0000:00:02.0", DAVY_KMSG_I915 },
		{ "xe 0000:03:00.0: [drm] *ERROR* Tile0: GT1: ", "0000:03:00.0", DAVY_KMSG_XE },
		{ "NVRM: ", "", DAVY_KMSG_NVIDIA },
		{ "nvidia-modeset: ", "", DAVY_KMSG_NVIDIA },
		{ "snd_hda_intel 0000:03:00.1: ", "0000:03:00.1", DAVY_KMSG_OTHER },
		{ "amdxdna 0000:c7:00.1: [drm] *ERROR* ", "0000:c7:00.1", DAVY_KMSG_NPU },
	};
	struct davy_kmsg_line line;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "[   12.5] %s" MESSAGE, cases[i].prefix);
		assert_true(davy_kmsg_line_parse(text, strlen(text), &line));
		assert_string_equal(line.text, MESSAGE);
		assert_string_equal(line.device, cases[i].device);
		assert_int_equal(line.driver, cases[i].driver);
		assert_int_equal(line.at_ns, 12 * S + 500 * MS);
	}
}

static void another_programs_words_are_not_the_kernels(void **state)
{
	struct davy_kmsg_line line;

	(void)state;
#define IS_KERNEL(text) davy_kmsg_line_parse(text, sizeof(text) - 1, &line)
	assert_false(IS_KERNEL("Aug 16 21:15:49 host ollama[4711]: " AMD MESSAGE));
	assert_false(IS_KERNEL("user  :warn  : [  327.803487] " AMD MESSAGE));
	assert_false(IS_KERNEL("<12>[  327.803487] " AMD MESSAGE));
	assert_false(IS_KERNEL(""));
	assert_false(IS_KERNEL("   \t "));
	assert_true(IS_KERNEL("<4>[  327.803487] " AMD MESSAGE));
	assert_int_equal(line.priority, 4);
	assert_false(IS_KERNEL("[  327.8] host ollama[4711]: " AMD MESSAGE));
	assert_false(IS_KERNEL("Aug 16 21:15:49 ollama[4711]: " AMD MESSAGE));
	assert_true(IS_KERNEL("[  327.8] ollama[4711]: segfault at 0"));
	assert_string_equal(line.text, "ollama[4711]: segfault at 0");
	assert_true(IS_KERNEL("[  327.8] my llama[4711]: segfault at 0"));
	assert_string_equal(line.text, "my llama[4711]: segfault at 0");
	assert_true(IS_KERNEL("Aug 16 21:15:49 host kernel: ollama[4711]: segfault at 0"));
	assert_string_equal(line.text, "ollama[4711]: segfault at 0");
	assert_true(IS_KERNEL("Aug 16 21:15:49 host kernel: traps: ollama[4711]: x"));
}

static void a_record_of_dev_kmsg_is_read_with_its_dictionary(void **state)
{
	static const char record[] =
		"3,917,327803487,-,caller=T77;amdgpu: \\x09 Faulty UTCL2 client ID: TCP (0x8)\n"
		" SUBSYSTEM=pci\n DEVICE=+pci:0000:03:00.0\n";
	struct davy_kmsg_line line;

	(void)state;
	assert_int_equal(davy_kmsg_record_parse(record, sizeof(record) - 1, &line), 0);
	assert_int_equal(line.seq, 917);
	assert_int_equal(line.at_ns, 327803487000);
	assert_int_equal(line.priority, 3);
	assert_string_equal(line.device, "0000:03:00.0");
	assert_string_equal(line.text, "Faulty UTCL2 client ID: TCP (0x8)");
	for (size_t size = 0; size < sizeof(record); size++) {
		char *cut = malloc(size + 1); /* so that the sanitizer sees every read too far */

		memcpy(cut, record, size);
		davy_kmsg_record_parse(cut, size, &line);
		davy_kmsg_line_parse(cut, size, &line);
		free(cut);
	}
#define PARSE(text) davy_kmsg_record_parse(text, sizeof(text) - 1, &line)
	assert_int_equal(PARSE("12,1,2,-;amdgpu: GPU reset begin!"), -EPERM);
	assert_int_equal(PARSE("3,1,2"), -EINVAL);
	assert_int_equal(PARSE("3,1,99999999999999999999999,-;x"), -EINVAL);
	assert_int_equal(PARSE("-3,1,2,-;x"), -EINVAL);
	assert_int_equal(PARSE("3,1,2,-;a\\x00b\\xzz\\"), 0);
	assert_string_equal(line.text, "a?b\\xzz\\");
}

static void pci_addresses_have_one_format(void **state)
{
	char device[DAVY_DEVICE_LEN];

	(void)state;
	assert_int_equal(davy_kmsg_pci("0000:C3:00.1: x", device), 12);
	assert_string_equal(device, "0000:c3:00.1");
	assert_int_equal(davy_kmsg_pci("0000:65:00)", device), 10);
	assert_string_equal(device, "0000:65:00.0");
	assert_int_equal(davy_kmsg_pci("00000000:65:00.0", device), 16);
	assert_string_equal(device, "0000:65:00.0");
	assert_int_equal(davy_kmsg_pci("00010000:65:00.0", device), 16);
	assert_string_equal(device, "00010000:65:00.0");
	assert_int_equal(davy_kmsg_pci("03:00.0", device), 0);
	assert_int_equal(davy_kmsg_pci("0000:g3:00.0", device), 0);
	assert_int_equal(davy_kmsg_pci("", device), 0);
}

/* clang-format off */
static const struct davy_kmsg_group *const groups[] = {
	&davy_kmsg_amdgpu, &davy_kmsg_kfd, &davy_kmsg_i915, &davy_kmsg_xe, &davy_kmsg_xe_short,
	&davy_kmsg_drm, &davy_kmsg_nvidia, &davy_kmsg_nvidia_bare, &davy_kmsg_nvidia_quoted,
	&davy_kmsg_host, &davy_kmsg_named,
};
/* clang-format on */
_Static_assert(sizeof(groups) / sizeof(groups[0]) == DAVY_KMSG_GROUPS, "a group has no fixtures");

static bool seen[DAVY_KMSG_GROUPS][256];

/* The kind of the line; DAVY_LOG_KIND_COUNT if no row has it. */
static uint16_t see_line(const char *text)
{
	struct davy_kmsg_match match;
	const struct davy_kmsg_row *row;
	struct davy_kmsg_line line;

	assert_true(davy_kmsg_line_parse(text, strlen(text), &line));
	row = davy_kmsg_row_of(&line, &match);
	for (size_t g = 0; row && g < DAVY_KMSG_GROUPS; g++) {
		const struct davy_kmsg_group *group = groups[g];

		assert_true(group->count <= sizeof(seen[0]));
		if (row >= group->rows && row < group->rows + group->count)
			seen[g][row - group->rows] = true;
	}
	return row ? match.kind : DAVY_LOG_KIND_COUNT;
}

static void every_row_has_a_line_and_every_line_its_kind(void **state)
{
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++)
		if (see_line(fixtures[i].line) != fixtures[i].kind)
			fail_msg("'%s' is not %s", fixtures[i].line,
				 davy_log_kind_name(fixtures[i].kind));
	/* test_kmsg_sources.c compares their meaning */
	for (size_t i = 0; source_at(i); i++) {
		const struct source *source = source_at(i);

		assert_true(source_fill(source, source_prefixes[source->from][0].text, text,
					sizeof(text)));
		see_line(text);
	}
	for (size_t g = 0; g < DAVY_KMSG_GROUPS; g++)
		for (size_t i = 0; i < groups[g]->count; i++)
			if (!seen[g][i])
				fail_msg("no line for '%s'", groups[g]->rows[i].pattern);
}

static void a_line_cut_anywhere_is_survived(void **state)
{
	struct davy_kmsg_match match;
	struct davy_kmsg_line line;

	(void)state;
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++)
		for (size_t size = 0; size < strlen(fixtures[i].line); size++) {
			char *cut = malloc(size + 1);

			memcpy(cut, fixtures[i].line, size);
			if (davy_kmsg_line_parse(cut, size, &line))
				davy_kmsg_match(&line, &match);
			free(cut);
		}
}

static void kinds_have_names_of_their_own_and_precursors_lead_somewhere(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < DAVY_LOG_KIND_COUNT; i++) {
		const struct davy_log_meaning *m = davy_log_meaning(i);

		if (m == davy_log_meaning(0))
			continue;
		for (uint32_t j = 1; j < i; j++)
			assert_string_not_equal(m->name, davy_log_kind_name(j));
		assert_int_equal(m->role == DAVY_PART_PRECURSOR, m->leads != 0);
		assert_int_equal(m->role == DAVY_PART_PRECURSOR, m->hazard != 0);
		if (m->role == DAVY_PART_PRECURSOR)
			assert_true(m->leads & 1u << m->class && m->weight >= 1 && m->weight <= 3);
	}
	assert_string_equal(davy_log_kind_name(UINT32_MAX), "nothing");
	assert_string_equal(davy_log_class_name(UINT32_MAX), "none");
}

static void a_page_fault_of_ten_lines_is_one_event(void **state)
{
	static const char *const lines[] = {
		"[  100.000001] " AMD "[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32777)",
		"[  100.000002] " AMD
		" in process llama-server pid 4711 thread llama-server pid 4712)",
		"[  100.000003] " AMD
		"  in page starting at address 0x00007f1234567000 from client 10",
		"[  100.000004] " AMD "GCVM_L2_PROTECTION_FAULT_STATUS:0x00801031",
		"[  100.000005] " AMD "\t Faulty UTCL2 client ID: TCP (0x8)",
		"[  100.000006] " AMD "\t MORE_FAULTS: 0x1",
		"[  100.000007] " AMD "\t WALKER_ERROR: 0x0",
		"[  100.000008] " AMD "\t PERMISSION_FAULTS: 0x3",
		"[  100.000009] " AMD "\t MAPPING_ERROR: 0x0",
		"[  100.000010] " AMD "\t RW: 0x0",
	};

	(void)state;
	assert_int_equal(READ(lines), 1);
	assert_int_equal(reported[0].kind, DAVY_LOG_PAGE_FAULT);
	assert_int_equal(reported[0].role, DAVY_PART_FAILURE);
	assert_int_equal(reported[0].class, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(reported[0].pid, 4711);
	assert_string_equal(reported[0].comm, "llama-server");
	assert_string_equal(reported[0].device, "0000:03:00.0");
	assert_true(reported[0].addr == 0x7f1234567000);
	assert_true(reported[0].at_ns == 100 * S + 1000);
	assert_string_equal(reported[0].stamp, "100.000001");
}

static void blocks_of_two_gpus_interleave(void **state)
{
	static const char *const lines[] = {
		"[1.1] " AMD6 "[mmhub0] page fault (src_id:0 ring:1 vmid:3 pasid:5)",
		"[1.1] " AMD66 "[mmhub0] page fault (src_id:0 ring:1 vmid:3 pasid:6)",
		"[1.1] " AMD66 " for process b pid 66 thread b pid 67)",
		"[1.1] " AMD6 " for process a pid 6 thread a pid 7)",
		"[1.1] " AMD6 "  in page starting at address 0x1000 from client 10",
		"[1.1] " AMD66 "  in page starting at address 0x2000 from client 10",
		"[1.1] " AMD66 "ring gfx_0.0.0 timeout, signaled seq=1",
		"[1.1] " AMD6 "  in page starting at address 0x3000 from client 10",
		"[1.1] " AMD66 " Process b pid 66 thread b pid 67",
	};

	(void)state;
	assert_int_equal(READ(lines), 4);
	assert_string_equal(reported[0].device, "0000:66:00.0");
	assert_int_equal(reported[0].pid, 66);
	assert_true(reported[0].addr == 0x2000);
	assert_string_equal(reported[1].device, "0000:06:00.0");
	assert_int_equal(reported[1].pid, 6);
	assert_true(reported[1].addr == 0x1000);
	assert_int_equal(reported[2].kind, DAVY_LOG_RING_TIMEOUT);
	assert_string_equal(reported[2].ring, "gfx_0.0.0");
	assert_int_equal(reported[2].pid, 66);
	assert_true(reported[3].addr == 0x3000 && reported[3].pid == 0);
}

static void a_line_without_address_belongs_to_the_only_device(void **state)
{
	static const char *const one[] = {
		"[1.1] " AMD "[drm] device wedged, but recovered through reset",
		"[9.1] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=1",
		"[9.1] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* Process information: process a "
		"pid 6",
	};
	static const char *const two[] = {
		"[1.1] " AMD6 "Failed to evict queue 1",
		"[1.1] " AMD66 "Failed to evict queue 1",
		"[1.1] amdgpu: Failed to quiesce KFD",
	};

	(void)state;
	assert_int_equal(READ(one), 2);
	assert_string_equal(reported[1].device, "0000:03:00.0");
	assert_int_equal(reported[1].pid, 6);
	assert_int_equal(READ(two), 3);
	assert_string_equal(reported[2].device, "");
}

static void a_device_that_is_known_has_its_drivers_lines(void **state)
{
	static const char line[] = "[    9.000000] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* "
				   "ring sdma1 timeout, signaled seq=8, emitted seq=10";

	(void)state;
	begin();
	davy_log_blocks_know(&blocks, "0000:05:00.0", (uint8_t)davy_kmsg_driver_of("xe"));
	davy_log_blocks_know(&blocks, "0000:03:00.0", (uint8_t)davy_kmsg_driver_of("amdgpu"));
	feed(line);
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 1);
	assert_string_equal(reported[0].device, "0000:03:00.0");
	davy_log_blocks_know(&blocks, "0000:04:00.0", (uint8_t)davy_kmsg_driver_of("amdgpu"));
	feed(line);
	davy_log_blocks_finish(&blocks);
	assert_string_equal(reported[1].device, "");
	davy_log_blocks_forget(&blocks, "0000:03:00.0");
	feed(line);
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 3);
	assert_string_equal(reported[2].device, "0000:04:00.0");
}

static void an_xid_of_three_lines_is_one_event(void **state)
{
	static const char *const known[] = {
		"[5.0] " XID "31, pid=4711, name=python3, channel 0x2, intr 0.",
		"          MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_3 faulted @ 0x7_001000",
		"          Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
	};
	static const char *const unknown[] = {
		"[5.0] " XID "31, pid=4711, name=python3, channel 0x2, intr 0.",
		"          MMU Fault: ENGINE GRAPHICS GPC0 UNRECOGNIZED_CLIENT faulted @ "
		"0x18_0030198d.",
		"          Fault is of type UNRECOGNIZED_FAULT UNRECOGNIZED_ACCESS_TYPE",
	};
	static const char *const codes[] = {
		XID "13, Graphics SM Warp Exception on (GPC 1): MMU Fault",
		XID "13, Graphics Exception: ESR 0x5167b0=0x80f0017",
		XID "79, GPU has fallen off the bus.",
		XID "119, pid=4711, name=python3, Timeout after 6s",
		XID "45, pid=4711, name=python3, Ch 00000008",
		XID "999, of a later driver",
	};

	(void)state;
	assert_int_equal(READ(known), 1);
	assert_int_equal(reported[0].class, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(reported[0].code, 31);
	assert_int_equal(reported[0].pid, 4711);
	assert_string_equal(reported[0].comm, "python3");
	assert_string_equal(reported[0].device, "0000:65:00.0");
	assert_true(reported[0].addr == 0x7001000);
	assert_int_equal(READ(unknown), 1);
	assert_int_equal(reported[0].kind, DAVY_LOG_XID_UNDECODABLE);
	assert_int_equal(reported[0].role, DAVY_PART_PRECURSOR);
	assert_int_equal(READ(codes), 6);
	assert_int_equal(reported[0].role, DAVY_PART_FAILURE);
	assert_int_equal(reported[1].role, DAVY_PART_PRECURSOR);
	assert_int_equal(reported[2].class, DAVY_CLASS_DEVICE_LOST);
	assert_int_equal(reported[3].class, DAVY_CLASS_HANG);
	assert_int_equal(reported[4].role, DAVY_PART_AFTERMATH);
	assert_int_equal(reported[5].role, DAVY_PART_PRECURSOR);
}

static void a_driver_that_wants_a_reboot_points_to_the_host(void **state)
{
	static const char *const lines[] = {
		"NVRM: Xid (PCI:0000:65:00): 154, GPU recovery action changed from 0x0 (None) to "
		"0x2 (Node Reboot Required)",
	};

	(void)state;
	assert_int_equal(READ(lines), 1);
	assert_int_equal(reported[0].role, DAVY_PART_AFTERMATH);
	assert_int_equal(reported[0].class, DAVY_CLASS_HOST_CRASH);
}

static void look_alikes_raise_nothing(void **state)
{
	static const char *const lines[] = {
		"[407.1] amdgpu: init_user_pages: Failed to get user pages: -1",
		"[407.2] amdgpu: init_user_pages: Failed to get user pages: -1",
		"[408.1] amdgpu: Freeing queue vital buffer 0x7f1200000000, queue evicted",
		"[409.1] amdxdna 0000:c7:00.1: [drm] *ERROR* aie2_set_state: Not supported",
		"[409.2] amdxdna 0000:c7:00.1: [drm] *ERROR* ring gfx_0.0.0 timeout, signaled",
		"[410.1] [drm] PCIE GART of 512M enabled (table at 0x0000008000900000).",
		"[410.2] " AMD "SMU is resuming...",
		"[410.3] " AMD "SMU is resumed successfully!",
		"[410.4] " AMD "ring gfx_0.0.0 uses VM inv eng 0 on hub 0",
		"[410.5] snd_hda_intel 0000:03:00.1: Refused to change power state from D0 to D3",
		"[411.1] " AMD "\t RW: 0x0",
		"[411.2] nvme 0000:04:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x1 "
		"address=0x2]",
		"[412.1] INFO: task jbd2/sda1-8:301 blocked for more than 122 seconds.",
		"[412.2] task:jbd2/sda1-8 state:D stack:0 pid:301 tgid:301 ppid:2",
		"[412.3]  ? jbd2_journal_commit_transaction+0x1/0x2 [jbd2]",
		"[413.1] usb 1-2: reset high-speed USB device number 4 using xhci_hcd",
		"[413.2] nginx[77]: segfault at 0 ip 1 sp 2 error 4 in nginx[55]",
		"[413.3] workqueue: blk_mq_run_work_fn hogged CPU for >10000us 4 times, consider",
	};

	(void)state;
	assert_int_equal(READ(lines), 0);
	assert_null(davy_log_verdict_conclude(&verdict));
}

static void a_fault_without_process_during_a_reset_is_an_echo(void **state)
{
	static const char *const after[] = {
		"[100.0] " AMD "GPU reset begin!",
		"[100.5] " AMD
		"[gfxhub] page fault (src_id:0 ring:40 vmid:0 pasid:0, for process  pid 0 "
		"thread  pid 0)",
		"[100.5] " AMD "  in page starting at address 0x0000000000000000 from client 10",
		"[101.0] " AMD "GPU reset succeeded, trying to resume",
		"[102.0] " AMD "[gfxhub] page fault (src_id:0 ring:40 vmid:0 pasid:0)",
	};
	static const char *const before[] = {
		"[100.5] " AMD "[gfxhub] page fault (src_id:0 ring:40 vmid:0 pasid:0)",
		"[101.0] " AMD "GPU reset begin!",
		"[102.0] " AMD "[gfxhub] page fault (src_id:0 ring:40 vmid:8 pasid:32777)",
		"[300.0] " AMD "[gfxhub] page fault (src_id:0 ring:40 vmid:0 pasid:0, for process  "
		"pid 0 thread  pid 0)",
		"[300.0] " AMD "  in page starting at address 0x1000 from client 10",
		"[300.0] " AMD " in process  pid 0 thread  pid 0)",
	};

	(void)state;
	assert_int_equal(READ(after), 2);
	assert_int_equal(davy_log_verdict_conclude(&verdict)->class, DAVY_CLASS_GPU_RESET);
	assert_int_equal(READ(before), 4);
	for (size_t i = 0; i < 4; i += 3) { /* outside a reset: the driver's own traffic */
		assert_int_equal(reported[i].kind, DAVY_LOG_DRIVER_FAULT);
		assert_int_equal(reported[i].role, DAVY_PART_PRECURSOR);
		assert_int_equal(reported[i].weight, 1);
		assert_int_equal(reported[i].pid, 0);
		assert_string_equal(reported[i].comm, "");
	}
	assert_int_equal(reported[2].role, DAVY_PART_FAILURE);
	assert_true(reported[3].addr == 0x1000);
}

static void lines_that_follow_a_reset_are_its_aftermath(void **state)
{
	static const char *const lines[] = {
		"maj 25 19:29:48 host kernel: amdgpu 0000:03:00.0: ring sdma0 timeout, signaled",
		"maj 25 19:29:48 host kernel: amdgpu 0000:03:00.0: Starting sdma0 ring reset",
		"maj 25 19:29:57 host kernel: amdgpu 0000:03:00.0: qcm fence wait loop timeout "
		"expired",
		"maj 25 19:29:57 host kernel: amdgpu: Failed to suspend process pid 3484",
	};

	(void)state;
	assert_int_equal(READ(lines), 4);
	assert_int_equal(reported[2].kind, DAVY_LOG_HWS_HANG);
	assert_int_equal(reported[2].role, DAVY_PART_AFTERMATH);
	assert_int_equal(davy_log_verdict_conclude(&verdict)->class, DAVY_CLASS_RING_TIMEOUT);
	assert_true(reported[0].clock == DAVY_KMSG_DAY &&
		    reported[0].at_ns == (19 * 60 + 29) * 60 * S + 48 * S);
}

static void the_last_failure_in_causal_order_is_concluded(void **state)
{
	static const char *const reset[] = {
		"[1.0] " AMD "ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2",
		"[1.0] " AMD " Process code pid 77 thread code:cs0 pid 78",
		"[1.0] " AMD "Starting gfx_0.0.0 ring reset",
		"[3.0] " AMD "Ring gfx_0.0.0 reset failed",
		"[3.0] " AMD "GPU reset begin!",
		"[5.0] " AMD "MES failed to respond to msg=REMOVE_QUEUE",
		"[5.0] " AMD "MODE2 reset",
		"[6.0] " AMD "GPU reset succeeded, trying to resume",
	};
	static const char *const hang[] = {
		"[1.0] " AMD "[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32777)",
		"[4000.0] amdgpu: Pasid 0x8009 DQM create queue type 0 failed. ret -62",
	};
	static const char *const precursor[] = {
		"[1.0] workqueue: svm_range_restore_work [amdgpu] hogged CPU for >10000us 67 times",
		"[2.0] [drm:amdgpu_cs_ioctl [amdgpu]] *ERROR* Not enough memory for command "
		"submission!",
		"[3.0] amdgpu: sq_intr: error, detail 0x0",
	};
	static const char *const aftermath[] = {
		"[1.0] " AMD "MES failed to respond to msg=REMOVE_QUEUE",
		"[2.0] " AMD "[drm] AMDGPU device coredump file has been created",
	};
	static const char *const dump[] = { "[1.0] " AMD "Dumping IP State" };

	(void)state;
	READ(reset);
	assert_int_equal(davy_log_verdict_conclude(&verdict)->class, DAVY_CLASS_GPU_RESET);
	assert_int_equal(reported[0].pid, 77);
	READ(hang);
	assert_int_equal(davy_log_verdict_conclude(&verdict)->class, DAVY_CLASS_HANG);
	READ(precursor);
	assert_int_equal(davy_log_verdict_conclude(&verdict)->kind, DAVY_LOG_CS_NO_MEMORY);
	READ(aftermath);
	assert_int_equal(davy_log_verdict_conclude(&verdict)->kind, DAVY_LOG_COREDUMP);
	assert_int_equal(READ(dump), 1);
	assert_int_equal(reported[0].kind, DAVY_LOG_IP_DUMP_UNFINISHED);
}

static void intels_lines_are_paired(void **state)
{
	static const char *const i915[] = {
		"[1.0] Fence expiration time out i915-0000:00:02.0:llama-server[4711]:554!",
		"[8.0] " I915 "GPU HANG: ecode 12:1:85dffffb, in llama-server [4711]",
		"[8.0] " I915 "llama-server[4711] context reset due to GPU hang",
	};
	static const char *const xe[] = {
		"[1.0] " XE "Engine reset: engine_class=ccs, logical_mask: 0x1, "
		"guc_id=2",
		"[1.0] " XE "Timedout job: seqno=7, lrc_seqno=7, guc_id=2, "
		"flags=0x20 in llama-server [4711]",
		"[64.0] " XE "Fault response: Unsuccessful -ENOENT",
		"[64.0] " XE "Engine reset: engine_class=bcs, logical_mask: 0x1, "
		"guc_id=6",
	};

	(void)state;
	assert_int_equal(READ(i915), 2);
	assert_string_equal(reported[0].device, "0000:00:02.0");
	assert_int_equal(reported[0].pid, 4711);
	assert_int_equal(reported[1].class, DAVY_CLASS_RING_TIMEOUT);
	assert_int_equal(reported[1].pid, 4711);
	assert_int_equal(READ(xe), 3);
	assert_int_equal(reported[0].pid, 4711);
	assert_string_equal(reported[0].ring, "ccs");
	assert_int_equal(reported[1].error, -ENOENT);
	assert_int_equal(reported[2].kind, DAVY_LOG_XE_ENGINES_DEAD);
}

static void a_slot_is_made_free_by_the_one_longest_silent(void **state)
{
	char text[256];

	(void)state;
	begin();
	for (int i = 0; i < 2 * DAVY_LOG_DEVICES; i++) {
		snprintf(text, sizeof(text),
			 "[1.0] amdgpu 0000:%02x:00.0: [gfxhub] page fault (src_id:0 ring:1 vmid:1 "
			 "pasid:%d)",
			 i, i);
		feed(text);
	}
	assert_int_equal(told_count, DAVY_LOG_DEVICES);
	assert_string_equal(reported[0].device, "0000:00:00.0");
	feed("[2.5] something else, a second later");
	assert_int_equal(told_count, 2 * DAVY_LOG_DEVICES);
}

static uint64_t lost_count;

static void keep_lost(void *arg, uint64_t count)
{
	(void)arg;
	lost_count += count;
}

static struct davy_kmsg_reader *reader_of(int fd)
{
	static const struct davy_kmsg_sinks sinks = { .event = keep, .lost = keep_lost };
	struct davy_kmsg_reader *r = NULL;

	begin();
	lost_count = 0;
	assert_int_equal(davy_kmsg_reader_of_fd(fd, &sinks, &r), 0);
	return r;
}

static void give(int fd, const char *record)
{
	assert_int_equal(write(fd, record, strlen(record)), (ssize_t)strlen(record));
}

static void records_are_read_one_by_one_and_gaps_are_counted(void **state)
{
	int pair[2];
	struct davy_kmsg_reader *r;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	r = reader_of(pair[0]);
	assert_int_equal(davy_kmsg_reader_fd(r), pair[0]);
	assert_int_equal(davy_kmsg_read(r), 0);
	give(pair[1],
	     "3,10,1000000,-;amdgpu: [gfxhub] page fault (src_id:0 ring:1 vmid:1 pasid:1)\n"
	     " SUBSYSTEM=pci\n DEVICE=+pci:0000:03:00.0\n");
	give(pair[1], "12,11,1000001,-;amdgpu: GPU reset begin!\n");
	give(pair[1], "3,15,1000002,-;amdgpu:   in page starting at address 0x1000 from client\n"
		      " SUBSYSTEM=pci\n DEVICE=+pci:0000:03:00.0\n");
	give(pair[1], "garbage");
	for (int i = 0; i < 4; i++)
		assert_int_equal(davy_kmsg_read(r), 1);
	assert_int_equal(davy_kmsg_read(r), 0);
	assert_int_equal(lost_count, 3);
	assert_int_equal(told_count, 0);
	assert_true(davy_kmsg_stamp_ns(r) == 1000002000);
	davy_kmsg_tick(r, 1000002000 + DAVY_LOG_BLOCK_NS - 1);
	assert_int_equal(told_count, 0);
	davy_kmsg_tick(r, 1000002000 + DAVY_LOG_BLOCK_NS);
	assert_int_equal(told_count, 1);
	assert_true(reported[0].addr == 0x1000 && reported[0].seq == 10);
	close(pair[1]);
	assert_int_equal(davy_kmsg_read(r), -ENODATA);
	davy_kmsg_reader_free(r);
	davy_kmsg_reader_free(NULL);
}

static void a_fifo_does_for_dev_kmsg(void **state)
{
	static const struct davy_kmsg_sinks sinks = { .event = keep, .lost = keep_lost };
	char dir[] = "/tmp/davylamp-unit-XXXXXX", path[64], big[9000];
	struct davy_kmsg_reader *r;
	int fd;

	(void)state;
	begin();
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/kmsg", dir);
	assert_int_equal(davy_kmsg_reader_open(path, DAVY_KMSG_FROM_NOW, &sinks, &r), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(davy_kmsg_reader_open(path, DAVY_KMSG_FROM_NOW, &sinks, &r), 0);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	give(fd, "3,1,1,-;amdgpu: qcm fence wait loop timeout expired\n K=V\n"
		 "3,2,2,-;amdgpu: qcm fence wait loop timeout expired\n");
	assert_int_equal(davy_kmsg_read(r), 1);
	assert_int_equal(told_count, 2);
	memset(big, 'x', sizeof(big));
	memcpy(big, "3,3,3,-;amdgpu: qcm fence wait loop timeout expired", 51);
	assert_int_equal(write(fd, big, sizeof(big)), sizeof(big));
	assert_int_equal(davy_kmsg_read(r), 1);
	assert_int_equal(told_count, 3);
	close(fd);
	davy_kmsg_reader_free(r);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_prefix_leaves_the_same_message),
		cmocka_unit_test(every_driver_prefix_leaves_the_same_message),
		cmocka_unit_test(another_programs_words_are_not_the_kernels),
		cmocka_unit_test(a_record_of_dev_kmsg_is_read_with_its_dictionary),
		cmocka_unit_test(pci_addresses_have_one_format),
		cmocka_unit_test(every_row_has_a_line_and_every_line_its_kind),
		cmocka_unit_test(a_line_cut_anywhere_is_survived),
		cmocka_unit_test(kinds_have_names_of_their_own_and_precursors_lead_somewhere),
		cmocka_unit_test(a_page_fault_of_ten_lines_is_one_event),
		cmocka_unit_test(blocks_of_two_gpus_interleave),
		cmocka_unit_test(a_line_without_address_belongs_to_the_only_device),
		cmocka_unit_test(a_device_that_is_known_has_its_drivers_lines),
		cmocka_unit_test(an_xid_of_three_lines_is_one_event),
		cmocka_unit_test(a_driver_that_wants_a_reboot_points_to_the_host),
		cmocka_unit_test(look_alikes_raise_nothing),
		cmocka_unit_test(a_fault_without_process_during_a_reset_is_an_echo),
		cmocka_unit_test(lines_that_follow_a_reset_are_its_aftermath),
		cmocka_unit_test(the_last_failure_in_causal_order_is_concluded),
		cmocka_unit_test(intels_lines_are_paired),
		cmocka_unit_test(a_slot_is_made_free_by_the_one_longest_silent),
		cmocka_unit_test(records_are_read_one_by_one_and_gaps_are_counted),
		cmocka_unit_test(a_fifo_does_for_dev_kmsg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

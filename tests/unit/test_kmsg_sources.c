/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every format string of kmsg_sources.h after every prefix: class, hazard, process, device. */
#include <stdio.h>

#include "kmsg_log.h"
#include "kmsg_sources.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* A record of /dev/kmsg, which escapes a newline. */
static void record_of(const char *text, char *record, size_t size)
{
	size_t used = (size_t)snprintf(record, size, "3,1,1000000,-;");

	for (; *text; text++) {
		assert_true(used + 6 < size);
		if (*text == '\n' || *text == '\t')
			used += (size_t)sprintf(record + used, "\\x%02x", *text);
		else
			record[used++] = *text;
	}
	memcpy(record + used, "\n", 2);
}

/* All that is wrong is shown, not the first only. */
static size_t wrong_count;
#define wrong(format, ...) (wrong_count++, print_error(format "\n", __VA_ARGS__))

static void check_match(const struct source *source, const char *text, const char *device,
			const struct davy_kmsg_line *line)
{
	struct davy_kmsg_match match = { 0 };
	bool known = davy_kmsg_match(line, &match);
	const struct davy_log_meaning *m = davy_log_meaning(known ? match.kind : DAVY_LOG_NOTHING);
	uint8_t role = m->role == DAVY_PART_LOOKALIKE ? DAVY_PART_NONE : m->role;

	if (role != source->role || (role != DAVY_PART_DETAIL && role != DAVY_PART_NONE &&
				     (m->class != source->class || m->hazard != source->hazard)))
		wrong("%s: '%s' is %s (%s, %s, %s)", source->where, text, m->name,
		      davy_log_role_name(m->role), davy_log_class_name(m->class),
		      davy_log_hazard_name(m->hazard));
	if (role == DAVY_PART_NONE)
		return;
	if (match.pid != source->pid || strcmp(match.comm, source->comm ? source->comm : ""))
		wrong("%s: '%s' names process %u '%s'", source->where, text, match.pid, match.comm);
	if (strcmp(match.device, source->device ? source->device : device))
		wrong("%s: '%s' is of device '%s'", source->where, text, match.device);
}

static void check_source(const struct source *source)
{
	char text[1024], record[1200], saved[1200];
	struct davy_kmsg_line line;

	for (size_t i = 0; i < COUNT(source_prefixes[0]) && source_prefixes[source->from][i].text;
	     i++) {
		const struct prefix *prefix = &source_prefixes[source->from][i];

		if (!source_fill(source, prefix->text, text, sizeof(text)))
			fail_msg("%s: '%s': arguments left over", source->where, source->format);
		record_of(text, record, sizeof(record));
		assert_int_equal(davy_kmsg_record_parse(record, strlen(record), &line), 0);
		check_match(source, text, prefix->device, &line);
		snprintf(saved, sizeof(saved), "[  327.803487] %s", text);
		if (davy_kmsg_line_parse(saved, strlen(saved), &line))
			check_match(source, saved, prefix->device, &line);
	}
}

static void each_line_a_driver_writes_has_the_meaning_of_its_source(void **state)
{
	(void)state;
	for (size_t i = 0; source_at(i); i++)
		check_source(source_at(i));
	assert_int_equal(wrong_count, 0);
}

/* PRINTKRB_RECORD_MAX is 1024: the end of a long message is missing. */
static void a_line_cut_at_the_record_limit_keeps_its_beginning(void **state)
{
	static const char *const begins[] = {
		"NVRM: Xid (PCI:0000:65:00): 31, pid=4711, name=python3, Ch 0000000a, ",
		"xe 0000:65:00.0: [drm] Tile0: GT0: Timedout job: seqno=1, lrc_seqno=1, guc_id=4, "
		"flags=0x0 in python3 [4711] ",
		"Out of memory: Killed process 4711 (python3) total-vm:1kB ",
	};
	char text[3 * DAVY_KMSG_TEXT_SIZE];
	struct davy_kmsg_match match;
	struct davy_kmsg_line line;

	(void)state;
	for (size_t i = 0; i < COUNT(begins); i++)
		for (size_t size = 900; size < sizeof(text) - 20; size += 61) {
			size_t used = (size_t)snprintf(text, sizeof(text), "3,1,1,-;%s", begins[i]);

			memset(text + used, i ? ' ' : 'f', size - used);
			assert_int_equal(davy_kmsg_record_parse(text, size, &line), 0);
			assert_true(line.len < DAVY_KMSG_TEXT_SIZE);
			assert_true(davy_kmsg_match(&line, &match));
			assert_int_equal(match.pid, 4711);
			assert_string_equal(match.comm, "python3");
		}
}

/* The lines of two devices, a line of each in turn. */
static void blocks_of_two_devices_may_be_mixed(void **state)
{
#define AT_A "amdgpu 0000:03:00.0: amdgpu: "
#define AT_B "amdgpu 0001:c3:00.0: "
	static const char *const log[] = {
		AT_A "[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32777)",
		AT_B "[gfxhub] page fault (src_id:0 ring:40 vmid:3 pasid:32769)",
		AT_A " in process a] pid 5 (b pid 4711 thread x pid 4712)",
		AT_B " Process c d pid 815 thread y pid 816",
		AT_B "  in page starting at address 0xffff800000002000 from client 0x1b (UTCL2)",
		AT_A "  in page starting at address 0x00007f1200001000 from client 10",
		AT_B "GCVM_L2_PROTECTION_FAULT_STATUS:0x00800932",
		AT_A "GCVM_L2_PROTECTION_FAULT_STATUS_LO32:0x00800932",
		AT_A "ring comp_1.0.1 timeout, signaled seq=1, emitted seq=2",
		AT_B "ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2",
		AT_B " Process c d pid 815 thread y pid 816",
		AT_A " Process  pid 0 thread  pid 0",
	};

	(void)state;
	assert_int_equal(READ(log), 4);
	assert_string_equal(reported[0].device, "0000:03:00.0");
	assert_string_equal(reported[0].comm, "a] pid 5 (b");
	assert_int_equal(reported[0].pid, 4711);
	assert_true(reported[0].addr == 0x7f1200001000);
	assert_string_equal(reported[1].device, "0001:c3:00.0");
	assert_string_equal(reported[1].comm, "c d");
	assert_int_equal(reported[1].pid, 815);
	assert_true(reported[1].addr == 0xffff800000002000);
	assert_int_equal(reported[2].pid, 815);
	assert_string_equal(reported[2].ring, "gfx_0.0.0");
	assert_int_equal(reported[3].pid, 0);
	assert_string_equal(reported[3].comm, "");
}

/* xe of 7.2 writes a fault as one record of several lines. */
static void the_address_of_a_fault_of_xe_is_read(void **state)
{
	static const char *const log[] = {
		"6,1,1,-;xe 0000:03:00.0: [drm] Tile0: GT0: \\x0a\\x09ASID: 5\\x0a\\x09Faulted "
		"Address: 0x00007f1234567000\\x0a\\x09FaultType: 0\\x0a\n",
		"6,2,2,-;xe 0000:03:00.0: [drm] Tile0: GT0: Fault response: Unsuccessful -EINVAL\n",
	};

	(void)state;
	begin();
	for (size_t i = 0; i < COUNT(log); i++)
		feed_record(log[i]);
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 1);
	assert_int_equal(reported[0].kind, DAVY_LOG_XE_FAULT_UNSERVED);
	assert_true(reported[0].addr == 0x7f1234567000);
	assert_int_equal(reported[0].error, -22);
	assert_string_equal(reported[0].device, "0000:03:00.0");
}

/* A port reports errors of any device behind it. */
static void an_error_that_a_port_reports_counts_for_a_gpu_only(void **state)
{
#define PORT "pcieport 0000:00:01.1: "
	static const char *const log[] = {
		PORT "AER: Uncorrected (Fatal) error message received from 0000:65:00.0",
		PORT "AER: Uncorrected (Fatal) error message received from 0000:01:00.0",
		PORT "DPC: containment event, status:0x1f01, ERR_FATAL received from 0000:65:00.0",
		PORT "PCIe Bus Error: severity=Uncorrected (Fatal), type=Data Link Layer, (Sender)",
		"DMAR: [DMA Read NO_PASID] Request device [65:00.0] fault addr 0x1000 [fault",
		"DMAR: [DMA Read NO_PASID] Request device [01:00.0] fault addr 0x1000 [fault",
	};

	(void)state;
	begin();
	davy_log_blocks_know(&blocks, NV_AT, DAVY_KMSG_NVIDIA);
	for (size_t i = 0; i < COUNT(log); i++)
		feed(log[i]);
	davy_log_blocks_finish(&blocks);
	assert_int_equal(told_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(reported[i].device, NV_AT);
	assert_int_equal(reported[0].kind, DAVY_LOG_AER);
	assert_int_equal(reported[1].kind, DAVY_LOG_AER);
	assert_int_equal(reported[2].kind, DAVY_LOG_IOMMU_FAULT);
	assert_true(reported[2].addr == 0x1000);
}

static void an_xid_that_is_no_error_raises_nothing(void **state)
{
	static const char *const log[] = {
		"NVRM: Xid (PCI:0000:65:00): 16, pid='<unknown>', name=<unknown>, Head 00000000 "
		"Count 0000000a",
		"NVRM: Xid (PCI:0000:65:00): 162, power smoothing",
		"NVRM: Xid (PCI:0000:65:00): 39, pid=4711, name=python3, Ch 0000000a",
		"nouveau 0000:66:00.0: gsp: Xid:13 Graphics Exception: ESR 0x505730=0x24c000e",
	};

	(void)state;
	assert_int_equal(READ(log), 2);
	assert_int_equal(reported[0].code, 39);
	assert_int_equal(reported[0].pid, 4711);
	assert_int_equal(reported[1].code, 13);
	assert_int_equal(reported[1].role, DAVY_PART_PRECURSOR);
	assert_string_equal(reported[1].device, "0000:66:00.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_a_driver_writes_has_the_meaning_of_its_source),
		cmocka_unit_test(a_line_cut_at_the_record_limit_keeps_its_beginning),
		cmocka_unit_test(blocks_of_two_devices_may_be_mixed),
		cmocka_unit_test(the_address_of_a_fault_of_xe_is_read),
		cmocka_unit_test(an_xid_that_is_no_error_raises_nothing),
		cmocka_unit_test(an_error_that_a_port_reports_counts_for_a_gpu_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

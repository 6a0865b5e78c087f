/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Xids: when they are told, whose they are, what their numbers and texts mean. */
#include "kmsg_log.h"

#define XID "NVRM: Xid (PCI:0000:65:00): "

/* An H200 with driver 580.159.04; the trace has 60.288471 s for the tracepoint. */
static const char *const h200[] = {
	"3,901,60289189,-;NVRM: GPU at PCI:0000:00:06: GPU-bd6803f5-40f0-7634-dda4-94901585c1a3",
	"3,902,60289197,-;NVRM: GPU Board Serial Number: 1654124008112",
	"3,903,60289198,-;NVRM: Xid (PCI:0000:00:06): 31, pid=703, name=tenant-wild, channel "
	"0x0000000a, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_8 faulted @ "
	"0x7f00_00001000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE",
};

static uint32_t named_count;

static void name_it(void *arg, struct davy_log_event *ev)
{
	(void)arg;
	named_count++;
	ev->process = ev->pid + 1000;
	ev->start_ticks = 77;
}

static void begin_naming(void)
{
	begin();
	named_count = 0;
	blocks.named = name_it;
}

static void an_xid_in_one_line_is_told_at_once_with_its_process(void **state)
{
	(void)state;
	begin_naming();
	for (size_t i = 0; i < 2; i++)
		feed_record(h200[i]);
	assert_int_equal(told_count + named_count, 0);
	feed_record(h200[2]);
	assert_int_equal(named_count, 1);
	assert_int_equal(told_count, 1);
	assert_false(davy_log_blocks_open(&blocks));
	assert_int_equal(reported[0].kind, DAVY_LOG_XID);
	assert_int_equal(reported[0].role, DAVY_PART_FAILURE);
	assert_int_equal(reported[0].class, DAVY_CLASS_PAGE_FAULT);
	assert_int_equal(reported[0].code, 31);
	assert_int_equal(reported[0].pid, 703);
	assert_int_equal(reported[0].process, 1703);
	assert_true(reported[0].start_ticks == 77);
	assert_string_equal(reported[0].comm, "tenant-wild");
	assert_string_equal(reported[0].device, "0000:00:06.0");
	assert_true(reported[0].addr == 0x7f0000001000);
}

static void a_process_is_looked_up_when_its_line_arrives(void **state)
{
	(void)state;
	begin_naming();
	feed("[100.1] " AMD "[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32777)");
	assert_int_equal(named_count, 0);
	feed("[100.1] " AMD " in process llama-server pid 4711 thread llama-server pid 4712)");
	assert_int_equal(named_count, 1);
	assert_int_equal(told_count, 0); /* the address may follow */
	feed("[100.1] " AMD "  in page starting at address 0x1000 from client 10");
	feed("[102.1] " AMD "ring gfx_0.0.0 timeout, but soft recovered");
	assert_int_equal(named_count, 1);
	assert_int_equal(reported[0].process, 5711);
	feed("[103.1] Out of memory: Killed process 60 (python3) total-vm:1kB");
	assert_int_equal(named_count, 3); /* the line, and the report that it ends */
	assert_int_equal(reported[told_count - 1].process, 1060);
}

static void an_nvlink_error_is_a_failure_if_it_is_fatal(void **state)
{
	static const char *const lines[] = {
		XID "145, RLW_REMAP Nonfatal XC1 i0 Link 04 (0x00000004 0x00000000 0x00000000 "
		    "0x00000000 0x00000000 0x00000000)",
		XID "149, NETIR_LINK_EVT Fatal   XC0 i0 Link 11 (0x004505c6 0x00000000 0x00000000 "
		    "0x00000000 0x00000000 0x00000000)",
		XID "144, SAW_MVB Fatal XC0 i0 Link 00 (0x00000001)",
		XID "150, MSE_ERR Nonfatal XC0 i0 Link 00 (0x00000001)",
		XID "8, pid=463898, name=llama-server, channel 0x00000007",
	};

	(void)state;
	assert_int_equal(READ(lines), 5);
	assert_int_equal(reported[0].role, DAVY_PART_PRECURSOR);
	assert_int_equal(reported[0].weight, 2);
	assert_int_equal(reported[1].role, DAVY_PART_FAILURE);
	assert_int_equal(reported[1].class, DAVY_CLASS_GPU_RESET);
	assert_int_equal(reported[1].weight, 0);
	assert_int_equal(reported[2].role, DAVY_PART_FAILURE);
	assert_int_equal(reported[3].role, DAVY_PART_PRECURSOR);
	assert_int_equal(reported[4].role, DAVY_PART_FAILURE);
	assert_int_equal(reported[4].class, DAVY_CLASS_HANG);
	assert_int_equal(reported[4].pid, 463898);
}

static void a_line_is_named_by_its_xid(void **state)
{
	(void)state;
	assert_string_equal(davy_log_line_name(DAVY_LOG_XID, 31), "Xid 31, MMU fault");
	assert_string_equal(davy_log_line_name(DAVY_LOG_XID, 147), "Xid 147, NVLink TREX error");
	assert_string_equal(davy_log_line_name(DAVY_LOG_XID, 9999), "xid");
	assert_string_equal(davy_log_line_name(DAVY_LOG_SXID, 31), "sxid");
	assert_string_equal(davy_log_line_name(DAVY_LOG_PAGE_FAULT, 0), "page_fault");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_xid_in_one_line_is_told_at_once_with_its_process),
		cmocka_unit_test(a_process_is_looked_up_when_its_line_arrives),
		cmocka_unit_test(an_nvlink_error_is_a_failure_if_it_is_fatal),
		cmocka_unit_test(a_line_is_named_by_its_xid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

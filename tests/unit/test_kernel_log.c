/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's log in the agent: whose a line is, although the process ends right after it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "root.h"

#include "agent/agent.h"

#define STAT(start) "703 (tenant-wild) S 1 703 703 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " #start " 0 0\n"
#define LINE	    "amdgpu 0000:03:00.0: amdgpu: "
#define XID                                                                                        \
	"3,903,60289198,-;NVRM: Xid (PCI:0000:00:06): 31, pid=703, name=tenant-wild, channel "     \
	"0x0000000a, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_8 faulted @ "     \
	"0x7f00_00001000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE\n"

static struct davy_agent agent;
static int kmsg = -1;

static int begin(void **state)
{
	char path[128];

	if (make_root(state))
		return -1;
	memset(&agent, 0, sizeof(agent));
	davy_core_init(&agent.core);
	agent.terminal = true; /* what it prints is kept */
	assert_int_equal(sd_event_new(&agent.loop), 0);
	PUT("/proc/703/status", "Name:\ttenant-wild\nTgid:\t703\nPid:\t703\n");
	PUT("/proc/703/comm", "tenant-wild\n");
	PUT("/proc/703/stat", STAT(5617));
	PUT("/dev/null", "");
	snprintf(path, sizeof(path), "%s/dev/kmsg", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	davy_agent_kernel_log_open(&agent);
	assert_non_null(agent.kernel_log.reader);
	kmsg = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(kmsg >= 0);
	return 0;
}

static int finish(void **state)
{
	close(kmsg);
	davy_agent_kernel_log_close(&agent);
	sd_event_unref(agent.loop);
	return remove_root(state);
}

static void arrives(const char *record)
{
	assert_int_equal(write(kmsg, record, strlen(record)), (ssize_t)strlen(record));
	assert_true(sd_event_run(agent.loop, 1000000) > 0);
}

static void process_ends(void)
{
	static const char *const names[] = { "status", "comm", "stat" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/proc/703/%s", root, names[i]);
		assert_int_equal(unlink(path), 0);
	}
}

static void a_second_passes(void)
{
	davy_agent_kernel_log_tick(&agent, davy_boot_ns() + 2 * DAVY_NS_PER_S);
}

/* The only event so far; kind 0 if there is none. */
static const struct davy_event *reported(void)
{
	const struct davy_said *said = agent.kernel_log.said;

	for (size_t i = 1; i < DAVY_LOG_SAID_MAX; i++)
		assert_true(!said[i].ev.kind || !said[0].ev.kind);
	for (size_t i = 0; i < DAVY_LOG_SAID_MAX; i++)
		if (said[i].ev.kind)
			return &said[i].ev;
	return &said[0].ev;
}

static void faults(void)
{
	arrives("3,1,1000000,-;" LINE
		"[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32777)\n");
	arrives("3,2,1000010,-;" LINE
		" in process tenant-wild pid 703 thread tenant-wild pid 703)\n");
	assert_int_equal(reported()->kind, 0); /* more lines of it may come */
}

static void a_process_that_ends_after_its_line_keeps_its_pid(void **state)
{
	(void)state;
	faults();
	process_ends();
	a_second_passes();
	assert_int_equal(reported()->kind, DAVY_EV_LOG);
	assert_int_equal(reported()->log.kind, DAVY_LOG_PAGE_FAULT);
	assert_int_equal(reported()->pid, 703);
	assert_string_equal(reported()->log.comm, "tenant-wild");
}

static void a_pid_that_another_has_by_then_is_not_told(void **state)
{
	(void)state;
	faults();
	PUT("/proc/703/stat", STAT(5999));
	a_second_passes();
	assert_int_equal(reported()->pid, 0);
	assert_int_equal(reported()->log.named_pid, 703);
}

static void a_pid_that_another_has_already_is_not_told(void **state)
{
	(void)state;
	PUT("/proc/703/comm", "bash\n");
	faults();
	a_second_passes();
	assert_int_equal(reported()->pid, 0);
}

static void an_xid_is_told_when_its_line_arrives(void **state)
{
	(void)state;
	arrives(XID);
	process_ends();
	assert_int_equal(reported()->kind, DAVY_EV_LOG);
	assert_int_equal(reported()->log.kind, DAVY_LOG_XID);
	assert_int_equal(reported()->log.code, 31);
	assert_int_equal(reported()->pid, 703);
	assert_string_equal(reported()->log.device, "0000:00:06.0");
	assert_false(davy_agent_kernel_log_waits(&agent));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_that_ends_after_its_line_keeps_its_pid,
						begin, finish),
		cmocka_unit_test_setup_teardown(a_pid_that_another_has_by_then_is_not_told, begin,
						finish),
		cmocka_unit_test_setup_teardown(a_pid_that_another_has_already_is_not_told, begin,
						finish),
		cmocka_unit_test_setup_teardown(an_xid_is_told_when_its_line_arrives, begin,
						finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

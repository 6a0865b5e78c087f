/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lockup timeouts: modules' own descriptions, word for word as modinfo prints them, values as the
 * drivers parse them, and sysfs of i915, xe and amdgpu.
 */
#include "history.h"
#include "root.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sensors/gpu/lockup.h"

/* Debian's 6.1.192 and 6.12.117; amdgpu. */
static const char amdgpu_6_1[] =
	"GPU lockup timeout in ms (default: for bare metal 10000 for non-compute jobs and 60000 "
	"for compute jobs; for passthrough or sriov, 10000 for all jobs. 0: keep default value. "
	"negative: infinity timeout), format: for bare metal [Non-Compute] or "
	"[GFX,Compute,SDMA,Video]; for passthrough or sriov [all jobs] or "
	"[GFX,Compute,SDMA,Video].";
/* 7.2.13 */
static const char amdgpu_7_2[] =
	"GPU lockup timeout in ms (default: 2000. 0: keep default value. negative: infinity "
	"timeout), format: [single value for all] or [GFX,Compute,SDMA,Video].";
/* 6.17 */
static const char amdgpu_6_17[] =
	"GPU lockup timeout in ms (default: 10000 for all jobs. 0: keep default value. negative: "
	"infinity timeout), format: for bare metal [Non-Compute] or [GFX,Compute,SDMA,Video]; for "
	"passthrough or sriov [all jobs] or [GFX,Compute,SDMA,Video].";
/* 5.4 */
static const char amdgpu_5_4[] =
	"GPU lockup timeout in ms (default: 10000 for non-compute jobs and no timeout for compute "
	"jobs), format is [Non-Compute] or [GFX,Compute,SDMA,Video]";
/* radeon of all three */
static const char radeon_text[] =
	"GPU lockup timeout in ms (default 10000 = 10 seconds, 0 = disable)";

static void assert_defaults(const char *text, uint64_t compute, uint64_t other, bool one_for_all)
{
	struct davy_lockup_defaults d;

	assert_true(davy_lockup_defaults_parse(text, &d));
	assert_int_equal(d.ms[DAVY_LOCKUP_GFX], other);
	assert_int_equal(d.ms[DAVY_LOCKUP_COMPUTE], compute);
	assert_int_equal(d.ms[DAVY_LOCKUP_SDMA], other);
	assert_int_equal(d.ms[DAVY_LOCKUP_VIDEO], other);
	assert_int_equal(d.one_for_all, one_for_all);
}

static void descriptions_of_every_kernel_are_understood(void **state)
{
	struct davy_lockup_defaults d;

	(void)state;
	assert_defaults(amdgpu_6_1, 60000, 10000, false);
	assert_defaults(amdgpu_7_2, 2000, 2000, true);
	assert_defaults(amdgpu_6_17, 10000, 10000, false);
	assert_defaults(amdgpu_5_4, 0, 10000, false);
	assert_defaults(radeon_text, 10000, 10000, false);
	assert_defaults("(default: 10000 in sriov, 2000 not in sriov. 0: keep default value.)",
			2000, 2000, false);
	assert_true(davy_lockup_defaults_parse(amdgpu_6_1, &d));
	assert_true(d.one_for_all_guest);
	assert_true(davy_lockup_defaults_parse(amdgpu_7_2, &d));
	assert_false(d.one_for_all_guest);
}

static void descriptions_without_a_default_give_no_value(void **state)
{
	struct davy_lockup_defaults d = { .ms = { 7 } };

	(void)state;
	assert_false(davy_lockup_defaults_parse("", &d));
	assert_false(davy_lockup_defaults_parse("timeout in ms (10000)", &d));
	assert_false(davy_lockup_defaults_parse("default", &d));
	assert_false(davy_lockup_defaults_parse("default: none. 10000", &d));
	assert_false(davy_lockup_defaults_parse("default 99999999999999999999999", &d));
	assert_false(davy_lockup_defaults_parse("default 10000 in sriov", &d));
	assert_int_equal(d.ms[0], 7); /* untouched */
}

static void assert_lockup(struct davy_lockups *l, const char *queue, uint64_t ms, uint32_t origin)
{
	const struct davy_lockup *found = davy_lockups_find(l, queue);

	assert_non_null(found);
	assert_int_equal(found->timeout_ns, ms * DAVY_NS_PER_MS);
	assert_string_equal(davy_lockup_origin_name(found->origin),
			    davy_lockup_origin_name(origin));
}

/* All four as "ms/origin" in the parameter's order; '?' is unknown. */
static void assert_amdgpu(const char *value, const char *configured, const char *description,
			  bool guest, const char *wanted)
{
	static const char letters[] = "?rspdn"; /* by enum davy_lockup_origin */
	struct davy_lockup_defaults d;
	struct davy_lockups l;
	char got[128] = "";

	if (description)
		assert_true(davy_lockup_defaults_parse(description, &d));
	davy_lockup_amdgpu(value, configured, description ? &d : NULL, guest, &l);
	assert_int_equal(l.count, DAVY_LOCKUP_KINDS);
	for (size_t i = 0; i < l.count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%llu%c", i ? " " : "",
			 (unsigned long long)(l.at[i].timeout_ns / DAVY_NS_PER_MS),
			 letters[l.at[i].origin]);
	assert_string_equal(got, wanted);
}

static void amdgpus_parameter_is_parsed_like_the_driver_does(void **state)
{
	(void)state;
	assert_amdgpu("\n", "", amdgpu_6_1, false, "10000d 60000d 10000d 10000d");
	assert_amdgpu("\n", "", amdgpu_7_2, false, "2000d 2000d 2000d 2000d");
	assert_amdgpu("5000\n", "", amdgpu_6_1, false, "5000p 60000d 5000p 5000p");
	assert_amdgpu("5000\n", "", amdgpu_6_1, true, "5000p 5000p 5000p 5000p");
	assert_amdgpu("5000\n", "", amdgpu_7_2, false, "5000p 5000p 5000p 5000p");
	assert_amdgpu("1,2,3,4\n", "", amdgpu_6_1, true, "1p 2p 3p 4p");
	assert_amdgpu("1,2,3,4,5,6\n", "", amdgpu_6_1, false, "1p 2p 3p 4p");
	assert_amdgpu("5000,0,-1\n", "", amdgpu_6_1, false, "5000p 60000d 0p 10000d");
	assert_amdgpu("0,-1\n", "", amdgpu_7_2, false, "2000d 0p 2000d 2000d");
	assert_amdgpu("0\n", "", amdgpu_7_2, false, "2000d 2000d 2000d 2000d");
	assert_amdgpu("-1\n", "", amdgpu_7_2, false, "0p 0p 0p 0p");
	assert_amdgpu("5000,,7000\n", "", amdgpu_6_1, false, "5000p 60000d 5000p 5000p");
	assert_amdgpu("0x1388,+6000\n", "", amdgpu_6_1, false, "5000p 6000p 10000d 10000d");
	assert_amdgpu("2147483648\n", "", amdgpu_7_2, false, "0p 0p 0p 0p");
}

static void a_value_without_a_source_is_unknown(void **state)
{
	(void)state;
	assert_amdgpu("\n", "", NULL, false, "0? 0? 0? 0?");
	assert_amdgpu("5000\n", "", NULL, false, "5000p 0? 5000p 5000p");
	assert_amdgpu("5000\n", "", NULL, true, "5000p 5000p 5000p 5000p");
	assert_amdgpu("5000,6000\n", "", NULL, false, "5000p 6000p 0? 0?");
	assert_amdgpu("garbage\n", "", amdgpu_6_1, false, "0? 0? 0? 0?");
	assert_amdgpu("5000,x\n", "", amdgpu_6_1, false, "0? 0? 0? 0?");
	assert_amdgpu("--5\n", "", amdgpu_6_1, false, "0? 0? 0? 0?");
	assert_amdgpu("99999999999999999999\n", "", amdgpu_6_1, false, "0? 0? 0? 0?");
}

/* On 6.1 and 6.12 a device that was bound leaves "5000" of "5000,6000,7000,8000". */
static void a_truncated_value_equals_the_configured_one(void **state)
{
	(void)state;
	assert_amdgpu("5000\n", "5000,6000,7000,8000", amdgpu_6_1, false,
		      "5000p 6000p 7000p 8000p");
	assert_amdgpu("5000\n", "5000", amdgpu_6_1, false, "5000p 60000d 5000p 5000p");
	assert_amdgpu("500\n", "5000,6000", amdgpu_7_2, false, "500p 500p 500p 500p");
	assert_amdgpu("5000,1\n", "5000,1,2", amdgpu_7_2, false, "5000p 1p 2000d 2000d");
	assert_amdgpu("\n", "5000,6000", amdgpu_7_2, false, "2000d 2000d 2000d 2000d");
}

static void modprobes_options_are_read_like_modprobe_does(void **state)
{
	char value[8];

	(void)state;
	davy_module_option("si_support=1 lockup_timeout=1,2 x=3", "lockup_timeout", value, 8);
	assert_string_equal(value, "1,2");
	davy_module_option("lockup_timeout=1 lockup_timeout=2", "lockup_timeout", value, 8);
	assert_string_equal(value, "2");
	davy_module_option("xlockup_timeout=1 lockup_timeout2=3 lockup_timeout", "lockup_timeout",
			   value, 8);
	assert_string_equal(value, "");
	davy_module_option("lockup_timeout=123456789", "lockup_timeout", value, 8);
	assert_string_equal(value, "1234567");
}

static void radeon_has_one_for_all(void **state)
{
	struct davy_lockup_defaults d;
	struct davy_lockups l;

	(void)state;
	assert_true(davy_lockup_defaults_parse(radeon_text, &d));
	davy_lockup_radeon("10000\n", &d, &l);
	assert_lockup(&l, "all", 10000, DAVY_LOCKUP_DEFAULT);
	davy_lockup_radeon("500\n", &d, &l);
	assert_lockup(&l, "all", 500, DAVY_LOCKUP_PARAMETER);
	davy_lockup_radeon("0\n", &d, &l);
	assert_lockup(&l, "all", 0, DAVY_LOCKUP_PARAMETER);
	davy_lockup_radeon("", &d, &l);
	assert_lockup(&l, "all", 10000, DAVY_LOCKUP_DEFAULT);
	davy_lockup_radeon("", NULL, &l);
	assert_lockup(&l, "all", 0, DAVY_LOCKUP_UNKNOWN);
}

static void rings_belong_to_kinds_of_queues(void **state)
{
	static const struct {
		const char *driver, *ring, *queue;
	} rows[] = {
		{ "amdgpu", "gfx_0.0.0", "gfx" },
		{ "amdgpu", "gfx", "gfx" },
		{ "amdgpu", "comp_1.0.0", "compute" },
		{ "amdgpu", "sdma0", "sdma" },
		{ "amdgpu", "sdma1.2", "sdma" },
		{ "amdgpu", "page0", "sdma" },
		{ "amdgpu", "vcn_unified_0", "video" },
		{ "amdgpu", "uvd", "video" },
		{ "amdgpu", "vce0", "video" },
		{ "amdgpu", "jpeg_dec", "video" },
		{ "amdgpu", "vpe", "video" },
		{ "xe", "ccs3", "ccs" },
		{ "xe", "rcs0", "rcs" },
		{ "xe", "0", "all" },
		{ "nouveau", "nouveau_sched", "all" },
		{ "v3d", "v3d_bin", "all" },
		{ "", "", "all" },
	};
	char queue[DAVY_RING_NAME_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		davy_lockup_queue_of(rows[i].driver, rows[i].ring, queue, sizeof(queue));
		assert_string_equal(queue, rows[i].queue);
	}
}

static void the_drivers_value_has_precedence_over_the_parameter(void **state)
{
	struct davy_lockups l = { .count = 0 };
	struct davy_lockup reported = { "gfx", 2 * DAVY_NS_PER_S, DAVY_LOCKUP_DEFAULT };

	(void)state;
	assert_true(davy_lockups_update(&l, &reported));
	assert_false(davy_lockups_update(&l, &reported));
	reported.origin = DAVY_LOCKUP_SCHEDULER;
	assert_true(davy_lockups_update(&l, &reported)); /* the same value, but now certain */
	reported.origin = DAVY_LOCKUP_PARAMETER;
	reported.timeout_ns = DAVY_NS_PER_S;
	assert_false(davy_lockups_update(&l, &reported));
	reported.origin = DAVY_LOCKUP_SCHEDULER;
	assert_true(davy_lockups_update(&l, &reported)); /* the shorter of two rings */
	reported.timeout_ns = 0;
	assert_false(davy_lockups_update(&l, &reported)); /* never is longer */
	reported.timeout_ns = 5 * DAVY_NS_PER_S;
	reported.origin = DAVY_LOCKUP_SYSFS;
	assert_true(davy_lockups_update(&l, &reported));
	reported.timeout_ns = 6 * DAVY_NS_PER_S;
	assert_true(davy_lockups_update(&l, &reported)); /* an administrator wrote it */
	reported.origin = DAVY_LOCKUP_SCHEDULER;
	reported.timeout_ns = 1;
	assert_false(davy_lockups_update(&l, &reported)); /* one queue of a class */
	assert_int_equal(l.count, 1);
	for (char c = 'a'; c < 'z'; c++) {
		reported.queue[0] = c;
		davy_lockups_update(&l, &reported);
	}
	assert_int_equal(l.count, DAVY_LOCKUPS_MAX);
}

static void i915s_patience_is_worked_out(void **state)
{
	(void)state;
	assert_int_equal(davy_lockup_i915_ms(2500, 640, 20000), 5640);
	assert_int_equal(davy_lockup_i915_ms(2500, 7500, 20000), 10000); /* the fourth heartbeat */
	assert_int_equal(davy_lockup_i915_ms(2500, 0, 20000), 10000);
	assert_int_equal(davy_lockup_i915_ms(0, 640, 20000), 20000);
	assert_int_equal(davy_lockup_i915_ms(0, 640, 0), 0);
	assert_int_equal(davy_lockup_i915_ms(2500, 640, 3000), 3000);
	assert_int_equal(davy_lockup_i915_ms(UINT64_MAX, UINT64_MAX, 0), 0);
	assert_int_equal(davy_lockup_i915_ms(1, UINT64_MAX, UINT64_MAX), 4);
}

static void engines_of_i915_and_xe_are_read_by_class(void **state)
{
	struct davy_gpu gpu = { .device = "0000:00:02.0", .driver = "i915", .card = 1 };
	struct davy_lockups l;

	(void)state;
	PUT("/sys/class/drm/card1/engine/rcs0/heartbeat_interval_ms", "2500\n");
	PUT("/sys/class/drm/card1/engine/rcs0/preempt_timeout_ms", "640\n");
	PUT("/sys/class/drm/card1/engine/vcs0/heartbeat_interval_ms", "0\n");
	PUT("/sys/class/drm/card1/engine/vcs1/heartbeat_interval_ms", "1000\n");
	PUT("/sys/class/drm/card1/engine/vcs1/preempt_timeout_ms", "-3\n");
	PUT("/sys/class/drm/card1/engine/.defaults/heartbeat_interval_ms", "1\n");
	davy_lockups_read(&gpu, NULL, &l);
	assert_int_equal(l.count, 2);
	assert_lockup(&l, "rcs", 5640, DAVY_LOCKUP_SYSFS);
	assert_lockup(&l, "vcs", 4000, DAVY_LOCKUP_SYSFS);
	PUT("/sys/module/i915/parameters/request_timeout_ms", "3000\n");
	davy_lockups_read(&gpu, NULL, &l);
	assert_lockup(&l, "vcs", 3000, DAVY_LOCKUP_SYSFS);

	davy_copy_name(gpu.driver, sizeof(gpu.driver), "xe");
	gpu.card = 2;
	PUT("/sys/class/drm/card2/device/tile0/gt0/engines/ccs/job_timeout_ms", "5000\n");
	PUT("/sys/class/drm/card2/device/tile1/gt2/engines/ccs/job_timeout_ms", "4000\n");
	PUT("/sys/class/drm/card2/device/tile0/gt1/engines/vcs/job_timeout_ms", "nonsense\n");
	PUT("/sys/class/drm/card2/device/tile0/gt1/engines/vecs/.defaults/job_timeout_ms", "1\n");
	davy_lockups_read(&gpu, NULL, &l);
	assert_int_equal(l.count, 1);
	assert_lockup(&l, "ccs", 4000, DAVY_LOCKUP_SYSFS);
	PUT("/sys/class/drm/card2/device/power/runtime_status", "suspended\n");
	davy_lockups_read(&gpu, NULL, &l);
	assert_int_equal(l.count, 0); /* it would be woken */
}

static void amdgpu_is_read_while_kfd_is_present(void **state)
{
	struct davy_gpu gpu = { .device = "0000:03:00.0", .driver = "amdgpu", .card = 1 };
	struct davy_module_text text = { .configured = "" };
	struct davy_lockups l;

	(void)state;
	snprintf(text.description, sizeof(text.description), "%s", amdgpu_6_1);
	PUT("/sys/module/amdgpu/parameters/lockup_timeout", "5000\n");
	PUT("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\nbugs\t\t: hypervisor\n");
	PUT("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4321\n");
	PUT("/sys/class/kfd/kfd/topology/nodes/1/properties", "location_id 1024\ndomain 0\n");
	davy_lockups_read(&gpu, &text, &l);
	assert_int_equal(l.count, 4);
	assert_lockup(&l, "compute", 60000, DAVY_LOCKUP_DEFAULT);
	PUT("/sys/class/kfd/kfd/topology/nodes/1/properties", "location_id 768\ndomain 0\n");
	PUT("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor vme\nbugs\t\t:\n");
	davy_lockups_read(&gpu, &text, &l);
	assert_int_equal(l.count, 5);
	assert_lockup(&l, "compute", 5000, DAVY_LOCKUP_PARAMETER);
	assert_lockup(&l, "kfd", 0, DAVY_LOCKUP_NONE);
	davy_lockups_read(&gpu, NULL, &l);
	assert_lockup(&l, "gfx", 5000, DAVY_LOCKUP_PARAMETER);
	davy_copy_name(gpu.driver, sizeof(gpu.driver), "nouveau");
	davy_lockups_read(&gpu, NULL, &l);
	assert_lockup(&l, "all", 0, DAVY_LOCKUP_UNKNOWN);
	davy_copy_name(gpu.driver, sizeof(gpu.driver), "qxl");
	davy_lockups_read(&gpu, NULL, &l);
	assert_int_equal(l.count, 0);
}

static void a_child_without_a_result_reports_it(void **state)
{
	struct davy_module_text text;
	struct pollfd wait = { .events = POLLIN };
	struct davy_child child;
	int status;

	(void)state;
	wait.fd = davy_module_text_ask("no-such-module", DAVY_LOCKUP_PARAMETER_NAME, &child);
	assert_true(wait.fd >= 0);
	assert_int_equal(poll(&wait, 1, 20000), 1);
	assert_int_equal(davy_module_text_take(wait.fd, &text), -ENOENT);
	close(wait.fd);
	assert_int_equal(davy_child_wait(&child, 60000, &status), 1);
	assert_int_equal(status, 0x100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptions_of_every_kernel_are_understood),
		cmocka_unit_test(descriptions_without_a_default_give_no_value),
		cmocka_unit_test(amdgpus_parameter_is_parsed_like_the_driver_does),
		cmocka_unit_test(a_value_without_a_source_is_unknown),
		cmocka_unit_test(a_truncated_value_equals_the_configured_one),
		cmocka_unit_test(modprobes_options_are_read_like_modprobe_does),
		cmocka_unit_test(radeon_has_one_for_all),
		cmocka_unit_test(rings_belong_to_kinds_of_queues),
		cmocka_unit_test(the_drivers_value_has_precedence_over_the_parameter),
		cmocka_unit_test(i915s_patience_is_worked_out),
		cmocka_unit_test_setup_teardown(engines_of_i915_and_xe_are_read_by_class, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(amdgpu_is_read_while_kfd_is_present, make_root,
						remove_root),
		cmocka_unit_test(a_child_without_a_result_reports_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

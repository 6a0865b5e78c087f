/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of cgroups and the device's power switch on a tree of plain files (tests/vm/dmem has a
 * kernel with the dmem controller), and the undo of a dead agent's actions.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "act/awake.h"
#include "act/caps.h"
#include "act/cgroup.h"
#include "act/undo.h"
#include "core/event/event.h"
#include "core/event/plan.h"
#include "sensors/proc/process_info.h"
#include "root.h"

#define GIB    (1ULL << 30)
#define TREE   "/sys/fs/cgroup"
#define SLICE  "/system.slice/ollama.service"
#define REGION "drm/0000:03:00.0/vram0"
#define BOOT   "0b5b7c1e-6a3f-4a52-9d2e-6f1b5a7c9e10"

static char why[DAVY_REASON_LEN];

static int make_tree(void **state)
{
	int err = make_root(state);

	if (err)
		return err;
	PUT("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
	PUT(TREE "/cgroup.controllers", "cpuset cpu io memory dmem\n");
	PUT(TREE "/dmem.capacity", REGION " 8589934592\ndrm/0000:03:00.0/vram1 4294967296\n");
	PUT(TREE SLICE "/cgroup.controllers", "cpu memory dmem\n");
	PUT(TREE SLICE "/memory.high", "max\n");
	PUT(TREE SLICE "/cpu.max", "max 100000\n");
	PUT(TREE SLICE "/dmem.max", REGION " 8589934592\n");
	PUT(TREE SLICE "/dmem.low", "\n");
	return 0;
}

static const char *file_text(const char *name)
{
	static char text[256];
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, name);
	assert_true(davy_read_file(path, text, sizeof(text)) >= 0);
	return text;
}

static void a_region_is_capped_read_back_and_given_back(void **state)
{
	struct davy_intent cap = { .action = DAVY_ACTION_CAP };

	(void)state;
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_MAX, REGION, 4 * GIB, &cap, why), 0);
	assert_string_equal(cap.file, TREE SLICE "/dmem.max");
	assert_string_equal(cap.key, REGION);
	assert_string_equal(cap.old_value, "8589934592");
	assert_string_equal(cap.new_value, "4294967296");
	assert_string_equal(file_text(cap.file), REGION " 8589934592\n"); /* not written yet */
	assert_int_equal(davy_value_set(&cap), 0);
	assert_string_equal(file_text(cap.file), REGION " 4294967296\n");
	assert_int_equal(davy_undo(&cap, BOOT, why), 0);
	assert_string_equal(file_text(cap.file), REGION " 8589934592\n");
	assert_int_equal(davy_undo(&cap, BOOT, why), 1); /* undone already */
	assert_string_equal(why, "another program changed the value");
}

static void a_region_that_is_not_listed_is_at_its_default(void **state)
{
	struct davy_intent cap = { 0 };

	(void)state;
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_LOW, REGION, GIB, &cap, why), 0);
	assert_string_equal(cap.old_value, "0");
	assert_int_equal(
		davy_cap_plan(SLICE, DAVY_CAP_DMEM_MAX, "drm/0000:03:00.0/vram1", GIB, &cap, why),
		0);
	assert_string_equal(cap.old_value, "max");
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_MAX, "drm/x/vram", GIB, &cap, why),
			 -ENOENT);
}

static void limits_that_others_changed_are_kept(void **state)
{
	struct davy_intent cap = { .action = DAVY_ACTION_CAP };

	(void)state;
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_MAX, REGION, 4 * GIB, &cap, why), 0);
	assert_int_equal(davy_undo(&cap, BOOT, why), 1); /* killed before the write */
	assert_int_equal(davy_value_set(&cap), 0);
	PUT(TREE SLICE "/dmem.max", REGION " 1073741824\n");
	assert_int_equal(davy_undo(&cap, BOOT, why), 1);
	assert_string_equal(file_text(cap.file), REGION " 1073741824\n");
}

static void a_limit_that_the_kernel_refuses_is_an_error(void **state)
{
	struct davy_intent cap = { .action = DAVY_ACTION_CAP };

	(void)state;
	PUT(TREE SLICE "/memory.high", "max, and more\n");
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_MEMORY_HIGH, "", 4 * GIB, &cap, why), 0);
	assert_int_equal(davy_value_set(&cap), -EIO); /* a plain file keeps its old tail */
}

static void memory_and_processor_are_capped_in_their_own_units(void **state)
{
	struct davy_intent cap = { 0 };

	(void)state;
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_MEMORY_HIGH, "", 4 * GIB + 77, &cap, why),
			 0);
	assert_string_equal(cap.new_value, "4294967296"); /* whole pages */
	assert_string_equal(cap.old_value, "max");
	assert_int_equal(davy_value_set(&cap), 0);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_CPU_MAX, "", 500, &cap, why), 0);
	assert_string_equal(cap.new_value, "50000 100000");
	assert_string_equal(cap.old_value, "max 100000");
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_CPU_MAX, "", 1, &cap, why), 0);
	assert_string_equal(cap.new_value, "1000 100000");
	assert_int_equal(davy_caps_possible(SLICE), DAVY_CAN_CAP);
}

static void a_stricter_limit_stays(void **state)
{
	struct davy_intent cap = { 0 };

	(void)state;
	PUT(TREE SLICE "/memory.high", "1073741824\n");
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_MEMORY_HIGH, "", 4 * GIB, &cap, why),
			 -EALREADY);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_MEMORY_HIGH, "", GIB, &cap, why), -EALREADY);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_MEMORY_HIGH, "", GIB / 2, &cap, why), 0);
	PUT(TREE SLICE "/cpu.max", "20000 50000\n");
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_CPU_MAX, "", 400, &cap, why), -EALREADY);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_CPU_MAX, "", 399, &cap, why), 0);
	PUT(TREE SLICE "/dmem.low", REGION " 2147483648\n"); /* protection: more is stricter */
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_LOW, REGION, GIB, &cap, why),
			 -EALREADY);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_LOW, REGION, 3 * GIB, &cap, why), 0);
}

static void dmem_is_enabled_in_the_groups_above(void **state)
{
	struct davy_intent cap = { 0 };

	(void)state;
	PUT(TREE "/cgroup.subtree_control", "cpu memory\n");
	PUT(TREE "/user.slice/cgroup.subtree_control", "cpu dmem\n"); /* is enabled there */
	PUT(TREE "/user.slice/app.slice/cgroup.subtree_control", "");
	PUT(TREE "/user.slice/app.slice/engine/cgroup.subtree_control", "");
	assert_int_equal(davy_cap_plan("/user.slice/app.slice/engine", DAVY_CAP_DMEM_LOW, REGION,
				       GIB, &cap, why),
			 -ENOTSUP); /* a plain tree does not get the file */
	assert_string_equal(file_text(TREE "/cgroup.subtree_control"), "+dmememory\n");
	assert_string_equal(file_text(TREE "/user.slice/cgroup.subtree_control"), "cpu dmem\n");
	assert_string_equal(file_text(TREE "/user.slice/app.slice/cgroup.subtree_control"),
			    "+dmem");
	assert_string_equal(file_text(TREE "/user.slice/app.slice/engine/cgroup.subtree_control"),
			    "");
	assert_int_equal(davy_caps_possible("/user.slice/app.slice/engine"), DAVY_CAN_CAP);
}

static void an_absent_controller_is_named(void **state)
{
	struct davy_intent cap = { 0 };

	(void)state;
	PUT(TREE "/cgroup.controllers", "cpuset memory dmem2 pids\n");
	PUT(TREE "/user.slice/cgroup.procs", "");
	assert_int_equal(davy_cap_plan("/user.slice", DAVY_CAP_DMEM_MAX, REGION, GIB, &cap, why),
			 -ENOTSUP);
	assert_non_null(strstr(why, "no dmem controller"));
	assert_int_equal(davy_cap_plan("/user.slice", DAVY_CAP_CPU_MAX, "", 500, &cap, why),
			 -ENOTSUP);
	assert_non_null(strstr(why, "not available in cgroup v2"));
	assert_int_equal(davy_cap_plan("/user.slice", DAVY_CAP_MEMORY_HIGH, "", GIB, &cap, why),
			 -ENOTSUP);
	assert_non_null(strstr(why, "not enabled for this cgroup"));
	assert_int_equal(davy_cap_plan("/none", DAVY_CAP_MEMORY_HIGH, "", GIB, &cap, why), -ENOENT);
	assert_int_equal(davy_caps_possible("/user.slice"), 0);
	assert_int_equal(davy_caps_possible("/none"), 0);
}

static void nonsense_is_refused(void **state)
{
	struct davy_intent cap = { 0 };

	(void)state;
	assert_int_equal(davy_cap_plan("/../x", DAVY_CAP_MEMORY_HIGH, "", GIB, &cap, why), -EINVAL);
	assert_int_equal(davy_cap_plan("/x/..", DAVY_CAP_MEMORY_HIGH, "", GIB, &cap, why), -EINVAL);
	assert_int_equal(davy_cap_plan("/", DAVY_CAP_MEMORY_HIGH, "", GIB, &cap, why), -EINVAL);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_MEMORY_HIGH, "", 0, &cap, why), -EINVAL);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_MEMORY_HIGH, REGION, GIB, &cap, why),
			 -EINVAL);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_MAX, "", GIB, &cap, why), -EINVAL);
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_MAX, "a b", GIB, &cap, why), -EINVAL);
	cap = (struct davy_intent){ .file = "/etc/shadow", .old_value = "a", .new_value = "b" };
	assert_int_equal(davy_undo(&cap, BOOT, why), -EINVAL);
	cap = (struct davy_intent){ .file = "/sys/../etc/x", .old_value = "a", .new_value = "b" };
	assert_int_equal(davy_undo(&cap, BOOT, why), -EINVAL);
}

static void a_device_is_kept_awake_and_let_sleep_again(void **state)
{
	const char *file = "/sys/bus/pci/devices/0000:03:00.0/power/control";
	struct davy_intent awake = { .action = DAVY_ACTION_AWAKE };

	(void)state;
	assert_int_equal(davy_awake_plan("0000:03:00.0", &awake), -ENODEV);
	assert_int_equal(davy_awake_plan("../../x/y/zz", &awake), -EINVAL);
	assert_int_equal(davy_awake_plan("llvmpipe", &awake), -EINVAL);
	PUT("/sys/bus/pci/devices/0000:03:00.0/power/control", "auto");
	assert_int_equal(davy_awake_plan("0000:03:00.0", &awake), 0);
	assert_string_equal(awake.file, file);
	PUT("/sys/bus/pci/devices/0000:03:00.0/power/control", "on\n"); /* as the kernel would */
	assert_int_equal(davy_value_undo(&awake), 0);
	assert_string_equal(file_text(file), "auto");
	PUT("/sys/bus/pci/devices/0000:03:00.0/power/control", "on\n");
	assert_int_equal(davy_awake_plan("0000:03:00.0", &awake), -EALREADY);
}

static void another_boot_has_undone_all(void **state)
{
	struct davy_intent cap = { .action = DAVY_ACTION_CAP, .boot_id = "another" };

	(void)state;
	assert_int_equal(davy_cap_plan(SLICE, DAVY_CAP_DMEM_MAX, REGION, 4 * GIB, &cap, why), 0);
	assert_int_equal(davy_value_set(&cap), 0);
	assert_int_equal(davy_undo(&cap, BOOT, why), 1);
	assert_string_equal(why, "the host was rebooted since");
	assert_string_equal(file_text(cap.file), REGION " 4294967296\n");
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static char state_of(pid_t pid)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (davy_read_file(path, text, sizeof(text)) < 0)
		return 0;
	return strrchr(text, ')')[2];
}

static bool comes_to(pid_t pid, char state)
{
	for (int i = 0; i < 200 && state_of(pid) != state; i++)
		usleep(5000);
	return state_of(pid) == state;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void only_the_stopped_process_is_continued_after_pid_reuse(void **state)
{
	pid_t pid = sleeper();
	struct davy_intent hold = { .action = DAVY_ACTION_PAUSE, .pid = (uint32_t)pid };

	(void)state;
	hold.start_ticks = davy_process_start(hold.pid) + 1;
	kill(pid, SIGSTOP);
	assert_true(comes_to(pid, 'T'));
	assert_int_equal(davy_undo(&hold, "", why), 1);
	assert_string_equal(why, "its process has ended");
	assert_int_equal(state_of(pid), 'T');
	hold.start_ticks--;
	assert_int_equal(davy_undo(&hold, "", why), 0);
	assert_true(comes_to(pid, 'S'));
	assert_int_equal(davy_undo(&hold, "", why), 1);
	end(pid);
	assert_int_equal(davy_undo(&hold, "", why), 1);
}

static void freeze(const struct davy_cgroup *c, const char *value)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/cgroup.freeze", c->dir);
	assert_int_equal(davy_write_file(path, value), 0);
}

static void a_frozen_cgroup_is_thawed_unless_others_froze_it(void **state)
{
	struct davy_intent hold = { .action = DAVY_ACTION_THROTTLE, .old_value = "0" };
	struct davy_cgroup c;
	char path[PATH_MAX + 16], number[16];
	pid_t pid;

	(void)state;
	if (geteuid() || davy_cgroup_make("davylamp-unit-caps", &c))
		skip();
	pid = sleeper();
	snprintf(path, sizeof(path), "%s/cgroup.procs", c.dir);
	snprintf(number, sizeof(number), "%d", pid);
	assert_int_equal(davy_write_file(path, number), 0);
	snprintf(hold.cgroup, sizeof(hold.cgroup), "%.500s", c.path);
	hold.pid = (uint32_t)pid;
	hold.start_ticks = davy_process_start(hold.pid);
	freeze(&c, "1");
	assert_int_equal(davy_undo(&hold, "", why), 0);
	snprintf(path, sizeof(path), "%s/cgroup.freeze", c.dir);
	assert_int_equal(davy_read_file(path, number, sizeof(number)), 2);
	assert_string_equal(number, "0\n");
	freeze(&c, "1");
	hold.old_value[0] = '1';
	assert_int_equal(davy_undo(&hold, "", why), 1);
	assert_string_equal(why, "another program had frozen it before");
	freeze(&c, "0");
	end(pid);
	davy_cgroup_remove(&c);
	assert_int_equal(davy_undo(&hold, "", why), 1); /* removed meanwhile */
}

int main(void)
{
#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_root)
	const struct CMUnitTest tests[] = {
		IN_TREE(a_region_is_capped_read_back_and_given_back),
		IN_TREE(a_region_that_is_not_listed_is_at_its_default),
		IN_TREE(limits_that_others_changed_are_kept),
		IN_TREE(a_limit_that_the_kernel_refuses_is_an_error),
		IN_TREE(memory_and_processor_are_capped_in_their_own_units),
		IN_TREE(a_stricter_limit_stays),
		IN_TREE(dmem_is_enabled_in_the_groups_above),
		IN_TREE(an_absent_controller_is_named),
		IN_TREE(nonsense_is_refused),
		IN_TREE(a_device_is_kept_awake_and_let_sleep_again),
		IN_TREE(another_boot_has_undone_all),
		cmocka_unit_test(only_the_stopped_process_is_continued_after_pid_reuse),
		cmocka_unit_test(a_frozen_cgroup_is_thawed_unless_others_froze_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

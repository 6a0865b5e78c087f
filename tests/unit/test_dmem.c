/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of the dmem controller, as kernel/cgroup/dmem.c of 6.14 writes them.
 */
#include "history.h"
#include "root.h"

#include <errno.h>

#include "sensors/gpu/dmem.h"

#define GIB (1ULL << 30)

static void lines_are_read_and_strange_ones_passed_over(void **state)
{
	struct davy_dmem_line l[4];

	(void)state;
	assert_int_equal(davy_dmem_parse("drm/0000:03:00.0/vram0 8514437120\n"
					 "drm/0000:03:00.0/vram1 max\n",
					 l, 4),
			 2);
	assert_string_equal(l[0].device, "0000:03:00.0");
	assert_string_equal(l[0].region, "vram0");
	assert_int_equal(l[0].bytes, 8514437120);
	assert_true(l[1].bytes == UINT64_MAX);
	assert_int_equal(davy_dmem_parse("", l, 4), 0);
	assert_int_equal(davy_dmem_parse("\n\n\ndrm/a/b 1", l, 4), 1);
	assert_int_equal(davy_dmem_parse("drm/\ndrm/a\ndrm/a/b\ndrm/a/b \ndrm//b 1\ndrm/a/ 1\n"
					 "drm/a/b -1\ndrm/a/b +1\ndrm/a/b 1x\ndrm/a/b maximum\n"
					 "drm/a/b  1\nrdma/a/b 1\ndrm a/b 1\n"
					 "drm/a/b 99999999999999999999\n"
					 "drm/a/a-region-too-long 1\n"
					 "drm/a-device-that-is-far-too-long-for-us/b 1\n",
					 l, 4),
			 0);
	assert_int_equal(davy_dmem_parse("drm/a/a 1\ndrm/a/b 2\ndrm/a/c 3\n", l, 2), 2);
}

static void the_controller_is_known_by_its_whole_name(void **state)
{
	(void)state;
	assert_false(davy_dmem_present());
	PUT("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n");
	assert_false(davy_dmem_present());
	PUT("/sys/fs/cgroup/cgroup.controllers", "memory dmem2 xdmem\n");
	assert_false(davy_dmem_present());
	PUT("/sys/fs/cgroup/cgroup.controllers", "memory dmem2 dmem\n");
	assert_true(davy_dmem_present());
	PUT("/sys/fs/cgroup/cgroup.controllers", "dmem memory\n");
	assert_true(davy_dmem_present());
}

static void the_next_cgroup_above_that_accounts_is_found(void **state)
{
	char path[DAVY_DMEM_PATH];

	(void)state;
	PUT("/sys/fs/cgroup/dmem.current", "");
	PUT("/sys/fs/cgroup/system.slice/dmem.current", "");
	PUT("/proc/7/cgroup", "1:cpu:/x\n0::/system.slice/ollama.service/runner\n");
	assert_int_equal(davy_dmem_cgroup_of(7, path), 0);
	assert_string_equal(path, "/system.slice");
	PUT("/sys/fs/cgroup/system.slice/ollama.service/dmem.current", "");
	assert_int_equal(davy_dmem_cgroup_of(7, path), 0);
	assert_string_equal(path, "/system.slice/ollama.service");
	PUT("/proc/7/cgroup", "0::/user.slice\n");
	assert_int_equal(davy_dmem_cgroup_of(7, path), -ENOENT); /* the root has no limits */
	PUT("/proc/7/cgroup", "0::/\n");
	assert_int_equal(davy_dmem_cgroup_of(7, path), -ENOENT);
	PUT("/proc/7/cgroup", "0::/../system.slice\n");
	assert_int_equal(davy_dmem_cgroup_of(7, path), -ENOENT);
	PUT("/proc/7/cgroup", "0::/system.slice/..\n");
	assert_int_equal(davy_dmem_cgroup_of(7, path), -ENOENT);
	PUT("/proc/7/cgroup", "0::system.slice\n3:x:/system.slice");
	assert_int_equal(davy_dmem_cgroup_of(7, path), -ENOENT);
	assert_int_equal(davy_dmem_cgroup_of(8, path), -ENOENT);
}

static void use_and_limits_are_joined_by_region(void **state)
{
	const char *cgroup = "/system.slice/ollama.service";
	struct davy_ev_dmem d[4];

	(void)state;
	PUT("/sys/fs/cgroup/dmem.capacity", "drm/0000:03:00.0/vram0 8589934592\n"
					    "drm/0000:03:00.0/vram1 4294967296\n"
					    "drm/0000:04:00.0/vram 1073741824\n");
	PUT("/sys/fs/cgroup/system.slice/ollama.service/dmem.current",
	    "drm/0000:04:00.0/vram 1048576\ndrm/0000:03:00.0/vram0 2147483648\n");
	PUT("/sys/fs/cgroup/system.slice/ollama.service/dmem.max",
	    "drm/0000:03:00.0/vram0 4294967296\ndrm/0000:03:00.0/vram1 max\n");
	PUT("/sys/fs/cgroup/system.slice/ollama.service/dmem.low", "drm/0000:04:00.0/vram 4096\n"
								   "drm/0000:09:00.0/vram 1\n");
	assert_int_equal(davy_dmem_read(cgroup, d, 4), 3);
	assert_string_equal(d[0].device, "0000:03:00.0");
	assert_string_equal(d[0].region, "vram0");
	assert_string_equal(d[0].unit, "ollama.service");
	assert_int_equal(d[0].capacity, 8 * GIB);
	assert_int_equal(d[0].current, 2 * GIB);
	assert_int_equal(d[0].max, 4 * GIB);
	assert_int_equal(d[0].low, 0);
	assert_int_equal(d[1].current, 0);
	assert_true(d[1].max == UINT64_MAX);
	assert_string_equal(d[2].device, "0000:04:00.0");
	assert_int_equal(d[2].current, 1 << 20);
	assert_true(d[2].max == UINT64_MAX);
	assert_int_equal(d[2].low, 4096);
	assert_int_equal(davy_dmem_read("/machine.slice/vm-1", d, 4), 3);
	assert_string_equal(d[0].unit, "vm-1");
	assert_int_equal(d[0].current, 0);
	assert_int_equal(davy_dmem_read(cgroup, d, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read_and_strange_ones_passed_over),
		cmocka_unit_test_setup_teardown(the_controller_is_known_by_its_whole_name,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(the_next_cgroup_above_that_accounts_is_found,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(use_and_limits_are_joined_by_region, make_root,
						remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

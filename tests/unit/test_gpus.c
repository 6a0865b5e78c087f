/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GPUs from sysfs and fdinfo, with the keys of all drivers and kernels, and what is stored. */
#include "history.h"
#include "root.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "sensors/gpu/fdinfo.h"
#include "sensors/gpu/gpu_memory.h"
#include "store/incident_dir.h"

#define MIB (1ULL << 20)

static void amdgpu_of_every_kernel_is_understood(void **state)
{
	struct davy_fdinfo i;

	(void)state;
	assert_true(davy_fdinfo_parse("pos:\t0\nflags:\t02\ndrm-driver:\tamdgpu\n"
				      "drm-pdev:\t0000:03:00.0\npasid:\t32771\n"
				      "drm-client-id:\t44\ndrm-memory-vram:\t1024 KiB\n"
				      "drm-memory-gtt: \t20 KiB\ndrm-memory-cpu: \t4 KiB\n"
				      "drm-engine-gfx:\t1000 ns\ndrm-engine-compute:\t500 ns\n",
				      &i));
	assert_string_equal(i.driver, "amdgpu");
	assert_string_equal(i.device, "0000:03:00.0");
	assert_int_equal(i.client_id, 44);
	assert_int_equal(i.pasid, 32771);
	assert_int_equal(i.vram, MIB);
	assert_int_equal(i.gtt, 20 << 10);
	assert_int_equal(i.system, 4 << 10);
	assert_int_equal(i.busy_ns, 1500);
	/* 7.2 prints resident sizes and, for old readers, the same values as drm-memory */
	assert_true(davy_fdinfo_parse("drm-driver:\tamdgpu\ndrm-client-id:\t7\n"
				      "drm-total-vram:\t64 MiB\ndrm-resident-vram:\t32 MiB\n"
				      "drm-memory-vram:\t32768 KiB\namd-evicted-vram:\t32768 KiB\n"
				      "amd-requested-vram:\t65536 KiB\n",
				      &i));
	assert_int_equal(i.vram, 32 * MIB);
	assert_int_equal(i.evicted, 32 * MIB);
}

static void regions_of_i915_and_xe_are_distinguished(void **state)
{
	struct davy_fdinfo i;

	(void)state;
	assert_true(davy_fdinfo_parse("drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\n"
				      "drm-client-id:\t3\ndrm-total-system0:\t12 MiB\n"
				      "drm-resident-system0:\t8 MiB\ndrm-resident-local0:\t2 MiB\n"
				      "drm-resident-stolen-system:\t1 MiB\n"
				      "drm-engine-render:\t25 ns\ndrm-engine-capacity-video:\t2\n",
				      &i));
	assert_int_equal(i.system, 8 * MIB);
	assert_int_equal(i.vram, 2 * MIB);
	assert_int_equal(i.busy_ns, 25);
	assert_true(davy_fdinfo_parse("drm-driver:\txe\ndrm-resident-vram0:\t3 MiB\n"
				      "drm-resident-vram1:\t1 MiB\ndrm-resident-gtt:\t192 KiB\n"
				      "drm-cycles-rcs:\t28257900\n",
				      &i));
	assert_int_equal(i.vram, 4 * MIB);
	assert_int_equal(i.gtt, 192 << 10);
	assert_int_equal(i.busy_ns, 0);
}

static void hostile_fdinfo_is_survived(void **state)
{
	char text[9000];
	struct davy_fdinfo i;

	(void)state;
	assert_false(davy_fdinfo_parse("", &i));
	assert_false(davy_fdinfo_parse("pos:\t0\nflags:\t02\n", &i));
	assert_false(davy_fdinfo_parse("drm-driver", &i));
	assert_true(davy_fdinfo_parse("drm-driver: a-name-that-is-far-too-long-for-us\n"
				      "drm-memory-vram: 99999999999999999999 GiB\n"
				      "drm-memory-gtt: -5 KiB\ndrm-memory-cpu:\n:::\n\n\n"
				      "drm-resident",
				      &i));
	assert_int_equal(strlen(i.driver), sizeof(i.driver) - 1);
	assert_int_equal(i.vram + i.gtt + i.system, 0);
	memset(text, 'k', sizeof(text));
	text[4000] = ':';
	text[sizeof(text) - 1] = 0;
	assert_false(davy_fdinfo_parse(text, &i));
}

static void cards_are_listed_without_their_connectors(void **state)
{
	char path[256], target[256];
	struct davy_gpu list[4];

	(void)state;
	PUT("/sys/devices/0000:03:00.0/mem_info_vram_total", "268435456\n");
	PUT("/sys/devices/0000:03:00.0/mem_info_vram_used", "garbage\n");
	PUT("/sys/devices/0000:03:00.0/drm/renderD129/dev", "226:129\n");
	PUT("/sys/bus/pci/drivers/amdgpu/x", "");
	PUT("/sys/class/drm/card1/x", "");
	PUT("/sys/class/drm/card1-HDMI-A-1/x", "");
	PUT("/sys/class/drm/renderD129/x", "");
	PUT("/sys/class/drm/card2/x", ""); /* no driver */
	snprintf(path, sizeof(path), "%s/sys/class/drm/card1/device", root);
	assert_int_equal(symlink("../../../devices/0000:03:00.0", path), 0);
	snprintf(path, sizeof(path), "%s/sys/devices/0000:03:00.0/driver", root);
	snprintf(target, sizeof(target), "%s/sys/bus/pci/drivers/amdgpu", root);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(davy_gpus_list(list, 4), 1);
	assert_string_equal(list[0].device, "0000:03:00.0");
	assert_string_equal(list[0].driver, "amdgpu");
	assert_int_equal(list[0].card, 1);
	assert_int_equal(list[0].render, 129);
	assert_true(davy_gpu_awake(&list[0]));
	assert_false(davy_gpu_may_suspend(&list[0]));
	PUT("/sys/devices/0000:03:00.0/power/runtime_status", "suspended\n");
	assert_false(davy_gpu_awake(&list[0]));
	PUT("/sys/devices/0000:03:00.0/power/control", "auto\n");
	assert_true(davy_gpu_may_suspend(&list[0]));
	struct davy_ev_memory m = { .eviction_count = 7 };

	assert_int_equal(davy_gpu_memory_read(&list[0], true, &m), 0);
	assert_int_equal(m.vram_total, 256 * MIB);
	assert_int_equal(m.vram_used, 0);
	assert_int_equal(m.eviction_count, 7); /* asleep: not asked */
	assert_int_equal(m.flags, DAVY_MEMORY_MAY_SUSPEND);
	PUT("/sys/devices/0000:03:00.0/power/control", "on\n");
	m.flags |= DAVY_MEMORY_SHARED;
	assert_int_equal(davy_gpu_memory_read(&list[0], false, &m), 0);
	assert_int_equal(m.flags, DAVY_MEMORY_SHARED);
	PUT("/sys/devices/0000:03:00.0/power/control", "auto\n");
	PUT("/sys/devices/0000:03:00.0/power/runtime_status", "unsupported\n");
	assert_false(davy_gpu_may_suspend(&list[0]));
	assert_true(davy_gpu_awake(&list[0]));
	davy_copy_name(list[0].driver, sizeof(list[0].driver), "radeon");
	assert_true(davy_gpu_memory_read(&list[0], true, &m) < 0);
}

static void put_pci(const char *address, const char *class, const char *vendor, const char *driver)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", address);
	put(path, class, strlen(class));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", address);
	put(path, vendor, strlen(vendor));
	if (!driver[0])
		return;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/driver", root, address);
	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	assert_int_equal(symlink(target, path), 0);
}

/* An H200 under Linux 6.18 with nvidia and nvidia_uvm alone: /sys/class/drm does not exist. */
static void a_gpu_without_drm_is_listed(void **state)
{
	struct davy_gpu list[8];
	uint64_t value;

	(void)state;
	put_pci("0000:00:01.0", "0x018000\n", "0x1af4\n", "virtio-pci");
	put_pci("0000:00:06.0", "0x030200\n", "0x10de\n", "nvidia");
	put_pci("0000:00:07.0", "0x030200\n", "0x10de\n", "vfio-pci");
	put_pci("0000:00:09.0", "0x030200\n", "0x10de\n", "nvgrace-gpu-vfio-pci");
	put_pci("0000:00:08.0", "0x030000\n", "0x1002\n", "");
	put_pci("0000:00:0b.0", "0x120000\n", "0x8086\n", "intel_vpu");
	put_pci("0000:00:1f.3", "0x040300\n", "0x8086\n", "snd_hda_intel");
	PUT("/sys/bus/pci/devices/0000:00:06.0/device", "0x2335\n");
	assert_int_equal(davy_gpus_list(list, 8), 1);
	assert_string_equal(list[0].device, "0000:00:06.0");
	assert_string_equal(list[0].driver, "nvidia");
	assert_int_equal(list[0].card, -1);
	assert_int_equal(list[0].render, -1);
	assert_int_equal(davy_gpu_attribute(&list[0], "device", &value), 0);
	assert_int_equal(value, 0x2335);
	assert_true(davy_gpu_awake(&list[0]));
	PUT("/sys/bus/pci/devices/0000:00:06.0/power/runtime_status", "suspended\n");
	assert_false(davy_gpu_awake(&list[0]));
	assert_true(davy_gpu_on_bus("0000:00:08.0", &list[0]));
	assert_string_equal(list[0].driver, "");
	assert_int_equal(davy_gpus_list(list, 0), 0);
}

static void samples_come_often_where_memory_runs_out(void **state)
{
	struct davy_ev_memory before = { .vram_total = 1000 * MIB, .vram_used = 100 * MIB },
			      later = before;

	(void)state;
	assert_int_equal(davy_gpu_memory_interval(&later, NULL, 0), 200 * DAVY_NS_PER_MS);
	assert_int_equal(davy_gpu_memory_interval(&later, &before, DAVY_NS_PER_S),
			 5 * DAVY_NS_PER_S);
	later.vram_used = 950 * MIB;
	assert_int_equal(davy_gpu_memory_interval(&later, &later, DAVY_NS_PER_S),
			 200 * DAVY_NS_PER_MS);
	later.vram_used = 300 * MIB; /* 200 MiB/s: full in 3.5 s, a twentieth of that */
	assert_in_range(davy_gpu_memory_interval(&later, &before, DAVY_NS_PER_S),
			200 * DAVY_NS_PER_MS, 250 * DAVY_NS_PER_MS);
	later.vram_used = 110 * MIB; /* 10 MiB/s: full in 89 s */
	assert_in_range(davy_gpu_memory_interval(&later, &before, DAVY_NS_PER_S), 4 * DAVY_NS_PER_S,
			5 * DAVY_NS_PER_S);
	memset(&later, 0, sizeof(later));
	assert_int_equal(davy_gpu_memory_interval(&later, &later, DAVY_NS_PER_S),
			 5 * DAVY_NS_PER_S);
}

static size_t count_files(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	size_t count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static void a_dump_is_cut_and_old_ones_make_room(void **state)
{
	char state_dir[128], from[160], folder[160], prefix[32], name[64];

	(void)state;
	snprintf(state_dir, sizeof(state_dir), "%s/state", root);
	snprintf(folder, sizeof(folder), "%s/incidents", state_dir);
	snprintf(from, sizeof(from), "%s/dump", root);
	PUT("/dump", "what the driver wrote");
	assert_int_equal(davy_incident_keep(state_dir, from, "one", name, sizeof(name)), 21);
	assert_int_equal(davy_incident_keep(state_dir, "/nonexistent", "two", name, sizeof(name)),
			 -ENOENT);
	assert_int_equal(count_files(folder), 1);
	assert_int_equal(truncate(from, DAVY_INCIDENT_BYTES + 12345), 0);
	assert_int_equal(davy_incident_keep(state_dir, from, "big", name, sizeof(name)),
			 DAVY_INCIDENT_BYTES);
	PUT("/dump", "x");
	for (int i = 0; i < DAVY_INCIDENTS_MAX + 5; i++) {
		snprintf(prefix, sizeof(prefix), "n%d", i);
		assert_int_equal(davy_incident_keep(state_dir, from, prefix, name, sizeof(name)),
				 1);
	}
	assert_int_equal(count_files(folder), DAVY_INCIDENTS_MAX);
	assert_true(davy_incident_keep("/proc/nowhere", from, "x", name, sizeof(name)) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amdgpu_of_every_kernel_is_understood),
		cmocka_unit_test(regions_of_i915_and_xe_are_distinguished),
		cmocka_unit_test(hostile_fdinfo_is_survived),
		cmocka_unit_test_setup_teardown(cards_are_listed_without_their_connectors,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(a_gpu_without_drm_is_listed, make_root,
						remove_root),
		cmocka_unit_test(samples_come_often_where_memory_runs_out),
		cmocka_unit_test_setup_teardown(a_dump_is_cut_and_old_ones_make_room, make_root,
						remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

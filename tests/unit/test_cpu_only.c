/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which descriptors and mappings of a process are a use of a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include "sensors/gpu/cpu_only.h"
#include "root.h"

#define PID 77

static char found[64];

static void put_maps(const char *text)
{
	put("/proc/77/maps", text, strlen(text));
}

/* Descriptor "number" of the process. */
static void put_file(unsigned int number, const char *target, const char *fdinfo)
{
	char path[128], link[256];

	snprintf(path, sizeof(path), "/proc/77/fdinfo/%u", number);
	put(path, fdinfo, strlen(fdinfo));
	put("/proc/77/fd/here", "", 0);
	snprintf(link, sizeof(link), "%s/proc/77/fd/%u", root, number);
	unlink(link);
	assert_int_equal(symlink(target, link), 0);
}

static int keeps(void)
{
	found[0] = 0;
	return davy_keeps_to_cpu(PID, found, sizeof(found));
}

/* What a CPU llama-server on an H200 has open when Vulkan's loader loads NVIDIA's driver. */
static void nvidias_control_nodes_are_no_use(void **state)
{
	(void)state;
	put_maps("7f00-7f10 rw-s 00000000 00:05 1 /dev/nvidiactl\n"
		 "7f10-7f20 r-xp 00000000 00:05 2 /usr/lib/libnvidia-glcore.so.580.159.04\n");
	put_file(3, "/dev/nvidiactl", "pos:\t0\nflags:\t0100002\n");
	put_file(4, "/dev/nvidia-uvm", "pos:\t0\nflags:\t0100002\n");
	put_file(5, "/dev/nvidia-modeset", "pos:\t0\n");
	put_file(6, "/dev/nvidia-caps/nvidia-cap2", "pos:\t0\n");
	put_file(7, "socket:[4711]", "pos:\t0\n");
	assert_int_equal(keeps(), 1);
	put_file(8, "/dev/nvidia0", "pos:\t0\n");
	assert_int_equal(keeps(), 0);
	assert_string_equal(found, "/dev/nvidia0");
	put_file(8, "/dev/null", "pos:\t0\n");
	put_maps("7f00-7f10 rw-s 00000000 00:05 1 /dev/nvidia1\n");
	assert_int_equal(keeps(), 0);
	assert_string_equal(found, "/dev/nvidia1");
}

/* The numbers of an amdgpu client of 6.12 that has listed the devices and done nothing else. */
static void a_render_node_counts_with_memory_or_work(void **state)
{
	static const struct {
		const char *fdinfo;
		int keeps;
	} rows[] = {
		{ "drm-driver:\tamdgpu\ndrm-client-id:\t9\ndrm-memory-vram:\t264 KiB\n"
		  "drm-memory-gtt:\t2048 KiB\ndrm-memory-cpu:\t0 KiB\n",
		  1 },
		{ "drm-driver:\tamdgpu\ndrm-memory-vram:\t264 KiB\ndrm-engine-gfx:\t51 ns\n", 0 },
		{ "drm-driver:\tamdgpu\ndrm-memory-vram:\t1048576 KiB\n", 0 },
		{ "drm-driver:\tamdgpu\ndrm-total-vram:\t64 MiB\ndrm-resident-vram:\t0\n", 0 },
		{ "drm-driver:\txe\ndrm-total-system:\t0\ndrm-resident-system:\t0\n"
		  "drm-cycles-rcs:\t0\ndrm-total-cycles-rcs:\t7655183225\n",
		  1 },
		{ "drm-driver:\txe\ndrm-total-vram0:\t2 GiB\ndrm-resident-vram0:\t2 GiB\n", 0 },
		{ "drm-driver:\ti915\ndrm-engine-render:\t0 ns\n", 0 }, /* no memory reported */
		{ "pos:\t0\nflags:\t02\n", 0 },				/* nvidia-drm */
		{ "", 0 },
	};

	(void)state;
	put_maps("7f00-7f10 rw-s 00000000 00:05 1 /dev/dri/renderD128\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_file(9, "/dev/dri/renderD128", rows[i].fdinfo);
		assert_int_equal(keeps(), rows[i].keeps);
		assert_string_equal(found, rows[i].keeps ? "" : "/dev/dri/renderD128");
	}
	put_file(9, "/dev/null", ""); /* closed, but memory is still mapped */
	assert_int_equal(keeps(), 0);
}

static void kfd_counts_with_queues_or_memory(void **state)
{
	(void)state;
	put_maps("");
	put_file(9, "/dev/kfd", "pos:\t0\n");
	assert_int_equal(keeps(), 0); /* nothing is known of it */
	PUT("/sys/class/kfd/kfd/proc/77/vram_47111", "0\n");
	assert_int_equal(keeps(), 1);
	PUT("/sys/class/kfd/kfd/proc/77/vram_47111", "4096\n");
	assert_int_equal(keeps(), 0);
	assert_string_equal(found, "/dev/kfd");
	PUT("/sys/class/kfd/kfd/proc/77/vram_47111", "0\n");
	PUT("/sys/class/kfd/kfd/proc/77/queues/0/gpuid", "47111\n");
	assert_int_equal(keeps(), 0);
}

static void a_missing_process_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(keeps(), -ENOENT);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ROOT(nvidias_control_nodes_are_no_use),
		WITH_ROOT(a_render_node_counts_with_memory_or_work),
		WITH_ROOT(kfd_counts_with_queues_or_memory),
		WITH_ROOT(a_missing_process_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

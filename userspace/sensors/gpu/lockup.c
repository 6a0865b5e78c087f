/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/lockup.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/file.h"
#include "sensors/kfd/kfd_topology.h"

#define ENTRIES_MAX 512 /* per directory */

/* Skips names with a dot: i915 and xe have ".defaults" beside the values. */
static bool lockup_next_name(DIR *dir, const char *begin, char *ret_name, size_t size)
{
	struct dirent *entry;

	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(dir)); i++) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= size ||
		    strncmp(entry->d_name, begin, strlen(begin)) != 0)
			continue;
		davy_copy_name(ret_name, size, entry->d_name);
		return true;
	}
	return false;
}

static uint64_t lockup_number_or_0(const char *dir, const char *name)
{
	char path[PATH_MAX];
	uint64_t value = 0;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
		davy_read_number(path, &value);
	return value;
}

static void lockup_read_parameter(const char *module, char *ret_value, size_t size)
{
	char path[PATH_MAX];

	if (davy_root_path(path, sizeof(path), "/sys/module/%s/parameters/%s", module,
			   DAVY_LOCKUP_PARAMETER_NAME) ||
	    davy_read_file(path, ret_value, size) < 0)
		*ret_value = 0;
}

/* The first CPU's hypervisor flag (X86_FEATURE_HYPERVISOR), as in amdgpu (amdgpu_virt.h). */
static bool lockup_in_guest(void)
{
	char path[PATH_MAX], text[8192] = "", *flags;

	if (davy_root_path(path, sizeof(path), "/proc/cpuinfo") ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return false;
	flags = strstr(text, "\nflags");
	if (!flags)
		return false;
	flags[1 + strcspn(flags + 1, "\n")] = 0;
	return strstr(flags, " hypervisor") != NULL;
}

static bool lockup_has_kfd(const struct davy_gpu *gpu)
{
	struct davy_kfd_node nodes[DAVY_KFD_NODES_MAX];
	size_t count = davy_kfd_nodes_list(nodes, DAVY_KFD_NODES_MAX);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(nodes[i].device, gpu->device))
			return true;
	return false;
}

static void lockup_read_described(const struct davy_gpu *gpu, const struct davy_module_text *text,
				  struct davy_lockups *l)
{
	struct davy_lockup_defaults defaults;
	char value[DAVY_MODULE_VALUE_MAX];
	bool described = text && davy_lockup_defaults_parse(text->description, &defaults);

	lockup_read_parameter(gpu->driver, value, sizeof(value));
	if (!strcmp(gpu->driver, "radeon")) {
		davy_lockup_radeon(value, described ? &defaults : NULL, l);
		return;
	}
	davy_lockup_amdgpu(value, text ? text->configured : "", described ? &defaults : NULL,
			   lockup_in_guest(), l);
	/* its queues are preempted without timeout (kfd_device_queue_manager.c) */
	if (lockup_has_kfd(gpu))
		davy_lockups_add(l, "kfd", 0, DAVY_LOCKUP_NONE);
}

/* Of several engines of a class the shortest; "never" is the longest. */
static void lockup_add_shortest(struct davy_lockups *l, const char *class, uint64_t ms)
{
	struct davy_lockup *known = davy_lockups_find(l, class);

	if (!known)
		davy_lockups_add(l, class, ms, DAVY_LOCKUP_SYSFS);
	else if (ms && (!known->timeout_ns || ms < known->timeout_ns / DAVY_NS_PER_MS))
		known->timeout_ns = ms * DAVY_NS_PER_MS;
}

static void lockup_read_i915(const struct davy_gpu *gpu, struct davy_lockups *l)
{
	char dir_path[PATH_MAX], path[PATH_MAX + 16], name[DAVY_RING_NAME_LEN];
	uint64_t request_ms = 0;
	DIR *dir;

	if (!davy_root_path(path, sizeof(path), "/sys/module/i915/parameters/request_timeout_ms"))
		davy_read_number(path, &request_ms);
	if (davy_root_path(dir_path, sizeof(dir_path), "/sys/class/drm/card%d/engine", gpu->card))
		return;
	dir = opendir(dir_path);
	while (dir && lockup_next_name(dir, "", name, sizeof(name))) {
		uint64_t heartbeat, preempt;

		if (snprintf(path, sizeof(path), "%s/%s", dir_path, name) >= (int)sizeof(path))
			continue;
		heartbeat = lockup_number_or_0(path, "heartbeat_interval_ms");
		preempt = lockup_number_or_0(path, "preempt_timeout_ms");
		name[strcspn(name, "0123456789")] = 0;
		lockup_add_shortest(l, name, davy_lockup_i915_ms(heartbeat, preempt, request_ms));
	}
	if (dir)
		closedir(dir);
}

static void lockup_read_xe_gt(const char *gt_path, struct davy_lockups *l)
{
	char dir_path[PATH_MAX], path[PATH_MAX + 64], class[DAVY_RING_NAME_LEN];
	uint64_t ms;
	DIR *dir;

	if (snprintf(dir_path, sizeof(dir_path), "%s/engines", gt_path) >= (int)sizeof(dir_path))
		return;
	dir = opendir(dir_path);
	while (dir && lockup_next_name(dir, "", class, sizeof(class))) {
		snprintf(path, sizeof(path), "%s/%s/job_timeout_ms", dir_path, class);
		if (!davy_read_number(path, &ms))
			lockup_add_shortest(l, class, ms);
	}
	if (dir)
		closedir(dir);
}

static void lockup_read_xe_tile(const char *tile_path, struct davy_lockups *l)
{
	char path[PATH_MAX], gt[16];
	DIR *dir = opendir(tile_path);

	while (dir && lockup_next_name(dir, "gt", gt, sizeof(gt)))
		if (snprintf(path, sizeof(path), "%s/%s", tile_path, gt) < (int)sizeof(path))
			lockup_read_xe_gt(path, l);
	if (dir)
		closedir(dir);
}

/* device/tile0/gt0/engines/ccs/job_timeout_ms (xe_hw_engine_class_sysfs.c, 6.12). */
static void lockup_read_xe(const struct davy_gpu *gpu, struct davy_lockups *l)
{
	char device[PATH_MAX], path[PATH_MAX], tile[16];
	DIR *dir;

	if (!davy_gpu_awake(gpu) || davy_gpu_path(gpu, "", device, sizeof(device)))
		return;
	dir = opendir(device);
	while (dir && lockup_next_name(dir, "tile", tile, sizeof(tile)))
		if (snprintf(path, sizeof(path), "%s/%s", device, tile) < (int)sizeof(path))
			lockup_read_xe_tile(path, l);
	if (dir)
		closedir(dir);
}

bool davy_lockup_is_described(const char *driver)
{
	return !strcmp(driver, "amdgpu") || !strcmp(driver, "radeon");
}

void davy_lockups_read(const struct davy_gpu *gpu, const struct davy_module_text *text,
		       struct davy_lockups *ret_lockups)
{
	ret_lockups->count = 0;
	if (davy_lockup_is_described(gpu->driver))
		lockup_read_described(gpu, text, ret_lockups);
	else if (!strcmp(gpu->driver, "i915"))
		lockup_read_i915(gpu, ret_lockups);
	else if (!strcmp(gpu->driver, "xe"))
		lockup_read_xe(gpu, ret_lockups);
	else if (!strcmp(gpu->driver, "nouveau"))
		davy_lockups_add(ret_lockups, "all", DAVY_LOCKUP_UNREPORTED, DAVY_LOCKUP_DEFAULT);
}

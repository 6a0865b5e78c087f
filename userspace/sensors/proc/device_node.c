/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers: DRM is major 226, accel 261 (Documentation/admin-guide/devices.txt). NVIDIA's GPUs are
 * 195 with the minor in /proc/driver/nvidia; 254 and 255 are its modeset and control nodes. KFD:
 * amdkfd/kfd_process.c (proc/PID/vram_ID).
 */
#include "sensors/proc/device_node.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/engine.h"
#include "lib/file.h"
#include "lib/text.h"
#include "sensors/kfd/kfd_topology.h"

#define MAJOR_NVIDIA	 195
#define MAJOR_DRM	 226
#define MAJOR_ACCEL	 261
#define NVIDIA_GPU_MINOR 253
#define ENTRIES_MAX	 1024

static bool device_node_read_link(char *target, size_t size, const char *path)
{
	ssize_t n = readlink(path, target, size - 1);

	if (n <= 0)
		return false;
	target[n] = 0;
	return true;
}

static void device_node_drm(unsigned int node_major, unsigned int node_minor, char *ret_device)
{
	char path[PATH_MAX], target[PATH_MAX];

	if (!davy_root_path(path, sizeof(path), "/sys/dev/char/%u:%u/device", node_major,
			    node_minor) &&
	    device_node_read_link(target, sizeof(target), path))
		davy_copy_name(ret_device, DAVY_DEVICE_LEN, davy_base_name(target));
}

/* "Device Minor: \t 0" in /proc/driver/nvidia/gpus/0000:65:00.0/information */
static bool device_node_has_minor(const char *gpu, unsigned int node_minor)
{
	char path[PATH_MAX], text[2048], *at;

	if (davy_root_path(path, sizeof(path), "/proc/driver/nvidia/gpus/%s/information", gpu) ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return false;
	at = strstr(text, "Device Minor:");
	return at && strtoul(at + 13, NULL, 10) == node_minor;
}

static void device_node_nvidia(unsigned int node_minor, char *ret_device)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/proc/driver/nvidia/gpus"))
		return;
	dir = opendir(path);
	for (int i = 0; dir && i < ENTRIES_MAX && (entry = readdir(dir)); i++) {
		if (entry->d_name[0] == '.' || !device_node_has_minor(entry->d_name, node_minor))
			continue;
		davy_copy_name(ret_device, DAVY_DEVICE_LEN, entry->d_name);
		break;
	}
	if (dir)
		closedir(dir);
}

static bool device_node_is_kfd(unsigned int node_major, unsigned int node_minor)
{
	char path[PATH_MAX], target[PATH_MAX];

	return !davy_root_path(path, sizeof(path), "/sys/dev/char/%u:%u", node_major, node_minor) &&
	       device_node_read_link(target, sizeof(target), path) &&
	       !strcmp(davy_base_name(target), "kfd");
}

enum davy_node davy_device_node(unsigned int node_major, unsigned int node_minor, char *ret_device)
{
	ret_device[0] = 0;
	if (node_major == MAJOR_DRM || node_major == MAJOR_ACCEL) {
		device_node_drm(node_major, node_minor, ret_device);
		return DAVY_NODE_DRM;
	}
	if (node_major == MAJOR_NVIDIA && node_minor <= NVIDIA_GPU_MINOR) {
		device_node_nvidia(node_minor, ret_device);
		return DAVY_NODE_NVIDIA;
	}
	/* A dynamic number, above the fixed ones or from 234 to 254. */
	if (node_major >= 234 && device_node_is_kfd(node_major, node_minor))
		return DAVY_NODE_KFD;
	return DAVY_NODE_OTHER;
}

size_t davy_kfd_devices(uint32_t pid, char ret_device[][DAVY_DEVICE_LEN])
{
	char path[PATH_MAX], file[PATH_MAX], text[32];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/sys/class/kfd/kfd/proc/%u", pid))
		return 0;
	dir = opendir(path);
	for (int i = 0; dir && i < ENTRIES_MAX && count < DAVY_DEVICES_MAX; i++) {
		entry = readdir(dir);
		if (!entry)
			break;
		if (strncmp(entry->d_name, "vram_", 5) != 0 ||
		    snprintf(file, sizeof(file), "%s/%s", path, entry->d_name) >=
			    (int)sizeof(file) ||
		    davy_read_file(file, text, sizeof(text)) <= 0 || !strtoull(text, NULL, 10))
			continue;
		count += davy_kfd_device_of((uint32_t)strtoul(entry->d_name + 5, NULL, 10),
					    ret_device[count]);
	}
	if (dir)
		closedir(dir);
	return count;
}

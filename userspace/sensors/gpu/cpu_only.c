/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open device node does not prove that a process computes there: loading a driver opens its
 * control nodes, and listing the GPUs opens each of them. The rule for each kind of node:
 *
 * NVIDIA: /dev/nvidia0 and further numbers are GPUs; each context keeps one open. nvidiactl,
 *   nvidia-uvm, nvidia-modeset and nvidia-caps are control nodes: Vulkan's and CUDA's libraries
 *   open them when they are loaded, and without a GPU's node nothing runs. The driver reports no
 *   memory in /proc, so an open GPU counts.
 * DRM: fdinfo has the client's memory and engine time (Documentation/gpu/drm-usage-stats.rst). No
 *   work, and no more memory than the driver gives to each client, is no use. amdgpu maps 2 MiB
 *   (AMDGPU_VA_RESERVED_SEQ64_SIZE, since 6.9) and page tables into each client and counts them;
 *   OPEN_BYTES is above that and below any model. Without numbers an open node counts.
 * KFD: /dev/kfd is a control node of all GPUs; queues and memory are in sysfs.
 * Others (/dev/dxg): an open node counts.
 *
 * A mapped node counts likewise, except that the memory of a DRM client is in its fdinfo.
 */
#include "sensors/gpu/cpu_only.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "sensors/gpu/fdinfo.h"
#include "sensors/kfd/kfd_use.h"
#include "sensors/proc/device_node.h"

#define OPEN_BYTES  (8ULL << 20)
#define FDINFO_SIZE 8192

/* By name, where the number says nothing (/dev/dxg), and for mappings. */
static enum davy_node cpu_only_named(const char *path)
{
	if (!strncmp(path, "/dev/dri/", 9))
		return DAVY_NODE_DRM;
	if (!strncmp(path, "/dev/kfd", 8))
		return DAVY_NODE_KFD;
	if (!strncmp(path, "/dev/dxg", 8) ||
	    (!strncmp(path, "/dev/nvidia", 11) && isdigit((unsigned char)path[11])))
		return DAVY_NODE_NVIDIA;
	return DAVY_NODE_OTHER;
}

/* By its device number: the engine may run in another root. */
static enum davy_node cpu_only_node_of(int fds, const char *number, const char *target)
{
	enum davy_node node = DAVY_NODE_OTHER;
	char device[DAVY_DEVICE_LEN];
	struct statx st;

	if (target[0] == '/' &&
	    !statx(fds, number, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st) &&
	    S_ISCHR(st.stx_mode))
		node = davy_device_node(st.stx_rdev_major, st.stx_rdev_minor, device);
	return node == DAVY_NODE_OTHER ? cpu_only_named(target) : node;
}

/*
 * amdgpu up to 6.13 takes a lock of the client's own memory, which is held while a job of that
 * client hangs. The caller's engine has just given a token.
 */
static bool cpu_only_drm_used(pid_t pid, const char *number)
{
	char path[64], text[FDINFO_SIZE];
	struct davy_fdinfo info;
	uint64_t resident;

	if (davy_root_path(path, sizeof(path), "/proc/%d/fdinfo/%.20s", (int)pid, number) ||
	    davy_read_file(path, text, sizeof(text)) <= 0 || !davy_fdinfo_parse(text, &info) ||
	    !info.has_memory)
		return true;
	resident = info.vram + info.gtt + info.system;
	return info.busy_ns || info.total > OPEN_BYTES || resident > OPEN_BYTES;
}

static bool cpu_only_kfd_used(pid_t pid)
{
	struct davy_kfd_use list[DAVY_KFD_GPUS_MAX];
	int count = davy_kfd_use_read((uint32_t)pid, list, DAVY_KFD_GPUS_MAX);

	for (int i = 0; i < count; i++)
		if (list[i].queue_count || list[i].vram)
			return true;
	return count < 0;
}

static bool cpu_only_used(pid_t pid, enum davy_node node, const char *number)
{
	if (node == DAVY_NODE_DRM)
		return cpu_only_drm_used(pid, number);
	if (node == DAVY_NODE_KFD)
		return cpu_only_kfd_used(pid);
	return node == DAVY_NODE_NVIDIA;
}

/* "ret_drm": a DRM node is open and its fdinfo was judged. */
static int keep_from_files(pid_t pid, char *ret_path, size_t size, bool *ret_drm)
{
	char path[64], target[PATH_MAX];
	struct dirent *entry;
	int keeps = 1;
	DIR *dir;

	*ret_drm = false;
	davy_root_path(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (keeps > 0 && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		enum davy_node node;

		target[n > 0 ? n : 0] = 0;
		node = cpu_only_node_of(dirfd(dir), entry->d_name, target);
		*ret_drm = *ret_drm || node == DAVY_NODE_DRM;
		if (!cpu_only_used(pid, node, entry->d_name))
			continue;
		snprintf(ret_path, size, "%s", target);
		keeps = 0;
	}
	closedir(dir);
	return keeps;
}

/* The first mapped file for which "wanted" is true: 1 and its name; 0: none. */
static int find_mapped(pid_t pid, bool (*wanted)(const char *path, const void *arg),
		       const void *arg, char *ret_path, size_t size)
{
	char path[64], line[PATH_MAX + 128];
	DAVY_FILE maps = NULL;

	davy_root_path(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return -errno;
	while (fgets(line, sizeof(line), maps)) {
		const char *name = strchr(line, '/');

		line[strcspn(line, "\n")] = 0;
		if (!name || !wanted(name, arg))
			continue;
		snprintf(ret_path, size, "%s", name);
		return 1;
	}
	return 0;
}

/* Queues of KFD are mapped, but so are its events, which every process of ROCm has. */
static bool cpu_only_is_mapped_gpu(const char *path, const void *arg)
{
	enum davy_node node = cpu_only_named(path);
	const bool *drm_judged = arg;

	return node == DAVY_NODE_NVIDIA || (node == DAVY_NODE_DRM && !*drm_judged);
}

static bool has_part(const char *path, const void *arg)
{
	return strstr(path, arg) != NULL;
}

int davy_keeps_to_cpu(pid_t pid, char *ret_path, size_t size)
{
	bool drm;
	int keeps = keep_from_files(pid, ret_path, size, &drm);

	if (keeps <= 0)
		return keeps;
	keeps = find_mapped(pid, cpu_only_is_mapped_gpu, &drm, ret_path, size);
	return keeps < 0 ? keeps : !keeps;
}

int davy_maps_file(pid_t pid, const char *part)
{
	char path[2];

	return find_mapped(pid, has_part, part, path, sizeof(path));
}

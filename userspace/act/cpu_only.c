/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/cpu_only.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"

/* Render nodes and cards, KFD, NVIDIA's nodes. /dev/dri/by-path has links to them. */
static bool cpu_only_is_gpu(const char *path)
{
	return !strncmp(path, "/dev/dri/", 9) || !strncmp(path, "/dev/kfd", 8) ||
	       !strncmp(path, "/dev/nvidia", 11) || !strncmp(path, "/dev/dxg", 8);
}

static int keep_from_files(pid_t pid, char *ret_path, size_t size)
{
	char path[64], target[PATH_MAX];
	struct dirent *entry;
	int keeps = 1;
	DIR *dir;

	davy_root_path(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (keeps > 0 && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = 0;
		if (!cpu_only_is_gpu(target))
			continue;
		snprintf(ret_path, size, "%s", target);
		keeps = 0;
	}
	closedir(dir);
	return keeps;
}

/* The first mapped file for which "wanted" is true: 1 and its name; 0: none. */
static int find_mapped(pid_t pid, bool (*wanted)(const char *path, const char *part),
		       const char *part, char *ret_path, size_t size)
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
		if (!name || !wanted(name, part))
			continue;
		snprintf(ret_path, size, "%s", name);
		return 1;
	}
	return 0;
}

static bool of_gpu(const char *path, const char *part)
{
	(void)part;
	return cpu_only_is_gpu(path);
}

static bool has_part(const char *path, const char *part)
{
	return strstr(path, part) != NULL;
}

int davy_keeps_to_cpu(pid_t pid, char *ret_path, size_t size)
{
	int keeps = keep_from_files(pid, ret_path, size);

	if (keeps <= 0)
		return keeps;
	keeps = find_mapped(pid, of_gpu, NULL, ret_path, size);
	return keeps < 0 ? keeps : !keeps;
}

int davy_maps_file(pid_t pid, const char *part)
{
	char path[2];

	return find_mapped(pid, has_part, part, path, sizeof(path));
}

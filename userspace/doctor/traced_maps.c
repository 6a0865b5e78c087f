/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries of backends, runtimes and device files that a process has mapped or open. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "doctor/traced.h"

#define LINES_MAX 20000
#define FDS_MAX	  4096
#define BIT(b)	  (1u << DAVY_BACKEND_##b)

static const struct {
	const char *part; /* of a file's name */
	uint32_t loaded, runtime;
} files[] = {
	{ "libggml-hip", BIT(ROCM), 0 },      { "libggml-vulkan", BIT(VULKAN), 0 },
	{ "libggml-cuda", BIT(CUDA), 0 },     { "libggml-sycl", BIT(SYCL), 0 },
	{ "libhsa-runtime64", 0, BIT(ROCM) }, { "libamdhip64", 0, BIT(ROCM) },
	{ "libhsakmt", 0, BIT(ROCM) },	      { "libvulkan.so", 0, BIT(VULKAN) },
	{ "libvulkan_", 0, BIT(VULKAN) },     { "libcuda.so", 0, BIT(CUDA) },
	{ "libcudart", 0, BIT(CUDA) },	      { "libnvidia-ml", 0, BIT(CUDA) },
	{ "libze_", 0, BIT(SYCL) },	      { "libsycl", 0, BIT(SYCL) },
};

/* All backends share render nodes: count it for those whose runtime is mapped. */
static uint32_t device_of(const char *path, uint32_t runtime)
{
	if (!strncmp(path, "/dev/kfd", 8))
		return BIT(ROCM);
	if (!strncmp(path, "/dev/dri/", 9))
		return runtime & (BIT(VULKAN) | BIT(SYCL) | BIT(ROCM));
	if (!strncmp(path, "/dev/nvidia", 11))
		return BIT(CUDA) | (runtime & BIT(VULKAN));
	return 0;
}

static void take_mapping(const char *path, struct davy_traced *t)
{
	const char *base = strrchr(path, '/');

	if (!base)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strncmp(base + 1, files[i].part, strlen(files[i].part)) != 0)
			continue;
		t->loaded |= files[i].loaded;
		t->runtime |= files[i].runtime;
	}
	t->mapped |= device_of(path, t->runtime);
}

/* "from-to perms offset dev inode   path" */
struct mapping {
	uint64_t from, to;
	bool executable;
	const char *path; /* into the line */
};

static bool read_mapping(char *line, struct mapping *ret)
{
	char *at = line, *end;

	ret->from = strtoull(at, &end, 16);
	if (*end != '-')
		return false;
	ret->to = strtoull(end + 1, &end, 16);
	if (end[0] != ' ' || !end[1] || !end[2] || !end[3])
		return false;
	ret->executable = end[3] == 'x';
	line[strcspn(line, "\n")] = 0;
	at = strchr(end, '/');
	ret->path = at ? at : "";
	return true;
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

static void look_at_files(pid_t pid, struct davy_traced *t)
{
	char path[64], name[PATH_MAX], target[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	for (int i = 0; dir && i < FDS_MAX && (entry = readdir(dir)); i++) {
		ssize_t n;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >= (int)sizeof(name))
			continue;
		n = readlink(name, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = 0;
		t->opened |= device_of(target, t->runtime);
	}
	if (dir)
		closedir(dir);
}

void davy_traced_look(pid_t pid, struct davy_traced *traced)
{
	DAVY_FILE maps = open_maps(pid);
	char line[PATH_MAX + 128];
	struct mapping m;

	for (int i = 0; maps && i < LINES_MAX && fgets(line, sizeof(line), maps); i++)
		if (read_mapping(line, &m))
			take_mapping(m.path, traced);
	look_at_files(pid, traced);
}

/* Files that every program has, which do not name the culprit. */
static bool is_common(const char *path)
{
	static const char names[] = "libc.so libc- ld-linux libstdc++ libgcc_s libpthread libm.so "
				    "libdl.so libasan llama-server ";
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (const char *at = names; *at; at += strcspn(at, " ") + 1)
		if (!strncmp(base, at, strcspn(at, " ")))
			return true;
	return !*base;
}

bool davy_traced_where(pid_t pid, const uint64_t *addresses, size_t count, char *ret_where,
		       size_t size)
{
	DAVY_FILE maps = open_maps(pid);
	char line[PATH_MAX + 128];
	size_t best = count;
	struct mapping m;

	for (int n = 0; maps && n < LINES_MAX && fgets(line, sizeof(line), maps); n++) {
		if (!read_mapping(line, &m) || !m.executable || is_common(m.path))
			continue;
		for (size_t i = 0; i < best; i++)
			if (addresses[i] >= m.from && addresses[i] < m.to) {
				best = i; /* the nearest one */
				davy_copy_name(ret_where, size, strrchr(m.path, '/') + 1);
			}
	}
	return best < count;
}

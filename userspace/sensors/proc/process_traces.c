/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/process_traces.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/engine.h"
#include "lib/file.h"
#include "lib/text.h"
#include "sensors/proc/device_node.h"

#define MAPS_LINES 20000
#define FDS_MAX	   4096
#define TASKS_MAX  1024

static bool traces_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/*
 * Gives a path to the mapped file itself: map_files leads to its inode, independent of the current
 * path and the process's root. Without the right to use it, /proc/PID/root, which leads into the
 * process's mount namespace and chroot.
 */
static void traces_openable(uint32_t pid, const char *line, const char *path, bool deleted,
			    char *ret_path)
{
	char link[PATH_MAX], base[PATH_MAX];
	unsigned long begin, end;
	ssize_t n;

	if (sscanf(line, "%lx-%lx", &begin, &end) == 2 &&
	    !davy_root_path(ret_path, PATH_MAX, "/proc/%u/map_files/%lx-%lx", pid, begin, end) &&
	    readlink(ret_path, base, sizeof(base)) > 0)
		return;
	ret_path[0] = 0;
	if (deleted || davy_root_path(link, sizeof(link), "/proc/%u/root", pid))
		return;
	/* maps has the full path of chrooted files; the link shows which part is the root */
	n = readlink(link, base, sizeof(base) - 1);
	base[n > 0 ? n : 0] = 0;
	if (n > 1 && !strncmp(path, base, (size_t)n) && path[n] == '/')
		path += n;
	if (snprintf(ret_path, PATH_MAX, "%s%s", link, path) >= PATH_MAX)
		ret_path[0] = 0;
}

/* "/m/x.gguf (deleted)": the file is still mapped. */
static bool traces_cut_deleted(char *path)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(path);

	if (len < sizeof(mark) || strcmp(path + len - (sizeof(mark) - 1), mark) != 0)
		return false;
	path[len - (sizeof(mark) - 1)] = 0;
	return true;
}

static bool traces_is_model(const char *path, const char *name)
{
	size_t len = strlen(name);

	return (len > 5 && !strcmp(name + len - 5, ".gguf")) ||
	       (traces_begins(name, "sha256-") && strstr(path, "/blobs/sha256-"));
}

static void traces_see_mapping(uint32_t pid, struct davy_process_traces *t, const char *line,
			       char *path)
{
	bool deleted = traces_cut_deleted(path);
	const char *name = davy_base_name(path);
	enum davy_engine engine = davy_engine_of_library(name);

	t->ggml_vulkan |= traces_begins(name, "libggml-vulkan");
	t->ggml_hip |= traces_begins(name, "libggml-hip");
	t->ggml_cuda |= traces_begins(name, "libggml-cuda");
	t->ggml_sycl |= traces_begins(name, "libggml-sycl");
	t->vulkan |= traces_begins(name, "libvulkan");
	t->hip |= traces_begins(name, "libamdhip64") || traces_begins(name, "libhsa-runtime64");
	t->cuda |= traces_begins(name, "libcuda.so") || traces_begins(name, "libcudart");
	t->level_zero |= traces_begins(name, "libze_intel_gpu");
	t->drm_shim |= strstr(name, "_noop_drm_shim") != NULL;
	t->vk_memory |= traces_begins(path, "/memfd:allocation");
	if (engine != DAVY_ENGINE_NONE &&
	    (t->library_engine == DAVY_ENGINE_NONE || t->library_engine == DAVY_ENGINE_GENERIC))
		t->library_engine = engine;
	if (traces_begins(name, "libstdc++.so") && !t->cxx_library[0])
		traces_openable(pid, line, path, deleted, t->cxx_library);
	if (traces_begins(name, "libggml-base") && !t->ggml_library[0])
		traces_openable(pid, line, path, deleted, t->ggml_library);
	if (traces_begins(name, "libllama.so") && !t->llama_library[0])
		traces_openable(pid, line, path, deleted, t->llama_library);
	if (!t->model_file[0] && traces_is_model(path, name)) {
		traces_openable(pid, line, path, deleted, t->model_file);
		davy_copy_name(t->model_name, sizeof(t->model_name), path);
	}
}

static void traces_read_maps(uint32_t pid, struct davy_process_traces *t)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	DAVY_FILE file = NULL;

	if (davy_root_path(path, sizeof(path), "/proc/%u/maps", pid))
		return;
	file = fopen(path, "re");
	t->unreadable |= !file && (errno == EACCES || errno == EPERM);
	for (int i = 0; file && i < MAPS_LINES && getline(&line, &size, file) > 0; i++) {
		char *name = strchr(line, '/');

		if (!name)
			continue;
		name[strcspn(name, "\n")] = 0;
		traces_see_mapping(pid, t, line, name);
	}
	free(line);
}

static void traces_read_threads(uint32_t pid, struct davy_process_traces *t)
{
	char path[PATH_MAX], comm[32];
	struct dirent *entry;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/proc/%u/task", pid))
		return;
	dir = opendir(path);
	for (int i = 0; dir && i < TASKS_MAX && (entry = readdir(dir)); i++) {
		char name[PATH_MAX];

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    davy_root_path(name, sizeof(name), "/proc/%u/task/%s/comm", pid, entry->d_name))
			continue;
		if (davy_read_file(name, comm, sizeof(comm)) > 0)
			t->llvmpipe_thread |= traces_begins(comm, "llvmpipe-");
	}
	if (dir)
		closedir(dir);
}

static void traces_add_device(struct davy_process_traces *t, const char *name)
{
	struct davy_used_devices *d = &t->devices;

	for (size_t i = 0; i < d->count; i++)
		if (!strcmp(d->device[i].name, name))
			return;
	if (name[0] && d->count < DAVY_DEVICES_MAX)
		davy_copy_name(d->device[d->count++].name, DAVY_DEVICE_LEN, name);
}

static void traces_see_socket(struct davy_process_traces *t, const char *target)
{
	if (t->socket_count < DAVY_SOCKETS_MAX)
		t->socket_count += sscanf(target, "socket:[%lu]", &t->socket[t->socket_count]) == 1;
}

static void traces_see_descriptor(uint32_t pid, struct davy_process_traces *t, const char *fd)
{
	char path[PATH_MAX], target[PATH_MAX], name[DAVY_DEVICE_LEN];
	struct statx st;
	ssize_t n;

	if (davy_root_path(path, sizeof(path), "/proc/%u/fd/%s", pid, fd))
		return;
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	if (target[0] != '/') {
		traces_see_socket(t, target);
		return;
	}
	/* calls no file system: the process may have mounted it */
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st) ||
	    !S_ISCHR(st.stx_mode))
		return;
	switch (davy_device_node(st.stx_rdev_major, st.stx_rdev_minor, name)) {
	case DAVY_NODE_KFD:
		t->kfd_fd = true;
		break;
	case DAVY_NODE_NVIDIA:
		t->nvidia_fd = true;
		traces_add_device(t, name);
		break;
	case DAVY_NODE_DRM:
		t->drm_fd = true;
		traces_add_device(t, name);
		break;
	default:
		break;
	}
}

static void traces_read_descriptors(uint32_t pid, struct davy_process_traces *t)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/proc/%u/fd", pid))
		return;
	dir = opendir(path);
	t->unreadable |= !dir && (errno == EACCES || errno == EPERM);
	for (int i = 0; dir && i < FDS_MAX && (entry = readdir(dir)); i++)
		if (isdigit((unsigned char)entry->d_name[0]))
			traces_see_descriptor(pid, t, entry->d_name);
	if (dir)
		closedir(dir);
}

static uint64_t traces_bytes_of(const struct davy_used_devices *used, const char *name)
{
	for (size_t i = 0; used && i < used->count; i++)
		if (!strcmp(used->device[i].name, name))
			return used->device[i].bytes;
	return 0;
}

/*
 * Vulkan and ROCm open each device to enumerate it. If one holds memory, drop those that hold none.
 */
static void traces_keep_used(struct davy_process_traces *t, const struct davy_used_devices *used)
{
	struct davy_used_device *d = t->devices.device;
	size_t kept = 0;

	for (size_t i = 0; i < t->devices.count; i++) {
		d[i].bytes = traces_bytes_of(used, d[i].name);
		t->in_use |= d[i].bytes > DAVY_DEVICE_SMALL;
	}
	for (size_t i = 0; i < t->devices.count; i++)
		if (!t->in_use || d[i].bytes > DAVY_DEVICE_SMALL)
			d[kept++] = d[i];
	t->devices.count = kept;
	for (size_t i = 1; i < kept; i++)
		for (size_t j = i; j && d[j].bytes > d[j - 1].bytes; j--) {
			struct davy_used_device larger = d[j];

			d[j] = d[j - 1];
			d[j - 1] = larger;
		}
}

void davy_process_devices_read(uint32_t pid, const struct davy_used_devices *used,
			       struct davy_process_traces *ret_traces)
{
	char kfd[DAVY_DEVICES_MAX][DAVY_DEVICE_LEN];
	size_t count;

	memset(ret_traces, 0, sizeof(*ret_traces));
	traces_read_descriptors(pid, ret_traces);
	traces_keep_used(ret_traces, used);
	count = ret_traces->kfd_fd ? davy_kfd_devices(pid, kfd) : 0;
	if (!count)
		return;
	ret_traces->in_use = true;
	ret_traces->devices.count = 0; /* KFD memory appears in no fdinfo of a render node */
	for (size_t i = 0; i < count; i++)
		traces_add_device(ret_traces, kfd[i]);
}

void davy_process_traces_read(uint32_t pid, const struct davy_used_devices *used,
			      struct davy_process_traces *ret_traces)
{
	davy_process_devices_read(pid, used, ret_traces);
	traces_read_maps(pid, ret_traces);
	traces_read_threads(pid, ret_traces);
}

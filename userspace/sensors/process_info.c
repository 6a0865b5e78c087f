/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process_info.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../engines/engine.h"
#include "../lib/file.h"

#define CMDLINE_MAX ((size_t)128 * 1024)
#define MAPS_LINES  20000
#define FDS_MAX	    4096
#define TASKS_MAX   1024

/* What mappings, threads and descriptors show. A mapped library says "can", not "does". */
struct traces {
	bool ggml_vulkan;
	bool ggml_hip;
	bool ggml_cuda;
	bool ggml_cpu;
	bool drm_shim;
	bool llvmpipe_thread;
	bool vk_memory; /* lavapipe keeps device memory in memfds of this name */
	bool kfd_fd;
	bool nvidia_fd;
	char render_device[DL_DEVICE_LEN];
};

static ssize_t read_proc(uint32_t pid, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	int err = dl_root_path(path, sizeof(path), "/proc/%u/%s", pid, name);

	return err ? err : dl_read_file(path, buf, size);
}

/* comm may hold blanks and brackets: the fields begin behind the last bracket (proc(5)). */
static int read_stat(uint32_t pid, uint32_t *ret_ppid, uint64_t *ret_start)
{
	char text[1024], *at;
	ssize_t n = read_proc(pid, "stat", text, sizeof(text));
	unsigned long long start;
	unsigned int ppid;

	if (n < 0)
		return -ESRCH;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1,
			  " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			  "%*d %llu",
			  &ppid, &start) != 2)
		return -EBADMSG;
	*ret_ppid = ppid;
	*ret_start = start;
	return 0;
}

static void read_command(struct dl_process_info *info)
{
	static char text[CMDLINE_MAX]; /* one thread; every exec of the host comes by here */
	char *argv[DL_ARGS_MAX + 1];
	struct dl_engine_facts facts;
	size_t count = 0;
	ssize_t n;

	n = read_proc(info->pid, "cmdline", text, CMDLINE_MAX);
	for (char *at = text; n > 0 && at < text + n && count < DL_ARGS_MAX; at += strlen(at) + 1)
		argv[count++] = at;
	argv[count] = NULL;
	info->has_command = count > 0;
	dl_engine_recognise(argv, &facts);
	info->ev.engine = (uint8_t)facts.engine;
	info->ev.backend = (uint8_t)facts.backend;
	info->ev.port = facts.port;
	dl_copy_name(info->ev.model, sizeof(info->ev.model), facts.model);
}

/* /proc/PID/root leads into the process's own mount namespace and chroot. */
static void mapped_file(const struct dl_process_info *info, const char *path, char *ret_path)
{
	char link[PATH_MAX], base[PATH_MAX];
	ssize_t n;

	if (dl_root_path(link, sizeof(link), "/proc/%u/root", info->pid))
		return;
	/* maps names chrooted files by their full path; the link tells which part the root is. */
	n = readlink(link, base, sizeof(base) - 1);
	base[n > 0 ? n : 0] = 0;
	if (n > 1 && !strncmp(path, base, (size_t)n) && path[n] == '/')
		path += n;
	if (snprintf(ret_path, PATH_MAX, "%s%s", link, path) >= PATH_MAX)
		ret_path[0] = 0;
}

static void see_mapping(struct dl_process_info *info, struct traces *t, const char *path)
{
	const char *name = dl_base_name(path);

	t->ggml_vulkan |= !strncmp(name, "libggml-vulkan", 14);
	t->ggml_hip |= !strncmp(name, "libggml-hip", 11);
	t->ggml_cuda |= !strncmp(name, "libggml-cuda", 12);
	t->ggml_cpu |= !strncmp(name, "libggml-cpu", 11);
	t->drm_shim |= strstr(name, "_noop_drm_shim") != NULL;
	t->vk_memory |= !strncmp(path, "/memfd:allocation", 17);
	if (!strncmp(name, "libstdc++.so", 12) && !info->cxx_library[0])
		mapped_file(info, path, info->cxx_library);
	if (!strncmp(name, "libggml-base", 12) && !info->ggml_library[0])
		mapped_file(info, path, info->ggml_library);
}

static void read_maps(struct dl_process_info *info, struct traces *t)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	DL_FILE file = NULL;

	if (dl_root_path(path, sizeof(path), "/proc/%u/maps", info->pid))
		return;
	file = fopen(path, "re");
	for (int i = 0; file && i < MAPS_LINES && getline(&line, &size, file) > 0; i++) {
		char *name = strchr(line, '/');

		if (!name)
			continue;
		name[strcspn(name, "\n")] = 0;
		see_mapping(info, t, name);
	}
	free(line);
}

static void read_threads(const struct dl_process_info *info, struct traces *t)
{
	char path[PATH_MAX], comm[32];
	struct dirent *entry;
	DIR *dir;

	if (dl_root_path(path, sizeof(path), "/proc/%u/task", info->pid))
		return;
	dir = opendir(path);
	for (int i = 0; dir && i < TASKS_MAX && (entry = readdir(dir)); i++) {
		char name[300];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(name, sizeof(name), "task/%s/comm", entry->d_name);
		if (read_proc(info->pid, name, comm, sizeof(comm)) > 0)
			t->llvmpipe_thread |= !strncmp(comm, "llvmpipe-", 9);
	}
	if (dir)
		closedir(dir);
}

/* The PCI address behind a DRM node: /sys/dev/char/MAJOR:MINOR/device points at it. */
static void device_of_node(const struct stat *st, char *ret_device)
{
	char path[PATH_MAX], target[PATH_MAX];
	ssize_t n;

	if (dl_root_path(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(st->st_rdev),
			 minor(st->st_rdev)))
		return;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = 0;
	dl_copy_name(ret_device, DL_DEVICE_LEN, dl_base_name(target));
}

static void see_descriptor(const struct dl_process_info *info, struct traces *t, const char *fd)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (dl_root_path(path, sizeof(path), "/proc/%u/fd/%s", info->pid, fd))
		return;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = 0;
	t->kfd_fd |= !strcmp(target, "/dev/kfd");
	t->nvidia_fd |= !strncmp(target, "/dev/nvidia", 11);
	if (!strncmp(target, "/dev/dri/", 9) && !stat(path, &st))
		device_of_node(&st, t->render_device);
}

static void read_descriptors(const struct dl_process_info *info, struct traces *t)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (dl_root_path(path, sizeof(path), "/proc/%u/fd", info->pid))
		return;
	dir = opendir(path);
	for (int i = 0; dir && i < FDS_MAX && (entry = readdir(dir)); i++)
		if (isdigit((unsigned char)entry->d_name[0]))
			see_descriptor(info, t, entry->d_name);
	if (dir)
		closedir(dir);
}

/* In order of proof: open device files, then a software device's threads or memory. */
static void conclude(struct dl_process_info *info, const struct traces *t)
{
	struct dl_ev_process *ev = &info->ev;

	dl_copy_name(ev->device, sizeof(ev->device), t->render_device);
	if (ev->backend == DL_BACKEND_CPU || ev->engine == DL_ENGINE_NONE)
		return;
	if (t->kfd_fd && t->ggml_hip)
		ev->backend = DL_BACKEND_ROCM;
	else if (t->nvidia_fd && t->ggml_cuda)
		ev->backend = DL_BACKEND_CUDA;
	else if (t->ggml_vulkan && (t->render_device[0] || t->nvidia_fd || t->llvmpipe_thread ||
				    t->vk_memory || t->drm_shim))
		ev->backend = DL_BACKEND_VULKAN;
	if (ev->backend != DL_BACKEND_VULKAN || ev->device[0])
		return;
	if (t->llvmpipe_thread || t->vk_memory)
		dl_copy_name(ev->device, sizeof(ev->device), "llvmpipe");
	else if (t->drm_shim)
		dl_copy_name(ev->device, sizeof(ev->device), "drm-shim");
}

static void read_cgroup(struct dl_process_info *info)
{
	char text[4096] = "", *at;

	if (read_proc(info->pid, "cgroup", text, sizeof(text)) <= 0)
		return;
	at = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	if (!at)
		return;
	at += *at == '\n' ? 4 : 3;
	at[strcspn(at, "\n")] = 0;
	dl_copy_name(info->cgroup, sizeof(info->cgroup), at);
}

static void read_owner(struct dl_process_info *info)
{
	char path[PATH_MAX];
	struct stat st;

	if (!dl_root_path(path, sizeof(path), "/proc/%u", info->pid) && !stat(path, &st))
		info->uid = st.st_uid;
}

int dl_process_info_read(uint32_t pid, struct dl_process_info *ret_info)
{
	struct dl_process_info *info = ret_info;
	struct traces t = { 0 };
	int err;

	memset(info, 0, sizeof(*info));
	info->pid = pid;
	err = read_stat(pid, &info->ev.ppid, &info->ev.start_ticks);
	if (err)
		return err;
	if (read_proc(pid, "comm", info->ev.comm, sizeof(info->ev.comm)) > 0)
		info->ev.comm[strcspn(info->ev.comm, "\n")] = 0;
	read_command(info);
	read_cgroup(info);
	read_owner(info);
	if (info->ev.engine != DL_ENGINE_NONE) {
		read_maps(info, &t);
		read_threads(info, &t);
		read_descriptors(info, &t);
	}
	conclude(info, &t);
	return 0;
}

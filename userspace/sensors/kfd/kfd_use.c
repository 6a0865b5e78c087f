/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kfd/kfd_use.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"

#define PROC	     "/sys/class/kfd/kfd/proc"
#define ENTRIES_MAX  2048
#define QUEUES_MAX   256 /* per context */
#define CONTEXTS_MAX 16

struct reading {
	struct davy_kfd_use *list;
	size_t max;
	size_t count;
};

static bool kfd_use_number(const char *text, uint64_t max, uint64_t *ret_value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*ret_value = strtoull(text, &end, 10);
	return !errno && *ret_value <= max && (!*end || (*end == '\n' && !end[1]));
}

/* 0 if the file is missing: only GPUs with shared virtual memory have counters. */
static uint64_t kfd_use_value_of(const char *folder, const char *file)
{
	char path[PATH_MAX], text[32];
	uint64_t value;

	if (snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path) ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	return kfd_use_number(text, UINT64_MAX, &value) ? value : 0;
}

static struct davy_kfd_use *kfd_use_row_of(struct reading *r, uint32_t gpu_id)
{
	struct davy_kfd_use *use;

	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].gpu_id == gpu_id)
			return &r->list[i];
	if (r->count == r->max)
		return NULL;
	use = &r->list[r->count++];
	memset(use, 0, sizeof(*use));
	use->gpu_id = gpu_id;
	return use;
}

static void kfd_use_read_gpu(struct reading *r, const char *folder, uint32_t gpu_id)
{
	struct davy_kfd_use *use = kfd_use_row_of(r, gpu_id);
	char file[64];

	if (!use)
		return;
	snprintf(file, sizeof(file), "vram_%u", gpu_id);
	use->vram += kfd_use_value_of(folder, file);
	snprintf(file, sizeof(file), "stats_%u/evicted_ms", gpu_id);
	use->evicted_ms += kfd_use_value_of(folder, file);
	snprintf(file, sizeof(file), "counters_%u/faults", gpu_id);
	use->fault_count += kfd_use_value_of(folder, file);
	snprintf(file, sizeof(file), "counters_%u/page_in", gpu_id);
	use->pages_in += kfd_use_value_of(folder, file);
	snprintf(file, sizeof(file), "counters_%u/page_out", gpu_id);
	use->pages_out += kfd_use_value_of(folder, file);
}

static void kfd_use_read_queues(struct reading *r, const char *folder)
{
	char path[PATH_MAX], file[NAME_MAX + 8];
	struct dirent *entry;
	struct davy_kfd_use *use;
	uint64_t gpu_id;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/queues", folder) >= (int)sizeof(path))
		return;
	dir = opendir(path);
	for (int i = 0; dir && i < QUEUES_MAX && (entry = readdir(dir)); i++) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(file, sizeof(file), "%s/gpuid", entry->d_name);
		gpu_id = kfd_use_value_of(path, file);
		use = gpu_id && gpu_id <= UINT32_MAX ? kfd_use_row_of(r, (uint32_t)gpu_id) : NULL;
		if (use)
			use->queue_count++;
	}
	if (dir)
		closedir(dir);
}

static int kfd_use_read_folder(struct reading *r, const char *folder)
{
	struct dirent *entry;
	uint64_t gpu_id;
	DIR *dir = opendir(folder);

	if (!dir)
		return -ESRCH;
	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(dir)); i++)
		if (!strncmp(entry->d_name, "vram_", 5) &&
		    kfd_use_number(entry->d_name + 5, UINT32_MAX, &gpu_id) && gpu_id)
			kfd_use_read_gpu(r, folder, (uint32_t)gpu_id);
	closedir(dir);
	kfd_use_read_queues(r, folder);
	return 0;
}

/* A process may have additional contexts (7.2), each with the same files. */
static void kfd_use_read_contexts(struct reading *r, const char *folder)
{
	struct dirent *entry;
	char path[PATH_MAX];
	int count = 0;
	DIR *dir = opendir(folder);

	for (int i = 0; dir && i < ENTRIES_MAX && count < CONTEXTS_MAX && (entry = readdir(dir));
	     i++)
		if (!strncmp(entry->d_name, "context_", 8) &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) <
			    (int)sizeof(path))
			count += !kfd_use_read_folder(r, path);
	if (dir)
		closedir(dir);
}

int davy_kfd_use_read(uint32_t pid, struct davy_kfd_use *list, size_t max)
{
	struct reading r = { list, max, 0 };
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), PROC "/%u", pid);

	if (!err)
		err = kfd_use_read_folder(&r, path);
	if (err)
		return err;
	kfd_use_read_contexts(&r, path);
	return (int)r.count;
}

size_t davy_kfd_use_pids(uint32_t *list, size_t max)
{
	char path[PATH_MAX];
	struct dirent *entry;
	size_t count = 0;
	uint64_t pid;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), PROC))
		return 0;
	dir = opendir(path);
	for (int i = 0; dir && count < max && i < ENTRIES_MAX && (entry = readdir(dir)); i++)
		if (kfd_use_number(entry->d_name, INT32_MAX, &pid) && pid)
			list[count++] = (uint32_t)pid;
	if (dir)
		closedir(dir);
	return count;
}

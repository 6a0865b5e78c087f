/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/file.h"

/* The last part of where a link leads. */
static bool link_name(const char *path, char *ret_name, size_t size)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	char *slash;

	if (n <= 0)
		return false;
	target[n] = 0;
	slash = strrchr(target, '/');
	dl_copy_name(ret_name, size, slash ? slash + 1 : target);
	return true;
}

static int render_minor(int card)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int minor = -1;
	DIR *dir;

	if (dl_root_path(path, sizeof(path), "/sys/class/drm/card%d/device/drm", card))
		return -1;
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "renderD", 7))
			minor = atoi(entry->d_name + 7);
	if (dir)
		closedir(dir);
	return minor;
}

static bool read_gpu(int card, struct dl_gpu *ret_gpu)
{
	struct dl_gpu *gpu = ret_gpu;
	char path[PATH_MAX];

	memset(gpu, 0, sizeof(*gpu));
	gpu->card = card;
	if (dl_root_path(path, sizeof(path), "/sys/class/drm/card%d/device", card) ||
	    !link_name(path, gpu->device, sizeof(gpu->device)))
		return false;
	if (dl_root_path(path, sizeof(path), "/sys/class/drm/card%d/device/driver", card) ||
	    !link_name(path, gpu->driver, sizeof(gpu->driver)))
		return false;
	gpu->render = render_minor(card);
	return true;
}

/* "card0" and nothing behind the number: "card0-HDMI-A-1" is a connector. */
static int card_number(const char *name)
{
	char *end;
	long n;

	if (strncmp(name, "card", 4) != 0 || !isdigit((unsigned char)name[4]))
		return -1;
	n = strtol(name + 4, &end, 10);
	return *end || n > 4095 ? -1 : (int)n;
}

static int by_card(const void *a, const void *b)
{
	return ((const struct dl_gpu *)a)->card - ((const struct dl_gpu *)b)->card;
}

size_t dl_gpus_list(struct dl_gpu *list, size_t max)
{
	char path[PATH_MAX];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	if (dl_root_path(path, sizeof(path), "/sys/class/drm"))
		return 0;
	dir = opendir(path);
	while (dir && count < max && (entry = readdir(dir))) {
		int card = card_number(entry->d_name);

		if (card >= 0 && read_gpu(card, &list[count]))
			count++;
	}
	if (dir)
		closedir(dir);
	qsort(list, count, sizeof(*list), by_card);
	return count;
}

bool dl_gpu_awake(const struct dl_gpu *gpu)
{
	char path[PATH_MAX], text[32] = "";

	if (dl_root_path(path, sizeof(path), "/sys/class/drm/card%d/device/power/runtime_status",
			 gpu->card))
		return false;
	if (dl_read_file(path, text, sizeof(text)) <= 0)
		return true; /* it has no runtime power management */
	return !strncmp(text, "active", 6) || !strncmp(text, "unsupported", 11);
}

int dl_gpu_attribute(const struct dl_gpu *gpu, const char *name, uint64_t *ret_value)
{
	char path[PATH_MAX], text[64] = "", *end;
	ssize_t n;
	int err;

	err = dl_root_path(path, sizeof(path), "/sys/class/drm/card%d/device/%s", gpu->card, name);
	if (err)
		return err;
	n = dl_read_file(path, text, sizeof(text));
	if (n <= 0)
		return n ? (int)n : -ENODATA;
	errno = 0;
	*ret_value = strtoull(text, &end, 0);
	return errno || end == text ? -EBADMSG : 0;
}

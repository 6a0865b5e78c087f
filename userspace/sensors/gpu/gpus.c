/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"

/* The last part of where a link leads. */
static bool gpus_link_name(const char *path, char *ret_name, size_t size)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	char *slash;

	if (n <= 0)
		return false;
	target[n] = 0;
	slash = strrchr(target, '/');
	davy_copy_name(ret_name, size, slash ? slash + 1 : target);
	return true;
}

static int render_minor(int card)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int minor = -1;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/sys/class/drm/card%d/device/drm", card))
		return -1;
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "renderD", 7))
			minor = atoi(entry->d_name + 7);
	if (dir)
		closedir(dir);
	return minor;
}

static bool gpus_read_gpu(int card, struct davy_gpu *ret_gpu)
{
	struct davy_gpu *gpu = ret_gpu;
	char path[PATH_MAX];

	memset(gpu, 0, sizeof(*gpu));
	gpu->card = card;
	if (davy_root_path(path, sizeof(path), "/sys/class/drm/card%d/device", card) ||
	    !gpus_link_name(path, gpu->device, sizeof(gpu->device)))
		return false;
	if (davy_root_path(path, sizeof(path), "/sys/class/drm/card%d/device/driver", card) ||
	    !gpus_link_name(path, gpu->driver, sizeof(gpu->driver)))
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
	return ((const struct davy_gpu *)a)->card - ((const struct davy_gpu *)b)->card;
}

size_t davy_gpus_list(struct davy_gpu *list, size_t max)
{
	char path[PATH_MAX];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/sys/class/drm"))
		return 0;
	dir = opendir(path);
	while (dir && count < max && (entry = readdir(dir))) {
		int card = card_number(entry->d_name);

		if (card >= 0 && gpus_read_gpu(card, &list[count]))
			count++;
	}
	if (dir)
		closedir(dir);
	qsort(list, count, sizeof(*list), by_card);
	return count;
}

/* A word from the device's power/ folder; false where there is none. */
static bool power_word(const struct davy_gpu *gpu, const char *name, char *ret_word, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;

	ret_word[0] = 0;
	if (davy_root_path(path, sizeof(path), "/sys/class/drm/card%d/device/power/%s", gpu->card,
			   name))
		return false;
	n = davy_read_file(path, ret_word, size);
	ret_word[n > 0 ? strcspn(ret_word, "\n") : 0] = 0;
	return n > 0;
}

bool davy_gpu_awake(const struct davy_gpu *gpu)
{
	char status[32];

	if (!power_word(gpu, "runtime_status", status, sizeof(status)))
		return true; /* it has no runtime power management */
	return !strcmp(status, "active") || !strcmp(status, "unsupported");
}

bool davy_gpu_may_suspend(const struct davy_gpu *gpu)
{
	char control[32], status[32];

	return power_word(gpu, "control", control, sizeof(control)) && !strcmp(control, "auto") &&
	       power_word(gpu, "runtime_status", status, sizeof(status)) &&
	       strcmp(status, "unsupported") != 0;
}

int davy_gpu_attribute(const struct davy_gpu *gpu, const char *name, uint64_t *ret_value)
{
	char path[PATH_MAX];
	int err;

	err = davy_root_path(path, sizeof(path), "/sys/class/drm/card%d/device/%s", gpu->card,
			     name);
	return err ? err : davy_read_number(path, ret_value);
}

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

/* Base classes of include/linux/pci_ids.h: 0x12 is AMD's Instinct, and NPUs. */
#define PCI_DISPLAY	0x03
#define PCI_ACCELERATOR 0x12

#define PCI_AMD	   0x1002
#define PCI_INTEL  0x8086
#define PCI_NVIDIA 0x10de

/* The last component of a link's target. */
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

static int gpus_render_minor(int card)
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
	gpu->render = gpus_render_minor(card);
	return true;
}

/* "card0" without a suffix: "card0-HDMI-A-1" is a connector. */
static int gpus_card_number(const char *name)
{
	char *end;
	long n;

	if (strncmp(name, "card", 4) != 0 || !isdigit((unsigned char)name[4]))
		return -1;
	n = strtol(name + 4, &end, 10);
	return *end || n > 4095 ? -1 : (int)n;
}

static struct davy_gpu *gpus_find(struct davy_gpu *list, size_t count, const char *device)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].device, device))
			return &list[i];
	return NULL;
}

static bool pci_number(const char *address, const char *file, uint64_t *ret_value)
{
	char path[PATH_MAX];

	return !davy_root_path(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", address, file) &&
	       !davy_read_number(path, ret_value);
}

bool davy_gpu_on_bus(const char *address, struct davy_gpu *ret_gpu)
{
	struct davy_gpu *gpu = ret_gpu;
	char path[PATH_MAX];
	uint64_t class, vendor;

	if (strlen(address) >= sizeof(gpu->device) || !pci_number(address, "class", &class) ||
	    !pci_number(address, "vendor", &vendor))
		return false;
	if (vendor != PCI_AMD && vendor != PCI_INTEL && vendor != PCI_NVIDIA)
		return false;
	/* Intel's processing accelerators are NPUs. */
	if (class >> 16 != PCI_DISPLAY && (class >> 16 != PCI_ACCELERATOR || vendor == PCI_INTEL))
		return false;
	memset(gpu, 0, sizeof(*gpu));
	gpu->card = gpu->render = -1;
	davy_copy_name(gpu->device, sizeof(gpu->device), address);
	if (!davy_root_path(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", address))
		gpus_link_name(path, gpu->driver, sizeof(gpu->driver));
	return true;
}

/* The variant drivers of VFIO are named vfio-pci, nvgrace-gpu-vfio-pci, xe-vfio-pci ... */
bool davy_gpu_for_guest(const char *driver)
{
	return strstr(driver, "vfio") || !strcmp(driver, "pci-stub") || !strcmp(driver, "pciback");
}

static size_t list_drm(struct davy_gpu *list, size_t max)
{
	char path[PATH_MAX];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/sys/class/drm"))
		return 0;
	dir = opendir(path);
	while (dir && count < max && (entry = readdir(dir))) {
		int card = gpus_card_number(entry->d_name);

		if (card >= 0 && gpus_read_gpu(card, &list[count]))
			count++;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Adds those of the bus that DRM does not have. */
static size_t list_bus(struct davy_gpu *list, size_t count, size_t max)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/sys/bus/pci/devices"))
		return count;
	dir = opendir(path);
	while (dir && count < max && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !gpus_find(list, count, entry->d_name) &&
		    davy_gpu_on_bus(entry->d_name, &list[count]) && list[count].driver[0] &&
		    !davy_gpu_for_guest(list[count].driver))
			count++;
	if (dir)
		closedir(dir);
	return count;
}

/* By card; those without one come last, by address. */
static int gpus_compare(const void *one, const void *other)
{
	const struct davy_gpu *a = one, *b = other;

	if (a->card != b->card)
		return (unsigned int)a->card < (unsigned int)b->card ? -1 : 1;
	return strcmp(a->device, b->device);
}

size_t davy_gpus_list(struct davy_gpu *list, size_t max)
{
	size_t count = list_bus(list, list_drm(list, max), max);

	qsort(list, count, sizeof(*list), gpus_compare);
	return count;
}

int davy_gpu_path(const struct davy_gpu *gpu, const char *rest, char *path, size_t size)
{
	if (gpu->card < 0)
		return davy_root_path(path, size, "/sys/bus/pci/devices/%s/%s", gpu->device, rest);
	return davy_root_path(path, size, "/sys/class/drm/card%d/device/%s", gpu->card, rest);
}

/* A word from the device's power/ directory; false if missing. */
static bool gpus_power(const struct davy_gpu *gpu, const char *name, char *ret_word, size_t size)
{
	char path[PATH_MAX], file[64];
	ssize_t n;

	ret_word[0] = 0;
	snprintf(file, sizeof(file), "power/%s", name);
	if (davy_gpu_path(gpu, file, path, sizeof(path)))
		return false;
	n = davy_read_file(path, ret_word, size);
	ret_word[n > 0 ? strcspn(ret_word, "\n") : 0] = 0;
	return n > 0;
}

bool davy_gpu_awake(const struct davy_gpu *gpu)
{
	char status[32];

	if (!gpus_power(gpu, "runtime_status", status, sizeof(status)))
		return true; /* no runtime power management */
	return !strcmp(status, "active") || !strcmp(status, "unsupported");
}

bool davy_gpu_may_suspend(const struct davy_gpu *gpu)
{
	char control[32], status[32];

	return gpus_power(gpu, "control", control, sizeof(control)) && !strcmp(control, "auto") &&
	       gpus_power(gpu, "runtime_status", status, sizeof(status)) &&
	       strcmp(status, "unsupported") != 0;
}

int davy_gpu_attribute(const struct davy_gpu *gpu, const char *name, uint64_t *ret_value)
{
	char path[PATH_MAX];
	int err = davy_gpu_path(gpu, name, path, sizeof(path));

	return err ? err : davy_read_number(path, ret_value);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPUs of the host, from sysfs: from the PCI bus, so that a driver without DRM counts (NVIDIA's
 * without nvidia-drm), and from DRM, for GPUs on other buses. No device is opened or woken.
 */
#ifndef DAVY_GPUS_H
#define DAVY_GPUS_H

#include "core/event/types.h"

#define DAVY_GPUS_MAX 32

struct davy_gpu {
	char device[DAVY_DEVICE_LEN]; /* PCI address, or name of the platform device */
	char driver[24];
	int card;   /* minor of /dev/dri/cardN, -1 none */
	int render; /* minor of /dev/dri/renderDN, -1 none */
};

/* Returns the number of GPUs. Not listed: without a driver, or given to a guest (vfio-pci). */
size_t davy_gpus_list(struct davy_gpu *list, size_t max);

/*
 * Whether the PCI device "address" is a GPU of AMD, Intel or NVIDIA. Fills device, and driver,
 * which is "" without one; card and render are -1.
 */
bool davy_gpu_on_bus(const char *address, struct davy_gpu *ret_gpu);

/* Whether this driver keeps a device for a guest. */
bool davy_gpu_for_guest(const char *driver);

/* The path of "rest" in the device's directory of sysfs; -ENAMETOOLONG. */
int davy_gpu_path(const struct davy_gpu *gpu, const char *rest, char *path, size_t size);

/* False if it is suspended: an open would wake it. */
bool davy_gpu_awake(const struct davy_gpu *gpu);

/* False if runtime suspend is disabled or impossible. */
bool davy_gpu_may_suspend(const struct davy_gpu *gpu);

/* Reads a number from a file of the device's directory; 0 or -errno. */
int davy_gpu_attribute(const struct davy_gpu *gpu, const char *name, uint64_t *ret_value);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The GPUs of the host, from sysfs: nothing is opened, nothing is woken. */
#ifndef DAVY_GPUS_H
#define DAVY_GPUS_H

#include "core/event/types.h"

#define DAVY_GPUS_MAX 32

struct davy_gpu {
	char device[DAVY_DEVICE_LEN]; /* PCI address, or the platform device's name */
	char driver[24];
	int card;   /* minor of /dev/dri/cardN */
	int render; /* minor of /dev/dri/renderDN, -1 none */
};

/* How many; devices without a driver are not there. */
size_t davy_gpus_list(struct davy_gpu *list, size_t max);

/* False while it sleeps: whoever opens it then wakes it. */
bool davy_gpu_awake(const struct davy_gpu *gpu);

/* False when it is kept awake, by whoever set it, or cannot sleep. */
bool davy_gpu_may_suspend(const struct davy_gpu *gpu);

/* One number from a file of the device's folder; -errno. */
int davy_gpu_attribute(const struct davy_gpu *gpu, const char *name, uint64_t *ret_value);

#endif

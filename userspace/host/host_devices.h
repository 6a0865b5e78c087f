/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPUs of this host as an engine would find them: those of sysfs, and what Vulkan tells of them
 * and of others, through davylamp-probe; with the numbers by which each backend counts them.
 */
#ifndef DAVY_HOST_DEVICES_H
#define DAVY_HOST_DEVICES_H

#include <jansson.h>

#include "policy/subject.h"
#include "sensors/gpu/gpus.h"

#define DAVY_HOST_DEVICES_MAX ((size_t)2 * DAVY_GPUS_MAX)
#define DAVY_HOST_NAME_LEN    96

struct davy_host_device {
	struct davy_gpu gpu; /* only "device" is set of one that sysfs does not have */
	bool in_sysfs;
	bool shared;			   /* its memory is the host's */
	uint64_t free_bytes;		   /* UINT64_MAX: not told */
	int16_t index[DAVY_BACKEND_COUNT]; /* as each backend counts it; -1: not known */
	char name[DAVY_HOST_NAME_LEN];	   /* Vulkan's, made safe; "" */
	char type[16];			   /* Vulkan's: integrated, discrete, cpu; "" */
	uint32_t pci_vendor;
	uint32_t pci_device;
};

/*
 * Has davylamp-probe list Vulkan's devices; a new reference, NULL and "why" when it could not. It
 * runs drivers: tens of milliseconds, 6 s at most.
 */
json_t *davy_host_vulkan(char why[DAVY_REASON_LEN]);

/*
 * Those of sysfs, and from "answer" (NULL: none was asked for) those beside them. Devices that
 * Vulkan makes of the CPU are left out unless "visible" (GGML_VK_VISIBLE_DEVICES, or NULL) names
 * them, as ggml does. The answer is outside input.
 */
size_t davy_host_devices(const json_t *answer, const char *visible, struct davy_host_device *list,
			 size_t max);

/*
 * The one that most engines take: of several the first that is no integrated GPU. NULL: none; what
 * is of no maker of GPUs (a server's display, a virtual one) is none unless Vulkan knows it.
 */
struct davy_host_device *davy_host_device_usual(struct davy_host_device *list, size_t count);

/* What the policy wants to know of it. */
void davy_host_device_subject(const struct davy_host_device *device,
			      struct davy_policy_subject *subject);

/* Fills in "shared" and "free_bytes"; "subject" is that device's. */
void davy_host_device_memory(struct davy_host_device *device,
			     const struct davy_policy_subject *subject);

#endif

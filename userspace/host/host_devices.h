/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPUs of this host as engines see them: those in sysfs, and those that Vulkan reports through
 * davylamp-probe, with the index that each backend uses.
 */
#ifndef DAVY_HOST_DEVICES_H
#define DAVY_HOST_DEVICES_H

#include <jansson.h>

#include "policy/subject.h"
#include "sensors/gpu/gpus.h"

#define DAVY_HOST_DEVICES_MAX ((size_t)2 * DAVY_GPUS_MAX)
#define DAVY_HOST_NAME_LEN    96

struct davy_host_device {
	struct davy_gpu gpu; /* only "device" is set if sysfs lacks the GPU */
	bool in_sysfs;
	bool shared;			   /* it uses host memory */
	uint64_t free_bytes;		   /* UINT64_MAX: unknown */
	int16_t index[DAVY_BACKEND_COUNT]; /* index for each backend; -1: unknown */
	char name[DAVY_HOST_NAME_LEN];	   /* Vulkan's, sanitized; "" */
	char type[16];			   /* Vulkan's: integrated, discrete, cpu; "" */
	uint32_t pci_vendor;
	uint32_t pci_device;
};

/*
 * Lists Vulkan's devices through davylamp-probe. Returns a new reference, or NULL and "why". Runs
 * drivers: tens of milliseconds, at most 6 s.
 */
json_t *davy_host_vulkan(char why[DAVY_REASON_LEN]);

/*
 * GPUs of sysfs, and further ones from "answer" (NULL: not requested). Vulkan devices on the CPU
 * are listed only if "visible" (GGML_VK_VISIBLE_DEVICES, or NULL) names them, as in ggml. The
 * answer is untrusted.
 */
size_t davy_host_devices(const json_t *answer, const char *visible, struct davy_host_device *list,
			 size_t max);

/*
 * The GPU that most engines use: the first that is not integrated, otherwise the first. NULL: none.
 * Devices of other vendors (a server's display, a virtual GPU) count only if Vulkan knows them.
 */
struct davy_host_device *davy_host_device_usual(struct davy_host_device *list, size_t count);

/* The facts about the device that the policy uses. */
void davy_host_device_subject(const struct davy_host_device *device,
			      struct davy_policy_subject *subject);

/* Sets "shared" and "free_bytes"; "subject" is that of the device. */
void davy_host_device_memory(struct davy_host_device *device,
			     const struct davy_policy_subject *subject);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface between the parts of the layer: every file offers the calls that it intercepts
 * as a table, and layer.c answers the loader's look-ups from these tables.
 */
#ifndef VKFAULT_LAYER_H
#define VKFAULT_LAYER_H

#include <vulkan/vulkan.h>

struct layer_call {
	const char *name; /* NULL ends a table */
	PFN_vkVoidFunction function;
};

#define LAYER_CALL(vk_name, own)                                                                   \
	{                                                                                          \
		vk_name, (PFN_vkVoidFunction)(own)                                                 \
	}

/* Calls on a device, a queue or their objects (device.c). */
extern const struct layer_call layer_device_calls[];
/* Queries about a physical device (identity.c). */
extern const struct layer_call layer_physical_calls[];

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the Vulkan probe. The loader is opened at run time, not linked: its absence is a
 * finding, and the engine probe does not need it. Nothing is destroyed before the end, because
 * destroying a device that hangs would hang.
 */
#ifndef DAVY_VULKAN_H
#define DAVY_VULKAN_H

#define VK_NO_PROTOTYPES
#include <jansson.h>
#include <stddef.h>
#include <vulkan/vulkan.h>

/* A call: its name without "vk", and the place of its pointer. */
struct davy_vk_call {
	const char *name;
	size_t offset;
};

#define DAVY_VK_CALL(type, call)                                                                   \
	{                                                                                          \
		"vk" #call, offsetof(type, call)                                                   \
	}

struct davy_vk {
	PFN_vkGetInstanceProcAddr get_proc;
	VkInstance instance;
	uint32_t loader_version;
	PFN_vkEnumeratePhysicalDevices EnumeratePhysicalDevices;
	PFN_vkGetPhysicalDeviceProperties2 GetPhysicalDeviceProperties2;
	PFN_vkGetPhysicalDeviceMemoryProperties2 GetPhysicalDeviceMemoryProperties2;
	PFN_vkGetPhysicalDeviceQueueFamilyProperties GetPhysicalDeviceQueueFamilyProperties;
	PFN_vkEnumerateDeviceExtensionProperties EnumerateDeviceExtensionProperties;
	PFN_vkCreateDevice CreateDevice;
	PFN_vkGetDeviceProcAddr GetDeviceProcAddr;
};

struct davy_vk_device {
	const struct davy_vk *vk;
	VkPhysicalDevice physical;
	uint32_t index;
	char address[24]; /* PCI address, or the index if the driver reports none */
	VkPhysicalDeviceMemoryProperties memory;
};

/* NULL, or the reason if there is no loader or no instance. */
const char *davy_vk_open(struct davy_vk *vk, VkResult *ret_result);

/* "VK_ERROR_DEVICE_LOST"; a number for results that these calls do not return. */
const char *davy_vk_result_name(VkResult result, char *buf, size_t size);

/* Identity, driver and heaps of d->physical; fills d->address and d->memory. */
json_t *davy_vk_describe(struct davy_vk_device *d);

/* Fills a buffer of 1 MiB and waits for it; {result, stage, ms}. */
json_t *davy_vk_submit(struct davy_vk_device *d, VkResult *ret_result);

#endif

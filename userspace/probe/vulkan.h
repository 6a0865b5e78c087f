/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Vulkan probe's parts. The loader is opened at run time and not linked: a host without it is a
 * finding, and the engine probe need not carry it. Nothing is ever destroyed: the process ends, and
 * tearing down a device that hangs would hang.
 */
#ifndef DAVY_VULKAN_H
#define DAVY_VULKAN_H

#define VK_NO_PROTOTYPES
#include <jansson.h>
#include <stddef.h>
#include <vulkan/vulkan.h>

/* A call by its name without "vk", and where its pointer goes. */
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
	char address[24]; /* PCI address; the index where the driver tells none */
	VkPhysicalDeviceMemoryProperties memory;
};

/* Where the loader is not to be had, or no instance: the reason, to be printed; else NULL. */
const char *davy_vk_open(struct davy_vk *vk, VkResult *ret_result);

/* "VK_ERROR_DEVICE_LOST"; a number where it is none of those that these calls return. */
const char *davy_vk_result_name(VkResult result, char *buf, size_t size);

/* Identity, driver and heaps of d->physical; fills d->address and d->memory. */
json_t *davy_vk_describe(struct davy_vk_device *d);

/* Fills a buffer of 1 MiB and waits for it; {result, stage, ms}. */
json_t *davy_vk_submit(struct davy_vk_device *d, VkResult *ret_result);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Vulkan probe's parts. The loader is opened at run time and not linked: a host without it is a
 * finding, and the engine probe need not carry it. Nothing is ever destroyed: the process ends, and
 * tearing down a device that hangs would hang.
 */
#ifndef DL_PROBE_VULKAN_H
#define DL_PROBE_VULKAN_H

#define VK_NO_PROTOTYPES
#include <jansson.h>
#include <vulkan/vulkan.h>

/* clang-format off */
#define DL_VK_INSTANCE_CALLS(X) \
	X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties) \
	X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceMemoryProperties) \
	X(GetPhysicalDeviceMemoryProperties2) X(GetPhysicalDeviceQueueFamilyProperties) \
	X(EnumerateDeviceExtensionProperties) X(CreateDevice) X(GetDeviceProcAddr)

#define DL_VK_DEVICE_CALLS(X) \
	X(GetDeviceQueue) X(CreateBuffer) X(GetBufferMemoryRequirements) X(AllocateMemory) \
	X(BindBufferMemory) X(CreateCommandPool) X(AllocateCommandBuffers) X(BeginCommandBuffer) \
	X(CmdFillBuffer) X(EndCommandBuffer) X(CreateFence) X(QueueSubmit) X(WaitForFences)

#define DL_VK_MEMBER(name) PFN_vk##name name;
/* clang-format on */

struct dl_vk {
	PFN_vkGetInstanceProcAddr get_proc;
	VkInstance instance;
	uint32_t loader_version;
	DL_VK_INSTANCE_CALLS(DL_VK_MEMBER)
};

struct dl_vk_device {
	const struct dl_vk *vk;
	VkPhysicalDevice physical;
	uint32_t index;
	char address[24]; /* PCI address; the index where the driver tells none */
	VkPhysicalDeviceMemoryProperties memory;
};

/* Where the loader is not to be had, or no instance: the reason, to be printed; else NULL. */
const char *dl_vk_open(struct dl_vk *vk, VkResult *ret_result);

/* "VK_ERROR_DEVICE_LOST"; a number where it is none of those that these calls return. */
const char *dl_vk_result_name(VkResult result, char *buf, size_t size);

/* Identity, driver and heaps of d->physical; fills d->address and d->memory. */
json_t *dl_vk_describe(struct dl_vk_device *d);

/* Fills a buffer of 1 MiB and waits for it; {result, stage, ms}. */
json_t *dl_vk_submit(struct dl_vk_device *d, VkResult *ret_result);

#endif

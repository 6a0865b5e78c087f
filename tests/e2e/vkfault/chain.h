/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The next layer's functions, looked up once, when an instance or device is made: loader 1.3.239
 * answers later look-ups with the top of the chain, which would call us again without end.
 *
 * Objects are found by their dispatch key (the first word of every dispatchable handle), so that a
 * VkQueue leads to its VkDevice's entry and a VkPhysicalDevice to its VkInstance's.
 */
#ifndef VKFAULT_CHAIN_H
#define VKFAULT_CHAIN_H

#include <stdbool.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

struct instance_next {
	void *key;
	PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
	PFN_vkDestroyInstance DestroyInstance;
	PFN_vkGetPhysicalDeviceProperties GetPhysicalDeviceProperties;
	PFN_vkGetPhysicalDeviceProperties2 GetPhysicalDeviceProperties2;
	PFN_vkGetPhysicalDeviceMemoryProperties GetPhysicalDeviceMemoryProperties;
	PFN_vkGetPhysicalDeviceMemoryProperties2 GetPhysicalDeviceMemoryProperties2;
};

struct device_next {
	void *key;
	PFN_vkGetDeviceProcAddr GetDeviceProcAddr;
	PFN_vkDestroyDevice DestroyDevice;
	PFN_vkQueueSubmit QueueSubmit;
	PFN_vkQueueSubmit2 QueueSubmit2;
	PFN_vkQueueWaitIdle QueueWaitIdle;
	PFN_vkDeviceWaitIdle DeviceWaitIdle;
	PFN_vkWaitForFences WaitForFences;
	PFN_vkGetFenceStatus GetFenceStatus;
	PFN_vkWaitSemaphores WaitSemaphores;
	PFN_vkAllocateMemory AllocateMemory;
	PFN_vkFreeMemory FreeMemory;
	PFN_vkBeginCommandBuffer BeginCommandBuffer;
	PFN_vkCmdDispatch CmdDispatch;
};

/* Entries live until taken out; the pointers stay good for as long as the object does. */
bool chain_add_instance(VkInstance instance, PFN_vkGetInstanceProcAddr next);
bool chain_add_device(VkDevice device, PFN_vkGetDeviceProcAddr next);
const struct instance_next *chain_instance(const void *handle);
const struct device_next *chain_device(const void *handle);
void chain_remove_instance(VkInstance instance);
void chain_remove_device(VkDevice device);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VK_LAYER_DAVYLAMP_fault: a Vulkan layer that makes a healthy driver fail as a file demands (see
 * rules.h). This file speaks with the loader: negotiation, chaining and look-ups.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "layer.h"

/* The oldest interface with vkNegotiateLoaderLayerInterfaceVersion, and all that is needed here. */
#define INTERFACE_VERSION 2

/*
 * Opens a device node when the layer is loaded, as drivers do. DAVYLAMP_VKFAULT_NODE is "FD NAME":
 * the name below an inherited directory, because the engine's root may have another /dev.
 */
__attribute__((constructor)) static void open_node(void)
{
	const char *node = getenv("DAVYLAMP_VKFAULT_NODE");
	int dir, at = 0;

	if (node && sscanf(node, "%d %n", &dir, &at) == 1 && at > 0)
		(void)openat(dir, node + at, O_RDWR | O_CLOEXEC); /* fails in davylamp-probe */
}

static PFN_vkVoidFunction find_call(const struct layer_call *calls, const char *name)
{
	for (; calls->name; calls++)
		if (strcmp(calls->name, name) == 0)
			return calls->function;
	return NULL;
}

/* The loader's link info in a create info's chain; it is to be advanced before calling on. */
static VkLayerInstanceCreateInfo *instance_link(const VkInstanceCreateInfo *info)
{
	const VkBaseInStructure *s;

	for (s = info->pNext; s; s = s->pNext) {
		VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)(uintptr_t)s;

		if (s->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
		    link->function == VK_LAYER_LINK_INFO)
			return link;
	}
	return NULL;
}

static VkLayerDeviceCreateInfo *device_link(const VkDeviceCreateInfo *info)
{
	const VkBaseInStructure *s;

	for (s = info->pNext; s; s = s->pNext) {
		VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)(uintptr_t)s;

		if (s->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
		    link->function == VK_LAYER_LINK_INFO)
			return link;
	}
	return NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
						      const VkAllocationCallbacks *callbacks,
						      VkInstance *ret_instance)
{
	VkLayerInstanceCreateInfo *link = instance_link(info);
	PFN_vkGetInstanceProcAddr next;
	PFN_vkCreateInstance create;
	PFN_vkDestroyInstance destroy;
	VkResult result;

	if (!link)
		return VK_ERROR_INITIALIZATION_FAILED;
	next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	link->u.pLayerInfo = link->u.pLayerInfo->pNext;
	create = (PFN_vkCreateInstance)next(VK_NULL_HANDLE, "vkCreateInstance");
	if (!create)
		return VK_ERROR_INITIALIZATION_FAILED;
	result = create(info, callbacks, ret_instance);
	if (result != VK_SUCCESS || chain_add_instance(*ret_instance, next))
		return result;
	destroy = (PFN_vkDestroyInstance)next(*ret_instance, "vkDestroyInstance");
	destroy(*ret_instance, callbacks);
	return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
						   const VkAllocationCallbacks *callbacks)
{
	PFN_vkDestroyInstance destroy;

	if (instance == VK_NULL_HANDLE)
		return;
	destroy = chain_instance(instance)->DestroyInstance;
	chain_remove_instance(instance);
	destroy(instance, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
						    const VkDeviceCreateInfo *info,
						    const VkAllocationCallbacks *callbacks,
						    VkDevice *ret_device)
{
	VkLayerDeviceCreateInfo *link = device_link(info);
	PFN_vkGetInstanceProcAddr next_instance;
	PFN_vkGetDeviceProcAddr next;
	PFN_vkCreateDevice create;
	PFN_vkDestroyDevice destroy;
	VkResult result;

	if (!link)
		return VK_ERROR_INITIALIZATION_FAILED;
	next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
	link->u.pLayerInfo = link->u.pLayerInfo->pNext;
	create = (PFN_vkCreateDevice)next_instance(VK_NULL_HANDLE, "vkCreateDevice");
	if (!create)
		return VK_ERROR_INITIALIZATION_FAILED;
	result = create(physical, info, callbacks, ret_device);
	if (result != VK_SUCCESS || chain_add_device(*ret_device, next))
		return result;
	destroy = (PFN_vkDestroyDevice)next(*ret_device, "vkDestroyDevice");
	destroy(*ret_device, callbacks);
	return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance,
								  const char *name);

static const struct layer_call creation_calls[] = {
	LAYER_CALL("vkCreateInstance", create_instance),
	LAYER_CALL("vkDestroyInstance", destroy_instance),
	LAYER_CALL("vkCreateDevice", create_device),
	LAYER_CALL("vkGetInstanceProcAddr", get_instance_proc),
	LAYER_CALL("vkGetDeviceProcAddr", get_device_proc),
	{ NULL, NULL },
};

/* The layer offers only calls that the driver has. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
	PFN_vkVoidFunction own, next;

	if (strcmp(name, "vkGetDeviceProcAddr") == 0)
		return (PFN_vkVoidFunction)get_device_proc;
	next = chain_device(device)->GetDeviceProcAddr(device, name);
	own = find_call(layer_device_calls, name);
	return next && own ? own : next;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance,
								  const char *name)
{
	PFN_vkVoidFunction own, next;

	own = find_call(creation_calls, name);
	if (own || instance == VK_NULL_HANDLE)
		return own;
	next = chain_instance(instance)->GetInstanceProcAddr(instance, name);
	own = find_call(layer_physical_calls, name);
	if (!own)
		own = find_call(layer_device_calls, name);
	return next && own ? own : next;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation)
{
	if (negotiation->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
	    negotiation->loaderLayerInterfaceVersion < INTERFACE_VERSION)
		return VK_ERROR_INITIALIZATION_FAILED;
	negotiation->loaderLayerInterfaceVersion = INTERFACE_VERSION;
	negotiation->pfnGetInstanceProcAddr = get_instance_proc;
	negotiation->pfnGetDeviceProcAddr = get_device_proc;
	negotiation->pfnGetPhysicalDeviceProcAddr = NULL;
	return VK_SUCCESS;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "probe/answer.h"
#include "probe/vulkan.h"

#define LIBRARY "libvulkan.so.1"

static const struct {
	VkResult result;
	const char *name;
} names[] = {
	{ VK_SUCCESS, "VK_SUCCESS" },
	{ VK_TIMEOUT, "VK_TIMEOUT" },
	{ VK_INCOMPLETE, "VK_INCOMPLETE" },
	{ VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY" },
	{ VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY" },
	{ VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED" },
	{ VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST" },
	{ VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT" },
	{ VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT" },
	{ VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT" },
	{ VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER" },
	{ VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS" },
	{ VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN" },
};

const char *davy_vk_result_name(VkResult result, char *buf, size_t size)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].result == result)
			return names[i].name;
	snprintf(buf, size, "VkResult %d", (int)result);
	return buf;
}

static const struct davy_vk_call calls[] = {
	DAVY_VK_CALL(struct davy_vk, EnumeratePhysicalDevices),
	DAVY_VK_CALL(struct davy_vk, GetPhysicalDeviceProperties2),
	DAVY_VK_CALL(struct davy_vk, GetPhysicalDeviceMemoryProperties2),
	DAVY_VK_CALL(struct davy_vk, GetPhysicalDeviceQueueFamilyProperties),
	DAVY_VK_CALL(struct davy_vk, EnumerateDeviceExtensionProperties),
	DAVY_VK_CALL(struct davy_vk, CreateDevice),
	DAVY_VK_CALL(struct davy_vk, GetDeviceProcAddr),
};

static bool vulkan_open_find_calls(struct davy_vk *vk)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		PFN_vkVoidFunction call = vk->get_proc(vk->instance, calls[i].name);

		if (!call)
			return false;
		memcpy((char *)vk + calls[i].offset, &call, sizeof(call));
	}
	return true;
}

static VkResult make_instance(struct davy_vk *vk)
{
	const VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
						.pApplicationName = "davylamp-probe",
						.apiVersion = VK_API_VERSION_1_1 };
	const VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
					    .pApplicationInfo = &application };
	PFN_vkCreateInstance create = (PFN_vkCreateInstance)vk->get_proc(NULL, "vkCreateInstance");

	return create ? create(&info, NULL, &vk->instance) : VK_ERROR_INITIALIZATION_FAILED;
}

const char *davy_vk_open(struct davy_vk *vk, VkResult *ret_result)
{
	PFN_vkEnumerateInstanceVersion version;
	void *library;

	davy_answer_stage("loader", NULL);
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
	vk->get_proc = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
	if (!vk->get_proc)
		return dlerror();
	version = (PFN_vkEnumerateInstanceVersion)vk->get_proc(NULL, "vkEnumerateInstanceVersion");
	if (!version || version(&vk->loader_version) != VK_SUCCESS)
		return "the Vulkan loader is older than 1.1";
	davy_answer_stage("instance", NULL);
	*ret_result = make_instance(vk);
	if (*ret_result == VK_ERROR_INCOMPATIBLE_DRIVER)
		return "no Vulkan driver (ICD) could be loaded";
	if (*ret_result != VK_SUCCESS)
		return "no Vulkan instance could be created";
	return vulkan_open_find_calls(vk) ? NULL : "the Vulkan loader lacks calls of 1.1";
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of a device as reported by its driver. All are untrusted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/answer.h"
#include "probe/vulkan.h"

struct extensions {
	bool driver;
	bool pci;
	bool budget;
};

static struct extensions find_extensions(const struct davy_vk_device *d)
{
	struct extensions has = { 0 };
	VkExtensionProperties *list;
	uint32_t count = 0;

	d->vk->EnumerateDeviceExtensionProperties(d->physical, NULL, &count, NULL);
	if (count > 4096)
		count = 4096;
	list = calloc(count ? count : 1, sizeof(*list));
	if (!list || d->vk->EnumerateDeviceExtensionProperties(d->physical, NULL, &count, list) < 0)
		count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const char *name = list[i].extensionName;

		has.driver |= !strcmp(name, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
		has.pci |= !strcmp(name, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
		has.budget |= !strcmp(name, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
	}
	free(list);
	return has;
}

static const char *type_name(VkPhysicalDeviceType type)
{
	switch (type) {
	case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
		return "integrated";
	case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
		return "discrete";
	case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
		return "virtual";
	case VK_PHYSICAL_DEVICE_TYPE_CPU:
		return "cpu";
	default:
		return "other";
	}
}

static json_t *version_text(uint32_t version)
{
	return json_sprintf("%u.%u.%u", VK_API_VERSION_MAJOR(version),
			    VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
}

/* The layout of the packed number depends on the vendor; "info" is the text. */
static json_t *driver_object(const VkPhysicalDeviceProperties *p,
			     const VkPhysicalDeviceDriverProperties *driver, bool known)
{
	json_t *object = json_pack("{s:I}", "version", (json_int_t)p->driverVersion);

	if (!known)
		return object;
	json_object_set_new(object, "name", davy_answer_text(driver->driverName));
	json_object_set_new(object, "info", davy_answer_text(driver->driverInfo));
	json_object_set_new(object, "id", json_integer((json_int_t)driver->driverID));
	return object;
}

static json_t *heap_list(struct davy_vk_device *d, bool has_budget)
{
	VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT
	};
	VkPhysicalDeviceMemoryProperties2 memory = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
		.pNext = has_budget ? &budget : NULL
	};
	json_t *list = json_array();

	d->vk->GetPhysicalDeviceMemoryProperties2(d->physical, &memory);
	d->memory = memory.memoryProperties;
	if (d->memory.memoryHeapCount > VK_MAX_MEMORY_HEAPS)
		d->memory.memoryHeapCount = VK_MAX_MEMORY_HEAPS;
	if (d->memory.memoryTypeCount > VK_MAX_MEMORY_TYPES)
		d->memory.memoryTypeCount = VK_MAX_MEMORY_TYPES;
	for (uint32_t i = 0; i < d->memory.memoryHeapCount; i++) {
		const VkMemoryHeap *heap = &d->memory.memoryHeaps[i];
		json_t *object =
			json_pack("{s:I, s:b}", "size", (json_int_t)heap->size, "device_local",
				  (heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0);

		if (has_budget) {
			json_object_set_new(object, "budget",
					    json_integer((json_int_t)budget.heapBudget[i]));
			json_object_set_new(object, "usage",
					    json_integer((json_int_t)budget.heapUsage[i]));
		}
		json_array_append_new(list, object);
	}
	return list;
}

json_t *davy_vk_describe(struct davy_vk_device *d)
{
	VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT
	};
	VkPhysicalDeviceDriverProperties driver = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES
	};
	VkPhysicalDeviceProperties2 all = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
	};
	const VkPhysicalDeviceProperties *p = &all.properties;
	struct extensions has = find_extensions(d);
	json_t *object;

	if (has.pci) {
		pci.pNext = all.pNext;
		all.pNext = &pci;
	}
	if (has.driver) {
		driver.pNext = all.pNext;
		all.pNext = &driver;
	}
	d->vk->GetPhysicalDeviceProperties2(d->physical, &all);
	if (has.pci)
		snprintf(d->address, sizeof(d->address), "%04x:%02x:%02x.%x",
			 pci.pciDomain & 0xffff, pci.pciBus & 0xff, pci.pciDevice & 0x1f,
			 pci.pciFunction & 7);
	object = json_pack("{s:i, s:o*, s:i, s:i, s:s, s:o*}", "index", (int)d->index, "name",
			   davy_answer_text(p->deviceName), "vendor", (int)p->vendorID, "device",
			   (int)p->deviceID, "type", type_name(p->deviceType), "api",
			   version_text(p->apiVersion));
	json_object_set_new(object, "pci", has.pci ? json_string(d->address) : json_null());
	json_object_set_new(object, "driver", driver_object(p, &driver, has.driver));
	json_object_set_new(object, "heaps", heap_list(d, has.budget));
	return object;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queries about the physical device: type, name and heap sizes as the rule wants them. The vendor
 * stays as it is unless it is named: ggml chooses code by it (with 0x1002 over lavapipe it fails on
 * subgroup sizes, with 0x8086 it works).
 */
#include <stdio.h>

#include "chain.h"
#include "layer.h"
#include "memory.h"
#include "rules.h"

static void change_properties(VkPhysicalDeviceProperties *props)
{
	struct fault_rule rule = fault_rule_now();

	switch (rule.type) {
	case DEVICE_DISCRETE:
		props->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
		break;
	case DEVICE_INTEGRATED:
		props->deviceType = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
		break;
	case DEVICE_CPU:
		props->deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU;
		break;
	case DEVICE_AS_IS:
		break;
	}
	if (rule.vendor)
		props->vendorID = (uint32_t)rule.vendor;
	if (rule.device)
		props->deviceID = (uint32_t)rule.device;
	if (rule.name[0])
		snprintf(props->deviceName, sizeof(props->deviceName), "%s", rule.name);
}

static void change_memory(VkPhysicalDeviceMemoryProperties *props, uint64_t heap_bytes)
{
	uint32_t i;

	for (i = 0; i < props->memoryHeapCount; i++)
		if (props->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
			props->memoryHeaps[i].size = heap_bytes;
}

static void change_budget(VkPhysicalDeviceMemoryProperties2 *props, uint64_t heap_bytes)
{
	VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget;
	VkBaseOutStructure *link;
	uint32_t i;

	for (link = props->pNext; link; link = link->pNext) {
		if (link->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT)
			continue;
		budget = (VkPhysicalDeviceMemoryBudgetPropertiesEXT *)link;
		for (i = 0; i < props->memoryProperties.memoryHeapCount; i++) {
			budget->heapBudget[i] = heap_bytes;
			budget->heapUsage[i] = memory_used_bytes();
		}
	}
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice physical,
						 VkPhysicalDeviceProperties *props)
{
	chain_instance(physical)->GetPhysicalDeviceProperties(physical, props);
	change_properties(props);
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice physical,
						  VkPhysicalDeviceProperties2 *props)
{
	chain_instance(physical)->GetPhysicalDeviceProperties2(physical, props);
	change_properties(&props->properties);
}

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice physical,
					     VkPhysicalDeviceMemoryProperties *props)
{
	struct fault_rule rule = fault_rule_now();

	chain_instance(physical)->GetPhysicalDeviceMemoryProperties(physical, props);
	if (rule.heap_bytes)
		change_memory(props, rule.heap_bytes);
}

static VKAPI_ATTR void VKAPI_CALL get_memory2(VkPhysicalDevice physical,
					      VkPhysicalDeviceMemoryProperties2 *props)
{
	struct fault_rule rule = fault_rule_now();

	chain_instance(physical)->GetPhysicalDeviceMemoryProperties2(physical, props);
	if (rule.heap_bytes) {
		change_memory(&props->memoryProperties, rule.heap_bytes);
		change_budget(props, rule.heap_bytes);
	}
}

const struct layer_call layer_physical_calls[] = {
	LAYER_CALL("vkGetPhysicalDeviceProperties", get_properties),
	LAYER_CALL("vkGetPhysicalDeviceProperties2", get_properties2),
	LAYER_CALL("vkGetPhysicalDeviceProperties2KHR", get_properties2),
	LAYER_CALL("vkGetPhysicalDeviceMemoryProperties", get_memory),
	LAYER_CALL("vkGetPhysicalDeviceMemoryProperties2", get_memory2),
	LAYER_CALL("vkGetPhysicalDeviceMemoryProperties2KHR", get_memory2),
	{ NULL, NULL },
};

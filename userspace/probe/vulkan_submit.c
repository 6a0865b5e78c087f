/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The smallest job that goes through the device's ring. */
#include <string.h>

#include "lib/clock.h"
#include "probe/answer.h"
#include "probe/vulkan.h"

#define BUFFER_BYTES  (1U << 20)
#define FENCE_WAIT_NS 2000000000ULL /* the shortest lockup timeout of a kernel driver */
#define FAMILIES_MAX  32
#define PATTERN	      0x6461767au

struct work {
	struct davy_vk_device *d;
	VkDevice device;
	uint32_t family;
	VkQueue queue;
	VkBuffer buffer;
	VkCommandBuffer commands;
	VkFence fence;
	PFN_vkGetDeviceQueue GetDeviceQueue;
	PFN_vkCreateBuffer CreateBuffer;
	PFN_vkGetBufferMemoryRequirements GetBufferMemoryRequirements;
	PFN_vkAllocateMemory AllocateMemory;
	PFN_vkBindBufferMemory BindBufferMemory;
	PFN_vkCreateCommandPool CreateCommandPool;
	PFN_vkAllocateCommandBuffers AllocateCommandBuffers;
	PFN_vkBeginCommandBuffer BeginCommandBuffer;
	PFN_vkCmdFillBuffer CmdFillBuffer;
	PFN_vkEndCommandBuffer EndCommandBuffer;
	PFN_vkCreateFence CreateFence;
	PFN_vkQueueSubmit QueueSubmit;
	PFN_vkWaitForFences WaitForFences;
};

static const struct davy_vk_call calls[] = {
	DAVY_VK_CALL(struct work, GetDeviceQueue),
	DAVY_VK_CALL(struct work, CreateBuffer),
	DAVY_VK_CALL(struct work, GetBufferMemoryRequirements),
	DAVY_VK_CALL(struct work, AllocateMemory),
	DAVY_VK_CALL(struct work, BindBufferMemory),
	DAVY_VK_CALL(struct work, CreateCommandPool),
	DAVY_VK_CALL(struct work, AllocateCommandBuffers),
	DAVY_VK_CALL(struct work, BeginCommandBuffer),
	DAVY_VK_CALL(struct work, CmdFillBuffer),
	DAVY_VK_CALL(struct work, EndCommandBuffer),
	DAVY_VK_CALL(struct work, CreateFence),
	DAVY_VK_CALL(struct work, QueueSubmit),
	DAVY_VK_CALL(struct work, WaitForFences),
};

static bool vulkan_submit_find_calls(struct work *w)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		PFN_vkVoidFunction call = w->d->vk->GetDeviceProcAddr(w->device, calls[i].name);

		if (!call)
			return false;
		memcpy((char *)w + calls[i].offset, &call, sizeof(call));
	}
	return true;
}

/* Both imply transfer. llama.cpp uses compute, which nearly every first family has. */
static bool find_family(struct work *w)
{
	VkQueueFamilyProperties family[FAMILIES_MAX];
	uint32_t count = FAMILIES_MAX;

	w->d->vk->GetPhysicalDeviceQueueFamilyProperties(w->d->physical, &count, family);
	for (w->family = 0; w->family < count; w->family++)
		if (family[w->family].queueCount &&
		    family[w->family].queueFlags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT))
			return true;
	return false;
}

static VkResult make_device(struct work *w)
{
	static const float priority = 0.0f;
	VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
					  .queueCount = 1,
					  .pQueuePriorities = &priority };
	VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .queueCreateInfoCount = 1,
				    .pQueueCreateInfos = &queue };
	VkResult result;

	davy_answer_stage("device", w->d->address);
	if (!find_family(w))
		return VK_ERROR_FEATURE_NOT_PRESENT;
	queue.queueFamilyIndex = w->family;
	result = w->d->vk->CreateDevice(w->d->physical, &info, NULL, &w->device);
	if (result != VK_SUCCESS)
		return result;
	if (!vulkan_submit_find_calls(w))
		return VK_ERROR_INITIALIZATION_FAILED;
	w->GetDeviceQueue(w->device, w->family, 0, &w->queue);
	return VK_SUCCESS;
}

/* Prefers device memory, because it is the scarce one. */
static uint32_t choose_type(const struct work *w, uint32_t allowed)
{
	const VkPhysicalDeviceMemoryProperties *m = &w->d->memory;
	uint32_t first = m->memoryTypeCount;

	for (uint32_t i = 0; i < m->memoryTypeCount; i++) {
		if (!(allowed & 1U << i))
			continue;
		if (m->memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
			return i;
		if (first == m->memoryTypeCount)
			first = i;
	}
	return first;
}

static VkResult make_buffer(struct work *w)
{
	const VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
					  .size = BUFFER_BYTES,
					  .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT };
	VkMemoryAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryRequirements needs;
	VkDeviceMemory memory;
	VkResult result;

	davy_answer_stage("memory", w->d->address);
	result = w->CreateBuffer(w->device, &info, NULL, &w->buffer);
	if (result != VK_SUCCESS)
		return result;
	w->GetBufferMemoryRequirements(w->device, w->buffer, &needs);
	allocate.allocationSize = needs.size;
	allocate.memoryTypeIndex = choose_type(w, needs.memoryTypeBits);
	result = w->AllocateMemory(w->device, &allocate, NULL, &memory);
	if (result != VK_SUCCESS)
		return result;
	return w->BindBufferMemory(w->device, w->buffer, memory, 0);
}

static VkResult make_commands(struct work *w)
{
	const VkCommandPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = w->family
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
	};
	const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VkCommandBufferAllocateInfo info = { .sType =
						     VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
					     .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
					     .commandBufferCount = 1 };
	VkResult result;

	davy_answer_stage("submit", w->d->address); /* drivers compile the fill's shader here */
	result = w->CreateCommandPool(w->device, &pool_info, NULL, &info.commandPool);
	if (result == VK_SUCCESS)
		result = w->AllocateCommandBuffers(w->device, &info, &w->commands);
	if (result == VK_SUCCESS)
		result = w->BeginCommandBuffer(w->commands, &begin);
	if (result != VK_SUCCESS)
		return result;
	w->CmdFillBuffer(w->commands, w->buffer, 0, BUFFER_BYTES, PATTERN);
	result = w->EndCommandBuffer(w->commands);
	if (result != VK_SUCCESS)
		return result;
	return w->CreateFence(w->device, &fence, NULL, &w->fence);
}

static VkResult submit_and_wait(struct work *w)
{
	const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				    .commandBufferCount = 1,
				    .pCommandBuffers = &w->commands };
	VkResult result;

	result = w->QueueSubmit(w->queue, 1, &info, w->fence);
	if (result != VK_SUCCESS)
		return result;
	davy_answer_stage("wait", w->d->address);
	return w->WaitForFences(w->device, 1, &w->fence, VK_TRUE, FENCE_WAIT_NS);
}

json_t *davy_vk_submit(struct davy_vk_device *d, VkResult *ret_result)
{
	struct work w = { .d = d };
	uint64_t began = davy_now_ms();
	char buf[32];
	VkResult result = make_device(&w);

	if (result == VK_SUCCESS)
		result = make_buffer(&w);
	if (result == VK_SUCCESS)
		result = make_commands(&w);
	if (result == VK_SUCCESS) {
		began = davy_now_ms();
		result = submit_and_wait(&w);
	}
	*ret_result = result;
	return json_pack("{s:s, s:s, s:i}", "result", davy_vk_result_name(result, buf, sizeof(buf)),
			 "stage", davy_answer_last_stage(), "ms", (int)(davy_now_ms() - began));
}

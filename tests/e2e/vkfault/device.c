// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Submits, waits and allocations. While the device hangs, submits go through (the driver does the
 * work, so that the device can recover when the rule changes) and no wait ends before its time
 * limit. When the device is lost, nothing reaches the driver.
 */
#include <time.h>

#include "chain.h"
#include "layer.h"
#include "memory.h"
#include "rules.h"
#include "work.h"

/* How often a blocked wait looks whether the hang is over. */
#define HANG_POLL_NS 5000000

static uint64_t monotonic_ns_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * Blocks while the device hangs, at most "timeout_ns". VK_SUCCESS means that the caller's call may
 * go on to the driver.
 */
static VkResult wait_out_hang(const char *call, uint64_t timeout_ns)
{
	const struct timespec pause = { .tv_nsec = HANG_POLL_NS };
	uint64_t start_ns = monotonic_ns_now();
	enum fault_state state;

	while ((state = fault_state_now(call)) == STATE_HUNG) {
		if (monotonic_ns_now() - start_ns >= timeout_ns)
			return VK_TIMEOUT;
		nanosleep(&pause, NULL);
	}
	return state == STATE_LOST ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL begin_command_buffer(VkCommandBuffer buffer,
							   const VkCommandBufferBeginInfo *info)
{
	work_begin(buffer);
	return chain_device(buffer)->BeginCommandBuffer(buffer, info);
}

static VKAPI_ATTR void VKAPI_CALL cmd_dispatch(VkCommandBuffer buffer, uint32_t x, uint32_t y,
					       uint32_t z)
{
	work_add(buffer, (uint64_t)x * y * z);
	chain_device(buffer)->CmdDispatch(buffer, x, y, z);
}

static uint64_t groups_in(uint32_t count, const VkSubmitInfo *submits)
{
	uint64_t groups = 0;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < submits[i].commandBufferCount; j++)
			groups += work_of(submits[i].pCommandBuffers[j]);
	return groups;
}

static uint64_t groups_in2(uint32_t count, const VkSubmitInfo2 *submits)
{
	uint64_t groups = 0;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < submits[i].commandBufferInfoCount; j++)
			groups += work_of(submits[i].pCommandBufferInfos[j].commandBuffer);
	return groups;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count,
						   const VkSubmitInfo *submits, VkFence fence)
{
	if (fault_on_submit("vkQueueSubmit", groups_in(count, submits)) == STATE_LOST)
		return VK_ERROR_DEVICE_LOST;
	return chain_device(queue)->QueueSubmit(queue, count, submits, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2(VkQueue queue, uint32_t count,
						    const VkSubmitInfo2 *submits, VkFence fence)
{
	if (fault_on_submit("vkQueueSubmit2", groups_in2(count, submits)) == STATE_LOST)
		return VK_ERROR_DEVICE_LOST;
	return chain_device(queue)->QueueSubmit2(queue, count, submits, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue)
{
	VkResult result = wait_out_hang("vkQueueWaitIdle", UINT64_MAX);

	return result == VK_SUCCESS ? chain_device(queue)->QueueWaitIdle(queue) : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device)
{
	VkResult result = wait_out_hang("vkDeviceWaitIdle", UINT64_MAX);

	return result == VK_SUCCESS ? chain_device(device)->DeviceWaitIdle(device) : result;
}

/* A hang may also begin while the driver waits: that wait ends, the next one does not. */
static VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice device, uint32_t count,
						      const VkFence *fences, VkBool32 all,
						      uint64_t timeout_ns)
{
	VkResult result = wait_out_hang("vkWaitForFences", timeout_ns);

	if (result != VK_SUCCESS)
		return result;
	return chain_device(device)->WaitForFences(device, count, fences, all, timeout_ns);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fence_status(VkDevice device, VkFence fence)
{
	switch (fault_state_now("vkGetFenceStatus")) {
	case STATE_LOST:
		return VK_ERROR_DEVICE_LOST;
	case STATE_HUNG:
		return VK_NOT_READY;
	case STATE_FINE:
		break;
	}
	return chain_device(device)->GetFenceStatus(device, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device,
						      const VkSemaphoreWaitInfo *info,
						      uint64_t timeout_ns)
{
	VkResult result = wait_out_hang("vkWaitSemaphores", timeout_ns);

	if (result != VK_SUCCESS)
		return result;
	return chain_device(device)->WaitSemaphores(device, info, timeout_ns);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device,
						      const VkMemoryAllocateInfo *info,
						      const VkAllocationCallbacks *callbacks,
						      VkDeviceMemory *ret_memory)
{
	VkResult result;

	if (fault_on_allocate(info->allocationSize, memory_used_bytes()))
		return VK_ERROR_OUT_OF_DEVICE_MEMORY;
	result = chain_device(device)->AllocateMemory(device, info, callbacks, ret_memory);
	if (result == VK_SUCCESS)
		memory_note((uint64_t)*ret_memory, info->allocationSize);
	return result;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
					      const VkAllocationCallbacks *callbacks)
{
	/* First forget: afterwards the driver may give the same handle to another thread. */
	if (memory != VK_NULL_HANDLE)
		memory_forget((uint64_t)memory);
	chain_device(device)->FreeMemory(device, memory, callbacks);
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
						 const VkAllocationCallbacks *callbacks)
{
	PFN_vkDestroyDevice destroy;

	if (device == VK_NULL_HANDLE)
		return;
	destroy = chain_device(device)->DestroyDevice;
	chain_remove_device(device);
	destroy(device, callbacks);
}

const struct layer_call layer_device_calls[] = {
	LAYER_CALL("vkDestroyDevice", destroy_device),
	LAYER_CALL("vkBeginCommandBuffer", begin_command_buffer),
	LAYER_CALL("vkCmdDispatch", cmd_dispatch),
	LAYER_CALL("vkQueueSubmit", queue_submit),
	LAYER_CALL("vkQueueSubmit2", queue_submit2),
	LAYER_CALL("vkQueueSubmit2KHR", queue_submit2),
	LAYER_CALL("vkQueueWaitIdle", queue_wait_idle),
	LAYER_CALL("vkDeviceWaitIdle", device_wait_idle),
	LAYER_CALL("vkWaitForFences", wait_for_fences),
	LAYER_CALL("vkGetFenceStatus", get_fence_status),
	LAYER_CALL("vkWaitSemaphores", wait_semaphores),
	LAYER_CALL("vkWaitSemaphoresKHR", wait_semaphores),
	LAYER_CALL("vkAllocateMemory", allocate_memory),
	LAYER_CALL("vkFreeMemory", free_memory),
	{ NULL, NULL },
};

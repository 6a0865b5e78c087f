// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "chain.h"

#define ENTRIES_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct instance_next instances[ENTRIES_MAX];
static struct device_next devices[ENTRIES_MAX];

static void *key_of(const void *handle)
{
	void *key;

	memcpy(&key, handle, sizeof(key));
	return key;
}

static struct instance_next *find_instance(const void *key)
{
	size_t i;

	for (i = 0; i < ENTRIES_MAX; i++)
		if (instances[i].key == key)
			return &instances[i];
	return NULL;
}

static struct device_next *find_device(const void *key)
{
	size_t i;

	for (i = 0; i < ENTRIES_MAX; i++)
		if (devices[i].key == key)
			return &devices[i];
	return NULL;
}

#define LOOK_UP(entry, get, object, name) ((entry)->name = (PFN_vk##name)(get)(object, "vk" #name))
/* For functions that a later core version took over from an extension. */
#define LOOK_UP_KHR(entry, get, object, name)                                                      \
	do {                                                                                       \
		if (!LOOK_UP(entry, get, object, name))                                            \
			(entry)->name = (PFN_vk##name)(get)(object, "vk" #name "KHR");             \
	} while (0)

static void fill_instance(struct instance_next *e, VkInstance i, PFN_vkGetInstanceProcAddr get)
{
	e->GetInstanceProcAddr = get;
	LOOK_UP(e, get, i, DestroyInstance);
	LOOK_UP(e, get, i, GetPhysicalDeviceProperties);
	LOOK_UP_KHR(e, get, i, GetPhysicalDeviceProperties2);
	LOOK_UP(e, get, i, GetPhysicalDeviceMemoryProperties);
	LOOK_UP_KHR(e, get, i, GetPhysicalDeviceMemoryProperties2);
}

static void fill_device(struct device_next *e, VkDevice d, PFN_vkGetDeviceProcAddr get)
{
	e->GetDeviceProcAddr = get;
	LOOK_UP(e, get, d, DestroyDevice);
	LOOK_UP(e, get, d, QueueSubmit);
	LOOK_UP_KHR(e, get, d, QueueSubmit2);
	LOOK_UP(e, get, d, QueueWaitIdle);
	LOOK_UP(e, get, d, DeviceWaitIdle);
	LOOK_UP(e, get, d, WaitForFences);
	LOOK_UP(e, get, d, GetFenceStatus);
	LOOK_UP_KHR(e, get, d, WaitSemaphores);
	LOOK_UP(e, get, d, AllocateMemory);
	LOOK_UP(e, get, d, FreeMemory);
	LOOK_UP(e, get, d, BeginCommandBuffer);
	LOOK_UP(e, get, d, CmdDispatch);
}

bool chain_add_instance(VkInstance instance, PFN_vkGetInstanceProcAddr next)
{
	struct instance_next *entry;

	pthread_mutex_lock(&lock);
	entry = find_instance(NULL);
	if (entry) {
		fill_instance(entry, instance, next);
		entry->key = key_of(instance);
	}
	pthread_mutex_unlock(&lock);
	return entry != NULL;
}

bool chain_add_device(VkDevice device, PFN_vkGetDeviceProcAddr next)
{
	struct device_next *entry;

	pthread_mutex_lock(&lock);
	entry = find_device(NULL);
	if (entry) {
		fill_device(entry, device, next);
		entry->key = key_of(device);
	}
	pthread_mutex_unlock(&lock);
	return entry != NULL;
}

const struct instance_next *chain_instance(const void *handle)
{
	const struct instance_next *entry;

	pthread_mutex_lock(&lock);
	entry = find_instance(key_of(handle));
	pthread_mutex_unlock(&lock);
	return entry;
}

const struct device_next *chain_device(const void *handle)
{
	const struct device_next *entry;

	pthread_mutex_lock(&lock);
	entry = find_device(key_of(handle));
	pthread_mutex_unlock(&lock);
	return entry;
}

void chain_remove_instance(VkInstance instance)
{
	struct instance_next *entry;

	pthread_mutex_lock(&lock);
	entry = find_instance(key_of(instance));
	if (entry)
		memset(entry, 0, sizeof(*entry));
	pthread_mutex_unlock(&lock);
}

void chain_remove_device(VkDevice device)
{
	struct device_next *entry;

	pthread_mutex_lock(&lock);
	entry = find_device(key_of(device));
	if (entry)
		memset(entry, 0, sizeof(*entry));
	pthread_mutex_unlock(&lock);
}

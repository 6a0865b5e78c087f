/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/host_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "sensors/gpu/gpu_memory.h"
#include "sensors/gpu/host_memory.h"
#include "sensors/kfd/kfd_topology.h"
#include "host/host_subject.h"

#define VULKAN_MAX 64 /* davylamp-probe reports no more */

static void host_devices_blank(struct davy_host_device *d)
{
	memset(d, 0, sizeof(*d));
	d->free_bytes = UINT64_MAX;
	for (int i = 0; i < DAVY_BACKEND_COUNT; i++)
		d->index[i] = -1;
}

static size_t host_devices_from_sysfs(struct davy_host_device *list, size_t max)
{
	struct davy_gpu gpus[DAVY_GPUS_MAX];
	size_t count = davy_gpus_list(gpus, max < DAVY_GPUS_MAX ? max : DAVY_GPUS_MAX);

	for (size_t i = 0; i < count; i++) {
		host_devices_blank(&list[i]);
		list[i].gpu = gpus[i];
		list[i].in_sysfs = true;
	}
	return count;
}

/* Numbers ROCm devices in the order of KFD's nodes; a device's first node counts. */
static void host_devices_number_rocm(struct davy_host_device *list, size_t count)
{
	struct davy_kfd_node *nodes = calloc(DAVY_KFD_NODES_MAX, sizeof(*nodes));
	size_t node_count = nodes ? davy_kfd_nodes_list(nodes, DAVY_KFD_NODES_MAX) : 0;

	for (size_t i = node_count; i-- > 0;)
		for (size_t j = 0; j < count; j++)
			if (davy_same_name(nodes[i].device, list[j].gpu.device))
				list[j].index[DAVY_BACKEND_ROCM] = (int16_t)i;
	free(nodes);
}

static bool host_devices_driven_by(const struct davy_host_device *d, const char *one,
				   const char *other)
{
	return davy_same_name(d->gpu.driver, one) || davy_same_name(d->gpu.driver, other);
}

/* Numbers a driver's devices by PCI address: CUDA and Level Zero can be configured to do so. */
static void host_devices_by_address(struct davy_host_device *list, size_t count,
				    enum davy_backend backend, const char *one, const char *other)
{
	for (size_t i = 0; i < count; i++) {
		int16_t before = 0;

		if (!host_devices_driven_by(&list[i], one, other))
			continue;
		for (size_t j = 0; j < count; j++)
			before = (int16_t)(before +
					   (host_devices_driven_by(&list[j], one, other) &&
					    strcmp(list[j].gpu.device, list[i].gpu.device) < 0));
		list[i].index[backend] = before;
	}
}

static const char *host_devices_text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static uint64_t host_devices_number_of(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

/* Free bytes of one heap: the budget is the maximum for a process, minus its use. */
static uint64_t host_devices_free(const json_t *heap)
{
	uint64_t size = host_devices_number_of(heap, "size"),
		 used = host_devices_number_of(heap, "usage");
	uint64_t budget = host_devices_number_of(heap, "budget");

	if (!json_object_get(heap, "budget") || budget > size)
		budget = size;
	return budget > used ? budget - used : 0;
}

/* The device's own heaps, or all heaps if it uses host memory, as in ggml. */
static uint64_t host_devices_heaps_free(const json_t *device)
{
	bool shared = strcmp(host_devices_text_of(device, "type"), "discrete") != 0, any = false;
	uint64_t free_bytes = 0;
	const json_t *heap;
	size_t i;

	json_array_foreach(json_object_get(device, "heaps"), i, heap)
	{
		if (!shared && !json_is_true(json_object_get(heap, "device_local")))
			continue;
		any |= host_devices_number_of(heap, "size") > 0;
		free_bytes += host_devices_free(heap) < INT64_MAX / VULKAN_MAX
				      ? host_devices_free(heap)
				      : 0;
	}
	return any ? free_bytes : UINT64_MAX;
}

/* True if a list such as "0,2" contains the index. */
static bool host_devices_in_list(const char *visible, int index)
{
	char *end;

	while (visible && *visible >= '0' && *visible <= '9') {
		if (strtol(visible, &end, 10) == index)
			return true;
		visible = *end == ',' ? end + 1 : "";
	}
	return false;
}

/* The sysfs device with that address, or a new one. */
static struct davy_host_device *host_devices_place_for(const json_t *device, int index,
						       struct davy_host_device *list, size_t *count,
						       size_t max)
{
	const char *pci = host_devices_text_of(device, "pci");
	struct davy_host_device *d;

	for (size_t i = 0; i < *count; i++)
		if (pci[0] && davy_same_name(list[i].gpu.device, pci))
			return &list[i];
	if (*count == max)
		return NULL;
	d = &list[(*count)++];
	host_devices_blank(d);
	if (pci[0] && strlen(pci) < sizeof(d->gpu.device) && !pci[davy_text_shown_length(pci)])
		davy_copy_name(d->gpu.device, sizeof(d->gpu.device), pci);
	else if (!strncmp(host_devices_text_of(device, "name"), DAVY_LLVMPIPE,
			  strlen(DAVY_LLVMPIPE)))
		davy_copy_name(d->gpu.device, sizeof(d->gpu.device), DAVY_LLVMPIPE);
	else
		snprintf(d->gpu.device, sizeof(d->gpu.device), "vulkan%d", index);
	return d;
}

static void host_devices_add_vulkan(const json_t *device, const char *visible,
				    struct davy_host_device *list, size_t *count, size_t max)
{
	json_int_t index = json_integer_value(json_object_get(device, "index"));
	struct davy_host_device *d;

	if (!json_is_object(device) || index < 0 || index >= VULKAN_MAX ||
	    (!strcmp(host_devices_text_of(device, "type"), "cpu") &&
	     !host_devices_in_list(visible, (int)index)))
		return;
	d = host_devices_place_for(device, (int)index, list, count, max);
	if (!d || d->index[DAVY_BACKEND_VULKAN] >= 0)
		return; /* a second driver for the same device */
	d->index[DAVY_BACKEND_VULKAN] = (int16_t)index;
	davy_text_safe(d->name, sizeof(d->name), host_devices_text_of(device, "name"));
	davy_copy_name(d->type, sizeof(d->type), host_devices_text_of(device, "type"));
	d->pci_vendor = (uint32_t)host_devices_number_of(device, "vendor");
	d->pci_device = (uint32_t)host_devices_number_of(device, "device");
	d->free_bytes = host_devices_heaps_free(device);
}

size_t davy_host_devices(const json_t *answer, const char *visible, struct davy_host_device *list,
			 size_t max)
{
	size_t count = host_devices_from_sysfs(list, max), i;
	const json_t *device;

	host_devices_number_rocm(list, count);
	host_devices_by_address(list, count, DAVY_BACKEND_CUDA, "nvidia", "nvidia");
	host_devices_by_address(list, count, DAVY_BACKEND_SYCL, "i915", "xe");
	json_array_foreach(json_object_get(answer, "devices"), i, device)
		host_devices_add_vulkan(device, visible, list, &count, max);
	return count;
}

void davy_host_device_subject(const struct davy_host_device *d, struct davy_policy_subject *s)
{
	if (d->in_sysfs)
		davy_host_subject_read(&d->gpu, s);
	else
		davy_host_kernel(s);
	davy_copy_name(s->device, sizeof(s->device), d->gpu.device);
	if (!s->pci[0])
		davy_subject_pci(s, d->pci_vendor, d->pci_device);
	if (!s->vendor[0])
		davy_subject_vendor(s, d->pci_vendor);
	if (!s->generation[0] && davy_same_name(s->vendor, "intel"))
		davy_subject_intel(s, d->pci_device);
	if (!s->gfx[0] && davy_same_name(s->vendor, "amd"))
		davy_subject_radv(s, d->name);
	if (!s->kind[0] && !strcmp(d->type, "integrated"))
		davy_copy_name(s->kind, sizeof(s->kind), "igpu");
	if (!s->kind[0] && !strcmp(d->type, "discrete"))
		davy_copy_name(s->kind, sizeof(s->kind), "dgpu");
}

struct davy_host_device *davy_host_device_usual(struct davy_host_device *list, size_t count)
{
	struct davy_host_device *best = NULL;
	int most = -1;

	for (size_t i = 0; i < count; i++) {
		struct davy_policy_subject s = { 0 };
		int worth;

		davy_host_device_subject(&list[i], &s);
		worth = (s.vendor[0] ? 2 : 0) + !davy_same_name(s.kind, "igpu");
		if (worth <= most)
			continue;
		most = worth;
		best = &list[i];
	}
	return most >= 2 || (best && best->index[DAVY_BACKEND_VULKAN] >= 0) ? best : NULL;
}

static uint64_t host_devices_left(uint64_t total, uint64_t used)
{
	return total > used ? total - used : 0;
}

/* According to the driver; UINT64_MAX: unknown. */
static uint64_t host_devices_driver_free(const struct davy_host_device *d)
{
	struct davy_ev_memory m = { 0 };
	uint64_t gtt, host;

	if (!d->in_sysfs || davy_gpu_memory_read(&d->gpu, false, &m))
		return UINT64_MAX;
	if (!d->shared)
		return m.vram_total ? host_devices_left(m.vram_total, m.vram_used) : UINT64_MAX;
	host = m.host_total ? m.host_available : UINT64_MAX;
	if (!m.gtt_total)
		return host;
	gtt = host_devices_left(m.gtt_total, m.gtt_used);
	return host_devices_left(m.vram_total, m.vram_used) + (gtt < host ? gtt : host);
}

/* If both are known, Vulkan's heap limits the driver's value: engines see the heap. */
void davy_host_device_memory(struct davy_host_device *d, const struct davy_policy_subject *s)
{
	uint64_t driver;

	d->shared = davy_same_name(s->kind, "igpu") || !strcmp(d->type, "integrated") ||
		    !strcmp(d->type, "cpu");
	driver = host_devices_driver_free(d);
	if (driver < d->free_bytes)
		d->free_bytes = driver;
}

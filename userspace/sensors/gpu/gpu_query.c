/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory from the drivers' ioctls, through libdrm. Opens the render node only briefly: an open file
 * would prevent unloading the driver's module.
 */
#include "sensors/gpu/gpu_memory.h"

#include <amdgpu_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>

#include "lib/file.h"

#define QUERY_MAX 65536 /* maximum bytes of an answer */

/* include/uapi/drm/xe_drm.h of Linux 6.8; missing in Debian 12's libdrm. */
#define XE_DEVICE_QUERY		    0x00
#define XE_DEVICE_QUERY_MEM_REGIONS 1
#define XE_MEM_REGION_CLASS_VRAM    1

struct xe_device_query {
	uint64_t extensions;
	uint32_t query;
	uint32_t size;
	uint64_t data;
	uint64_t reserved[2];
};

struct xe_mem_region {
	uint16_t mem_class;
	uint16_t instance;
	uint32_t min_page_size;
	uint64_t total_size;
	uint64_t used;
	uint64_t cpu_visible_size;
	uint64_t cpu_visible_used;
	uint64_t reserved[6];
};

struct xe_mem_regions {
	uint32_t count;
	uint32_t pad;
	struct xe_mem_region region[];
};

_Static_assert(sizeof(struct xe_device_query) == 40, "uapi");
_Static_assert(sizeof(struct xe_mem_region) == 88, "uapi");

static int amdgpu_info(int fd, uint32_t query, void *ret_value, uint32_t size)
{
	struct drm_amdgpu_info request;

	memset(&request, 0, sizeof(request));
	request.return_pointer = (uintptr_t)ret_value;
	request.return_size = size;
	request.query = query;
	return drmCommandWrite(fd, DRM_AMDGPU_INFO, &request, sizeof(request));
}

static int gpu_query_amdgpu(int fd, struct davy_ev_memory *m)
{
	struct drm_amdgpu_info_device device;
	struct drm_amdgpu_memory_info memory;
	uint32_t lost = 0;
	int err;

	memset(&memory, 0, sizeof(memory));
	memset(&device, 0, sizeof(device));
	err = amdgpu_info(fd, AMDGPU_INFO_MEMORY, &memory, sizeof(memory));
	if (err)
		return err;
	m->vram_total = memory.vram.total_heap_size;
	m->vram_used = memory.vram.heap_usage;
	m->visible_total = memory.cpu_accessible_vram.total_heap_size;
	m->visible_used = memory.cpu_accessible_vram.heap_usage;
	m->gtt_total = memory.gtt.total_heap_size;
	m->gtt_used = memory.gtt.heap_usage;
	amdgpu_info(fd, AMDGPU_INFO_NUM_EVICTIONS, &m->eviction_count, sizeof(m->eviction_count));
	if (!amdgpu_info(fd, AMDGPU_INFO_VRAM_LOST_COUNTER, &lost, sizeof(lost)))
		m->vram_lost_count = lost;
	if (!amdgpu_info(fd, AMDGPU_INFO_DEV_INFO, &device, sizeof(device)) &&
	    (device.ids_flags & AMDGPU_IDS_FLAGS_FUSION))
		m->flags |= DAVY_MEMORY_SHARED;
	return 0;
}

/* Queries the size first, then the data. */
static int i915_regions(int fd, struct drm_i915_query_item *item, void **ret_data)
{
	struct drm_i915_query query = { .num_items = 1, .items_ptr = (uintptr_t)item };
	int err = drmIoctl(fd, DRM_IOCTL_I915_QUERY, &query) ? -errno : 0;

	*ret_data = NULL;
	if (err || item->length <= 0 || item->length > QUERY_MAX)
		return err ? err : -EBADMSG;
	*ret_data = calloc(1, (size_t)item->length);
	if (!*ret_data)
		return -ENOMEM;
	item->data_ptr = (uintptr_t)*ret_data;
	return drmIoctl(fd, DRM_IOCTL_I915_QUERY, &query) ? -errno : 0;
}

static int gpu_query_i915(int fd, struct davy_ev_memory *m)
{
	struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_MEMORY_REGIONS };
	struct drm_i915_query_memory_regions *list = NULL;
	int err = i915_regions(fd, &item, (void **)&list);
	size_t room = err ? 0 : ((size_t)item.length - sizeof(*list)) / sizeof(list->regions[0]);

	for (size_t i = 0; !err && i < list->num_regions && i < room; i++) {
		const struct drm_i915_memory_region_info *r = &list->regions[i];

		if (r->region.memory_class != I915_MEMORY_CLASS_DEVICE)
			continue;
		m->vram_total += r->probed_size;
		m->vram_used += r->probed_size - r->unallocated_size;
	}
	free(list);
	if (!err && !m->vram_total)
		m->flags |= DAVY_MEMORY_SHARED;
	return err;
}

static int xe_ask(int fd, struct xe_device_query *query)
{
	return drmCommandWriteRead(fd, XE_DEVICE_QUERY, query, sizeof(*query));
}

static int gpu_query_xe(int fd, struct davy_ev_memory *m)
{
	struct xe_device_query query = { .query = XE_DEVICE_QUERY_MEM_REGIONS };
	struct xe_mem_regions *list;
	int err = xe_ask(fd, &query);
	size_t room;

	if (err || query.size < sizeof(*list) || query.size > QUERY_MAX)
		return err ? err : -EBADMSG;
	list = calloc(1, query.size);
	if (!list)
		return -ENOMEM;
	query.data = (uintptr_t)list;
	err = xe_ask(fd, &query);
	room = (query.size - sizeof(*list)) / sizeof(list->region[0]);
	for (size_t i = 0; !err && i < list->count && i < room; i++) {
		if (list->region[i].mem_class != XE_MEM_REGION_CLASS_VRAM)
			continue;
		m->vram_total += list->region[i].total_size;
		m->vram_used += list->region[i].used;
		m->visible_total += list->region[i].cpu_visible_size;
		m->visible_used += list->region[i].cpu_visible_used;
	}
	free(list);
	if (!err && !m->vram_total)
		m->flags |= DAVY_MEMORY_SHARED;
	return err;
}

int davy_gpu_query(const struct davy_gpu *gpu, struct davy_ev_memory *ret_memory)
{
	static const struct {
		const char *driver;
		int (*query)(int fd, struct davy_ev_memory *m);
	} rows[] = {
		{ "amdgpu", gpu_query_amdgpu },
		{ "i915", gpu_query_i915 },
		{ "xe", gpu_query_xe },
	};
	char path[PATH_MAX];
	size_t row = 0;
	DAVY_FD fd = -1;

	while (row < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[row].driver, gpu->driver) != 0)
		row++;
	if (row == sizeof(rows) / sizeof(rows[0]) || gpu->render < 0)
		return -EOPNOTSUPP;
	memset(ret_memory, 0, sizeof(*ret_memory));
	davy_copy_name(ret_memory->device, sizeof(ret_memory->device), gpu->device);
	if (davy_root_path(path, sizeof(path), "/dev/dri/renderD%d", gpu->render))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : rows[row].query(fd, ret_memory);
}

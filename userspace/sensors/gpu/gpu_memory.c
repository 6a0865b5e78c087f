/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/gpu_memory.h"

#include <errno.h>
#include <string.h>

#include "sensors/gpu/host_memory.h"

#define SELDOM_NS (5 * DAVY_NS_PER_S)
#define OFTEN_NS  (200 * DAVY_NS_PER_MS)

static void gpu_memory_attribute(const struct davy_gpu *gpu, const char *name, uint64_t *ret_value)
{
	uint64_t value;

	if (!davy_gpu_attribute(gpu, name, &value))
		*ret_value = value;
}

static int gpu_memory_read_amdgpu(const struct davy_gpu *gpu, struct davy_ev_memory *m)
{
	int err = davy_gpu_attribute(gpu, "mem_info_vram_total", &m->vram_total);

	if (err)
		return err;
	gpu_memory_attribute(gpu, "mem_info_vram_used", &m->vram_used);
	gpu_memory_attribute(gpu, "mem_info_vis_vram_total", &m->visible_total);
	gpu_memory_attribute(gpu, "mem_info_vis_vram_used", &m->visible_used);
	gpu_memory_attribute(gpu, "mem_info_gtt_total", &m->gtt_total);
	gpu_memory_attribute(gpu, "mem_info_gtt_used", &m->gtt_used);
	return 0;
}

static void gpu_memory_keep_counters(struct davy_ev_memory *m, const struct davy_ev_memory *from)
{
	m->eviction_count = from->eviction_count;
	m->vram_lost_count = from->vram_lost_count;
	m->flags = from->flags & ~DAVY_MEMORY_MAY_SUSPEND;
}

int davy_gpu_memory_read(const struct davy_gpu *gpu, bool counters, struct davy_ev_memory *memory)
{
	bool has_sysfs = !strcmp(gpu->driver, "amdgpu");
	struct davy_ev_memory before = *memory, query;
	int err = -EOPNOTSUPP;

	memset(memory, 0, sizeof(*memory));
	davy_copy_name(memory->device, sizeof(memory->device), gpu->device);
	gpu_memory_keep_counters(memory, &before);
	if (has_sysfs)
		err = gpu_memory_read_amdgpu(gpu, memory);
	if ((counters || !has_sysfs) && davy_gpu_awake(gpu) && !davy_gpu_query(gpu, &query)) {
		if (err)
			*memory = query;
		gpu_memory_keep_counters(memory, &query);
		err = 0;
	}
	if (davy_gpu_may_suspend(gpu))
		memory->flags |= DAVY_MEMORY_MAY_SUSPEND;
	davy_host_memory_read(memory);
	return err;
}

/* Time until "left" bytes are filled at the last rate, ns; UINT64_MAX: never. */
static uint64_t gpu_memory_time_left(uint64_t left, uint64_t used, uint64_t before, uint64_t ago_ns)
{
	uint64_t grown = used > before ? used - before : 0;

	if (!grown || !ago_ns)
		return UINT64_MAX;
	return left / grown >= UINT64_MAX / ago_ns ? UINT64_MAX : left / grown * ago_ns;
}

static uint64_t gpu_memory_interval_of(uint64_t total, uint64_t used, uint64_t before,
				       uint64_t ago_ns)
{
	uint64_t left = total > used ? total - used : 0, ns;

	if (!total)
		return SELDOM_NS;
	if (left < total / 10)
		return OFTEN_NS;
	ns = gpu_memory_time_left(left, used, before, ago_ns) / 20;
	if (left < total / 4 && ns > DAVY_NS_PER_S)
		ns = DAVY_NS_PER_S;
	return ns < OFTEN_NS ? OFTEN_NS : ns > SELDOM_NS ? SELDOM_NS : ns;
}

static uint64_t gpu_memory_host_used(const struct davy_ev_memory *m)
{
	return m->host_total > m->host_available ? m->host_total - m->host_available : 0;
}

/*
 * An integrated GPU's VRAM is a part of host memory reserved at boot, often small and always full.
 * Its available memory is the sum of VRAM and GTT.
 */
uint64_t davy_gpu_memory_interval(const struct davy_ev_memory *now,
				  const struct davy_ev_memory *before, uint64_t ago_ns)
{
	uint64_t vram, gtt, host;

	if (!before)
		return OFTEN_NS;
	vram = gpu_memory_interval_of(now->vram_total, now->vram_used, before->vram_used, ago_ns);
	gtt = gpu_memory_interval_of(now->gtt_total, now->gtt_used, before->gtt_used, ago_ns);
	host = gpu_memory_interval_of(now->host_total, gpu_memory_host_used(now),
				      gpu_memory_host_used(before), ago_ns);
	if (now->flags & DAVY_MEMORY_SHARED)
		vram = gtt = gpu_memory_interval_of(now->vram_total + now->gtt_total,
						    now->vram_used + now->gtt_used,
						    before->vram_used + before->gtt_used, ago_ns);
	if (gtt < vram)
		vram = gtt;
	return host < vram ? host : vram;
}

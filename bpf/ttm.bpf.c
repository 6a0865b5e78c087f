/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for all drivers that use TTM, in the order in which trouble occurs: a heap has no room
 * (-ENOSPC of ttm_resource_alloc: eviction follows, the earliest precursor); buffers are evicted;
 * no placement is left after evicting (-ENOMEM of ttm_bo_validate; a driver may then try a wider
 * one); pages of system memory cannot be allocated or are swapped out.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "moves.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define PLACE_VRAM 2 /* TTM_PL_VRAM; drivers' own heaps follow it (xe: a second VRAM is 3) */

struct pending_move {
	__u32 from;
	__u32 to;
};

/* Running moves, by thread: the source is unknown when a move ends. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct pending_move);
} moving SEC(".maps");

/* ttm_device to its struct device, learned from placements: swapping names only the former. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, __u64);
} ttm_devices SEC(".maps");

static __always_inline int alloc_failed(struct ttm_buffer_object *bo, int error, __u16 stage,
					__u32 memory)
{
	struct davy_sum_key key = {
		.device = (__u64)BPF_CORE_READ(bo, base.dev, dev),
		.pid = davy_current(),
		.fact = DAVY_FACT_ALLOC_FAILED,
		.what = stage,
		.detail = memory,
		.error = error,
	};

	return fact_count(&key, 0, 0, BPF_CORE_READ(bo, base.size));
}

SEC("?fexit/ttm_resource_alloc")
int BPF_PROG(resource_alloc_done, struct ttm_buffer_object *bo, struct ttm_place *place)
{
	__u64 ret = 0;

	if (bpf_get_func_ret(ctx, &ret) || (int)ret != -ENOSPC)
		return 0;
	return alloc_failed(bo, (int)ret, DAVY_ALLOC_RESOURCE, BPF_CORE_READ(place, mem_type));
}

SEC("?fexit/ttm_bo_validate")
int BPF_PROG(validate_done, struct ttm_buffer_object *bo)
{
	__u64 ret = 0;

	if (bpf_get_func_ret(ctx, &ret) || ((int)ret != -ENOMEM && (int)ret != -ENOSPC))
		return 0;
	return alloc_failed(bo, (int)ret, DAVY_ALLOC_VALIDATE, 0);
}

SEC("?fentry/ttm_bo_handle_move_mem")
int BPF_PROG(move_begins, struct ttm_buffer_object *bo, struct ttm_resource *to)
{
	__u64 bdev = (__u64)BPF_CORE_READ(bo, bdev), dev = (__u64)BPF_CORE_READ(bo, base.dev, dev);
	struct ttm_resource *from = BPF_CORE_READ(bo, resource);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct pending_move m = {};

	if (!bpf_map_lookup_elem(&ttm_devices, &bdev))
		bpf_map_update_elem(&ttm_devices, &bdev, &dev, BPF_ANY);
	if (!from)
		return 0; /* a first placement */
	m.from = BPF_CORE_READ(from, mem_type);
	m.to = BPF_CORE_READ(to, mem_type);
	if (m.from != m.to)
		bpf_map_update_elem(&moving, &tid, &m, BPF_ANY);
	return 0;
}

static __always_inline bool reported_by_driver(struct ttm_buffer_object *bo)
{
	__u32 zero = 0;
	struct davy_settings *s = bpf_map_lookup_elem(&settings, &zero);
	char name[8] = {};

	if (!s || !s->amdgpu_moves)
		return false;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(bo, base.dev, driver, name));
	return name[0] == 'a' && name[1] == 'm' && name[2] == 'd' && name[3] == 'g' &&
	       name[4] == 'p' && name[5] == 'u' && !name[6];
}

/* A move in two steps (-EMULTIHOP) comes here once per completed step. */
SEC("?fexit/ttm_bo_handle_move_mem")
int BPF_PROG(move_ends, struct ttm_buffer_object *bo)
{
	__u64 ret = 0;
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct pending_move *known = bpf_map_lookup_elem(&moving, &tid), m;

	if (!known)
		return 0;
	m = *known;
	bpf_map_delete_elem(&moving, &tid);
	if (bpf_get_func_ret(ctx, &ret) || (int)ret)
		return 0;
	if (reported_by_driver(bo))
		return 0;
	if (m.from >= PLACE_VRAM && m.to < PLACE_VRAM)
		return moved(bo, davy_owner_of(bo), 0, true);
	if (m.from < PLACE_VRAM && m.to >= PLACE_VRAM && move_returns(bo))
		return moved(bo, davy_owner_of(bo), 0, false);
	return 0;
}

/* In the context of the process that needs the pages; a stall of several seconds may follow. */
SEC("?fexit/ttm_tt_swapout")
int BPF_PROG(swapped_out, struct ttm_device *bdev, struct ttm_tt *pages)
{
	struct davy_sum_key key = { .fact = DAVY_FACT_TTM_SWAPOUT, .pid = davy_current() };
	__u64 ret = 0, id = (__u64)bdev, *dev = bpf_map_lookup_elem(&ttm_devices, &id);

	if (bpf_get_func_ret(ctx, &ret) || (int)ret < 0)
		return 0;
	if (dev)
		key.device = *dev;
	return fact_count(&key, 0, (__u64)BPF_CORE_READ(pages, num_pages) * 4096, 0);
}

SEC("?fexit/ttm_tt_populate")
int BPF_PROG(populate_done, struct ttm_device *bdev, struct ttm_tt *pages)
{
	struct davy_sum_key key = {
		.pid = davy_current(),
		.fact = DAVY_FACT_ALLOC_FAILED,
		.what = DAVY_ALLOC_POPULATE,
		.error = -ENOMEM,
	};
	__u64 ret = 0, id = (__u64)bdev, *dev = bpf_map_lookup_elem(&ttm_devices, &id);

	if (bpf_get_func_ret(ctx, &ret) || (int)ret != -ENOMEM)
		return 0;
	if (dev)
		key.device = *dev;
	return fact_count(&key, 0, 0, (__u64)BPF_CORE_READ(pages, num_pages) * 4096);
}

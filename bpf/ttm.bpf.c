/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations that fail, of every driver that uses TTM, in the order in which they come: a heap has no
 * room (-ENOSPC of ttm_resource_alloc: eviction follows, the earliest sign), no placement was left after
 * evicting (-ENOMEM of ttm_bo_validate: the verdict). Hot while memory is full, so counted per
 * (device, process, stage) and told seldom.
 */
#include "wire.h"
#include "maps.bpf.h"
#include "compat.bpf.h"
#include "alloc.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("?fexit/ttm_resource_alloc")
int BPF_PROG(resource_alloc_done, struct ttm_buffer_object *bo, struct ttm_place *place)
{
	struct dl_alloc_key key = { .stage = DL_ALLOC_RESOURCE };
	__u64 ret = 0;

	if (bpf_get_func_ret(ctx, &ret) || (int)ret != -ENOSPC)
		return 0;
	return alloc_failed(&key, BPF_CORE_READ(bo, base.dev, dev), (int)ret,
			    BPF_CORE_READ(place, mem_type), BPF_CORE_READ(bo, base.size));
}

SEC("?fexit/ttm_bo_validate")
int BPF_PROG(validate_done, struct ttm_buffer_object *bo)
{
	struct dl_alloc_key key = { .stage = DL_ALLOC_VALIDATE };
	__u64 ret = 0;

	if (bpf_get_func_ret(ctx, &ret) || ((int)ret != -ENOMEM && (int)ret != -ENOSPC))
		return 0;
	return alloc_failed(&key, BPF_CORE_READ(bo, base.dev, dev), (int)ret, 0,
			    BPF_CORE_READ(bo, base.size));
}

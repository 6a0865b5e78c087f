/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffer moves between VRAM and elsewhere, summed per (device, evictor, owner). The evictor is the
 * process in whose context the move happens; the owner is the creator of the BO.
 */
#ifndef DAVY_MOVES_BPF_H
#define DAVY_MOVES_BPF_H

#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_MAX_MOVERS);
	__type(key, struct davy_mover_key);
	__type(value, struct davy_mover);
} movers SEC(".maps");

/* BOs that were moved out of VRAM: only these can move back. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DAVY_MAX_EVICTED);
	__type(key, __u64);
	__type(value, __u8);
} evicted SEC(".maps");

/*
 * BO to the process that made its first handle, filled in drm.bpf.c; a TTM BO begins with its GEM
 * object.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DAVY_MAX_OWNERS);
	__type(key, __u64);
	__type(value, __u32);
} owners SEC(".maps");

static __always_inline __u32 davy_owner_of(void *bo)
{
	__u64 id = (__u64)bo;
	__u32 *owner = bpf_map_lookup_elem(&owners, &id);

	return owner ? *owner : 0;
}

static __always_inline struct davy_mover *mover_of(struct davy_mover_key *key, __u32 owner_pasid)
{
	struct davy_mover *known = bpf_map_lookup_elem(&movers, key);
	struct davy_mover fresh = {};

	if (known)
		return known;
	davy_dev_name(fresh.dev, (struct device *)key->device);
	fresh.owner_pasid = owner_pasid;
	/* Young: the agent deletes old ones. And it may speak now. */
	fresh.spoke_ns = bpf_ktime_get_boot_ns() - DAVY_MOVE_EDGE_NS;
	davy_put(&movers, key, &fresh, BPF_NOEXIST, DAVY_LOSS_MOVERS_FULL);
	return bpf_map_lookup_elem(&movers, key);
}

static __always_inline void mover_speak(struct davy_mover *m, struct davy_mover_key *key)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct davy_wire_bo_moved *e;

	if (now - m->spoke_ns < DAVY_MOVE_EDGE_NS)
		return;
	m->spoke_ns = now;
	e = davy_reserve(DAVY_WIRE_BO_MOVED, sizeof(*e));
	if (!e)
		return;
	e->head.tgid = key->evictor_tgid;
	e->device = key->device;
	__builtin_memcpy(e->dev, m->dev, sizeof(e->dev));
	e->owner_tgid = key->owner_tgid;
	e->owner_pasid = m->owner_pasid;
	e->out_bytes = m->out_bytes;
	e->in_bytes = m->in_bytes;
	e->out_count = m->out_count;
	e->in_count = m->in_count;
	bpf_ringbuf_submit(e, 0);
}

static __always_inline int moved(struct ttm_buffer_object *bo, __u32 owner, __u32 owner_pasid, bool out)
{
	__u64 size = BPF_CORE_READ(bo, base.size), id = (__u64)bo;
	struct davy_mover_key key = {
		.device = (__u64)BPF_CORE_READ(bo, base.dev, dev),
		.evictor_tgid = davy_current(),
		.owner_tgid = owner,
	};
	struct davy_mover *m = mover_of(&key, owner_pasid);
	__u8 yes = 1;

	if (out)
		bpf_map_update_elem(&evicted, &id, &yes, BPF_ANY);
	if (!m)
		return 0;
	if (out) {
		__sync_fetch_and_add(&m->out_count, 1);
		__sync_fetch_and_add(&m->out_bytes, size); /* last: the agent looks for moves by it */
	} else {
		__sync_fetch_and_add(&m->in_count, 1);
		__sync_fetch_and_add(&m->in_bytes, size);
	}
	mover_speak(m, &key);
	return 0;
}

/* True if a BO that moves into VRAM was there before: a first placement is no move. */
static __always_inline bool move_returns(void *bo)
{
	__u64 id = (__u64)bo;

	return bpf_map_delete_elem(&evicted, &id) == 0;
}

#endif

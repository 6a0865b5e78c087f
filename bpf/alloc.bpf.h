/* SPDX-License-Identifier: GPL-2.0 */
/* Counting failed allocations, for the objects that see them; each has a map of its own. */
#ifndef DL_ALLOC_BPF_H
#define DL_ALLOC_BPF_H

#include <asm-generic/errno.h>

#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DL_MAX_ALLOCS);
	__type(key, struct dl_alloc_key);
	__type(value, struct dl_alloc);
} allocs SEC(".maps");

/*
 * The count of a burst's last 20 ms is told with the next burst: nothing polls this map, a failure that
 * matters speaks by itself. "what" is the memory type, for an ioctl its number. Runs in the context of
 * the process that asked.
 */
static __always_inline int alloc_failed(struct dl_alloc_key *key, struct device *dev, int error,
					__u32 what, __u64 bytes)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct dl_wire_alloc_failed *e;
	struct dl_alloc *a, fresh = {};

	key->device = (__u64)dev;
	key->tgid = bpf_get_current_pid_tgid() >> 32;
	a = bpf_map_lookup_elem(&allocs, key);
	if (!a) {
		bpf_map_update_elem(&allocs, key, &fresh, BPF_NOEXIST);
		a = bpf_map_lookup_elem(&allocs, key);
		if (!a)
			return 0;
	}
	__sync_fetch_and_add(&a->count, 1);
	if (now - a->spoke_ns < DL_MOVE_EDGE_NS)
		return 0;
	a->spoke_ns = now;
	e = dl_reserve(DL_WIRE_ALLOC_FAILED, sizeof(*e));
	if (!e)
		return 0;
	dl_dev_name(e->dev, dev);
	e->stage = key->stage;
	e->error = error;
	e->what = what;
	e->bytes = bytes;
	e->count = a->count;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

#endif

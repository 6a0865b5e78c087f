/* SPDX-License-Identifier: GPL-2.0 */
/* Owners of amdgpu PASIDs. */
#ifndef DAVY_PASID_BPF_H
#define DAVY_PASID_BPF_H

#include "maps.bpf.h"

/* PASID to the process that uses it, as last reported. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} pasids SEC(".maps");

static __always_inline __u32 pasid_owner(__u32 pasid)
{
	__u32 *tgid = bpf_map_lookup_elem(&pasids, &pasid);

	return tgid ? *tgid : 0;
}

#endif

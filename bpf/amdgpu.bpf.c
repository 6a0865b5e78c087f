/* SPDX-License-Identifier: GPL-2.0 */
/*
 * amdgpu tracepoints: interrupt vectors that are faults, buffer moves between memory domains, the
 * lifetime of PASIDs. Thousands of interrupt vectors a second
 * are traffic: they are dropped by (client, source) before anything else is read.
 */
#include "wire.h"
#include "maps.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Placement numbers of amdgpu_bo_move (amdgpu_ttm.h): 0 system, 1 GTT, 2 VRAM; -1 none. */
#define PLACE_VRAM 2

/* Interrupt handler client ids, include/soc15_ih_clientid.h; legacy (gfx6 to gfx8) has only 0. */
enum ih_client {
	IH_LEGACY = 0x00,
	IH_VMC1 = 0x06,
	IH_GFX = 0x0a,
	IH_VMC = 0x12,
	IH_GRBM_CP = 0x14,
	IH_UTCL2 = 0x1b,
};

#define SRC_LEGACY_INVALID_PAGE 146
#define SRC_LEGACY_PROTECTION	147
#define SRC_CP_BAD_OPCODE	183
#define SRC_CP_PRIV_REG		184
#define SRC_CP_PRIV_INSTR	185
#define IV_RETRY		0x80 /* src_data[1], gfx9 to gfx12.0 (gmc_v9_0.c, gmc_v10_0.c) */
#define IV_WRITE		0x20

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DL_MAX_MOVERS);
	__type(key, struct dl_mover_key);
	__type(value, struct dl_mover);
} movers SEC(".maps");

/* BOs that were moved out of VRAM: only these can come back. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DL_MAX_EVICTED);
	__type(key, __u64);
	__type(value, __u8);
} evicted SEC(".maps");

static __always_inline __u16 fault_class(__u32 client, __u32 src, __u32 data1)
{
	bool retry = data1 & IV_RETRY;

	if (client == IH_LEGACY)
		return src == SRC_LEGACY_INVALID_PAGE || src == SRC_LEGACY_PROTECTION ? DL_FAULT_VM :
											DL_FAULT_NONE;
	if (client == IH_GRBM_CP)
		return src >= SRC_CP_BAD_OPCODE && src <= SRC_CP_PRIV_INSTR ? DL_FAULT_ILLEGAL :
									      DL_FAULT_NONE;
	if (client == IH_VMC || client == IH_UTCL2) {
		if (src > 1)
			return DL_FAULT_NONE;
		return src == 1 || retry ? DL_FAULT_VM_RETRY : DL_FAULT_VM;
	}
	if ((client == IH_VMC1 || client == IH_GFX) && src == 0)
		return retry ? DL_FAULT_VM_RETRY : DL_FAULT_VM;
	return DL_FAULT_NONE;
}

/* adev from the IH ring's address: adev->irq holds ih, ih1, ih2, ih_soft, numbered 0 to 3. */
static __always_inline struct amdgpu_device *iv_device(struct amdgpu_ih_ring *ih, __u32 index)
{
	__u64 offset = bpf_core_field_offset(struct amdgpu_device, irq);

	if (index == 0)
		offset += bpf_core_field_offset(struct amdgpu_irq, ih);
	else if (index == 1)
		offset += bpf_core_field_offset(struct amdgpu_irq, ih1);
	else
		offset += bpf_core_field_offset(struct amdgpu_irq, ih2);
	return (void *)ih - offset;
}

/* Hard interrupt or kworker context: current is not the culprit, the PASID is. */
SEC("?tp_btf/amdgpu_iv")
int BPF_PROG(iv_seen, unsigned int ih_index, struct amdgpu_iv_entry *iv)
{
	__u32 client, src, data0, data1;
	struct dl_wire_gpu_fault *e;
	struct amdgpu_device *adev;
	__u16 class;

	/* 3: handed on to the software ring (7.2: also gfx6 faults), counted when it first came */
	if (!iv || ih_index > 2)
		return 0;
	client = BPF_CORE_READ(iv, client_id);
	src = BPF_CORE_READ(iv, src_id);
	data1 = BPF_CORE_READ(iv, src_data[1]);
	class = fault_class(client, src, data1);
	if (class == DL_FAULT_NONE)
		return 0;
	e = dl_reserve(DL_WIRE_GPU_FAULT, sizeof(*e));
	if (!e)
		return 0;
	data0 = BPF_CORE_READ(iv, src_data[0]);
	e->fault_class = class;
	e->client_id = (__u16)client;
	e->src_id = (__u16)src;
	e->pasid = BPF_CORE_READ(iv, pasid);
	e->vmid = BPF_CORE_READ(iv, vmid);
	if (client != IH_LEGACY && class != DL_FAULT_ILLEGAL) {
		e->addr = ((__u64)data0 << 12) | ((__u64)(data1 & 0xf) << 44);
		e->flags = DL_FAULT_ADDR_KNOWN | (data1 & IV_WRITE ? DL_FAULT_WRITE : 0);
	}
	adev = iv_device(BPF_CORE_READ(iv, ih), ih_index);
	dl_dev_name(e->dev, BPF_CORE_READ(adev, dev));
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static __always_inline struct dl_mover *mover_of(struct dl_mover_key *key, struct amdgpu_bo *bo)
{
	struct dl_mover *known = bpf_map_lookup_elem(&movers, key);
	struct dl_mover fresh = {};

	if (known)
		return known;
	dl_dev_name(fresh.dev, BPF_CORE_READ(bo, tbo.base.dev, dev));
	fresh.owner_pasid = BPF_CORE_READ(bo, vm_bo, vm, pasid);
	if (bpf_map_update_elem(&movers, key, &fresh, BPF_NOEXIST))
		dl_lost(DL_LOSS_MOVERS_FULL);
	return bpf_map_lookup_elem(&movers, key);
}

static __always_inline void mover_speak(struct dl_mover *m, struct dl_mover_key *key)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct dl_wire_bo_moved *e;

	if (now - m->spoke_ns < DL_MOVE_EDGE_NS)
		return;
	m->spoke_ns = now;
	e = dl_reserve(DL_WIRE_BO_MOVED, sizeof(*e));
	if (!e)
		return;
	e->head.tgid = key->evictor_tgid;
	__builtin_memcpy(e->dev, m->dev, sizeof(e->dev));
	e->owner_tgid = key->owner_tgid;
	e->owner_pasid = m->owner_pasid;
	e->out_bytes = m->out_bytes;
	e->in_bytes = m->in_bytes;
	e->out_count = m->out_count;
	e->in_count = m->in_count;
	bpf_ringbuf_submit(e, 0);
}

/*
 * Called before the move, in the context of whoever needs the memory. A free (new -1) is no move; a
 * first placement is none either, but on 6.1 it looks like one from system memory (old 0): a BO
 * counts as back in VRAM only when it was seen going out.
 */
SEC("?tp_btf/amdgpu_bo_move")
int BPF_PROG(bo_moved, struct amdgpu_bo *bo, __u32 new_place, __u32 old_place)
{
	__u64 size, id = (__u64)bo;
	struct dl_mover_key key = {};
	struct dl_mover *m;
	__u8 out = 1;

	if (!bo || new_place == old_place)
		return 0;
	if (new_place == (__u32)-1) {
		bpf_map_delete_elem(&evicted, &id);
		return 0;
	}
	if (old_place == PLACE_VRAM)
		bpf_map_update_elem(&evicted, &id, &out, BPF_ANY);
	else if (new_place != PLACE_VRAM || bpf_map_delete_elem(&evicted, &id))
		return 0;
	key.adev = (__u64)BPF_CORE_READ(bo, tbo.base.dev);
	key.evictor_tgid = bpf_get_current_pid_tgid() >> 32;
	key.owner_tgid = dl_vm_tgid(BPF_CORE_READ(bo, vm_bo, vm));
	m = mover_of(&key, bo);
	if (!m)
		return 0;
	size = BPF_CORE_READ(bo, tbo.base.size);
	if (old_place == PLACE_VRAM) {
		__sync_fetch_and_add(&m->out_bytes, size);
		__sync_fetch_and_add(&m->out_count, 1);
	} else {
		__sync_fetch_and_add(&m->in_bytes, size);
		__sync_fetch_and_add(&m->in_count, 1);
	}
	mover_speak(m, &key);
	return 0;
}

static __always_inline int pasid_event(__u32 pasid, __u32 freed)
{
	struct dl_wire_pasid *e = dl_reserve(DL_WIRE_PASID, sizeof(*e));

	if (!e)
		return 0;
	e->pasid = pasid;
	e->freed = freed;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?tp_btf/amdgpu_pasid_allocated")
int BPF_PROG(pasid_allocated, unsigned int pasid)
{
	return pasid_event(pasid, 0);
}

SEC("?tp_btf/amdgpu_pasid_freed")
int BPF_PROG(pasid_freed, unsigned int pasid)
{
	return pasid_event(pasid, 1);
}

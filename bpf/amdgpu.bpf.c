/* SPDX-License-Identifier: GPL-2.0 */
/*
 * amdgpu tracepoints: interrupt vectors that are faults, buffer moves and placements, owners of
 * PASIDs and VMIDs. Thousands of interrupt vectors per second are normal: they are dropped by
 * (client, source) before anything else is read.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "amdgpu_iv.bpf.h"
#include "moves.bpf.h"
#include "pasid.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Placement numbers of amdgpu_bo_move (amdgpu_ttm.h): 0 system, 1 GTT, 2 VRAM; -1 none. */
#define PLACE_VRAM  2
#define DOMAIN_VRAM 4 /* AMDGPU_GEM_DOMAIN_VRAM */
#define IS_APU	    0x00020000UL /* AMD_IS_APU, amd_shared.h */

/* (adev, VMID) to its current PASID, for the vectors of gfx6 to gfx8: they have one VM hub. */
struct vmid_key {
	__u64 adev;
	__u32 vmid;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct vmid_key);
	__type(value, __u32);
} vmids SEC(".maps");

static __always_inline __u32 pasid_of_vmid(struct amdgpu_device *adev, __u32 vmid)
{
	struct vmid_key key = { .adev = (__u64)adev, .vmid = vmid };
	__u32 *pasid = vmid ? bpf_map_lookup_elem(&vmids, &key) : 0;

	return pasid ? *pasid : 0;
}

/*
 * Derives adev from the IH ring's address: adev->irq contains ih, ih1, ih2, ih_soft, numbered 0 to
 * 3.
 */
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

#define IV_BYTES 128 /* the entry has 88 on 7.2 */

/* A member of the copy of the entry: one copy costs less than one for each member. */
#define IV(member)                                                                                 \
	(*(typeof(((struct amdgpu_iv_entry *)0)->member) *)(                                       \
		(char *)copy + bpf_core_field_offset(struct amdgpu_iv_entry, member)))

/* Runs in hard interrupt or kworker context: the PASID names the culprit, not current. */
SEC("?tp_btf/amdgpu_iv")
int BPF_PROG(iv_seen, unsigned int ih_index, struct amdgpu_iv_entry *iv)
{
	struct davy_sum_key key = { .fact = DAVY_FACT_GPU_FAULT };
	__u32 size = bpf_core_type_size(struct amdgpu_iv_entry);
	__u64 copy[IV_BYTES / sizeof(__u64)];
	struct amdgpu_device *adev;
	struct iv_meaning meaning;

	/*
	 * 3: forwarded to the software ring (7.2: also gfx6 faults); it was counted at its first
	 * arrival
	 */
	if (!iv || ih_index > 2 ||
	    bpf_probe_read_kernel(copy, size < IV_BYTES ? size : IV_BYTES, iv))
		return 0;
	meaning = iv_decode(IV(client_id), IV(src_id), IV(src_data[0]), IV(src_data[1]));
	if (meaning.fault_class == DAVY_FAULT_NONE)
		return 0;
	adev = iv_device(IV(ih), ih_index);
	key.device = (__u64)BPF_CORE_READ(adev, dev);
	key.pasid = IV(pasid);
	if (!key.pasid && IV(client_id) == IH_LEGACY)
		key.pasid = pasid_of_vmid(adev, IV(vmid));
	key.what = meaning.fault_class;
	key.detail = DAVY_FAULT_DETAIL(IV(vmid), IV(client_id), IV(src_id), meaning.flags);
	return fact_count(&key, 0, 0, meaning.addr);
}

SEC("?tp_btf/amdgpu_vm_grab_id")
int BPF_PROG(vmid_grabbed, struct amdgpu_vm *vm, struct amdgpu_ring *ring, struct amdgpu_job *job)
{
	struct vmid_key key = {};
	__u32 pasid;

	if (!vm || !ring || !job)
		return 0;
	key.adev = (__u64)BPF_CORE_READ(ring, adev);
	key.vmid = BPF_CORE_READ(job, vmid);
	pasid = BPF_CORE_READ(vm, pasid);
	if (key.vmid && pasid)
		bpf_map_update_elem(&vmids, &key, &pasid, BPF_ANY);
	return 0;
}

/*
 * Called before the move, in the context of the process that needs the memory. A free (new -1) is
 * no move. A first placement is no move either, but on 6.1 it looks like one from system memory
 * (old 0). Therefore a BO counts as back in VRAM only if it was seen leaving.
 */
SEC("?tp_btf/amdgpu_bo_move")
int BPF_PROG(bo_moved, struct amdgpu_bo *bo, __u32 new_place, __u32 old_place)
{
	struct ttm_buffer_object *ttm;
	struct amdgpu_vm *vm;
	__u32 owner;
	__u64 id;

	if (!bo || new_place == old_place || !davy_setting(amdgpu_moves))
		return 0;
	ttm = (void *)bo + bpf_core_field_offset(struct amdgpu_bo, tbo);
	id = (__u64)ttm;
	if (new_place == (__u32)-1) {
		bpf_map_delete_elem(&evicted, &id);
		return 0;
	}
	if (old_place != PLACE_VRAM && (new_place != PLACE_VRAM || !move_returns(ttm)))
		return 0;
	vm = BPF_CORE_READ(bo, vm_bo, vm); /* for a shared BO the newest VM, not the creator's */
	owner = davy_owner_of(ttm);
	if (!owner)
		owner = davy_vm_tgid(vm);
	return moved(ttm, owner, vm ? BPF_CORE_READ(vm, pasid) : 0, old_place == PLACE_VRAM);
}

/* If VRAM is full, the kernel silently uses GTT (amdgpu_gem_object_create). */
SEC("?tp_btf/amdgpu_bo_create")
int BPF_PROG(bo_created, struct amdgpu_bo *bo)
{
	struct davy_sum_key key = { .fact = DAVY_FACT_VRAM_SPILL, .pid = davy_current() };
	struct amdgpu_device *adev;

	if (!bo || !(BPF_CORE_READ(bo, preferred_domains) & DOMAIN_VRAM) ||
	    BPF_CORE_READ(bo, tbo.resource, mem_type) == PLACE_VRAM)
		return 0;
	adev = (void *)BPF_CORE_READ(bo, tbo.base.dev) -
	       bpf_core_field_offset(struct amdgpu_device, ddev);
	if (BPF_CORE_READ(adev, flags) & IS_APU)
		return 0; /* on an APU, GTT is equivalent and requested together with VRAM */
	key.device = (__u64)BPF_CORE_READ(bo, tbo.base.dev, dev);
	return fact_count(&key, 0, BPF_CORE_READ(bo, tbo.base.size), 0);
}

static __always_inline int pasid_event(__u32 pasid, __u32 freed)
{
	struct davy_wire_pasid *e;
	__u32 tgid = davy_current();

	if (freed)
		bpf_map_delete_elem(&pasids, &pasid);
	else
		bpf_map_update_elem(&pasids, &pasid, &tgid, BPF_ANY);
	e = davy_reserve(DAVY_WIRE_PASID, sizeof(*e));
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

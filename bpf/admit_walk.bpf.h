/* SPDX-License-Identifier: GPL-2.0 */
/* The objects that existed before the account of VRAM. Only admit.bpf.c includes this, once. */
#ifndef DAVY_ADMIT_WALK_BPF_H
#define DAVY_ADMIT_WALK_BPF_H

/*
 * Objects that existed before the account: those with a handle in an open file, and those of its
 * address space, where the page tables are. A shared one belongs to the first user that is found.
 */
struct walk {
	struct cgroup *own;
	void *at; /* root of the handles, or a node of a list */
	void *end;
	__u64 index;
	bool moved; /* into VRAM, by GEM_OP */
};

static __noinline int adopt(struct amdgpu_bo *bo, struct cgroup *own, bool moved)
{
	struct lineage *of = lineage_of(own);
	struct object fresh = {}, *kept;
	struct amdgpu_device *adev;
	__u64 id = (__u64)bo;
	__u32 users = 0;

	if (!bo || !of || !(BPF_CORE_READ(bo, preferred_domains) & DOMAIN_VRAM))
		return 0;
	adev = adev_of(BPF_CORE_READ(bo, tbo.base.dev));
	if (!device_of(adev))
		return 0;
	__builtin_memcpy(&fresh.of, of, sizeof(fresh.of));
	fresh.device = (__u64)BPF_CORE_READ(adev, dev);
	fresh.size = BPF_CORE_READ(bo, tbo.base.size);
	if (object_put(id, &fresh, BPF_NOEXIST))
		return 0;
	credit(&fresh, own, 0, moved);
	bpf_probe_read_kernel(&users, sizeof(users),
			      (void *)bo +
				      bpf_core_field_offset(struct amdgpu_bo, tbo.base.refcount));
	kept = users ? 0 : bpf_map_lookup_elem(&objects, &id);
	if (kept) /* freed meanwhile, unseen */
		object_gone(id, kept);
	return 0;
}

static __always_inline bool is_node(void *entry)
{
	return ((__u64)entry & 3) == 2 && (__u64)entry > 4096;
}

/* The handle at "index", or the next place where one can be. */
static long step_handle(__u32 number, struct walk *w)
{
	__u32 shift = 0, depth = 0;
	void *entry = w->at;

	for (; depth < 6 && is_node(entry); depth++) {
		struct xa_node *node = entry - 2;

		shift = BPF_CORE_READ(node, shift) & 63;
		if (!depth && w->index >> shift >= 64)
			return 1;
		bpf_probe_read_kernel(&entry, sizeof(entry),
				      (void *)node + bpf_core_field_offset(struct xa_node, slots) +
					      (w->index >> shift & 63) * sizeof(entry));
	}
	if (entry && !((__u64)entry & 3))
		adopt(entry - bpf_core_field_offset(struct amdgpu_bo, tbo.base), w->own, w->moved);
	w->index = ((w->index >> shift) + 1) << shift;
	return !depth;
}

static long step_list(__u32 number, struct walk *w)
{
	struct amdgpu_vm_bo_base *base;

	if (!w->at || w->at == w->end)
		return 1;
	base = w->at - bpf_core_field_offset(struct amdgpu_vm_bo_base, vm_status);
	adopt(BPF_CORE_READ(base, bo), w->own, false);
	bpf_probe_read_kernel(&w->at, sizeof(w->at), w->at);
	return 0;
}

static __always_inline void walk_list(struct cgroup *own, void *head)
{
	struct walk w = { .own = own, .end = head };

	bpf_probe_read_kernel(&w.at, sizeof(w.at), head);
	bpf_loop(DAVY_MAX_VRAM_BOS, step_list, &w, 0);
}

#define WALK_LIST(own, vm, name)                                                                   \
	do {                                                                                       \
		if (bpf_core_field_exists((vm)->name))                                             \
			walk_list(own,                                                             \
				  (void *)(vm) + bpf_core_field_offset(struct amdgpu_vm, name));   \
	} while (0)

#define WALK_STATUS(own, vm, name)                                                                 \
	do {                                                                                       \
		WALK_LIST(own, vm, name.evicted);                                                  \
		WALK_LIST(own, vm, name.needs_update);                                             \
		WALK_LIST(own, vm, name.idle);                                                     \
	} while (0)

/*
 * Objects whose end was not seen, because the kernel skipped one program or both: no user is left, a
 * freed one has no VRAM any more (ttm_resource_free() clears the pointer; memory of a destroyed
 * object mostly keeps that), or the memory is something else by now.
 */
static long swept(struct bpf_map *map, __u64 *id, struct object *bo, void *with)
{
	struct amdgpu_bo *of = (void *)*id;
	struct drm_device *drm = BPF_CORE_READ(of, tbo.base.dev);
	__u32 users = 0;

	bpf_probe_read_kernel(&users, sizeof(users),
			      (void *)of +
				      bpf_core_field_offset(struct amdgpu_bo, tbo.base.refcount));
	if (!drm || (__u64)BPF_CORE_READ(adev_of(drm), dev) != bo->device ||
	    BPF_CORE_READ(of, tbo.base.size) != bo->size ||
	    (bo->freed && !BPF_CORE_READ(of, tbo.resource)))
		object_gone(*id, bo);
	else if (!users && is_first_end(bo))
		debit(bo);
	return 0;
}

#endif

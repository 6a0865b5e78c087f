/* SPDX-License-Identifier: GPL-2.0 */
/*
 * VRAM of amdgpu as a guarded resource. The account: what the driver made and has not freed, by
 * cgroup and device; page tables and other buffers of the driver for a process included. The
 * admission (BPF LSM): an allocation is looked at before the driver sees it, and refused with
 * -ENOMEM over the quota of a cgroup, or into the reserve of a device. An allowed one is charged at
 * once; the account replaces that charge by the size of what is really made.
 *
 * A BO belongs to the cgroup of the process that made it until the driver frees it. It does not
 * matter where the BO is then, or which process uses it. The refusals end when the agent ends,
 * because the kernel closes its links, unless these are pinned (vram_pin).
 */
#include "admit.bpf.h"

struct bpf_map;

char LICENSE[] SEC("license") = "GPL";

static __always_inline __u32 generation(void)
{
	__u32 zero = 0;
	struct davy_vram_state *state = bpf_map_lookup_elem(&vram_state, &zero);

	return state ? state->generation : 0;
}

static __always_inline struct cgroup *ancestor(struct cgroup *own, __u32 level)
{
	struct cgroup *at = 0;

	bpf_probe_read_kernel(&at, sizeof(at),
			      (void *)own + bpf_core_field_offset(struct cgroup, ancestors) +
				      level * sizeof(at));
	return at;
}

static __noinline struct lineage *lineage_read(struct cgroup *own, __u64 leaf, __u32 now)
{
	struct lineage fresh = { .generation = now };
	__u32 depth = (__u32)BPF_CORE_READ(own, level);

	for (__u32 i = 0; i < LEVELS; i++) {
		__u64 id;

		if (i >= depth)
			break;
		id = BPF_CORE_READ(ancestor(own, i + 1), kn, id);
		fresh.id[i] = id;
		fresh.count = i + 1;
		if (bpf_map_lookup_elem(&vram_limits, &id))
			fresh.managed |= 1u << i;
	}
	bpf_map_update_elem(&lineages, &leaf, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&lineages, &leaf);
}

static __always_inline struct cgroup *own_cgroup(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp);
}

static __always_inline struct lineage *lineage_of(struct cgroup *own)
{
	__u64 leaf = BPF_CORE_READ(own, kn, id);
	struct lineage *known = bpf_map_lookup_elem(&lineages, &leaf);
	__u32 now = generation();

	if (known && known->generation == now)
		return known;
	return lineage_read(own, leaf, now);
}

static __always_inline struct davy_vram_counts *counts(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&vram_counts, &zero);
}

static __noinline struct davy_vram *account_new(struct davy_vram_key *key, struct cgroup *at,
						__u32 managed)
{
	struct davy_vram_counts *have = counts();
	struct davy_vram fresh = {};
	const char *name = BPF_CORE_READ(at, kn, name);
	long err = -E2BIG;

	if (!have)
		return 0;
	if (BPF_CORE_READ(at, kn, id) == key->cgroup)
		bpf_probe_read_kernel_str(fresh.name, sizeof(fresh.name), name);
	if (managed || have->accounts < DAVY_MAX_VRAM / 2)
		err = davy_put(&vram_accounts, key, &fresh, BPF_NOEXIST, DAVY_LOSS_SUMS_FULL);
	else
		davy_lost(DAVY_LOSS_SUMS_FULL);
	if (!err)
		__sync_fetch_and_add(&have->accounts, 1);
	return bpf_map_lookup_elem(&vram_accounts, key);
}

/* "managed": the cgroup at this level has a limit. */
static __always_inline struct davy_vram *account_of(struct davy_vram_key *key, struct cgroup *own,
						    __u32 level, __u32 managed)
{
	struct davy_vram *known = bpf_map_lookup_elem(&vram_accounts, key);

	return known ? known : account_new(key, ancestor(own, level), managed);
}

static __always_inline void account_delete(struct davy_vram_key *key)
{
	struct davy_vram_counts *have = counts();

	if (!bpf_map_delete_elem(&vram_accounts, key) && have)
		__sync_fetch_and_add(&have->accounts, -1);
}

static __noinline struct davy_vram_device *device_new(struct device *dev, __u64 id,
						      struct amdgpu_device *adev)
{
	struct davy_vram_device fresh = {};

	davy_dev_name(fresh.dev, dev);
	fresh.size = BPF_CORE_READ(adev, mman.vram_mgr.manager.size);
	bpf_map_update_elem(&vram_devices, &id, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&vram_devices, &id);
}

static __always_inline struct davy_vram_device *device_of(struct amdgpu_device *adev)
{
	struct device *dev = BPF_CORE_READ(adev, dev);
	__u64 id = (__u64)dev;
	struct davy_vram_device *known = bpf_map_lookup_elem(&vram_devices, &id);

	return known ? known : device_new(dev, id, adev);
}

static __always_inline struct amdgpu_device *adev_of(struct drm_device *drm)
{
	return (void *)drm - bpf_core_field_offset(struct amdgpu_device, ddev);
}

static __noinline void tell(struct davy_vram_key *key, struct davy_vram *account, __u64 why,
			    __u64 bytes, __u64 limit)
{
	struct davy_vram_device *device = bpf_map_lookup_elem(&vram_devices, &key->device);
	__u64 now = bpf_ktime_get_boot_ns();
	struct davy_wire_vram *e;

	if (!account || !device || now - account->told_ns < DAVY_VRAM_EDGE_NS)
		return;
	account->told_ns = now;
	e = davy_reserve(DAVY_WIRE_VRAM, sizeof(*e));
	if (!e)
		return;
	e->device = key->device;
	e->cgroup = key->cgroup;
	__builtin_memcpy(e->dev, device->dev, sizeof(e->dev));
	__builtin_memcpy(e->name, account->name, sizeof(e->name));
	e->bytes = bytes;
	e->used = account->bytes;
	e->limit = limit;
	e->count = why == DAVY_VRAM_RACED ? account->raced : account->refused;
	e->why = (__u32)why;
	bpf_ringbuf_submit(e, 0);
}

/* Adds "size" unless the sum would exceed "max". Several threads may charge at the same time. */
static __always_inline bool charge(struct davy_vram *account, __u64 size, __u64 max)
{
	__u64 old, sum;

	for (int i = 0; i < TRIES; i++) {
		old = *(volatile __u64 *)&account->bytes;
		sum = old + size;
		if (sum > max || sum < size)
			return false;
		if (__sync_val_compare_and_swap(&account->bytes, old, sum) == old)
			goto charged;
	}
	sum = __sync_fetch_and_add(&account->bytes, size) + size;
	if (sum > max) {
		__sync_fetch_and_add(&account->bytes, -size);
		return false;
	}
charged:
	if (sum > account->peak)
		account->peak = sum;
	return true;
}

static __always_inline void discharge(__u64 cgroup, __u64 device, __u64 size)
{
	struct davy_vram_key key = { .cgroup = cgroup, .device = device };
	struct davy_vram *account = bpf_map_lookup_elem(&vram_accounts, &key);

	if (account && __sync_fetch_and_add(&account->bytes, -size) == size && account->gone)
		account_delete(&key);
}

/* Takes back the charge of an allocation that was not made. */
static __noinline void look_drop(struct look *look)
{
	struct davy_vram_device *device = bpf_map_lookup_elem(&vram_devices, &look->device);

	for (__u32 i = 0; i < LEVELS; i++)
		if (look->of.managed & 1u << i)
			discharge(look->of.id[i], look->device, look->size);
	if (device)
		__sync_fetch_and_add(&device->pending, -look->size);
}

/* The argument was changed: what is made is not where it was charged. */
static __always_inline void look_void(struct look *look)
{
	look_drop(look);
	look->size = 0;
	look->most = 0;
}

/* The account of what was made has replaced its charge. */
static __always_inline void look_done(struct look *look)
{
	struct davy_vram_device *device = bpf_map_lookup_elem(&vram_devices, &look->device);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (device)
		__sync_fetch_and_add(&device->pending, -look->size);
	bpf_map_delete_elem(&looks, &tid);
}

static __always_inline int looks_end(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct look *look = bpf_map_lookup_elem(&looks, &tid);

	if (look) {
		look_drop(look);
		bpf_map_delete_elem(&looks, &tid);
	}
	return 0;
}

/*
 * Whether what is pending leaves the reserve alone: by what the heap has free now, and by what all
 * managed cgroups would have if everything evicted came back. 0: it does. Otherwise the limit.
 */
static __always_inline __u64 reserve_hit(struct amdgpu_device *adev,
					 struct davy_vram_device *device)
{
	__u64 *reserve = bpf_map_lookup_elem(&vram_reserves, device->dev);
	__u64 total = device->size, used, left;

	if (!reserve || !*reserve)
		return 0;
	left = total > *reserve ? total - *reserve : 0;
	used = BPF_CORE_READ(adev, mman.vram_mgr.manager.usage) + device->pending;
	used = used > device->wiping ? used - device->wiping : 0;
	if (used <= left && device->managed + device->pending <= left)
		return 0;
	return left ? left : 1;
}

/* Charges every managed cgroup, or none and returns -ENOMEM. "look" is in its map. */
static __noinline int admit(struct look *look, struct cgroup *own, __u64 full)
{
	struct davy_vram_key key = { .device = look->device };
	struct davy_vram_limit *limit;
	struct davy_vram *account;
	__u64 max, why;

	for (__u32 i = 0; i < LEVELS; i++) {
		if (!(look->of.managed & 1u << i))
			continue;
		key.cgroup = look->of.id[i];
		limit = bpf_map_lookup_elem(&vram_limits, &key.cgroup);
		account = account_of(&key, own, i + 1, 1);
		if (!account) {
			look->of.managed &= ~(1u << i); /* no room for it: not limited */
			continue;
		}
		max = limit ? limit->max : DAVY_VRAM_NO_MAX;
		why = full ? DAVY_VRAM_RESERVE : DAVY_VRAM_QUOTA;
		if (full || !charge(account, look->size, max)) {
			look->of.managed &= (1u << i) - 1;
			__sync_fetch_and_add(&account->refused, 1);
			tell(&key, account, why, look->size, full ? full : max);
			return -ENOMEM;
		}
	}
	return 0;
}

/* Its charge is zero: whatever the ioctl makes in VRAM was not looked at. */
static __always_inline struct look *look_new(struct lineage *of)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct look fresh = {};

	__builtin_memcpy(&fresh.of, of, sizeof(fresh.of));
	davy_put(&looks, &tid, &fresh, BPF_ANY, DAVY_LOSS_SUMS_FULL);
	return bpf_map_lookup_elem(&looks, &tid);
}

static __always_inline int look_begin(struct lineage *of, struct cgroup *own,
				      struct amdgpu_device *adev, __u64 size, __u64 most)
{
	struct davy_vram_device *device = device_of(adev);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct davy_vram_counts *have = counts();
	struct look *look = look_new(of);

	if (!device || !look)
		return 0;
	if (have && have->objects >= DAVY_MAX_VRAM_BOS) {
		davy_lost(DAVY_LOSS_SUMS_FULL);
		return -ENOMEM; /* the account could not follow it */
	}
	look->device = (__u64)BPF_CORE_READ(adev, dev);
	look->size = size;
	look->most = most;
	__sync_fetch_and_add(&device->pending, look->size);
	if (!admit(look, own, reserve_hit(adev, device)))
		return 0;
	look_drop(look);
	bpf_map_delete_elem(&looks, &tid);
	return -ENOMEM;
}

static __always_inline bool is_char(struct file *file)
{
	return (BPF_CORE_READ(file, f_inode, i_mode) & 0170000) == 0020000;
}

/* NULL: not an open file of amdgpu. */
static __always_inline struct drm_device *drm_of(struct file *file)
{
	struct drm_file *of = BPF_CORE_READ(file, private_data);
	struct drm_device *drm;
	__u64 name = 0;

	if (!is_char(file) || BPF_CORE_READ(file, f_inode, i_rdev) >> 20 != DRM_MAJOR)
		return 0;
	drm = BPF_CORE_READ(of, minor, dev);
	bpf_probe_read_kernel(&name, 7, BPF_CORE_READ(drm, driver, name));
	return name == DRIVER_NAME ? drm : 0;
}

/* amdgpu has one other character device, /dev/kfd. */
static __always_inline bool is_kfd(struct file *file)
{
	__u64 name = 0;

	if (!is_char(file) || BPF_CORE_READ(file, f_inode, i_rdev) >> 20 == DRM_MAJOR)
		return false;
	bpf_probe_read_kernel(&name, 7, &BPF_CORE_READ(file, f_op, owner)->name);
	return name == DRIVER_NAME;
}

static __always_inline struct amdgpu_device *kfd_device(struct file *file, __u32 gpu_id)
{
	struct kfd_process *process = BPF_CORE_READ(file, private_data);
	__u32 count = BPF_CORE_READ(process, n_pdds);
	struct kfd_process_device *pdd = 0;

	for (__u32 i = 0; i < PDDS_MAX; i++) {
		if (i >= count)
			break;
		bpf_probe_read_kernel(&pdd, sizeof(pdd),
				      (void *)process +
					      bpf_core_field_offset(struct kfd_process, pdds) +
					      i * sizeof(pdd));
		if (BPF_CORE_READ(pdd, user_gpu_id) == gpu_id)
			return davy_kfd_adev(BPF_CORE_READ(pdd, dev));
	}
	return 0;
}

static __always_inline __u64 round_up(__u64 size, __u64 mask)
{
	return (size + mask) & ~mask;
}

static __always_inline int placement_refused(struct lineage *of, struct cgroup *own,
					     struct amdgpu_device *adev)
{
	struct davy_vram_key key = { .device = (__u64)BPF_CORE_READ(adev, dev) };
	struct davy_vram *account;

	for (__u32 i = 0; i < LEVELS; i++) {
		if (!(of->managed & 1u << i))
			continue;
		key.cgroup = of->id[i];
		account = device_of(adev) ? account_of(&key, own, i + 1, 1) : 0;
		if (!account)
			continue;
		__sync_fetch_and_add(&account->refused, 1);
		tell(&key, account, DAVY_VRAM_PLACEMENT, 0, 0);
		break;
	}
	return -ENOMEM;
}

/* amdgpu_gem_align_pitch(): a row is a multiple of so many pixels, each of whole bytes. */
static __always_inline __u64 dumb_size(union arguments *with)
{
	__u64 bytes = (with->dumb.bpp + 7) / 8, row = with->dumb.width;

	if (bytes == 1)
		row = round_up(row, 255);
	else if (bytes == 2)
		row = round_up(row, 127);
	else if (bytes == 3 || bytes == 4)
		row = round_up(row, 63);
	return round_up(row * bytes * with->dumb.height, PAGE_MASK);
}

static __always_inline int drm_seen(struct file *file, __u32 nr, union arguments *with,
				    struct lineage *of, struct cgroup *own)
{
	struct drm_device *drm = drm_of(file);
	__u64 size;

	if (!drm)
		return 0;
	if (nr == NR_GEM_CREATE) {
		size = round_up(with->create.size, PAGE_MASK);
		if (with->create.domains & DOMAIN_VRAM && size >= with->create.size)
			return look_begin(of, own, adev_of(drm), size, size);
		look_new(of);
		return 0;
	}
	if (nr == NR_CREATE_DUMB) {
		size = dumb_size(with);
		return look_begin(of, own, adev_of(drm), size, size);
	}
	/* No engine and no driver of Mesa does this. */
	if (with->op.op == OP_SET_PLACEMENT && with->op.value & DOMAIN_VRAM)
		return placement_refused(of, own, adev_of(drm));
	return 0;
}

static __always_inline int kfd_seen(struct file *file, union arguments *with, struct lineage *of,
				    struct cgroup *own)
{
	struct amdgpu_device *adev;
	__u64 size;

	if (!is_kfd(file))
		return 0;
	adev = kfd_device(file, with->kfd.gpu_id);
	if (!adev || !(with->kfd.flags & KFD_VRAM)) {
		look_new(of);
		return 0;
	}
	size = round_up(with->kfd.size, PAGE_MASK);
	return look_begin(of, own, adev, size, round_up(size, (2 << 20) - 1));
}

static __always_inline bool allocates(__u32 nr)
{
	return nr == NR_GEM_CREATE || nr == NR_KFD_ALLOC || nr == NR_CREATE_DUMB || nr == NR_GEM_OP;
}

/* Words that the caller does not pass are zero for the driver, too. */
static __always_inline __u32 bytes_passed(__u32 cmd)
{
	__u32 size = cmd >> 16 & 0x3fff;

	return size < sizeof(union arguments) ? size : (__u32)sizeof(union arguments);
}

static __always_inline int seen(struct file *file, __u32 cmd, union arguments *with,
				struct lineage *of, struct cgroup *own)
{
	__u32 nr = cmd & 0xff;

	looks_end(); /* of an ioctl that did not reach the driver */
	return nr == NR_KFD_ALLOC ? kfd_seen(file, with, of, own)
				  : drm_seen(file, nr, with, of, own);
}

SEC("?lsm.s/file_ioctl")
int BPF_PROG(ioctl_seen, struct file *file, unsigned int cmd, unsigned long arg, int ret)
{
	union arguments with = {};
	struct cgroup *own;
	struct lineage *of;

	if (ret || !allocates(cmd & 0xff))
		return ret;
	own = own_cgroup((struct task_struct *)bpf_get_current_task());
	of = lineage_of(own);
	if (!of || !of->managed)
		return 0;
	if (bpf_copy_from_user(&with, bytes_passed(cmd), (void *)arg))
		return -EFAULT;
	return seen(file, cmd, &with, of, own);
}

/*
 * The ioctl of a 32-bit process, since 6.8; the structs are the same. It may not wait for a page: such
 * a caller gets EFAULT and touches the page.
 */
SEC("?lsm/file_ioctl_compat")
int BPF_PROG(compat_seen, struct file *file, unsigned int cmd, unsigned long arg, int ret)
{
	union arguments with = {};
	struct cgroup *own;
	struct lineage *of;

	if (ret || !allocates(cmd & 0xff))
		return ret;
	own = own_cgroup((struct task_struct *)bpf_get_current_task());
	of = lineage_of(own);
	if (!of || !of->managed)
		return 0;
	if (bpf_probe_read_user(&with, bytes_passed(cmd), (void *)(arg & 0xffffffff)))
		return -EFAULT;
	return seen(file, cmd, &with, of, own);
}

static __always_inline long object_put(__u64 id, struct object *bo, __u64 how)
{
	struct davy_vram_counts *have = counts();
	long err = -E2BIG;

	if (!have)
		return err;
	if (bo->of.managed || have->objects < DAVY_MAX_VRAM_BOS / 2)
		err = davy_put(&objects, &id, bo, how, DAVY_LOSS_SUMS_FULL);
	else
		davy_lost(DAVY_LOSS_SUMS_FULL);
	if (!err)
		__sync_fetch_and_add(&have->objects, 1);
	return err;
}

/*
 * "charged" before to each managed cgroup: 0 for what no ioctl asked for (page tables, buffers of
 * the driver). "raced": it was not looked at as what it is.
 */
static __noinline void credit(struct object *bo, struct cgroup *own, __u64 charged, __u32 raced)
{
	struct davy_vram_device *device = bpf_map_lookup_elem(&vram_devices, &bo->device);
	struct davy_vram_key key = { .device = bo->device };
	struct davy_vram *account;

	for (__u32 i = 0; i < LEVELS; i++) {
		__u64 delta = bo->size;
		__u32 managed = bo->of.managed & 1u << i;

		if (i >= bo->of.count)
			break;
		key.cgroup = bo->of.id[i];
		account = account_of(&key, own, i + 1, managed);
		if (!account)
			continue;
		if (managed)
			delta -= charged;
		delta += __sync_fetch_and_add(&account->bytes, delta);
		if (delta > account->peak)
			account->peak = delta;
		if (raced && managed) {
			__sync_fetch_and_add(&account->raced, 1);
			tell(&key, account, DAVY_VRAM_RACED, bo->size, charged);
		}
	}
	if (!device)
		return;
	__sync_fetch_and_add(&device->bytes, bo->size);
	if (bo->of.managed)
		__sync_fetch_and_add(&device->managed, bo->size);
}

static __noinline void debit(struct object *bo)
{
	struct davy_vram_device *device = bpf_map_lookup_elem(&vram_devices, &bo->device);

	for (__u32 i = 0; i < LEVELS; i++) {
		if (i >= bo->of.count)
			break;
		discharge(bo->of.id[i], bo->device, bo->size);
	}
	if (!device)
		return;
	__sync_fetch_and_add(&device->bytes, -bo->size);
	if (bo->of.managed)
		__sync_fetch_and_add(&device->managed, -bo->size);
}

/* True for one caller: several hooks and the sweep may see the end of an object. */
static __always_inline bool is_first_end(struct object *bo)
{
	return !__sync_val_compare_and_swap(&bo->freed, 0, 1);
}

static __noinline void object_gone(__u64 id, struct object *bo)
{
	struct davy_vram_device *device = bpf_map_lookup_elem(&vram_devices, &bo->device);
	struct davy_vram_counts *have = counts();
	__u64 wiping = bo->wiping;

	if (is_first_end(bo)) {
		debit(bo);
		wiping = 0;
	}
	if (bpf_map_delete_elem(&objects, &id))
		return; /* the sweep or the hook was here before */
	if (device)
		__sync_fetch_and_add(&device->wiping, -wiping);
	if (have)
		__sync_fetch_and_add(&have->objects, -1);
}

SEC("?tp_btf/amdgpu_bo_create")
int BPF_PROG(vram_made, struct amdgpu_bo *bo)
{
	struct cgroup *own = own_cgroup((struct task_struct *)bpf_get_current_task());
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct object fresh = {}, *old;
	struct amdgpu_device *adev;
	struct look *look = 0;
	struct lineage *of;
	__u64 id;

	if (!bo || !(BPF_CORE_READ(bo, preferred_domains) & DOMAIN_VRAM))
		return 0;
	id = (__u64)bo;
	old = bpf_map_lookup_elem(&objects, &id);
	if (old)
		object_gone(id, old);
	adev = adev_of(BPF_CORE_READ(bo, tbo.base.dev));
	if (BPF_CORE_READ(bo, tbo.type) == ttm_bo_type_device)
		look = bpf_map_lookup_elem(&looks, &tid);
	of = look ? &look->of : lineage_of(own);
	if (!device_of(adev) || !of)
		return 0;
	__builtin_memcpy(&fresh.of, of, sizeof(fresh.of));
	fresh.device = (__u64)BPF_CORE_READ(adev, dev);
	fresh.size = BPF_CORE_READ(bo, tbo.base.size);
	if (look && look->device != fresh.device)
		look_void(look);
	if (object_put(id, &fresh, BPF_ANY))
		return 0;
	credit(&fresh, own, look ? look->size : 0, look && fresh.size > look->most);
	if (look)
		look_done(look);
	return 0;
}

/* In time; the buffer may still be wiped, which takes as long as the jobs before it. */
SEC("?fentry/amdgpu_gem_object_free")
int BPF_PROG(vram_freed, struct drm_gem_object *gem)
{
	__u64 id = (__u64)gem - bpf_core_field_offset(struct amdgpu_bo, tbo.base);
	struct object *bo = bpf_map_lookup_elem(&objects, &id);
	struct amdgpu_bo *of = (void *)id;
	struct davy_vram_device *device;

	if (!bo || !is_first_end(bo))
		return 0;
	debit(bo);
	if (BPF_CORE_READ(of, tbo.resource, mem_type) != PLACE_VRAM)
		return 0;
	bo->wiping = bo->size;
	device = bpf_map_lookup_elem(&vram_devices, &bo->device);
	if (device)
		__sync_fetch_and_add(&device->wiping, bo->size);
	return 0;
}

/* Page tables and other buffers of the driver are freed only here. */
SEC("?fentry/amdgpu_bo_destroy")
int BPF_PROG(vram_destroyed, struct ttm_buffer_object *tbo)
{
	__u64 id = (__u64)tbo - bpf_core_field_offset(struct amdgpu_bo, tbo);
	struct object *bo = bpf_map_lookup_elem(&objects, &id);

	if (bo)
		object_gone(id, bo);
	return 0;
}

/* The ioctls have ended: what was allowed and not made is given back. */
SEC("?fexit/amdgpu_gem_create_ioctl")
int BPF_PROG(gem_create_done)
{
	return looks_end();
}

SEC("?fexit/amdgpu_mode_dumb_create")
int BPF_PROG(dumb_create_done)
{
	return looks_end();
}

SEC("?fexit/kfd_ioctl_alloc_memory_of_gpu")
int BPF_PROG(kfd_alloc_done)
{
	return looks_end();
}

/* Another security module may refuse the ioctl after this one. */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(thread_ends)
{
	return looks_end();
}

#include "admit_walk.bpf.h" /* uses the account above */

/*
 * An object of system memory was moved into VRAM. That is refused to a process with a quota: it has
 * changed the argument after it was looked at.
 */
SEC("?fexit/amdgpu_gem_op_ioctl")
int BPF_PROG(gem_op_done, struct drm_device *drm, void *data, struct drm_file *file, int ret)
{
	struct walk w = { .moved = true };
	union arguments with = {};

	bpf_probe_read_kernel(&with.op, sizeof(with.op), data);
	if (ret || with.op.op != OP_SET_PLACEMENT || !(with.op.value & DOMAIN_VRAM))
		return 0;
	w.own = own_cgroup((struct task_struct *)bpf_get_current_task());
	w.at = BPF_CORE_READ(file, object_idr.idr_rt.xa_head);
	w.index = with.op.handle - BPF_CORE_READ(file, object_idr.idr_base);
	step_handle(0, &w);
	return 0;
}

/* With its last object, the account of a removed cgroup goes, too. */
static long account_left(struct bpf_map *map, __u64 *device, struct davy_vram_device *of,
			 __u64 *cgroup)
{
	struct davy_vram_key key = { .cgroup = *cgroup, .device = *device };
	struct davy_vram *account = bpf_map_lookup_elem(&vram_accounts, &key);

	if (!account)
		return 0;
	account->gone = 1;
	if (!account->bytes)
		account_delete(&key);
	return 0;
}

/* Hierarchy 0 is that of cgroup v2. A removed cgroup has no process that could allocate. */
SEC("?tp_btf/cgroup_rmdir")
int BPF_PROG(cgroup_removed, struct cgroup *cgrp)
{
	__u64 id = BPF_CORE_READ(cgrp, kn, id);

	if (!BPF_CORE_READ(cgrp, root, hierarchy_id))
		bpf_for_each_map_elem(&vram_devices, account_left, &id, 0);
	return 0;
}

SEC("?iter/task_file")
int files_walked(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct walk w = {};
	struct drm_file *of;
	struct amdgpu_vm *vm;

	if (!task) /* the last call */
		bpf_for_each_map_elem(&objects, swept, &w, 0);
	if (!task || !file || !drm_of(file))
		return 0;
	of = BPF_CORE_READ(file, private_data);
	w.own = own_cgroup(task);
	w.at = BPF_CORE_READ(of, object_idr.idr_rt.xa_head);
	bpf_loop(DAVY_MAX_VRAM_BOS, step_handle, &w, 0);
	vm = BPF_CORE_READ(of, driver_priv) + bpf_core_field_offset(struct amdgpu_fpriv, vm);
	WALK_LIST(w.own, vm, evicted);
	WALK_LIST(w.own, vm, relocated);
	WALK_LIST(w.own, vm, moved);
	WALK_LIST(w.own, vm, idle);
	WALK_LIST(w.own, vm, invalidated);
	WALK_LIST(w.own, vm, done);
	WALK_LIST(w.own, vm, evicted_user);
	WALK_STATUS(w.own, vm, kernel);
	WALK_STATUS(w.own, vm, always_valid);
	WALK_STATUS(w.own, vm, individual);
	return 0;
}

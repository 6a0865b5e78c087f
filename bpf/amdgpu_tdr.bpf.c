/* SPDX-License-Identifier: GPL-2.0 */
/*
 * amdgpu's recovery: job timeout, soft recovery, ring reset, GPU reset; other reasons for a reset;
 * and its ioctl wrapper. A separate object: functions can be traced only when the module is live,
 * which is later than for its tracepoints.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "ioctl.bpf.h"
#include "pasid.bpf.h"
#include "timeout.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Start times of running ring resets, by ring. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, __u64);
} resets SEC(".maps");

SEC("?fentry/amdgpu_job_timedout")
int BPF_PROG(job_timed_out, struct drm_sched_job *job)
{
	struct amdgpu_job *gpu_job = (void *)job;

	if (!davy_setting(amdgpu_timeouts))
		return 0;
	return timeout_tell(job, davy_vm_tgid(BPF_CORE_READ(gpu_job, vm)),
			    BPF_CORE_READ(gpu_job, pasid));
}

/* Kills the hanging wave. True: the job's hardware fence is signaled, with -ENODATA since 6.12. */
SEC("?fexit/amdgpu_ring_soft_recovery")
int BPF_PROG(soft_recovered, struct amdgpu_ring *ring, unsigned int vmid, struct dma_fence *fence)
{
	struct davy_wire_fact *e;
	__u64 ret = 0;

	bpf_get_func_ret(ctx, &ret);
	e = fact_begin(DAVY_FACT_SOFT_RECOVERY, BPF_CORE_READ(ring, adev, dev));
	if (!e)
		return 0;
	e->error = ret & 0xff ? 0 : -EIO;
	BPF_CORE_READ_STR_INTO(&e->name, ring, name);
	fact_fence(e, fence);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static __always_inline void ring_reset_begun(struct amdgpu_ring *ring)
{
	__u64 id = (__u64)ring, now = bpf_ktime_get_boot_ns();

	bpf_map_update_elem(&resets, &id, &now, BPF_ANY);
}

static __always_inline int ring_reset_ended(struct amdgpu_ring *ring, int error)
{
	__u64 id = (__u64)ring, *begun = bpf_map_lookup_elem(&resets, &id);
	struct davy_wire_fact *e = fact_begin(DAVY_FACT_RING_RESET, BPF_CORE_READ(ring, adev, dev));

	if (!e)
		return 0;
	e->error = error;
	if (begun)
		e->duration_ns = e->head.boot_ns - *begun;
	BPF_CORE_READ_STR_INTO(&e->name, ring, name);
	bpf_ringbuf_submit(e, 0);
	bpf_map_delete_elem(&resets, &id);
	return 0;
}

SEC("?fentry/amdgpu_ring_reset_helper_begin")
int BPF_PROG(ring_reset_begins, struct amdgpu_ring *ring)
{
	ring_reset_begun(ring);
	return 0;
}

SEC("?fexit/amdgpu_ring_reset_helper_end")
int BPF_PROG(ring_reset_ends, struct amdgpu_ring *ring)
{
	__u64 ret = 0;

	bpf_get_func_ret(ctx, &ret);
	return ring_reset_ended(ring, (int)ret);
}

/*
 * Up to 6.16 the resets have no common helper. Since then, a reset that fails early does not reach
 * the helper's end: its failure is reported here, while its start is still stored.
 */
static __always_inline int old_reset_ended(struct amdgpu_ring *ring, int error)
{
	__u64 id = (__u64)ring;

	if (davy_setting(ring_helper) && (!error || !bpf_map_lookup_elem(&resets, &id)))
		return 0;
	return ring_reset_ended(ring, error);
}

#define RING_RESET(function)                                                                       \
	SEC("?fexit/" #function)                                                                   \
	int BPF_PROG(old_##function, struct amdgpu_ring *ring)                                     \
	{                                                                                          \
		__u64 ret = 0;                                                                     \
                                                                                                   \
		bpf_get_func_ret(ctx, &ret);                                                       \
		return old_reset_ended(ring, (int)ret);                                            \
	}

RING_RESET(gfx_v9_0_reset_kgq)
RING_RESET(gfx_v9_0_reset_kcq)
RING_RESET(gfx_v9_4_3_reset_kcq)
RING_RESET(gfx_v10_0_reset_kgq)
RING_RESET(gfx_v10_0_reset_kcq)
RING_RESET(gfx_v11_0_reset_kgq)
RING_RESET(gfx_v11_0_reset_kcq)
RING_RESET(gfx_v12_0_reset_kgq)
RING_RESET(gfx_v12_0_reset_kcq)
RING_RESET(sdma_v4_4_2_reset_queue)
RING_RESET(sdma_v5_0_reset_queue)
RING_RESET(sdma_v5_2_reset_queue)
RING_RESET(sdma_v6_0_reset_queue)
RING_RESET(sdma_v7_0_reset_queue)

static __always_inline int reset_event(struct amdgpu_device *adev, __s32 result, __u32 begun)
{
	struct davy_wire_gpu_reset *e = davy_reserve(DAVY_WIRE_GPU_RESET, sizeof(*e));

	if (!e)
		return 0;
	davy_dev_name(e->dev, BPF_CORE_READ(adev, dev));
	e->result = result;
	e->begun = begun;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?fentry/amdgpu_device_gpu_recover")
int BPF_PROG(reset_begun, struct amdgpu_device *adev)
{
	return reset_event(adev, 0, 1);
}

SEC("?fexit/amdgpu_device_gpu_recover")
int BPF_PROG(reset_ended, struct amdgpu_device *adev)
{
	__u64 result = 0;

	bpf_get_func_ret(ctx, &result); /* independent of the arguments in this kernel */
	return reset_event(adev, (__s32)result, 0);
}

SEC("?fentry/amdgpu_ras_reset_gpu")
int BPF_PROG(ras_reset, struct amdgpu_device *adev)
{
	return fact_tell(DAVY_FACT_RAS_RESET, BPF_CORE_READ(adev, dev), 0);
}

/* The process that uses a VM. Called at each submission, because a render node may be passed on. */
SEC("?fentry/amdgpu_vm_set_task_info")
int BPF_PROG(vm_used, struct amdgpu_vm *vm)
{
	__u32 pasid = BPF_CORE_READ(vm, pasid), tgid = davy_current(), *known;
	struct davy_wire_pasid *e;

	known = bpf_map_lookup_elem(&pasids, &pasid);
	if (!pasid || (known && *known == tgid))
		return 0;
	bpf_map_update_elem(&pasids, &pasid, &tgid, BPF_ANY);
	e = davy_reserve(DAVY_WIRE_PASID, sizeof(*e));
	if (!e)
		return 0;
	e->pasid = pasid;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?fexit/amdgpu_drm_ioctl")
int BPF_PROG(amdgpu_ioctl_done, struct file *filp, unsigned int cmd, unsigned long arg, long ret)
{
	return wrapper_done(filp, cmd, ret);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * amdgpu's job timeout and GPU reset. An object of its own: these are functions, which can be traced
 * only once the module is live, later than its tracepoints.
 */
#include "wire.h"
#include "maps.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The jobs map of drm_sched.bpf.c, shared by userspace: fence to the process that queued it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DL_MAX_JOBS);
	__type(key, struct dl_job_key);
	__type(value, struct dl_job);
} jobs SEC(".maps");

/* The driver's own timeout: too late to prevent anything, and proof of what was predicted. */
SEC("?fentry/amdgpu_job_timedout")
int BPF_PROG(job_timed_out, struct drm_sched_job *job)
{
	struct amdgpu_job *gpu_job = (void *)job;
	struct drm_gpu_scheduler *sched = BPF_CORE_READ(job, sched);
	struct dl_wire_job_timeout *e = dl_reserve(DL_WIRE_JOB_TIMEOUT, sizeof(*e));
	struct dl_job_key key = {};
	struct dl_job *known;

	if (!e)
		return 0;
	key.fence_context = BPF_CORE_READ(job, s_fence, finished.context);
	key.fence_seqno = BPF_CORE_READ(job, s_fence, finished.seqno);
	e->fence_context = key.fence_context;
	e->fence_seqno = key.fence_seqno;
	dl_dev_name(e->dev, BPF_CORE_READ(sched, dev));
	bpf_probe_read_kernel_str(e->ring, sizeof(e->ring), BPF_CORE_READ(sched, name));
	e->pasid = BPF_CORE_READ(gpu_job, pasid);
	known = bpf_map_lookup_elem(&jobs, &key);
	if (known) {
		e->owner_tgid = known->tgid;
		if (known->run_ns)
			e->age_ns = e->head.boot_ns - known->run_ns;
	}
	if (!e->owner_tgid)
		e->owner_tgid = dl_vm_tgid(BPF_CORE_READ(gpu_job, vm));
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static __always_inline int reset_event(struct amdgpu_device *adev, __s32 result, __u32 begun)
{
	struct dl_wire_gpu_reset *e = dl_reserve(DL_WIRE_GPU_RESET, sizeof(*e));

	if (!e)
		return 0;
	dl_dev_name(e->dev, BPF_CORE_READ(adev, dev));
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

	bpf_get_func_ret(ctx, &result); /* whatever arguments this kernel's function has */
	return reset_event(adev, (__s32)result, 0);
}

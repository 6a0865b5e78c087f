/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The DRM GPU scheduler, for all drivers that use it: queued, running and finished jobs per ring. A
 * map stores jobs by their finished fence (context, seqno). On its tick, userspace finds the oldest
 * running job of each ring and compares its age with sched->timeout.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "jobs.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline struct davy_sched *sched_of(struct drm_gpu_scheduler *sched)
{
	__u64 key = (__u64)sched;
	struct davy_sched *known = bpf_map_lookup_elem(&scheds, &key);
	struct davy_sched fresh = {};

	bpf_probe_read_kernel_str(fresh.ring, sizeof(fresh.ring), BPF_CORE_READ(sched, name));
	fresh.timeout_jiffies = BPF_CORE_READ(sched, timeout);
	fresh.device = (__u64)BPF_CORE_READ(sched, dev);
	if (known && sched_same(known, &fresh))
		return known;
	davy_dev_name(fresh.dev, (struct device *)fresh.device);
	return sched_add(key, &fresh);
}

/* A job may fail before any job has run on the ring. Its name is compared when a job runs. */
static __always_inline void sched_meet(struct drm_gpu_scheduler *sched)
{
	__u64 key = (__u64)sched;
	struct davy_sched *known = bpf_map_lookup_elem(&scheds, &key);

	if (!known || known->device != (__u64)BPF_CORE_READ(sched, dev))
		sched_of(sched);
}

/* Runs in the submitter's context: only here the owner is known for certain. */
static __always_inline int job_queued(struct drm_sched_job *job)
{
	struct davy_job state = {};
	struct davy_job_key key;

	if (!job)
		return 0;
	key = job_key(&BPF_CORE_READ(job, s_fence)->finished);
	state.sched = (__u64)BPF_CORE_READ(job, sched);
	sched_meet((struct drm_gpu_scheduler *)state.sched);
	state.queued_ns = bpf_ktime_get_boot_ns();
	state.tgid = davy_current();
	return job_add(&key, &state);
}

static __always_inline int job_running(struct drm_sched_job *job)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct drm_gpu_scheduler *gpu_sched;
	struct davy_job *state, fresh = {};
	struct davy_sched *sched;
	struct davy_job_key key;

	if (!job)
		return 0;
	job_tell(); /* it may have been queued long ago */
	gpu_sched = BPF_CORE_READ(job, sched);
	sched = sched_of(gpu_sched);
	if (sched) {
		__sync_fetch_and_add(&sched->run_count, 1);
		sched->last_run_ns = now;
	}
	key = job_key(&BPF_CORE_READ(job, s_fence)->finished);
	state = bpf_map_lookup_elem(&jobs, &key);
	if (state) {
		state->run_ns = now;
		return 0;
	}
	fresh.sched = (__u64)gpu_sched; /* queued before the agent attached: owner unknown */
	fresh.run_ns = now;
	return job_add(&key, &fresh);
}

static __always_inline int sched_job_done(struct drm_sched_fence *fence)
{
	struct davy_job_key key;

	if (!fence)
		return 0;
	key = job_key(&fence->finished);
	return job_done(&key);
}

SEC("?tp_btf/drm_sched_job")
int BPF_PROG(job_queued_until_6_16, struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	return job_queued(job);
}

SEC("?tp_btf/drm_sched_job_queue")
int BPF_PROG(job_queued_since_6_17, struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	return job_queued(job);
}

SEC("?tp_btf/drm_run_job")
int BPF_PROG(job_running_until_6_16, struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	return job_running(job);
}

SEC("?tp_btf/drm_sched_job_run")
int BPF_PROG(job_running_since_6_17, struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	return job_running(job);
}

SEC("?tp_btf/drm_sched_process_job")
int BPF_PROG(job_done_until_6_16, struct drm_sched_fence *fence)
{
	return sched_job_done(fence);
}

SEC("?tp_btf/drm_sched_job_done")
int BPF_PROG(job_done_since_6_17, struct drm_sched_fence *fence)
{
	return sched_job_done(fence);
}

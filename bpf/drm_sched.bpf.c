/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The DRM GPU scheduler, of every driver that uses it: queued, running and finished jobs per ring.
 * Jobs are kept in a map by their finished fence (context, seqno); userspace looks for the oldest
 * running one per ring on its tick and compares its age with sched->timeout.
 */
#include "wire.h"
#include "maps.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DL_MAX_JOBS);
	__type(key, struct dl_job_key);
	__type(value, struct dl_job);
} jobs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DL_MAX_SCHEDS);
	__type(key, __u64);
	__type(value, struct dl_sched);
} scheds SEC(".maps");

static __always_inline struct dl_job_key job_key(struct drm_sched_fence *f)
{
	struct dl_job_key key = {
		.fence_context = BPF_CORE_READ(f, finished.context),
		.fence_seqno = BPF_CORE_READ(f, finished.seqno),
	};
	return key;
}

static __always_inline struct dl_sched *sched_of(struct drm_gpu_scheduler *sched)
{
	__u64 key = (__u64)sched;
	struct dl_sched *known = bpf_map_lookup_elem(&scheds, &key);
	struct dl_sched fresh = {};

	if (known)
		return known;
	dl_dev_name(fresh.dev, BPF_CORE_READ(sched, dev));
	bpf_probe_read_kernel_str(fresh.ring, sizeof(fresh.ring), BPF_CORE_READ(sched, name));
	fresh.timeout_jiffies = BPF_CORE_READ(sched, timeout);
	if (bpf_map_update_elem(&scheds, &key, &fresh, BPF_NOEXIST))
		dl_lost(DL_LOSS_SCHEDS_FULL);
	return bpf_map_lookup_elem(&scheds, &key);
}

/* Runs in the submitter's context: the only moment at which the owner is known for certain. */
static __always_inline int job_queued(struct drm_sched_job *job)
{
	struct dl_job state = {};
	struct dl_job_key key;

	if (!job)
		return 0;
	key = job_key(BPF_CORE_READ(job, s_fence));
	state.sched = (__u64)BPF_CORE_READ(job, sched);
	state.queued_ns = bpf_ktime_get_boot_ns();
	state.tgid = bpf_get_current_pid_tgid() >> 32;
	if (bpf_map_update_elem(&jobs, &key, &state, BPF_ANY))
		dl_lost(DL_LOSS_JOBS_FULL);
	return 0;
}

static __always_inline int job_running(struct drm_sched_job *job)
{
	struct drm_gpu_scheduler *gpu_sched;
	struct dl_job *state, fresh = {};
	struct dl_sched *sched;
	struct dl_job_key key;

	if (!job)
		return 0;
	gpu_sched = BPF_CORE_READ(job, sched);
	sched = sched_of(gpu_sched);
	if (sched)
		__sync_fetch_and_add(&sched->run_count, 1);
	key = job_key(BPF_CORE_READ(job, s_fence));
	state = bpf_map_lookup_elem(&jobs, &key);
	if (state) {
		state->run_ns = bpf_ktime_get_boot_ns();
		return 0;
	}
	fresh.sched = (__u64)gpu_sched; /* queued before we watched: owner unknown */
	fresh.run_ns = bpf_ktime_get_boot_ns();
	if (bpf_map_update_elem(&jobs, &key, &fresh, BPF_ANY))
		dl_lost(DL_LOSS_JOBS_FULL);
	return 0;
}

static __always_inline int job_done(struct drm_sched_fence *fence)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct dl_job_key key;
	struct dl_sched *sched;
	struct dl_job *state;
	__u64 start, sched_key;

	if (!fence)
		return 0;
	key = job_key(fence);
	state = bpf_map_lookup_elem(&jobs, &key);
	if (!state)
		return 0;
	sched_key = state->sched;
	start = state->run_ns;
	sched = bpf_map_lookup_elem(&scheds, &sched_key);
	if (sched && start) {
		if (sched->last_done_ns > start)
			start = sched->last_done_ns; /* the hardware was busy with the one before */
		if (now - start > sched->max_run_ns)
			sched->max_run_ns = now - start;
		sched->last_done_ns = now;
		__sync_fetch_and_add(&sched->done_count, 1);
	}
	bpf_map_delete_elem(&jobs, &key);
	return 0;
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
	return job_done(fence);
}

SEC("?tp_btf/drm_sched_job_done")
int BPF_PROG(job_done_since_6_17, struct drm_sched_fence *fence)
{
	return job_done(fence);
}

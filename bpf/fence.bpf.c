/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of a job's fence, with its error: the evidence of a failed job that all drivers share.
 * Fences of unknown jobs are skipped: an amdgpu job has a second, hardware fence with the same
 * error.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "jobs.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void job_failed(struct davy_job *job, struct dma_fence *fence, int error)
{
	__u64 sched_key = job->sched;
	struct davy_sched *sched = bpf_map_lookup_elem(&scheds, &sched_key);
	struct davy_wire_fact *e = fact_begin(DAVY_FACT_FENCE_FAILED, 0);

	if (!e)
		return;
	if (sched) {
		__builtin_memcpy(e->dev, sched->dev, sizeof(e->dev));
		__builtin_memcpy(e->name, sched->ring, sizeof(sched->ring));
	}
	e->pid = job->tgid;
	e->error = error;
	fact_fence(e, fence);
	bpf_ringbuf_submit(e, 0);
}

SEC("?tp_btf/dma_fence_signaled")
int BPF_PROG(fence_signaled, struct dma_fence *fence)
{
	struct davy_job_key key;
	struct davy_job *job;
	int error;

	if (!fence)
		return 0;
	key = job_key(fence);
	job = bpf_map_lookup_elem(&jobs, &key);
	if (!job)
		return 0;
	job_account(job);
	error = BPF_CORE_READ(fence, error);
	if (error && error != -ESRCH) /* -ESRCH: waiting jobs of a killed process, no failure */
		job_failed(job, fence, error);
	bpf_map_delete_elem(&jobs, &key);
	return 0;
}

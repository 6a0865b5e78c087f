/* SPDX-License-Identifier: GPL-2.0 */
/* A driver's job timeout: too late for prevention, but it confirms the prediction. */
#ifndef DAVY_TIMEOUT_BPF_H
#define DAVY_TIMEOUT_BPF_H

#include "jobs.bpf.h"

/* "owner" is used if the queueing of the job was not observed. */
static __always_inline int timeout_tell(struct drm_sched_job *job, __u32 owner, __u32 pasid)
{
	struct drm_gpu_scheduler *sched = BPF_CORE_READ(job, sched);
	struct davy_job_key key = job_key(&BPF_CORE_READ(job, s_fence)->finished);
	struct davy_job *known = bpf_map_lookup_elem(&jobs, &key);
	struct davy_wire_job_timeout *e = davy_reserve(DAVY_WIRE_JOB_TIMEOUT, sizeof(*e));

	if (!e)
		return 0;
	e->fence_context = key.fence_context;
	e->fence_seqno = key.fence_seqno;
	davy_dev_name(e->dev, BPF_CORE_READ(sched, dev));
	bpf_probe_read_kernel_str(e->ring, sizeof(e->ring), BPF_CORE_READ(sched, name));
	e->pasid = pasid;
	if (known) {
		e->owner_tgid = known->tgid;
		if (known->run_ns)
			e->age_ns = e->head.boot_ns - known->run_ns;
	}
	if (!e->owner_tgid)
		e->owner_tgid = owner;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Job timeouts for all drivers that use the DRM scheduler and have no better hook. */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "timeout.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline bool reported_by_driver(struct drm_gpu_scheduler *sched)
{
	__u32 zero = 0;
	struct davy_settings *s = bpf_map_lookup_elem(&settings, &zero);
	char name[8] = {};

	if (!s)
		return false;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(sched, dev, driver, name));
	if (name[0] == 'x' && name[1] == 'e' && !name[2])
		return s->xe_timeouts;
	return s->amdgpu_timeouts && name[0] == 'a' && name[1] == 'm' && name[2] == 'd' &&
	       name[3] == 'g' && name[4] == 'p' && name[5] == 'u';
}

/* The job is the first of the pending list, as in the traced function. */
SEC("?fentry/drm_sched_job_timedout")
int BPF_PROG(sched_timed_out, struct work_struct *work)
{
	struct drm_gpu_scheduler *sched =
		(void *)work - bpf_core_field_offset(struct drm_gpu_scheduler, work_tdr.work);
	void *list = (void *)sched + bpf_core_field_offset(struct drm_gpu_scheduler, pending_list);
	void *first = BPF_CORE_READ(sched, pending_list.next);

	if (!first || first == list || reported_by_driver(sched))
		return 0;
	return timeout_tell(first - bpf_core_field_offset(struct drm_sched_job, list), 0, 0);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between kernels that the programs must know, each entry with what changed, since
 * when, and when it may go. No program reads a version: each asks BTF for the field or the hook.
 *
 * Differences that need no code, only discipline:
 * - since 6.12 every pointer argument of a module's tp_btf is PTR_MAYBE_NULL: check before reading;
 * - drm/sched tracepoints were renamed in 6.17 (drm_sched_job, drm_run_job, drm_sched_process_job
 *   became drm_sched_job_queue, _run, _done) with the same arguments: two SEC names, one body.
 */
#ifndef DL_COMPAT_BPF_H
#define DL_COMPAT_BPF_H

#include "ktypes.bpf.h"

/*
 * amdgpu_vm.task_info was embedded up to 6.8 and is a refcounted pointer since 6.9; Debian's 6.1.192
 * already has the pointer. Told apart by the field's size. May go with mainline 6.1 and 6.6.
 */
struct amdgpu_task_info___embedded {
	int tgid;
} __attribute__((preserve_access_index));

struct amdgpu_vm___embedded {
	struct amdgpu_task_info___embedded task_info;
} __attribute__((preserve_access_index));

static __always_inline u32 dl_vm_tgid(struct amdgpu_vm *vm)
{
	struct amdgpu_vm___embedded *old = (void *)vm;

	if (!vm || !bpf_core_field_exists(vm->task_info))
		return 0;
	if (bpf_core_field_size(vm->task_info) == sizeof(void *))
		return (u32)BPF_CORE_READ(vm, task_info, tgid);
	return (u32)BPF_CORE_READ(old, task_info.tgid);
}

#endif

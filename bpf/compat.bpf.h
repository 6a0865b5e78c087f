/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All kernel differences that the programs must handle. Each entry says what changed, since when,
 * and when it can be removed. No program reads a version: each checks BTF for the field or the
 * hook.
 *
 * Differences that need no code, but care:
 * - since 6.12, pointer arguments of a module's tp_btf are PTR_MAYBE_NULL: check them before
 * reading;
 * - drm/sched tracepoints were renamed in 6.17 (drm_sched_job, drm_run_job, drm_sched_process_job
 * became drm_sched_job_queue, _run, _done) with the same arguments: two SEC names, one body.
 */
#ifndef DAVY_COMPAT_BPF_H
#define DAVY_COMPAT_BPF_H

#include "ktypes.bpf.h"

/*
 * amdgpu_vm.task_info was embedded up to 6.8 and is a refcounted pointer since 6.9; Debian's
 * 6.1.192 already has the pointer. Distinguished by the field's size. Remove with mainline 6.1 and
 * 6.6.
 */
struct amdgpu_task_info___embedded {
	int tgid;
} __attribute__((preserve_access_index));

struct amdgpu_vm___embedded {
	struct amdgpu_task_info___embedded task_info;
} __attribute__((preserve_access_index));

static __always_inline u32 davy_vm_tgid(struct amdgpu_vm *vm)
{
	struct amdgpu_vm___embedded *old = (void *)vm;

	if (!vm || !bpf_core_field_exists(vm->task_info))
		return 0;
	if (bpf_core_field_size(vm->task_info) == sizeof(void *))
		return (u32)BPF_CORE_READ(vm, task_info, tgid);
	return (u32)BPF_CORE_READ(old, task_info.tgid);
}

/*
 * mm_struct.rss_stat was an array of atomics up to 6.1 and is an array of percpu_counters since
 * 6.2, whose count alone is slightly outdated. Members 0, 1 and 3 are file, anonymous and shared
 * memory.
 */
struct atomic_long_t___dl {
	long counter;
} __attribute__((preserve_access_index));

struct mm_rss_stat {
	struct atomic_long_t___dl count[4];
} __attribute__((preserve_access_index));

struct mm_struct___until_6_1 {
	struct mm_rss_stat rss_stat;
} __attribute__((preserve_access_index));

static __always_inline u64 davy_resident_bytes(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mm_struct___until_6_1 *old = (void *)mm;
	s64 pages;

	if (!mm)
		return 0;
	if (bpf_core_type_exists(struct mm_rss_stat))
		pages = BPF_CORE_READ(old, rss_stat.count[0].counter) +
			BPF_CORE_READ(old, rss_stat.count[1].counter) +
			BPF_CORE_READ(old, rss_stat.count[3].counter);
	else
		pages = BPF_CORE_READ(mm, rss_stat[0].count) + BPF_CORE_READ(mm, rss_stat[1].count) +
			BPF_CORE_READ(mm, rss_stat[3].count);
	return pages > 0 ? (u64)pages * 4096 : 0;
}

/* The process of a struct pid: its task's tgid, or its own number if the task is gone. */
static __always_inline u32 davy_pid_tgid(struct pid *pid)
{
	void *link = BPF_CORE_READ(pid, tasks[0].first);
	struct task_struct *task;

	if (!link)
		return (u32)BPF_CORE_READ(pid, numbers[0].nr);
	task = link - bpf_core_field_offset(struct task_struct, pid_links);
	return (u32)BPF_CORE_READ(task, tgid);
}

/* KFD's device argument is a kfd_dev up to 6.4 and a kfd_node since 6.5. */
struct kfd_dev___until_6_4 {
	struct amdgpu_device *adev;
} __attribute__((preserve_access_index));

static __always_inline struct amdgpu_device *davy_kfd_adev(void *kfd)
{
	struct kfd_dev___until_6_4 *old = kfd;
	struct kfd_node *node = kfd;

	if (bpf_core_type_exists(struct kfd_node))
		return BPF_CORE_READ(node, adev);
	return BPF_CORE_READ(old, adev);
}

static __always_inline struct device *davy_kfd_device(void *kfd)
{
	struct amdgpu_device *adev = davy_kfd_adev(kfd);

	return BPF_CORE_READ(adev, dev);
}

#endif

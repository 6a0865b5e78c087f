/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xe tracepoints: page faults and evictions of a VM's mappings, killed VMs, memory errors and
 * resets of an exec queue, job timeouts, TLB invalidation timeouts. Its jobs use the DRM scheduler
 * and its buffers TTM: see there.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "timeout.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* VMs and queues of the kernel itself have no file: 0. */
static __always_inline __u32 file_pid(struct xe_file *file)
{
	return file ? (__u32)BPF_CORE_READ(file, pid) : 0;
}

static __always_inline struct davy_sum_key vm_key(enum davy_fact fact, struct xe_vm *vm)
{
	struct davy_sum_key key = {
		.fact = fact,
		.device = (__u64)BPF_CORE_READ(vm, xe, drm.dev),
		.detail = BPF_CORE_READ(vm, usm.asid),
		.pid = file_pid(BPF_CORE_READ(vm, xef)),
	};

	return key;
}

/* A drm_gpuva's vm is the drm_gpuvm at the start of a xe_vm (gpuvm_to_vm). */
static __always_inline struct xe_vm *vm_of(struct xe_vma *vma)
{
	return (struct xe_vm *)BPF_CORE_READ(vma, gpuva.vm);
}

SEC("?tp_btf/xe_vma_pagefault")
int BPF_PROG(page_fault, struct xe_vma *vma)
{
	struct davy_sum_key key;

	if (!vma)
		return 0;
	key = vm_key(DAVY_FACT_XE_PAGE_FAULT, vm_of(vma));
	return fact_count(&key, 0, 0, BPF_CORE_READ(vma, gpuva.va.addr));
}

SEC("?tp_btf/xe_vma_evict")
int BPF_PROG(vma_evicted, struct xe_vma *vma)
{
	struct davy_sum_key key;

	if (!vma)
		return 0;
	key = vm_key(DAVY_FACT_XE_VMA_EVICT, vm_of(vma));
	return fact_count(&key, 0, BPF_CORE_READ(vma, gpuva.va.range),
			  BPF_CORE_READ(vma, gpuva.va.addr));
}

SEC("?tp_btf/xe_vm_rebind_worker_retry")
int BPF_PROG(rebind_retried, struct xe_vm *vm)
{
	struct davy_sum_key key;

	if (!vm)
		return 0;
	key = vm_key(DAVY_FACT_XE_REBIND_RETRY, vm);
	return fact_count(&key, 0, 0, 0);
}

static __always_inline int vm_tell(enum davy_fact fact, struct xe_vm *vm)
{
	__u32 pid = file_pid(BPF_CORE_READ(vm, xef));
	struct davy_wire_fact *e = fact_begin(fact, BPF_CORE_READ(vm, xe, drm.dev));

	if (!e)
		return 0;
	e->pid = pid;
	e->detail = BPF_CORE_READ(vm, usm.asid);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?tp_btf/xe_vm_kill")
int BPF_PROG(vm_killed, struct xe_vm *vm)
{
	return vm ? vm_tell(DAVY_FACT_XE_VM_KILLED, vm) : 0;
}

SEC("?tp_btf/xe_vm_ops_fail")
int BPF_PROG(vm_ops_failed, struct xe_vm *vm)
{
	return vm ? vm_tell(DAVY_FACT_XE_VM_OPS_FAILED, vm) : 0;
}

static __always_inline int queue_tell(enum davy_fact fact, struct xe_exec_queue *q)
{
	__u32 pid = file_pid(BPF_CORE_READ(q, xef));
	struct davy_wire_fact *e = fact_begin(fact, BPF_CORE_READ(q, gt, tile, xe, drm.dev));

	if (!e)
		return 0;
	e->pid = pid;
	e->detail = BPF_CORE_READ(q, guc, id);
	BPF_CORE_READ_STR_INTO(&e->name, q, name);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?tp_btf/xe_exec_queue_memory_cat_error")
int BPF_PROG(cat_error, struct xe_exec_queue *q)
{
	return q ? queue_tell(DAVY_FACT_XE_CAT_ERROR, q) : 0;
}

SEC("?tp_btf/xe_exec_queue_reset")
int BPF_PROG(queue_reset, struct xe_exec_queue *q)
{
	return q ? queue_tell(DAVY_FACT_XE_QUEUE_RESET, q) : 0;
}

SEC("?tp_btf/xe_sched_job_timedout")
int BPF_PROG(xe_timed_out, struct xe_sched_job *job)
{
	if (!job || !davy_setting(xe_timeouts))
		return 0;
	return timeout_tell((void *)job + bpf_core_field_offset(struct xe_sched_job, drm),
			    file_pid(BPF_CORE_READ(job, q, xef)), 0);
}

SEC("?tp_btf/xe_gt_tlb_invalidation_fence_timeout")
int BPF_PROG(tlb_timed_out_until_6_17, struct xe_device *xe)
{
	return xe ? fact_tell(DAVY_FACT_XE_TLB_TIMEOUT, BPF_CORE_READ(xe, drm.dev), 0) : 0;
}

SEC("?tp_btf/xe_tlb_inval_fence_timeout")
int BPF_PROG(tlb_timed_out_since_6_18, struct xe_device *xe)
{
	return xe ? fact_tell(DAVY_FACT_XE_TLB_TIMEOUT, BPF_CORE_READ(xe, drm.dev), 0) : 0;
}

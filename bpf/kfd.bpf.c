/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KFD, the compute part of amdgpu (ROCm): memory limits, processes whose queues are stopped because
 * another process needs memory, and for how long, faults and exceptions. Its jobs use no scheduler:
 * a stopped process is visible only here.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "ioctl.bpf.h"
#include "pasid.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct stop {
	__u64 since_ns;
	__u32 tgid; /* an address may be reused by another process */
	__u32 depth; /* evictions nest: by TTM and for a userptr at the same time */
};

/* kfd_process to the time when its queues were stopped. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct stop);
} stopped SEC(".maps");

/* Failed restores in a row, by tgid. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} failing SEC(".maps");

static __always_inline int tell_pid(enum davy_fact fact, __u32 pid)
{
	struct davy_wire_fact *e = fact_begin(fact, 0);

	if (!e)
		return 0;
	e->pid = pid;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static __always_inline int tell_pasid(enum davy_fact fact, struct device *dev, __u32 pasid)
{
	struct davy_wire_fact *e = fact_begin(fact, dev);

	if (!e)
		return 0;
	e->pasid = pasid;
	e->pid = pasid_owner(pasid);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* A failed hipMalloc: no eviction is tried. */
SEC("?fexit/amdgpu_amdkfd_reserve_mem_limit")
int BPF_PROG(limit_checked, struct amdgpu_device *adev, __u64 size, __u32 flags)
{
	struct davy_wire_fact *e;
	__u64 ret = 0;

	if (bpf_get_func_ret(ctx, &ret) || (int)ret >= 0)
		return 0;
	e = fact_begin(DAVY_FACT_KFD_LIMIT, BPF_CORE_READ(adev, dev));
	if (!e)
		return 0;
	e->pid = davy_current();
	e->bytes = size;
	e->detail = flags;
	e->error = (int)ret;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/*
 * Runs in the context of the evictor or of a kernel worker: TTM requests the fence of the buffers
 * of a process.
 */
SEC("?fentry/amdkfd_fence_enable_signaling")
int BPF_PROG(eviction_fence, struct dma_fence *fence)
{
	struct amdgpu_amdkfd_fence *f =
		(void *)fence - bpf_core_field_offset(struct amdgpu_amdkfd_fence, base);

	return tell_pid(DAVY_FACT_KFD_EVICTION_FENCE, (__u32)BPF_CORE_READ(f, mm, owner, tgid));
}

SEC("?fentry/kgd2kfd_schedule_evict_and_restore_process")
int BPF_PROG(evict_wanted, struct mm_struct *mm)
{
	return tell_pid(DAVY_FACT_KFD_EVICT_WANTED, (__u32)BPF_CORE_READ(mm, owner, tgid));
}

static __always_inline void stop_begins(struct kfd_process *p, __u32 tgid)
{
	struct stop fresh = { .since_ns = bpf_ktime_get_boot_ns(), .tgid = tgid, .depth = 1 };
	__u64 id = (__u64)p;
	struct stop *known = bpf_map_lookup_elem(&stopped, &id);

	if (known && known->tgid == tgid)
		known->depth++;
	else
		bpf_map_update_elem(&stopped, &id, &fresh, BPF_ANY);
}

/* Time when the queues stopped, if they run again now; 0: they are still stopped. */
static __always_inline __u64 stop_ends(struct kfd_process *p, __u32 tgid)
{
	__u64 id = (__u64)p, since = bpf_ktime_get_boot_ns();
	struct stop *known = bpf_map_lookup_elem(&stopped, &id);

	if (!known || known->tgid != tgid)
		return since; /* stopped before the agent attached */
	if (known->depth > 1) {
		known->depth--;
		return 0;
	}
	since = known->since_ns;
	bpf_map_delete_elem(&stopped, &id);
	return since;
}

SEC("?fexit/kfd_process_evict_queues")
int BPF_PROG(queues_evicted, struct kfd_process *p, __u32 trigger)
{
	__u32 tgid = (__u32)BPF_CORE_READ(p, lead_thread, tgid);
	struct davy_wire_fact *e;
	__u64 ret = 0;

	bpf_get_func_ret(ctx, &ret);
	if (!(int)ret || (int)ret == -EIO) /* all other failures were rolled back */
		stop_begins(p, tgid);
	e = fact_begin(DAVY_FACT_KFD_QUEUES_EVICTED, 0);
	if (!e)
		return 0;
	e->pid = tgid;
	e->detail = trigger;
	e->error = (int)ret;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?fexit/kfd_process_restore_queues")
int BPF_PROG(queues_restored, struct kfd_process *p)
{
	__u64 ret = 0, since = 1;
	__u32 tgid = (__u32)BPF_CORE_READ(p, lead_thread, tgid);
	struct davy_wire_fact *e;

	bpf_get_func_ret(ctx, &ret);
	if (!(int)ret)
		since = stop_ends(p, tgid);
	if (!since)
		return 0;
	e = fact_begin(DAVY_FACT_KFD_QUEUES_RESTORED, 0);
	if (e) {
		e->pid = tgid;
		e->error = (int)ret;
		if (!(int)ret && e->head.boot_ns > since)
			e->duration_ns = e->head.boot_ns - since;
		bpf_ringbuf_submit(e, 0);
	}
	if (!(int)ret)
		bpf_map_delete_elem(&failing, &tgid);
	return 0;
}

/* Runs in a kworker, every 100 ms until it succeeds. Until then, the process stands still. */
SEC("?fexit/amdgpu_amdkfd_gpuvm_restore_process_bos")
int BPF_PROG(bos_restored, struct amdkfd_process_info *info)
{
	__u32 tgid = davy_pid_tgid(BPF_CORE_READ(info, pid));
	__u64 ret = 0, times = 1, *known;
	struct davy_wire_fact *e;

	if (bpf_get_func_ret(ctx, &ret) || !(int)ret)
		return 0;
	known = bpf_map_lookup_elem(&failing, &tgid);
	if (known)
		times = *known + 1;
	bpf_map_update_elem(&failing, &tgid, &times, BPF_ANY);
	e = fact_begin(DAVY_FACT_KFD_RESTORE_FAILED, 0);
	if (!e)
		return 0;
	e->pid = tgid;
	e->error = (int)ret;
	e->count = times;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static __always_inline int vm_fault(struct device *dev, __u32 pid, __u32 pasid,
				    struct kfd_vm_fault_info *info)
{
	struct davy_wire_fact *e = fact_begin(DAVY_FACT_KFD_VM_FAULT, dev);

	if (!e)
		return 0;
	e->pasid = pasid;
	e->pid = pid ? pid : pasid_owner(pasid);
	if (info)
		e->addr = BPF_CORE_READ(info, page_addr) << 12;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* (device, PASID, info) up to 6.14, (kfd_process_device, info) since: the field moved with it. */
SEC("?fentry/kfd_signal_vm_fault_event")
int BPF_PROG(kfd_vm_fault, void *first, __u64 second, __u64 third)
{
	struct kfd_process_device *pdd = first;

	if (!bpf_core_field_exists(pdd->pasid))
		return vm_fault(davy_kfd_device(first), 0, (__u32)second, (void *)third);
	return vm_fault(davy_kfd_device(BPF_CORE_READ(pdd, dev)),
			(__u32)BPF_CORE_READ(pdd, process, lead_thread, tgid),
			BPF_CORE_READ(pdd, pasid), (void *)second);
}

SEC("?fentry/kfd_signal_hw_exception_event")
int BPF_PROG(hw_exception, __u32 pasid)
{
	return tell_pasid(DAVY_FACT_KFD_HW_EXCEPTION, 0, pasid);
}

SEC("?fentry/kfd_signal_reset_event")
int BPF_PROG(reset_signal, void *kfd)
{
	return fact_tell(DAVY_FACT_KFD_RESET_SIGNAL, davy_kfd_device(kfd), 0);
}

SEC("?fentry/kfd_signal_poison_consumed_event")
int BPF_PROG(poison_consumed, void *kfd, __u32 pasid)
{
	return tell_pasid(DAVY_FACT_KFD_POISON, davy_kfd_device(kfd), pasid);
}

SEC("?fentry/amdgpu_amdkfd_gpu_reset")
int BPF_PROG(reset_wanted, struct amdgpu_device *adev)
{
	return fact_tell(DAVY_FACT_KFD_GPU_RESET, BPF_CORE_READ(adev, dev), 0);
}

/* Recoverable faults, if the kernel has SVM; an error means that the fault cannot be served. */
SEC("?fexit/svm_range_restore_pages")
int BPF_PROG(svm_fault, struct amdgpu_device *adev, unsigned int pasid, __u32 vmid, __u32 node,
	     __u64 page)
{
	struct davy_sum_key key = {
		.device = (__u64)BPF_CORE_READ(adev, dev),
		.pasid = pasid,
		.pid = pasid_owner(pasid),
		.fact = DAVY_FACT_SVM_FAULT,
	};
	__u64 ret = 0;

	bpf_get_func_ret(ctx, &ret);
	key.error = (int)ret;
	return fact_count(&key, 0, 0, page << 12);
}

/* The second argument is a pid_t up to 6.14, a task since; without SVM it is never called. */
SEC("?fentry/kfd_smi_event_page_fault_start")
int BPF_PROG(page_fault, void *kfd, __u64 who, unsigned long page)
{
	struct davy_sum_key key = {
		.device = (__u64)davy_kfd_device(kfd),
		.fact = DAVY_FACT_KFD_PAGE_FAULT,
	};
	struct kfd_process_device *pdd = 0;

	if (bpf_core_field_exists(pdd->pasid))
		key.pid = (__u32)BPF_CORE_READ((struct task_struct *)who, tgid);
	else
		key.pid = (__u32)who;
	return fact_count(&key, 0, 0, (__u64)page << 12);
}

SEC("?fexit/kfd_ioctl")
int BPF_PROG(kfd_ioctl_done, struct file *filp, unsigned int cmd, unsigned long arg, long ret)
{
	if (ret >= 0 || ret < -4095)
		return 0;
	return ioctl_failed(0, "kfd", cmd, (int)ret);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few kernel structs the programs touch, declared by hand: only the fields that are read.
 * CO-RE relocates every access against the running kernel's and its modules' BTF, so order and
 * size here mean nothing. Module types (amdgpu, gpu_sched) are in no vmlinux.h.
 * Included by the *.bpf.c files only.
 */
#ifndef DL_KTYPES_BPF_H
#define DL_KTYPES_BPF_H

#include <linux/types.h>
#include <linux/ptrace.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

typedef _Bool bool;
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct atomic_t___dl {
	int counter;
};

struct signal_struct {
	struct atomic_t___dl live;
	int group_exit_code;
};

struct task_struct {
	int pid;
	int tgid;
	int exit_code;
	u64 start_boottime;
	char comm[DL_COMM_LEN];
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct signal_struct *signal;
};

struct linux_binprm;

struct module {
	char name[DL_MODULE_NAME_LEN];
};

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj;
};

struct work_struct;

/* drivers/gpu/drm/scheduler, include/drm/gpu_scheduler.h */
struct dma_fence {
	u64 context;
	u64 seqno;
};

struct drm_gpu_scheduler {
	long timeout;
	const char *name;
	struct device *dev;
};

struct drm_sched_fence {
	struct dma_fence finished;
	struct drm_gpu_scheduler *sched;
};

struct drm_sched_job {
	struct drm_gpu_scheduler *sched;
	struct drm_sched_fence *s_fence;
};

struct drm_sched_entity;

/* include/drm/ttm, include/drm/drm_gem.h */
struct drm_device {
	struct device *dev;
};

struct drm_gem_object {
	struct drm_device *dev;
	unsigned long size;
};

struct ttm_buffer_object {
	struct drm_gem_object base;
};

struct ttm_place {
	u32 mem_type;
};

struct drm_minor {
	struct drm_device *dev;
};

struct drm_file {
	struct drm_minor *minor;
};

struct file {
	void *private_data;
};

/* drivers/gpu/drm/amd/amdgpu */
struct amdgpu_task_info {
	int tgid;
};

struct amdgpu_vm {
	unsigned int pasid;
	struct amdgpu_task_info *task_info;
};

struct amdgpu_vm_bo_base {
	struct amdgpu_vm *vm;
};

struct amdgpu_bo {
	struct ttm_buffer_object tbo;
	struct amdgpu_vm_bo_base *vm_bo;
};

struct amdgpu_ih_ring {
	unsigned int ring_size;
};

struct amdgpu_irq {
	struct amdgpu_ih_ring ih, ih1, ih2, ih_soft;
};

struct amdgpu_device {
	struct device *dev;
	struct amdgpu_irq irq;
};

struct amdgpu_iv_entry {
	struct amdgpu_ih_ring *ih;
	unsigned int client_id;
	unsigned int src_id;
	unsigned int vmid;
	unsigned int pasid;
	unsigned int src_data[4];
};

struct amdgpu_job {
	struct drm_sched_job base;
	struct amdgpu_vm *vm;
	unsigned int pasid;
};

struct amdgpu_reset_context;

#pragma clang attribute pop

#endif

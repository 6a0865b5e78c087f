/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few kernel structs that the programs use, declared by hand with only the fields that are
 * read. CO-RE relocates each access with the BTF of the running kernel and its modules, so order
 * and size here are irrelevant. Module types (amdgpu, gpu_sched) are not in vmlinux.h. Only the
 * *.bpf.c files include this.
 */
#ifndef DAVY_KTYPES_BPF_H
#define DAVY_KTYPES_BPF_H

#include <stdbool.h>
#include <linux/types.h>
#include <linux/ptrace.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct atomic_t___dl {
	int counter;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

struct kernel_siginfo;

struct signal_struct {
	struct atomic_t___dl live;
	int group_exit_code;
};

struct percpu_counter {
	s64 count;
};

struct file;

struct mm_struct {
	unsigned long arg_start, arg_end, env_start, env_end;
	struct file *exe_file;
	struct task_struct *owner;
	struct percpu_counter rss_stat[4];
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct upid {
	int nr;
};

struct pid {
	struct hlist_head tasks[4];
	struct upid numbers[1];
};

struct kernfs_node {
	const char *name;
	u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[1];
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct super_block {
	u32 s_dev;
};

struct inode {
	unsigned short i_mode;
	u32 i_rdev;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
	struct inode *d_inode;
};

struct path {
	struct dentry *dentry;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff;
	struct file *vm_file;
};

struct task_struct {
	int pid;
	struct css_set *cgroups;
	struct files_struct *files;
	struct mm_struct *mm;
	struct hlist_node pid_links[4];
	int tgid;
	int exit_code;
	u64 start_boottime;
	char comm[DAVY_COMM_LEN];
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct signal_struct *signal;
};

struct linux_binprm {
	const char *filename;
};

struct mem_cgroup;

struct oom_control {
	struct mem_cgroup *memcg;
};

struct ctl_table {
	const char *procname;
};

struct filename {
	const char *name;
};

struct module {
	char name[DAVY_MODULE_NAME_LEN];
};

struct kobject {
	const char *name;
};

struct device_driver {
	const char *name;
};

struct device {
	struct kobject kobj;
	struct device_driver *driver;
};

struct pci_dev {
	struct device dev;
};

struct work_struct {
	u64 data;
};

struct delayed_work {
	struct work_struct work;
};

struct list_head {
	struct list_head *next;
};

struct kref {
	int refcount;
};

/* drivers/gpu/drm/scheduler, include/drm/gpu_scheduler.h */
struct dma_fence {
	u64 context;
	u64 seqno;
	int error;
};

struct drm_gpu_scheduler {
	long timeout;
	const char *name;
	struct device *dev;
	struct delayed_work work_tdr;
	struct list_head pending_list;
};

struct drm_sched_fence {
	struct dma_fence finished;
	struct drm_gpu_scheduler *sched;
};

struct drm_sched_job {
	struct drm_gpu_scheduler *sched;
	struct drm_sched_fence *s_fence;
	struct list_head list;
};

struct drm_sched_entity;

/* include/drm/ttm, include/drm/drm_gem.h */
struct drm_driver {
	const char *name;
};

struct drm_device {
	struct device *dev;
	bool registered;
	const struct drm_driver *driver;
};

struct drm_gem_object {
	struct drm_device *dev;
	struct kref refcount;
	unsigned int handle_count;
	unsigned long size;
};

struct ttm_device;

struct ttm_resource {
	u32 mem_type;
};

struct ttm_resource_manager {
	u64 size;
	u64 usage;
};

enum ttm_bo_type {
	ttm_bo_type_device = 0, /* of userspace */
};

struct ttm_buffer_object {
	struct drm_gem_object base;
	struct ttm_device *bdev;
	enum ttm_bo_type type;
	struct ttm_resource *resource;
};

struct ttm_place {
	u32 mem_type;
};

struct ttm_tt {
	u32 num_pages;
};

struct drm_minor {
	struct drm_device *dev;
};

struct xarray {
	void *xa_head;
};

struct xa_node {
	u8 shift;
	void *slots[1];
};

struct idr {
	struct xarray idr_rt;
	unsigned int idr_base;
};

struct drm_file {
	struct drm_minor *minor;
	struct idr object_idr;
	void *driver_priv;
};

struct bpf_iter__task_file {
	struct task_struct *task;
	struct file *file;
};

struct file_operations {
	struct module *owner;
};

struct file {
	void *private_data;
	const struct file_operations *f_op;
	struct inode *f_inode;
	struct path f_path;
};

/* drivers/gpu/drm/amd/amdgpu */
struct amdgpu_task_info {
	int tgid;
};

/* Since 7.2 or before, three of them are in place of the lists in amdgpu_vm. */
struct amdgpu_vm_bo_status {
	struct list_head evicted, needs_update, idle;
};

struct amdgpu_vm {
	struct list_head evicted, relocated, moved, idle, invalidated, done, evicted_user;
	struct amdgpu_vm_bo_status kernel, always_valid, individual;
	unsigned int pasid;
	struct amdgpu_task_info *task_info;
};

struct amdgpu_bo;

struct amdgpu_vm_bo_base {
	struct amdgpu_vm *vm;
	struct amdgpu_bo *bo;
	struct list_head vm_status;
};

struct amdgpu_fpriv {
	struct amdgpu_vm vm;
};

struct amdgpu_bo {
	u32 preferred_domains;
	struct ttm_buffer_object tbo;
	struct amdgpu_vm_bo_base *vm_bo;
};

struct amdgpu_ih_ring {
	unsigned int ring_size;
};

struct amdgpu_irq {
	struct amdgpu_ih_ring ih, ih1, ih2, ih_soft;
};

struct amdgpu_vram_mgr {
	struct ttm_resource_manager manager;
};

struct amdgpu_mman {
	struct amdgpu_vram_mgr vram_mgr;
};

struct amdgpu_device {
	struct amdgpu_mman mman;
	struct device *dev;
	struct drm_device ddev;
	unsigned long flags;
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
	unsigned int vmid;
	unsigned int pasid;
};

struct amdgpu_ring {
	struct amdgpu_device *adev;
	char name[16];
};

/* drivers/gpu/drm/amd/amdkfd, amdgpu_amdkfd.h */
struct kfd_node {
	struct amdgpu_device *adev;
};

struct kfd_process_device;

struct kfd_process {
	struct task_struct *lead_thread;
	struct kfd_process_device *pdds[1];
	u32 n_pdds;
};

struct kfd_process_device {
	struct kfd_node *dev;
	struct kfd_process *process;
	u32 pasid;
	u32 user_gpu_id;
};

struct kfd_vm_fault_info {
	u64 page_addr;
};

struct amdgpu_amdkfd_fence {
	struct dma_fence base;
	struct mm_struct *mm;
};

struct amdkfd_process_info {
	struct pid *pid;
};

/* drivers/gpu/drm/i915 */
struct drm_i915_private {
	struct drm_device drm;
};

struct i915_address_space {
	struct drm_i915_private *i915;
};

struct intel_reset {
	unsigned long flags;
};

struct intel_gt {
	struct drm_i915_private *i915;
	struct intel_reset reset;
};

struct intel_engine_cs {
	struct drm_i915_private *i915;
	char name[8];
};

struct i915_gem_context {
	struct pid *pid;
};

struct intel_context {
	struct intel_engine_cs *engine;
	struct i915_gem_context *gem_context;
};

struct i915_request {
	struct dma_fence fence;
	struct intel_engine_cs *engine;
	struct intel_context *context;
};

struct drm_mm_node {
	u64 size;
};

struct drm_i915_gem_object {
	struct drm_gem_object base;
};

/* drivers/gpu/drm/xe */
struct xe_wedged___dl {
	struct atomic_t___dl flag;
};

struct xe_device {
	struct drm_device drm;
	struct xe_wedged___dl wedged;
};

struct xe_tile {
	struct xe_device *xe;
};

struct xe_gt_reset___dl {
	struct work_struct worker;
};

struct xe_gt {
	struct xe_tile *tile;
	struct xe_gt_reset___dl reset;
};

struct xe_file {
	int pid;
};

struct xe_vm_usm___dl {
	u32 asid;
};

struct xe_vm {
	struct xe_device *xe;
	struct xe_file *xef;
	struct xe_vm_usm___dl usm;
};

struct drm_gpuva_va___dl {
	u64 addr;
	u64 range;
};

struct drm_gpuvm;

struct drm_gpuva {
	struct drm_gpuvm *vm;
	struct drm_gpuva_va___dl va;
};

struct xe_vma {
	struct drm_gpuva gpuva;
};

struct xe_guc_exec_queue {
	unsigned short id;
};

struct xe_exec_queue {
	struct xe_file *xef;
	struct xe_gt *gt;
	struct xe_guc_exec_queue *guc;
	char name[16];
};

struct xe_sched_job {
	struct drm_sched_job drm;
	struct xe_exec_queue *q;
};

struct amdgpu_reset_context;

#pragma clang attribute pop

#endif

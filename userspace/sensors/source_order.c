/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/source_order.h"

#include <string.h>

#include "sensors/bpf/bpf_state.h"

#define KIND(kind) (DAVY_FACT_COUNT + (kind)) /* events that are no facts share their counters */

#define NOT_ITS_OWN                                                                                \
	0 /* other hooks cause the same events: their count proves nothing about this one */

struct row {
	const char *driver;
	const char *fact;
	uint32_t seen;
	/*
	 * "object/program"; "|" between programs of one worth, of which a kernel has one.
	 * Without "/": no program.
	 */
	const char *source[DAVY_SOURCE_SOURCES];
	const char *unseen;
};

static const struct row rows[] = {
	{ "host",
	  "process starts",
	  KIND(DAVY_EV_PROCESS),
	  { "process/process_exec" },
	  "engines that start are found late, by the next event about them" },
	{ "host",
	  "process ends",
	  KIND(DAVY_EV_PROCESS_EXIT),
	  { "process/process_exit" },
	  "the death of an engine that davylamp did not start" },
	{ "host",
	  "children of engines",
	  KIND(DAVY_EV_PROCESS),
	  { "process/process_fork" },
	  "runners that an engine forks, until they exec" },
	{ "host",
	  "fatal signals sent",
	  DAVY_FACT_SIGNAL_SENT,
	  { "process/signal_sent" },
	  "the sender of a signal" },
	{ "host",
	  "fatal signals taken",
	  DAVY_FACT_SIGNAL_TAKEN,
	  { "process/signal_taken" },
	  "a crash between the signal and the end" },
	{ "host",
	  "OOM victims",
	  DAVY_FACT_OOM_VICTIM,
	  { "host/oom_victim" },
	  "OOM kills: they look like a SIGKILL by a user" },
	{ "host",
	  "device nodes refused",
	  DAVY_FACT_OPEN_REFUSED,
	  { "host/open_done_since_7_0|open_done_until_7_0" },
	  "an engine without permission that goes on with the CPU" },
	{ "host",
	  "device coredumps",
	  DAVY_FACT_COREDUMP,
	  { "host/coredump_since_6_12|coredump_until_6_11" },
	  "device coredumps, which the kernel deletes after five minutes" },
	{ "host",
	  "modules come and go",
	  KIND(DAVY_EV_SENSOR),
	  { "process/module_loaded" },
	  "nothing: /sys/module is read every second instead" },
	{ "engine",
	  "exceptions",
	  KIND(DAVY_EV_THROW),
	  { "engine/throw_seen" },
	  "vk::DeviceLostError and similar exceptions that the engine catches" },
	{ "engine",
	  "graphs",
	  KIND(DAVY_EV_GRAPH),
	  { "engine/graph_entered" },
	  "engines that hang inside a graph, until their health check fails" },
	{ "engine",
	  "tokens and depth",
	  KIND(DAVY_EV_PROGRESS),
	  { "engine/ubatch_entered|decode_entered" },
	  "the context depth at which jobs become too long, and hangs without a job" },
	{ "drm",
	  "jobs",
	  KIND(DAVY_EV_RING),
	  { "drm_sched/job_running_since_6_17|job_running_until_6_16" },
	  "how long the oldest job of a ring runs: stalls before the driver's timeout" },
	{ "drm",
	  "job times",
	  KIND(DAVY_EV_JOB_TIMES),
	  { "drm_sched/job_done_since_6_17|job_done_until_6_16", "fence/fence_signaled" },
	  "how close to the timeout a process's jobs come" },
	{ "drm",
	  "failed jobs",
	  DAVY_FACT_FENCE_FAILED,
	  { "fence/fence_signaled" },
	  "jobs that fail without a timeout" },
	{ "drm",
	  "job timeouts",
	  KIND(DAVY_EV_JOB_TIMEOUT),
	  { "sched_tdr/sched_timed_out" },
	  "job timeouts of drivers without a more specific hook" },
	{ "drm",
	  "failed ioctls",
	  DAVY_FACT_IOCTL_FAILED,
	  { "drm/ioctl_done" },
	  "what the kernel reported to the application" },
	{ "drm",
	  "wedged devices",
	  DAVY_FACT_WEDGED_EVENT,
	  { "drm/wedged" },
	  "resets and lost devices of drivers not named here" },
	{ "ttm",
	  "heaps without room",
	  KIND(DAVY_EV_ALLOC_FAILED),
	  { "ttm/resource_alloc_done" },
	  "the earliest precursor of full VRAM" },
	{ "ttm",
	  "evictions",
	  KIND(DAVY_EV_BO_MOVED),
	  { "ttm/move_ends" },
	  "which process evicts which, on drivers without their own tracepoint" },
	{ "ttm",
	  "owners of buffers",
	  KIND(DAVY_EV_BO_MOVED),
	  { "drm/handle_made" },
	  "the owner of evicted buffers" },
	{ "ttm",
	  "memory refused",
	  KIND(DAVY_EV_ALLOC_FAILED),
	  { "ttm/validate_done", "drm/ioctl_done" },
	  "that eviction did not help" },
	{ "ttm",
	  "swapping",
	  DAVY_FACT_TTM_SWAPOUT,
	  { "ttm/swapped_out" },
	  "that GTT is over its limit" },
	{ "ttm",
	  "pages refused",
	  KIND(DAVY_EV_ALLOC_FAILED),
	  { "ttm/populate_done" },
	  "that host memory for GTT is exhausted" },
	{ "amdgpu",
	  "GPU faults",
	  KIND(DAVY_EV_FAULT),
	  { "amdgpu/iv_seen", "kfd/kfd_vm_fault" },
	  "faults, until the process dies of them" },
	{ "amdgpu",
	  "evictions",
	  KIND(DAVY_EV_BO_MOVED),
	  { "amdgpu/bo_moved", "ttm/move_ends" },
	  "VRAM that spills" },
	{ "amdgpu",
	  "silent spills",
	  DAVY_FACT_VRAM_SPILL,
	  { "amdgpu/bo_created" },
	  "buffers for VRAM that were placed in GTT" },
	{ "amdgpu",
	  "owners of PASIDs",
	  KIND(DAVY_EV_PASID),
	  { "amdgpu_tdr/vm_used", "amdgpu/pasid_allocated" },
	  "the process that caused a fault" },
	{ "amdgpu",
	  "owners of VMIDs",
	  KIND(DAVY_EV_FAULT),
	  { "amdgpu/vmid_grabbed" },
	  "the process that caused a fault without a PASID" },
	{ "amdgpu",
	  "job timeouts",
	  KIND(DAVY_EV_JOB_TIMEOUT),
	  { "amdgpu_tdr/job_timed_out", "sched_tdr/sched_timed_out" },
	  "the driver's own timeout" },
	{ "amdgpu",
	  "soft recovery",
	  DAVY_FACT_SOFT_RECOVERY,
	  { "amdgpu_tdr/soft_recovered" },
	  "hangs that end by killing a wave" },
	{ "amdgpu",
	  "ring resets",
	  DAVY_FACT_RING_RESET,
	  { "amdgpu_tdr/ring_reset_ends|old_gfx_v9_0_reset_kcq" },
	  "hangs that end by resetting a ring" },
	{ "amdgpu",
	  "GPU resets",
	  KIND(DAVY_EV_RESET),
	  { "amdgpu_tdr/reset_ended", "drm/wedged", "kfd_smi" },
	  "resets, and whether they worked" },
	{ "amdgpu",
	  "RAS",
	  DAVY_FACT_RAS_RESET,
	  { "amdgpu_tdr/ras_reset" },
	  "resets because of ECC errors" },
	{ "amdgpu",
	  "refused before DRM",
	  DAVY_FACT_IOCTL_FAILED,
	  { "amdgpu_tdr/amdgpu_ioctl_done" },
	  "ioctls that fail in the runtime resume" },
	{ "kfd",
	  "memory limit",
	  DAVY_FACT_KFD_LIMIT,
	  { "kfd/limit_checked", "kfd/kfd_ioctl_done" },
	  "why hipMalloc fails" },
	{ "kfd",
	  "evictions wanted",
	  DAVY_FACT_KFD_EVICT_WANTED,
	  { "kfd/evict_wanted", "kfd/eviction_fence" },
	  "the process whose queues will be stopped" },
	{ "kfd",
	  "stopped queues",
	  DAVY_FACT_KFD_QUEUES_EVICTED,
	  { "kfd/queues_evicted", "kfd_smi" },
	  "ROCm processes whose queues are stopped" },
	{ "kfd",
	  "resumed queues",
	  DAVY_FACT_KFD_QUEUES_RESTORED,
	  { "kfd/queues_restored", "kfd_smi" },
	  "how long they were stopped" },
	{ "kfd",
	  "failing restores",
	  DAVY_FACT_KFD_RESTORE_FAILED,
	  { "kfd/bos_restored", "kfd_smi" },
	  "restore workers that spin until the host freezes" },
	{ "kfd",
	  "VM faults",
	  DAVY_FACT_KFD_VM_FAULT,
	  { "kfd/kfd_vm_fault", "amdgpu/iv_seen", "kfd_smi" },
	  "why a ROCm process aborts" },
	{ "kfd",
	  "hardware exceptions",
	  DAVY_FACT_KFD_HW_EXCEPTION,
	  { "kfd/hw_exception" },
	  "why a ROCm process aborts" },
	{ "kfd",
	  "poison",
	  DAVY_FACT_KFD_POISON,
	  { "kfd/poison_consumed" },
	  "why a ROCm process gets SIGBUS" },
	{ "kfd",
	  "resets",
	  DAVY_FACT_KFD_GPU_RESET,
	  { "kfd/reset_wanted", "kfd/reset_signal" },
	  "that KFD requested a reset" },
	{ "kfd",
	  "recoverable faults",
	  DAVY_FACT_SVM_FAULT,
	  { "kfd/svm_fault", "kfd/page_fault", "kfd_smi" },
	  "page-fault storms of shared virtual memory" },
	{ "kfd",
	  "throttling, migrations",
	  NOT_ITS_OWN,
	  { "kfd_smi" },
	  "GPUs that are too hot, and shared virtual memory that moves" },
	{ "kfd",
	  "failed ioctls",
	  DAVY_FACT_IOCTL_FAILED,
	  { "kfd/kfd_ioctl_done" },
	  "what the kernel reported to ROCm" },
	{ "i915",
	  "requests",
	  KIND(DAVY_EV_RING),
	  { "i915/request_added" },
	  "requests that do not end" },
	{ "i915",
	  "evictions",
	  DAVY_FACT_I915_EVICT,
	  { "i915/evict_room" },
	  "pressure on the GPU's address space" },
	{ "i915",
	  "shrinker",
	  DAVY_FACT_I915_SHRINK,
	  { "i915/shrink" },
	  "that the host takes the GPU's memory" },
	{ "i915",
	  "CPU faults",
	  DAVY_FACT_I915_FAULT,
	  { "i915/object_fault" },
	  "objects that are mapped repeatedly" },
	{ "i915",
	  "hangs declared",
	  DAVY_FACT_GT_ERROR,
	  { "i915_tdr/gt_error" },
	  "hangs, until they are reset" },
	{ "i915",
	  "banned contexts",
	  DAVY_FACT_CONTEXT_BANNED,
	  { "i915_tdr/context_banned" },
	  "why an engine's submissions fail from now on" },
	{ "i915",
	  "engine resets",
	  DAVY_FACT_ENGINE_RESET,
	  { "i915_tdr/engine_reset" },
	  "hangs that end by resetting an engine, which cause no uevent" },
	{ "i915", "GT resets", NOT_ITS_OWN, { "i915_tdr/gt_reset_ended" }, "resets" },
	{ "i915",
	  "wedged",
	  DAVY_FACT_WEDGED,
	  { "i915_tdr/gt_wedged", "drm/wedged" },
	  "that the device is lost" },
	{ "xe", "page faults", DAVY_FACT_XE_PAGE_FAULT, { "xe/page_fault" }, "page-fault storms" },
	{ "xe",
	  "evictions",
	  DAVY_FACT_XE_VMA_EVICT,
	  { "xe/vma_evicted", "ttm/move_ends" },
	  "the process whose mappings lose their memory" },
	{ "xe",
	  "rebinding",
	  DAVY_FACT_XE_REBIND_RETRY,
	  { "xe/rebind_retried" },
	  "thrash of compute VMs" },
	{ "xe",
	  "killed VMs",
	  DAVY_FACT_XE_VM_KILLED,
	  { "xe/vm_killed" },
	  "why an engine's submissions fail from now on" },
	{ "xe",
	  "failed binds",
	  DAVY_FACT_XE_VM_OPS_FAILED,
	  { "xe/vm_ops_failed", "drm/ioctl_done" },
	  "binds that fail after the ioctl" },
	{ "xe",
	  "memory errors",
	  DAVY_FACT_XE_CAT_ERROR,
	  { "xe/cat_error" },
	  "everything about them: the driver logs nothing before 7.0" },
	{ "xe",
	  "queue resets",
	  DAVY_FACT_XE_QUEUE_RESET,
	  { "xe/queue_reset" },
	  "hangs that end by resetting a queue" },
	{ "xe",
	  "job timeouts",
	  KIND(DAVY_EV_JOB_TIMEOUT),
	  { "xe/xe_timed_out", "sched_tdr/sched_timed_out" },
	  "the driver's own timeout" },
	{ "xe",
	  "TLB timeouts",
	  DAVY_FACT_XE_TLB_TIMEOUT,
	  { "xe/tlb_timed_out_since_6_18|tlb_timed_out_until_6_17" },
	  "an early precursor of a device failure" },
	{ "xe", "GT resets", NOT_ITS_OWN, { "xe_tdr/gt_reset_ended" }, "resets" },
	{ "xe",
	  "wedged",
	  DAVY_FACT_WEDGED,
	  { "xe_tdr/device_wedged", "drm/wedged" },
	  "that the device is lost" },
	{ "xe",
	  "refused before DRM",
	  DAVY_FACT_IOCTL_FAILED,
	  { "xe_tdr/xe_ioctl_done" },
	  "that a wedged device refuses everything" },
	{ "radeon",
	  "refused before DRM",
	  DAVY_FACT_IOCTL_FAILED,
	  { "radeon/radeon_ioctl_done" },
	  "ioctls that fail in the runtime resume" },
	{ "nouveau",
	  "refused before DRM",
	  DAVY_FACT_IOCTL_FAILED,
	  { "nouveau/nouveau_ioctl_done" },
	  "ioctls that fail in the runtime resume, and NVIF commands" },
	{ "nvidia",
	  "Xid errors",
	  DAVY_FACT_NVIDIA_XID,
	  { "nvidia/xid" },
	  "faults, hangs and lost devices of NVIDIA's driver" },
	{ "nvidia",
	  "memory",
	  NOT_ITS_OWN,
	  { "nvml" },
	  "how full the GPU's memory is, and which process uses how much" },
	{ "nvidia",
	  "ECC errors, lowered clocks",
	  NOT_ITS_OWN,
	  { "nvml" },
	  "uncorrectable errors without an Xid, and GPUs that are too hot" },
};

static const struct davy_bpf_object *object_of(const struct davy_bpf *b, const char *source)
{
	size_t len = strcspn(source, "/");

	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++)
		if (strlen(b->objects[i].name) == len && !memcmp(b->objects[i].name, source, len))
			return &b->objects[i];
	return NULL;
}

static bool usable(const struct davy_bpf_object *o, const struct davy_program *p)
{
	return o->loaded && (p->state == DAVY_PROGRAM_LIVE || p->state == DAVY_PROGRAM_ON_DEMAND);
}

/* Of the programs of one worth the one that is live, else one whose hook exists, else any. */
static const struct davy_program *source_order_program_of(const struct davy_bpf_object *o,
							  const char *source)
{
	const char *name = strchr(source, '/') + 1;
	const struct davy_program *first = NULL;

	while (*name) {
		size_t len = strcspn(name, "|");

		for (size_t i = 0; i < o->program_count; i++) {
			const struct davy_program *p = &o->program[i];

			if (strlen(p->name) != len || memcmp(p->name, name, len) != 0)
				continue;
			if (usable(o, p))
				return p;
			if (!first || first->state == DAVY_PROGRAM_ABSENT)
				first = p;
		}
		name += len + (name[len] == '|');
	}
	return first;
}

static const struct davy_source_other *other_of(const struct davy_source_other *others,
						size_t count, const char *source)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(others[i].source, source))
			return &others[i];
	return NULL;
}

static bool source_order_of_other(const struct davy_source_other *other,
				  struct davy_source_choice *ret_choice)
{
	ret_choice->source = other->source;
	ret_choice->hook = other->hook;
	ret_choice->reason = other->used ? "" : other->reason;
	return other->used;
}

/* True when it is in use. */
static bool source_order_of_program(const struct davy_bpf *b, const char *source,
				    struct davy_source_choice *ret_choice)
{
	const struct davy_bpf_object *o = object_of(b, source);
	const struct davy_program *p = o ? source_order_program_of(o, source) : NULL;

	ret_choice->source = source;
	ret_choice->hook = p ? p->hook : "";
	ret_choice->reason = p ? p->reason : "no such program";
	if (!p || !usable(o, p))
		return false;
	ret_choice->reason = "";
	return true;
}

static uint64_t seen_count(const struct davy_bpf *b, uint32_t seen)
{
	if (seen == NOT_ITS_OWN)
		return 0;
	return seen < DAVY_FACT_COUNT ? b->facts_seen[seen] : b->kinds_seen[seen - DAVY_FACT_COUNT];
}

bool davy_source_order(const struct davy_bpf *b, const struct davy_source_other *others,
		       size_t other_count, size_t index, struct davy_source_order *ret_step)
{
	const struct davy_source_other *other, *used = NULL;
	struct davy_source_order *step = ret_step;
	const struct row *r;
	bool stands;

	if (index >= sizeof(rows) / sizeof(rows[0]))
		return false;
	r = &rows[index];
	memset(step, 0, sizeof(*step));
	step->driver = r->driver;
	step->fact = r->fact;
	step->unseen = r->unseen;
	step->used = SIZE_MAX;
	for (size_t i = 0; i < DAVY_SOURCE_SOURCES && r->source[i]; i++) {
		other = other_of(others, other_count, r->source[i]);
		stands = other ? source_order_of_other(other, &step->choice[i])
			       : source_order_of_program(b, r->source[i], &step->choice[i]);
		step->choice_count++;
		if (!stands || step->used != SIZE_MAX)
			continue;
		step->used = i;
		used = other;
	}
	step->state = DAVY_SOURCE_OFF;
	if (step->used == SIZE_MAX) {
		step->used = step->choice_count;
		return true;
	}
	step->seen_count = used ? used->seen_count : seen_count(b, r->seen);
	step->state = step->seen_count ? DAVY_SOURCE_LIVE : DAVY_SOURCE_READY;
	return true;
}

const char *davy_source_state_name(enum davy_source_state state)
{
	static const char *const names[DAVY_SOURCE_STATE_COUNT] = {
		[DAVY_SOURCE_LIVE] = "live",
		[DAVY_SOURCE_READY] = "ready",
		[DAVY_SOURCE_OFF] = "off",
	};

	return state < DAVY_SOURCE_STATE_COUNT ? names[state] : "unknown";
}

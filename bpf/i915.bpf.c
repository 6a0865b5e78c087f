/* SPDX-License-Identifier: GPL-2.0 */
/*
 * i915 tracepoints: pressure on the GPU's address space, the shrinker (an integrated GPU uses host
 * memory), CPU faults on objects, and requests from submission to end. Requests are stored like the
 * DRM scheduler's jobs, with an engine as the ring.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "jobs.bpf.h"

char LICENSE[] SEC("license") = "GPL";

enum evict_what { EVICT_ROOM = 0, EVICT_NODE = 1, EVICT_VM = 2 };

static __always_inline int evict(struct i915_address_space *vm, __u64 bytes, __u16 what)
{
	struct davy_sum_key key = {
		.device = (__u64)BPF_CORE_READ(vm, i915, drm.dev),
		.pid = davy_current(),
		.fact = DAVY_FACT_I915_EVICT,
		.what = what,
	};

	return fact_count(&key, 0, bytes, 0);
}

SEC("?tp_btf/i915_gem_evict")
int BPF_PROG(evict_room, struct i915_address_space *vm, u64 size)
{
	return vm ? evict(vm, size, EVICT_ROOM) : 0;
}

SEC("?tp_btf/i915_gem_evict_node")
int BPF_PROG(evict_node, struct i915_address_space *vm, struct drm_mm_node *node)
{
	return vm && node ? evict(vm, BPF_CORE_READ(node, size), EVICT_NODE) : 0;
}

SEC("?tp_btf/i915_gem_evict_vm")
int BPF_PROG(evict_vm, struct i915_address_space *vm)
{
	return vm ? evict(vm, 0, EVICT_VM) : 0;
}

SEC("?tp_btf/i915_gem_shrink")
int BPF_PROG(shrink, struct drm_i915_private *i915, unsigned long target, unsigned int flags)
{
	struct davy_sum_key key = { .fact = DAVY_FACT_I915_SHRINK, .pid = davy_current(), .detail = flags };

	if (!i915)
		return 0;
	key.device = (__u64)BPF_CORE_READ(i915, drm.dev);
	return fact_count(&key, 0, (__u64)target * 4096, 0);
}

SEC("?tp_btf/i915_gem_object_fault")
int BPF_PROG(object_fault, struct drm_i915_gem_object *obj, u64 index, bool gtt, bool write)
{
	struct davy_sum_key key = { .fact = DAVY_FACT_I915_FAULT, .pid = davy_current(), .what = write };

	if (!obj)
		return 0;
	key.device = (__u64)BPF_CORE_READ(obj, base.dev, dev);
	return fact_count(&key, 0, 0, index * 4096);
}

static __always_inline struct davy_sched *engine_of(struct intel_engine_cs *engine)
{
	__u64 key = (__u64)engine;
	struct davy_sched *known = bpf_map_lookup_elem(&scheds, &key);
	struct davy_sched fresh = {};

	fresh.device = (__u64)BPF_CORE_READ(engine, i915, drm.dev);
	BPF_CORE_READ_STR_INTO(&fresh.ring, engine, name);
	if (known && sched_same(known, &fresh))
		return known;
	davy_dev_name(fresh.dev, (struct device *)fresh.device);
	return sched_add(key, &fresh); /* no timeout in the driver: heartbeats monitor it */
}

/*
 * In the submitter's context. The hardware takes it as soon as possible, so it counts as running.
 */
SEC("?tp_btf/i915_request_add")
int BPF_PROG(request_added, struct i915_request *rq)
{
	struct intel_engine_cs *engine;
	struct davy_job state = {};
	struct davy_job_key key;
	struct davy_sched *sched;

	if (!rq)
		return 0;
	engine = BPF_CORE_READ(rq, engine);
	sched = engine_of(engine);
	state.queued_ns = state.run_ns = bpf_ktime_get_boot_ns();
	if (sched) {
		__sync_fetch_and_add(&sched->run_count, 1);
		sched->last_run_ns = state.run_ns;
	}
	key = job_key(&rq->fence);
	state.sched = (__u64)engine;
	state.tgid = davy_current();
	return job_add(&key, &state);
}

/* Usually already removed when its fence was signaled. */
SEC("?tp_btf/i915_request_retire")
int BPF_PROG(request_retired, struct i915_request *rq)
{
	struct davy_job_key key;

	if (!rq)
		return 0;
	key = job_key(&rq->fence);
	return job_done(&key);
}

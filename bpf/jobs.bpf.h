/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs on a ring, queued by the DRM scheduler or as i915 requests. A job is identified by its fence
 * (context, seqno), a ring by an address.
 */
#ifndef DAVY_JOBS_BPF_H
#define DAVY_JOBS_BPF_H

#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_MAX_JOBS);
	__type(key, struct davy_job_key);
	__type(value, struct davy_job);
} jobs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_MAX_SCHEDS);
	__type(key, __u64);
	__type(value, struct davy_sched);
} scheds SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_MAX_TIMES);
	__type(key, struct davy_times_key);
	__type(value, struct davy_times);
} times SEC(".maps");

/* A zeroed value, too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct davy_times);
} fresh_times SEC(".maps");

/* One copy for both where they are neighbours: on all known kernels. */
static __always_inline struct davy_job_key job_key(struct dma_fence *fence)
{
	__u64 context = bpf_core_field_offset(struct dma_fence, context);
	struct davy_job_key key = {};

	if (bpf_core_field_offset(struct dma_fence, seqno) == context + sizeof(key.fence_context)) {
		bpf_probe_read_kernel(&key, sizeof(key), (void *)fence + context);
		return key;
	}
	key.fence_context = BPF_CORE_READ(fence, context);
	key.fence_seqno = BPF_CORE_READ(fence, seqno);
	return key;
}

/* A resting agent polls rarely: report the first job, which ends the rest. */
static __always_inline void job_tell(void)
{
	__u32 zero = 0;
	struct davy_settings *s = bpf_map_lookup_elem(&settings, &zero);
	struct davy_wire_head *head;

	if (!s || !s->tell_job)
		return;
	head = davy_reserve(DAVY_WIRE_JOB, sizeof(*head));
	if (!head)
		return;
	s->tell_job = 0;
	bpf_ringbuf_submit(head, 0);
}

static __always_inline int job_add(struct davy_job_key *key, struct davy_job *job)
{
	job_tell();
	davy_put(&jobs, key, job, BPF_ANY, DAVY_LOSS_JOBS_FULL);
	return 0;
}

static __always_inline bool same_ring(char *a, char *b)
{
	__u64 *left = (__u64 *)a, *right = (__u64 *)b;

	_Static_assert(DAVY_RING_NAME_LEN == 16, "two words");
	return left[0] == right[0] && left[1] == right[1];
}

/* Some drivers create a scheduler per queue: an address is soon reused for another ring. */
static __always_inline bool sched_same(struct davy_sched *a, struct davy_sched *b)
{
	return a->device == b->device && same_ring(a->ring, b->ring) &&
	       a->timeout_jiffies == b->timeout_jiffies;
}

static __always_inline struct davy_sched *sched_add(__u64 key, struct davy_sched *fresh)
{
	fresh->last_run_ns = bpf_ktime_get_boot_ns();
	davy_put(&scheds, &key, fresh, BPF_ANY, DAVY_LOSS_SCHEDS_FULL);
	return bpf_map_lookup_elem(&scheds, &key);
}

static __always_inline __u32 time_slot(__u64 ns)
{
	__u64 units = ns / DAVY_TIME_SLOT_NS;
	__u32 slot = 0;

	for (int i = 0; i < DAVY_TIME_SLOTS - 1; i++) {
		units >>= 1;
		if (!units)
			break;
		slot++;
	}
	return slot;
}

static __always_inline void time_count(struct davy_job *job, struct davy_sched *sched, __u64 ns)
{
	struct davy_times_key key = { .sched = job->sched, .tgid = job->tgid };
	struct davy_times *t = bpf_map_lookup_elem(&times, &key);
	__u32 slot = time_slot(ns);

	if (!t || t->device != sched->device || !same_ring(t->ring, sched->ring)) {
		__u32 zero = 0;
		struct davy_times *fresh = bpf_map_lookup_elem(&fresh_times, &zero);

		if (!fresh)
			return;
		davy_put(&times, &key, fresh, BPF_ANY, DAVY_LOSS_TIMES_FULL);
		t = bpf_map_lookup_elem(&times, &key);
		if (!t)
			return;
		t->device = sched->device;
		__builtin_memcpy(t->dev, sched->dev, sizeof(t->dev));
		__builtin_memcpy(t->ring, sched->ring, sizeof(t->ring));
	}
	if (ns > t->max_ns)
		t->max_ns = ns;
	if (slot < DAVY_TIME_SLOTS)
		__sync_fetch_and_add(&t->slot[slot], 1);
	__sync_fetch_and_add(&t->sum_ns, ns);
	__sync_fetch_and_add(&t->count, 1); /* last: the agent looks for new jobs by it */
}

/* The job leaves the hardware. */
static __always_inline void job_account(struct davy_job *job)
{
	__u64 now = bpf_ktime_get_boot_ns(), start = job->run_ns, sched_key = job->sched;
	struct davy_sched *sched = bpf_map_lookup_elem(&scheds, &sched_key);

	if (!sched || !start || job->done)
		return;
	job->done = 1;
	if (sched->last_done_ns > start)
		start = sched->last_done_ns; /* the hardware was busy with the previous job */
	if (now - start > sched->max_run_ns)
		sched->max_run_ns = now - start;
	time_count(job, sched, now - start);
	sched->last_done_ns = now;
	__sync_fetch_and_add(&sched->done_count, 1);
}

/* If the end of the fence is also observed, with its error, the job is removed there. */
static __always_inline int job_done(struct davy_job_key *key)
{
	struct davy_job *job = bpf_map_lookup_elem(&jobs, key);
	__u32 zero = 0;
	struct davy_settings *s = bpf_map_lookup_elem(&settings, &zero);

	if (!job)
		return 0;
	job_account(job);
	if (!s || !s->fence_ends)
		bpf_map_delete_elem(&jobs, key);
	return 0;
}

#endif

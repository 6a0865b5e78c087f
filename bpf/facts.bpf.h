/* SPDX-License-Identifier: GPL-2.0 */
/* Facts: rare ones are reported one by one, frequent ones are counted in a shared map. */
#ifndef DAVY_FACTS_BPF_H
#define DAVY_FACTS_BPF_H

#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_MAX_SUMS);
	__type(key, struct davy_sum_key);
	__type(value, struct davy_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DAVY_FACT_COUNT);
	__type(key, __u32);
	__type(value, struct davy_threshold);
} thresholds SEC(".maps");

/* Starts a rare fact; the caller fills the rest and submits it. NULL if the ring is full. */
static __always_inline struct davy_wire_fact *fact_begin_in(bool stormy, enum davy_fact fact,
							     struct device *dev)
{
	struct davy_wire_fact *e = davy_reserve_in(stormy, DAVY_WIRE_FACT, sizeof(*e));

	if (!e)
		return 0;
	e->fact = fact;
	e->count = 1;
	e->device = (__u64)dev;
	if (dev)
		davy_dev_name(e->dev, dev);
	return e;
}

static __always_inline struct davy_wire_fact *fact_begin(enum davy_fact fact, struct device *dev)
{
	return fact_begin_in(false, fact, dev);
}

static __always_inline void fact_name(struct davy_wire_fact *e, const char *name)
{
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), name);
}

static __always_inline void fact_fence(struct davy_wire_fact *e, struct dma_fence *fence)
{
	e->fence_context = BPF_CORE_READ(fence, context);
	e->fence_seqno = BPF_CORE_READ(fence, seqno);
}

/* Reports a fact that needs only "dev". */
static __always_inline int fact_tell(enum davy_fact fact, struct device *dev, int error)
{
	struct davy_wire_fact *e = fact_begin(fact, dev);

	if (!e)
		return 0;
	e->error = error;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static __always_inline struct davy_sum *sum_of(struct davy_sum_key *key, const char *name)
{
	struct davy_sum *known = bpf_map_lookup_elem(&sums, key);
	struct davy_sum fresh = {};

	if (known)
		return known;
	fresh.last_ns = bpf_ktime_get_boot_ns(); /* the agent closes old ones */
	if (key->device)
		davy_dev_name(fresh.dev, (struct device *)key->device);
	if (name)
		bpf_probe_read_kernel_str(fresh.name, sizeof(fresh.name), name);
	davy_put(&sums, key, &fresh, BPF_NOEXIST, DAVY_LOSS_SUMS_FULL);
	return bpf_map_lookup_elem(&sums, key);
}

/* A flood is reported again when it has grown by this part of its count, or after this time. */
#define FLOOD_PART 4
#define FLOOD_NS   1000000000ULL

/*
 * After the first report the agent does not rest: its tick reports the sum of a flood, which
 * therefore needs fewer reports here the longer it lasts.
 */
static __always_inline bool sum_speaks(struct davy_sum *sum, __u32 fact)
{
	struct davy_threshold *t = bpf_map_lookup_elem(&thresholds, &fact);
	__u64 quiet_ns = sum->last_ns - sum->spoke_ns;

	if (!sum->spoke_ns)
		return true;
	if (!t || quiet_ns < t->quiet_ns)
		return false;
	if (quiet_ns < FLOOD_NS && (sum->count - sum->spoke_count) * FLOOD_PART < sum->count)
		return false;
	return (t->count && sum->count - sum->spoke_count >= t->count) ||
	       (t->bytes && sum->bytes - sum->spoke_bytes >= t->bytes);
}

/* Important edges use the reserved ring: each key may use it once per quiet time. */
static __always_inline bool sum_stormy(__u16 fact)
{
	return fact != DAVY_FACT_GPU_FAULT && fact != DAVY_FACT_IOCTL_FAILED &&
	       fact != DAVY_FACT_ALLOC_FAILED;
}

static __always_inline void sum_tell(struct davy_sum_key *key, struct davy_sum *sum)
{
	struct davy_wire_fact *e;

	sum->spoke_ns = sum->last_ns;
	sum->spoke_count = sum->count;
	sum->spoke_bytes = sum->bytes;
	e = davy_reserve_in(sum_stormy(key->fact), DAVY_WIRE_FACT, sizeof(*e));
	if (!e)
		return;
	e->device = key->device;
	__builtin_memcpy(e->dev, sum->dev, sizeof(e->dev));
	__builtin_memcpy(e->name, sum->name, sizeof(e->name));
	e->fact = key->fact;
	e->what = key->what;
	e->pid = key->pid;
	e->pasid = key->pasid;
	e->detail = key->detail;
	e->error = key->error;
	e->count = sum->count;
	e->bytes = sum->bytes;
	e->addr = sum->addr;
	bpf_ringbuf_submit(e, 0);
}

/* A hot fact: counted under its key. Reported immediately at the first time and at a threshold. */
static __always_inline int fact_count(struct davy_sum_key *key, const char *name, __u64 bytes,
				      __u64 addr)
{
	struct davy_sum *sum = sum_of(key, name);

	if (!sum)
		return 0;
	__sync_fetch_and_add(&sum->count, 1);
	if (bytes)
		__sync_fetch_and_add(&sum->bytes, bytes);
	sum->addr = addr;
	sum->last_ns = bpf_ktime_get_boot_ns();
	if (sum_speaks(sum, key->fact))
		sum_tell(key, sum);
	return 0;
}

#endif

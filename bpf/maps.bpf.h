/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maps that all objects share. The first loaded object creates them; userspace passes them to later
 * ones (bpf_map__reuse_fd). The agent then reads one ring, in whatever order modules are loaded.
 */
#ifndef DAVY_MAPS_BPF_H
#define DAVY_MAPS_BPF_H

#include <asm-generic/errno.h>

#include "ktypes.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, DAVY_EVENT_RING);
} events SEC(".maps");

/*
 * The reserved ring: ends, exceptions, timeouts, resets. A storm of faults or moves cannot fill it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, DAVY_URGENT_RING);
} urgent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DAVY_LOSS_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct davy_settings);
} settings SEC(".maps");

static __always_inline void davy_lost(__u32 cause)
{
	__u64 *count = bpf_map_lookup_elem(&losses, &cause);

	if (count)
		*count += 1;
}

/*
 * Inserts an element, or counts the loss: "full" when there is no room. A lock that was not
 * available in time (rqspinlock, since 6.15) is tried a second time.
 */
static __always_inline long davy_put(void *map, const void *key, const void *value, __u64 how,
				     __u32 full)
{
	long err = bpf_map_update_elem(map, key, value, how);

	if (err && err != -EEXIST && err != -E2BIG)
		err = bpf_map_update_elem(map, key, value, how);
	if (err && err != -EEXIST)
		davy_lost(err == -E2BIG ? full : DAVY_LOSS_MAP_BUSY);
	return err;
}

/*
 * A field of struct davy_settings. With one write, userspace moves a fact from one program to
 * another.
 */
#define davy_setting(field)                                                                          \
	({                                                                                         \
		__u32 zero_ = 0;                                                                   \
		struct davy_settings *settings_ = bpf_map_lookup_elem(&settings, &zero_);            \
		settings_ && settings_->field;                                                     \
	})

static __always_inline bool davy_stormy(__u16 kind)
{
	return kind == DAVY_WIRE_EXEC || kind == DAVY_WIRE_BO_MOVED;
}

/*
 * Reserves a zeroed record of "size" bytes, or counts the loss and returns NULL. Compare with NULL
 * immediately: the verifier of 6.1 loses track of it over calls in between.
 */
static __always_inline void *davy_reserve_in(bool stormy, __u16 kind, __u16 size)
{
	struct davy_wire_head *head;

	if (stormy)
		head = bpf_ringbuf_reserve(&events, size, 0);
	else
		head = bpf_ringbuf_reserve(&urgent, size, 0);
	if (!head) {
		davy_lost(stormy ? DAVY_LOSS_RING_FULL : DAVY_LOSS_URGENT_FULL);
		return 0;
	}
	__builtin_memset(head, 0, size);
	head->kind = kind;
	head->size = size;
	head->tgid = bpf_get_current_pid_tgid() >> 32;
	head->boot_ns = bpf_ktime_get_boot_ns();
	return head;
}

static __always_inline void *davy_reserve(__u16 kind, __u16 size)
{
	return davy_reserve_in(davy_stormy(kind), kind, size);
}

static __always_inline void davy_dev_name(char *ret_name, struct device *dev)
{
	const char *name = BPF_CORE_READ(dev, kobj.name);

	bpf_probe_read_kernel_str(ret_name, DAVY_DEV_LEN, name);
}

static __always_inline __u32 davy_current(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

#endif

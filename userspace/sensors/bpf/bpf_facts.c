/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts to events. The kernel keeps the cumulative count of a hot fact. Both an edge record and the
 * sums that the tick reads carry it. This file computes the increase, so that a lost or late edge
 * loses no count.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "sensors/bpf/bpf_state.h"

#include "core/event/fact.h"
#include "lib/hash.h"

#define BATCH	   256
#define QUIET_NS   (60 * DAVY_NS_PER_S) /* a sum idle for so long is closed */
#define ROUNDS_MAX (2 * DAVY_MAX_SUMS / BATCH)

/* What its sum is known by. */
static struct davy_seen *bpf_facts_reported_of(struct davy_bpf *b, const struct davy_wire_fact *w)
{
	const uint32_t parts[] = {
		w->pid, w->pasid, w->detail, (uint32_t)w->error, w->fact, w->what
	};
	uint64_t h = davy_fnv(DAVY_FNV_START, &w->device, sizeof(w->device));

	h = davy_fnv(h, parts, sizeof(parts));
	return davy_seen_of(b->sums_reported, DAVY_REPORTED_MAX, h ? h : 1);
}

/* The part of the count that was not reported yet; 0: all was reported. */
static uint64_t take_fresh(struct davy_bpf *b, const struct davy_wire_fact *w)
{
	struct davy_seen *reported;
	uint64_t fresh;

	if (w->fact < DAVY_FACT_HOT)
		return w->count;
	reported = bpf_facts_reported_of(b, w);
	if (w->count <= reported->value)
		return 0;
	fresh = w->count - reported->value;
	reported->value = w->count;
	return fresh;
}

static struct davy_event bpf_facts_begin(const struct davy_wire_fact *w, enum davy_event_kind kind,
					 uint32_t pid)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = w->head.boot_ns;
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

static void say_fault(struct davy_bpf *b, const struct davy_wire_fact *w, uint64_t fresh)
{
	struct davy_event ev =
		bpf_facts_begin(w, DAVY_EV_FAULT, 0); /* in an interrupt: current is a bystander */

	davy_copy_name(ev.fault.device, sizeof(ev.fault.device), w->dev);
	ev.fault.addr = w->addr;
	ev.fault.pasid = w->pasid;
	ev.fault.vmid = w->detail & 0xff;
	ev.fault.client_id = w->detail >> 8 & 0xff;
	ev.fault.src_id = w->detail >> 16 & 0xfff;
	ev.fault.flags = (uint16_t)(w->detail >> 28);
	ev.fault.fault_class = w->what;
	ev.fault.count = w->count;
	ev.fault.fresh = fresh;
	davy_sensor_say(b, &ev);
}

static void say_alloc(struct davy_bpf *b, const struct davy_wire_fact *w, uint64_t fresh)
{
	struct davy_event ev = bpf_facts_begin(w, DAVY_EV_ALLOC_FAILED, w->pid);

	if (w->what < DAVY_ALLOC_RESOURCE || w->what > DAVY_ALLOC_POPULATE)
		return;
	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), w->dev);
	ev.alloc_failed.bytes = w->addr; /* the last one's size */
	ev.alloc_failed.count = (uint32_t)w->count;
	ev.alloc_failed.fresh = (uint32_t)fresh;
	ev.alloc_failed.error = w->error;
	ev.alloc_failed.what = w->detail;
	ev.alloc_failed.stage = w->what;
	davy_sensor_say(b, &ev);
}

static void say_fact(struct davy_bpf *b, const struct davy_wire_fact *w, uint64_t fresh)
{
	struct davy_event ev = bpf_facts_begin(w, DAVY_EV_FACT, w->pid);
	struct davy_ev_fact *f = &ev.fact;

	davy_copy_name(f->device, sizeof(f->device), w->dev);
	davy_copy_name(f->name, sizeof(f->name), w->name);
	f->bytes = w->bytes;
	f->addr = w->addr;
	f->duration_ns = w->duration_ns;
	f->fence_context = w->fence_context;
	f->fence_seqno = w->fence_seqno;
	f->count = w->count;
	f->fresh = fresh;
	f->by_pid = w->head.tgid;
	f->pasid = w->pasid;
	f->error = w->error;
	f->detail = w->detail;
	f->fact = w->fact;
	f->what = w->what;
	davy_sensor_say(b, &ev);
}

/* The names of "w" are terminated. */
static void bpf_facts_say(struct davy_bpf *b, const struct davy_wire_fact *w)
{
	uint64_t fresh = take_fresh(b, w);

	if (!fresh)
		return;
	b->facts_seen[w->fact] += fresh;
	if (w->fact == DAVY_FACT_GPU_FAULT)
		say_fault(b, w, fresh);
	else if (w->fact == DAVY_FACT_ALLOC_FAILED)
		say_alloc(b, w, fresh);
	else
		say_fact(b, w, fresh);
}

void davy_bpf_fact(struct davy_bpf *b, const struct davy_wire_fact *w)
{
	struct davy_wire_fact safe = *w;

	if (!davy_fact_known(safe.fact))
		return;
	safe.dev[sizeof(safe.dev) - 1] = 0;
	safe.name[sizeof(safe.name) - 1] = 0;
	bpf_facts_say(b, &safe);
}

static struct davy_wire_fact fact_of(const struct davy_sum_key *key, const struct davy_sum *sum)
{
	struct davy_wire_fact w;

	memset(&w, 0, sizeof(w));
	w.head.boot_ns = sum->last_ns;
	w.head.tgid = key->pid;
	w.device = key->device;
	memcpy(w.dev, sum->dev, sizeof(w.dev));
	memcpy(w.name, sum->name, sizeof(w.name));
	w.bytes = sum->bytes;
	w.addr = sum->addr;
	w.count = sum->count;
	w.pid = key->pid;
	w.pasid = key->pasid;
	w.error = key->error;
	w.detail = key->detail;
	w.fact = key->fact;
	w.what = key->what;
	return w;
}

/* Told for the last time, with what came in until it was taken out. */
static void close_sum(struct davy_bpf *b, int fd, const struct davy_sum_key *key)
{
	struct davy_wire_fact w;
	struct davy_sum last;

	if (bpf_map_lookup_and_delete_elem(fd, key, &last))
		return;
	w = fact_of(key, &last);
	davy_bpf_fact(b, &w);
	memset(bpf_facts_reported_of(b, &w), 0, sizeof(struct davy_seen));
}

static void bpf_facts_look_at(struct davy_bpf *b, int fd, const struct davy_sum_key *key,
			      const struct davy_sum *sum, uint64_t now_ns)
{
	struct davy_wire_fact w = fact_of(key, sum);

	if (sum->spoke_ns >= b->read_ns)
		return; /* it spoke since the ring was read: first its own word */
	if (now_ns > sum->last_ns + QUIET_NS)
		close_sum(b, fd, key);
	else
		davy_bpf_fact(b, &w);
}

void davy_bpf_poll_sums(struct davy_bpf *b, uint64_t now_ns)
{
	static struct davy_sum_key keys[BATCH]; /* too large for the stack; one agent, one thread */
	static struct davy_sum values[BATCH];
	int fd = davy_bpf_shared(b, DAVY_SHARED_SUMS);
	uint32_t place = 0, count;
	int err = 0;

	for (int round = 0; fd >= 0 && !err && round < ROUNDS_MAX; round++) {
		count = BATCH;
		err = bpf_map_lookup_batch(fd, round ? &place : NULL, &place, keys, values, &count,
					   NULL);
		if (err && err != -ENOENT)
			return;
		for (uint32_t i = 0; i < count; i++)
			bpf_facts_look_at(b, fd, &keys[i], &values[i], now_ns);
	}
}

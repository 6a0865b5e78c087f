/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/memory.h"

#include <assert.h>
#include <string.h>

#define SETTLED_NS (10 * DAVY_NS_PER_S) /* the longest observed pause in a load is some seconds */
#define CONTEXT	   (2ULL << 30)		/* bytes; a runtime without a model has less */
#define BLOCK	   (256u << 10)		/* bytes; smaller changes are no growth */

void davy_low_add(struct davy_low *l, uint64_t now_ns, uint64_t value, uint64_t window_ns)
{
	if (!l->begun) {
		l->begun = 1;
		l->half_ns = now_ns;
		l->low[0] = l->low[1] = value;
	} else if (now_ns - l->half_ns >= window_ns / 2) {
		l->low[1] = now_ns - l->half_ns >= window_ns ? l->last : l->low[0];
		l->low[0] = l->last;
		l->half_ns = now_ns;
	}
	l->low[0] = value < l->low[0] ? value : l->low[0];
	l->last = value;
}

uint64_t davy_low_rise(const struct davy_low *l)
{
	uint64_t low = l->low[0] < l->low[1] ? l->low[0] : l->low[1];

	return l->last > low ? l->last - low : 0;
}

struct davy_memory_device *davy_memory_device(struct davy_memory *m, const char *device)
{
	for (size_t i = 0; device[0] && i < m->device_count; i++)
		if (davy_same_name(m->devices[i].device, device))
			return &m->devices[i];
	return NULL;
}

/* Returns an empty slot, a new one while available, otherwise the oldest. */
static struct davy_memory_device *memory_device_slot(struct davy_memory *m)
{
	struct davy_memory_device *oldest = &m->devices[0];

	for (size_t i = 0; i < m->device_count; i++) {
		if (!m->devices[i].device[0])
			return &m->devices[i];
		if (m->devices[i].used_ns < oldest->used_ns)
			oldest = &m->devices[i];
	}
	if (m->device_count < DAVY_MEMORY_DEVICES)
		return &m->devices[m->device_count++];
	m->evicted_count++;
	m->spilling -= oldest->spill.found_ns != 0;
	memset(oldest, 0, sizeof(*oldest));
	return oldest;
}

static struct davy_memory_device *memory_device_get(struct davy_memory *m, const char *device,
						    uint64_t now_ns)
{
	struct davy_memory_device *d = davy_memory_device(m, device);

	if (!d) {
		d = memory_device_slot(m);
		davy_copy_name(d->device, sizeof(d->device), device);
	}
	d->used_ns = now_ns;
	return d;
}

static struct davy_memory_cgroup *memory_cgroup_slot(struct davy_memory *m)
{
	struct davy_memory_cgroup *oldest = &m->cgroups[0];

	if (m->cgroup_count < DAVY_MEMORY_CGROUPS)
		return &m->cgroups[m->cgroup_count++];
	for (size_t i = 1; i < DAVY_MEMORY_CGROUPS; i++)
		if (m->cgroups[i].used_ns < oldest->used_ns)
			oldest = &m->cgroups[i];
	m->evicted_count++;
	memset(oldest, 0, sizeof(*oldest));
	return oldest;
}

struct davy_memory_cgroup *davy_memory_cgroup_get(struct davy_memory *m,
						  const struct davy_ev_dmem *in, uint64_t now_ns)
{
	struct davy_memory_cgroup *c;

	for (size_t i = 0; i < m->cgroup_count; i++) {
		c = &m->cgroups[i];
		if (!davy_same_name(c->unit, in->unit) || !davy_same_name(c->region, in->region) ||
		    !davy_same_name(c->device, in->device))
			continue;
		c->used_ns = now_ns;
		return c;
	}
	c = memory_cgroup_slot(m);
	davy_copy_name(c->device, sizeof(c->device), in->device);
	davy_copy_name(c->region, sizeof(c->region), in->region);
	davy_copy_name(c->unit, sizeof(c->unit), in->unit);
	c->used_ns = now_ns;
	return c;
}

static size_t memory_set_of(uint32_t pid)
{
	return (size_t)((pid * 2654435761u) >> 16) & (DAVY_MEMORY_CLIENT_SETS - 1);
}

static struct davy_memory_client *memory_client_get(struct davy_memory *m, uint32_t pid,
						    const struct davy_ev_client *in,
						    uint64_t now_ns)
{
	struct davy_memory_client *set = m->clients[memory_set_of(pid)], *victim = &set[0];

	for (size_t i = 0; i < DAVY_MEMORY_WAYS; i++)
		if (set[i].pid == pid && set[i].client_id == in->client_id &&
		    davy_same_name(set[i].device, in->device))
			return &set[i];
	for (size_t i = 0; i < DAVY_MEMORY_WAYS && victim->pid; i++)
		if (!set[i].pid || set[i].used_ns < victim->used_ns)
			victim = &set[i];
	m->evicted_count += victim->pid != 0;
	memset(victim, 0, sizeof(*victim));
	victim->pid = pid;
	victim->client_id = in->client_id;
	victim->grew_ns = now_ns;
	davy_copy_name(victim->device, sizeof(victim->device), in->device);
	return victim;
}

bool davy_memory_settled(const struct davy_memory_client *c, uint64_t now_ns)
{
	return c->settled || (c->large && now_ns - c->grew_ns >= SETTLED_NS);
}

/* A load is the first growth of a client, or the first after it freed most of its memory. */
static void memory_take(struct davy_memory_client *c, uint64_t now_ns, uint64_t bytes, bool fresh)
{
	bool rested = !fresh && now_ns - c->grew_ns >= SETTLED_NS;

	c->bytes = bytes;
	if (fresh) {
		c->from = c->grown = c->top = bytes;
	} else if (bytes > c->grown + BLOCK) {
		c->settled |= c->large && rested;
		c->from = rested ? c->grown : c->from;
		c->grown = bytes;
		c->grew_ns = now_ns;
	} else if (bytes < c->grown) {
		c->grown = bytes;
		c->from = bytes < c->from ? bytes : c->from;
	}
	c->top = bytes > c->top ? bytes : c->top;
	if (bytes < c->top / 2) {
		c->top = c->from = bytes;
		c->settled = 0;
		c->grew_ns = now_ns;
	}
}

static uint64_t memory_sum_of(const struct davy_ev_client *in)
{
	uint64_t sum;

	if (__builtin_add_overflow(in->vram, in->gtt, &sum) ||
	    __builtin_add_overflow(sum, in->system, &sum))
		return UINT64_MAX / 2;
	return sum < UINT64_MAX / 2 ? sum : UINT64_MAX / 2;
}

static uint64_t memory_model_size(const struct davy_memory_device *d)
{
	uint64_t part;

	if (!d)
		return CONTEXT;
	part = (d->now.flags & DAVY_MEMORY_SHARED ? d->now.host_total : d->now.vram_total) / 16;
	return part && part < CONTEXT ? part : CONTEXT;
}

static void memory_apply_client(struct davy_memory *m, const struct davy_event *ev)
{
	const struct davy_ev_client *in = &ev->client;
	struct davy_memory_client *c = memory_client_get(m, ev->pid, in, ev->at_ns);

	if (in->gone) {
		memset(c, 0, sizeof(*c));
		return;
	}
	if (!c->used_ns) {
		c->first_ns = ev->at_ns;
		c->first_bytes = memory_sum_of(in);
	}
	memory_take(c, ev->at_ns, memory_sum_of(in), !c->used_ns);
	c->large = c->bytes >= memory_model_size(davy_memory_device(m, in->device));
	davy_low_add(&c->gtt, ev->at_ns, in->gtt, DAVY_MEMORY_WINDOW_NS);
	davy_low_add(&c->evicted, ev->at_ns, in->evicted, DAVY_MEMORY_WINDOW_NS);
	c->used_ns = ev->at_ns;
}

static void memory_apply_device(struct davy_memory *m, const struct davy_event *ev)
{
	struct davy_memory_device *d = davy_memory_device(m, ev->device.device);

	if (!d || ev->device.change != DAVY_DEVICE_REMOVED)
		return;
	m->spilling -= d->spill.found_ns != 0;
	memset(d, 0, sizeof(*d));
}

void davy_memory_apply(struct davy_memory *m, const struct davy_event *ev)
{
	struct davy_memory_device *d;

	switch (ev->kind) {
	case DAVY_EV_MEMORY:
		if (!ev->memory.device[0])
			break;
		d = memory_device_get(m, ev->memory.device, ev->at_ns);
		d->now = ev->memory;
		break;
	case DAVY_EV_CLIENT:
		memory_apply_client(m, ev);
		break;
	case DAVY_EV_DEVICE:
		memory_apply_device(m, ev);
		break;
	default:
		break;
	}
}

void davy_memory_forget(struct davy_memory *m, uint32_t pid)
{
	struct davy_memory_client *set = m->clients[memory_set_of(pid)];

	for (size_t i = 0; i < DAVY_MEMORY_WAYS; i++)
		if (set[i].pid == pid)
			memset(&set[i], 0, sizeof(set[i]));
}

const struct davy_memory_client *davy_memory_client_of(const struct davy_memory *m, uint32_t pid,
						       const char *device)
{
	const struct davy_memory_client *set = m->clients[memory_set_of(pid)], *most = NULL;

	for (size_t i = 0; pid && i < DAVY_MEMORY_WAYS; i++)
		if (set[i].pid == pid && davy_same_name(set[i].device, device) &&
		    (!most || set[i].bytes > most->bytes))
			most = &set[i];
	return most;
}

/* The client of the device with the largest value above 0. */
static const struct davy_memory_client *memory_client_with_most(
	const struct davy_memory *m, const char *device,
	uint64_t (*value)(const struct davy_memory_client *c, uint64_t now_ns, uint64_t within_ns),
	uint64_t now_ns, uint64_t within_ns)
{
	const struct davy_memory_client *most = NULL;
	uint64_t best = 0;

	for (size_t i = 0; i < (size_t)DAVY_MEMORY_CLIENT_SETS * DAVY_MEMORY_WAYS; i++) {
		const struct davy_memory_client *c =
			&m->clients[i / DAVY_MEMORY_WAYS][i % DAVY_MEMORY_WAYS];
		uint64_t v = c->pid ? value(c, now_ns, within_ns) : 0;

		if (v <= best || !davy_same_name(c->device, device))
			continue;
		best = v;
		most = c;
	}
	return most;
}

static uint64_t memory_growth(const struct davy_memory_client *c, uint64_t now_ns,
			      uint64_t within_ns)
{
	return now_ns - c->grew_ns <= within_ns && c->bytes > c->from ? c->bytes - c->from : 0;
}

static uint64_t memory_bytes_of(const struct davy_memory_client *c, uint64_t now_ns,
				uint64_t within_ns)
{
	(void)now_ns;
	(void)within_ns;
	return c->bytes;
}

static uint64_t memory_spill(const struct davy_memory_client *c, uint64_t now_ns,
			     uint64_t within_ns)
{
	uint64_t gtt = davy_low_rise(&c->gtt), evicted = davy_low_rise(&c->evicted);

	(void)now_ns;
	(void)within_ns;
	return gtt > evicted ? gtt : evicted;
}

const struct davy_memory_client *davy_memory_grower(const struct davy_memory *m, const char *device,
						    uint64_t now_ns, uint64_t within_ns)
{
	return memory_client_with_most(m, device, memory_growth, now_ns, within_ns);
}

const struct davy_memory_client *davy_memory_spiller(const struct davy_memory *m,
						     const char *device)
{
	return memory_client_with_most(m, device, memory_spill, 0, 0);
}

const struct davy_memory_client *davy_memory_largest(const struct davy_memory *m,
						     const char *device)
{
	return memory_client_with_most(m, device, memory_bytes_of, 0, 0);
}

const struct davy_memory_client *davy_memory_largest_but(const struct davy_memory *m,
							 const char *device, uint32_t pid)
{
	const struct davy_memory_client *most = NULL;

	for (size_t i = 0; i < (size_t)DAVY_MEMORY_CLIENT_SETS * DAVY_MEMORY_WAYS; i++) {
		const struct davy_memory_client *c =
			&m->clients[i / DAVY_MEMORY_WAYS][i % DAVY_MEMORY_WAYS];

		if (c->pid && c->pid != pid && c->bytes > (most ? most->bytes : 0) &&
		    davy_same_name(c->device, device))
			most = c;
	}
	return most;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of memory: a device whose heaps follow functions of time, sampled as by the agent (only
 * changes, by davy_gpu_memory_interval), with one process whose fdinfo is read every second.
 */
#ifndef DAVY_TESTS_MEMORY_HISTORY_H
#define DAVY_TESTS_MEMORY_HISTORY_H

#include <stdio.h>

#include "record.h"

#include "sensors/gpu/gpu_memory.h"

#define MB  1000000ULL
#define GB  (1000 * MB)
#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

/* Bytes at "ms" since live() began. */
typedef uint64_t (*usage)(uint64_t ms);

static struct davy_ev_memory card;     /* totals and flags; what is used is set by live() */
static struct davy_ev_memory reported; /* the last event sent */
static uint64_t sampled_ns, next_ns, asked_ns, lived_from;
static usage vram_of, gtt_of, available_of, evicted_of;
static uint32_t holder; /* owner of the memory; 0: no known clients */
static uint64_t client_bytes;

static inline void begin_card(uint64_t vram_total, uint64_t gtt_total)
{
	begin_recorded();
	memset(&card, 0, sizeof(card));
	memset(&reported, 0, sizeof(reported));
	davy_copy_name(card.device, sizeof(card.device), GPU);
	card.vram_total = vram_total;
	card.gtt_total = gtt_total;
	card.host_total = 64 * GIB;
	card.host_available = 48 * GIB;
	sampled_ns = next_ns = asked_ns = 0;
	vram_of = gtt_of = available_of = evicted_of = NULL;
	holder = 0;
	client_bytes = 0;
}

static inline void tell_memory(void)
{
	struct davy_event ev = event(DAVY_EV_MEMORY, 0);

	ev.memory = card;
	tell(&ev);
	reported = card;
}

static inline void tell_client(uint32_t pid, uint64_t vram, uint64_t gtt, uint64_t evicted)
{
	struct davy_event ev = event(DAVY_EV_CLIENT, pid);

	davy_copy_name(ev.client.device, sizeof(ev.client.device), card.device);
	ev.client.client_id = pid;
	ev.client.vram = vram;
	ev.client.gtt = gtt;
	ev.client.evicted = evicted;
	tell(&ev);
}

static inline void sample_card(uint64_t ms)
{
	struct davy_ev_memory before = card;
	uint64_t ago_ns = now - sampled_ns;

	if (now < next_ns)
		return;
	card.vram_used = vram_of ? vram_of(ms) : card.vram_used;
	card.gtt_used = gtt_of ? gtt_of(ms) : card.gtt_used;
	card.host_available = available_of ? available_of(ms) : card.host_available;
	next_ns = now + davy_gpu_memory_interval(&card, sampled_ns ? &before : NULL, ago_ns);
	sampled_ns = now;
	if (memcmp(&card, &reported, sizeof(card)) != 0)
		tell_memory();
}

static inline void ask_clients(uint64_t ms)
{
	uint64_t vram = vram_of ? vram_of(ms) : card.vram_used;
	uint64_t gtt = gtt_of ? gtt_of(ms) : card.gtt_used;
	uint64_t evicted = evicted_of ? evicted_of(ms) : 0;

	if (!holder || now - asked_ns < S)
		return;
	asked_ns = now;
	if (vram + gtt + evicted != client_bytes)
		tell_client(holder, vram, gtt, evicted);
	client_bytes = vram + gtt + evicted;
}

/* Time passes, in steps of the agent's tick. */
static inline void live(uint64_t ns)
{
	lived_from = now;
	for (uint64_t ms = 0; ms <= ns / MS; ms += 100) {
		struct davy_event tick;

		now = lived_from + ms * MS;
		sample_card(ms);
		ask_clients(ms);
		tick = event(DAVY_EV_TICK, 0);
		tell(&tick);
	}
}

static inline uint32_t highest(enum davy_hazard hazard)
{
	uint32_t level = 0;

	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].hazard == hazard && kept[i].kind == DAVY_PLAN_NOTE &&
		    kept[i].level > level)
			level = kept[i].level;
	return level;
}

/* ns since live() began at which a level was first reached; UINT64_MAX: never. */
static inline uint64_t reached(enum davy_hazard hazard, uint32_t level)
{
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].hazard == hazard && kept[i].kind == DAVY_PLAN_NOTE &&
		    kept[i].level >= level)
			return kept[i].at_ns - lived_from;
	return UINT64_MAX;
}

#endif

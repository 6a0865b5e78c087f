/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The world's tables of memory: how full each device is, who uses how much of it, and cgroups with
 * a limit on device memory. Like the rest of the world: bounded, the oldest goes, core/ only.
 */
#ifndef DAVY_MEMORY_H
#define DAVY_MEMORY_H

#include "core/event/event.h"
#include "core/world/forecast.h"

#define DAVY_MEMORY_DEVICES	16
#define DAVY_MEMORY_CLIENT_SETS 64
#define DAVY_MEMORY_WAYS	8
#define DAVY_MEMORY_CGROUPS	32
#define DAVY_MEMORY_WINDOW_NS	(10 * DAVY_NS_PER_S) /* in which a client's jumps are looked for */

enum davy_heap {
	DAVY_HEAP_VRAM = 0,
	DAVY_HEAP_GTT = 1,
	DAVY_HEAP_HOST = 2, /* of a device without memory of its own */
	DAVY_HEAP_COUNT = 3,
};

/* The lowest value of a sliding window, in two halves. A value stands until the next. */
struct davy_low {
	uint64_t low[2];
	uint64_t half_ns; /* when the newer half began */
	uint64_t last;
	uint32_t begun;
	uint32_t pad;
};

void davy_low_add(struct davy_low *l, uint64_t now_ns, uint64_t value, uint64_t window_ns);

/* How far the latest value is above the lowest. */
uint64_t davy_low_rise(const struct davy_low *l);

struct davy_heap_state {
	struct davy_forecast forecast;
	uint64_t good_until_ns; /* so long what was said of it counts; 0: nothing said */
	uint64_t short_ns;	/* since when a load has hardly any room left; 0: it has */
	uint32_t pid;		/* who was said to fill it */
	uint32_t pad;
};

/* VRAM on its way up; a long way that has ended is a load. */
struct davy_rise {
	uint64_t from; /* bytes used when it began */
	uint64_t top;
	uint64_t rose_ns; /* last time it went on; 0: no sample yet */
};

struct davy_spill {
	struct davy_low gtt; /* while VRAM is full */
	uint64_t wanted;     /* bytes that wanted VRAM and got GTT, of the window */
	uint64_t wanted_ns;
	uint64_t found_ns; /* a jump waits to be confirmed, or stands; 0: none */
	uint64_t bytes;
	uint64_t gtt_before;
	uint32_t pid; /* whose; 0: not known */
	uint8_t standing;
	uint8_t of_client; /* told by its own count, not by the device's */
	uint8_t pad[2];
};

struct davy_memory_device {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	uint64_t used_ns;
	struct davy_ev_memory now;
	struct davy_heap_state heap[DAVY_HEAP_COUNT];
	struct davy_rise rise;
	struct davy_spill spill;
	uint32_t pressed_pid; /* of a standing host_pressure */
	uint32_t pad;
};

/* One open file of a process on a device: all of its memory is mostly in one. */
struct davy_memory_client {
	uint32_t pid;	 /* 0: empty */
	uint8_t settled; /* it had a model and stopped growing: what it takes now is no load */
	uint8_t large;	 /* it has as much as a model */
	uint8_t pad[2];
	uint64_t client_id;
	uint64_t used_ns;
	uint64_t bytes; /* VRAM, GTT and system together */
	uint64_t from;	/* what it had when its present growth began */
	uint64_t top;	/* most it had since it began anew */
	uint64_t grown; /* bytes when it last grew */
	uint64_t grew_ns;
	struct davy_low gtt;
	struct davy_low evicted;
	char device[DAVY_DEVICE_LEN];
};

struct davy_memory_cgroup {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	char region[16];
	char unit[DAVY_UNIT_LEN];
	uint64_t used_ns;
	struct davy_heap_state heap;
};

struct davy_memory {
	struct davy_memory_device devices[DAVY_MEMORY_DEVICES];
	struct davy_memory_client clients[DAVY_MEMORY_CLIENT_SETS][DAVY_MEMORY_WAYS];
	struct davy_memory_cgroup cgroups[DAVY_MEMORY_CGROUPS];
	uint64_t evicted_count; /* entries that had to go for want of room */
	uint32_t spilling;	/* devices with a spill found or standing */
	uint32_t device_count;	/* slots used so far; one may be empty again */
	uint32_t cgroup_count;
	uint32_t pad;
};

/* NULL when absent; the _get form makes an entry, at the cost of the oldest. */
struct davy_memory_device *davy_memory_device(struct davy_memory *m, const char *device);
struct davy_memory_cgroup *davy_memory_cgroup_get(struct davy_memory *m,
						  const struct davy_ev_dmem *in, uint64_t now_ns);

/* A process's client on the device, the one with most memory; NULL: none known. */
const struct davy_memory_client *davy_memory_client_of(const struct davy_memory *m, uint32_t pid,
						       const char *device);

/* Who grew most on the device, of those that did within "within_ns"; NULL: nobody known. */
const struct davy_memory_client *davy_memory_grower(const struct davy_memory *m, const char *device,
						    uint64_t now_ns, uint64_t within_ns);

/* Whose GTT grew most on the device within the window; NULL: nobody's. */
const struct davy_memory_client *davy_memory_spiller(const struct davy_memory *m,
						     const char *device);

/* Who has most on the device; NULL: nobody known. */
const struct davy_memory_client *davy_memory_largest(const struct davy_memory *m,
						     const char *device);

/* The same of all but one process. */
const struct davy_memory_client *davy_memory_largest_but(const struct davy_memory *m,
							 const char *device, uint32_t pid);

/* Whether it has stopped growing since it began: by now, or before its present growth. */
bool davy_memory_settled(const struct davy_memory_client *c, uint64_t now_ns);

void davy_memory_apply(struct davy_memory *m, const struct davy_event *ev);
void davy_memory_forget(struct davy_memory *m, uint32_t pid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The world's tables of memory: how full each device is, who uses how much of it, and cgroups with
 * a limit on device memory. Like the rest of the world: bounded, the oldest goes, core/ only.
 */
#ifndef DL_CORE_MEMORY_H
#define DL_CORE_MEMORY_H

#include "core/event/event.h"
#include "core/world/forecast.h"

#define DL_MEMORY_DEVICES     16
#define DL_MEMORY_CLIENT_SETS 64
#define DL_MEMORY_WAYS	      8
#define DL_MEMORY_CGROUPS     32
#define DL_MEMORY_WINDOW_NS   (10 * DL_NS_PER_S) /* in which a client's jumps are looked for */

enum dl_heap {
	DL_HEAP_VRAM = 0,
	DL_HEAP_GTT = 1,
	DL_HEAP_HOST = 2, /* of a device without memory of its own */
	DL_HEAP_COUNT = 3,
};

/* The lowest value of a sliding window, in two halves. A value stands until the next. */
struct dl_low {
	uint64_t low[2];
	uint64_t half_ns; /* when the newer half began */
	uint64_t last;
	uint32_t begun;
	uint32_t pad;
};

void dl_low_add(struct dl_low *l, uint64_t now_ns, uint64_t value, uint64_t window_ns);

/* How far the latest value is above the lowest. */
uint64_t dl_low_rise(const struct dl_low *l);

struct dl_heap_state {
	struct dl_forecast forecast;
	uint64_t good_until_ns; /* so long what was said of it counts; 0: nothing said */
	uint64_t short_ns;	/* since when a load has hardly any room left; 0: it has */
	uint32_t pid;		/* who was said to fill it */
	uint32_t pad;
};

/* VRAM on its way up; a long way that has ended is a load. */
struct dl_rise {
	uint64_t from; /* bytes used when it began */
	uint64_t top;
	uint64_t rose_ns; /* last time it went on; 0: no sample yet */
};

struct dl_spill {
	struct dl_low gtt; /* while VRAM is full */
	uint64_t wanted;   /* bytes that wanted VRAM and got GTT, of the window */
	uint64_t wanted_ns;
	uint64_t found_ns; /* a jump waits to be confirmed, or stands; 0: none */
	uint64_t bytes;
	uint64_t gtt_before;
	uint32_t pid; /* whose; 0: not known */
	uint8_t standing;
	uint8_t of_client; /* told by its own count, not by the device's */
	uint8_t pad[2];
};

struct dl_memory_device {
	char device[DL_DEVICE_LEN]; /* "": empty */
	uint64_t used_ns;
	struct dl_ev_memory now;
	struct dl_heap_state heap[DL_HEAP_COUNT];
	struct dl_rise rise;
	struct dl_spill spill;
	uint32_t pressed_pid; /* of a standing host_pressure */
	uint32_t pad;
};

/* One open file of a process on a device: all of its memory is mostly in one. */
struct dl_memory_client {
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
	struct dl_low gtt;
	struct dl_low evicted;
	char device[DL_DEVICE_LEN];
};

struct dl_memory_cgroup {
	char device[DL_DEVICE_LEN]; /* "": empty */
	char region[16];
	char unit[DL_UNIT_LEN];
	uint64_t used_ns;
	struct dl_heap_state heap;
};

struct dl_memory {
	struct dl_memory_device devices[DL_MEMORY_DEVICES];
	struct dl_memory_client clients[DL_MEMORY_CLIENT_SETS][DL_MEMORY_WAYS];
	struct dl_memory_cgroup cgroups[DL_MEMORY_CGROUPS];
	uint64_t evicted_count; /* entries that had to go for want of room */
	uint32_t spilling;	/* devices with a spill found or standing */
	uint32_t device_count;	/* slots used so far; one may be empty again */
	uint32_t cgroup_count;
	uint32_t pad;
};

/* NULL when absent; the _get form makes an entry, at the cost of the oldest. */
struct dl_memory_device *dl_memory_device(struct dl_memory *m, const char *device);
struct dl_memory_cgroup *dl_memory_cgroup_get(struct dl_memory *m, const struct dl_ev_dmem *in,
					      uint64_t now_ns);

/* A process's client on the device, the one with most memory; NULL: none known. */
const struct dl_memory_client *dl_memory_client_of(const struct dl_memory *m, uint32_t pid,
						   const char *device);

/* Who grew most on the device, of those that did within "within_ns"; NULL: nobody known. */
const struct dl_memory_client *dl_memory_grower(const struct dl_memory *m, const char *device,
						uint64_t now_ns, uint64_t within_ns);

/* Whose GTT grew most on the device within the window; NULL: nobody's. */
const struct dl_memory_client *dl_memory_spiller(const struct dl_memory *m, const char *device);

/* Who has most on the device; NULL: nobody known. */
const struct dl_memory_client *dl_memory_largest(const struct dl_memory *m, const char *device);

/* The same of all but one process. */
const struct dl_memory_client *dl_memory_largest_but(const struct dl_memory *m, const char *device,
						     uint32_t pid);

/* Whether it has stopped growing since it began: by now, or before its present growth. */
bool dl_memory_settled(const struct dl_memory_client *c, uint64_t now_ns);

void dl_memory_apply(struct dl_memory *m, const struct dl_event *ev);
void dl_memory_forget(struct dl_memory *m, uint32_t pid);

#endif

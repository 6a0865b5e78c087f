/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The world's memory tables: use of each device, use per client, and cgroups with a device memory
 * limit. Bounded like the rest of the world: a new entry replaces the oldest. Only core/ includes
 * this.
 */
#ifndef DAVY_MEMORY_H
#define DAVY_MEMORY_H

#include "core/event/event.h"
#include "core/world/forecast.h"

#define DAVY_MEMORY_DEVICES	16
#define DAVY_MEMORY_CLIENT_SETS 64
#define DAVY_MEMORY_WAYS	8
#define DAVY_MEMORY_CGROUPS	32
#define DAVY_MEMORY_WINDOW_NS	(10 * DAVY_NS_PER_S) /* window for jumps of a client */

enum davy_heap {
	DAVY_HEAP_VRAM = 0,
	DAVY_HEAP_GTT = 1,
	DAVY_HEAP_HOST = 2, /* of a device without memory of its own */
	DAVY_HEAP_COUNT = 3,
};

/* Minimum of a sliding window, in two halves. A value is valid until the next one. */
struct davy_low {
	uint64_t low[2];
	uint64_t half_ns; /* start of the newer half */
	uint64_t last;
	uint32_t begun;
	uint32_t pad;
};

void davy_low_add(struct davy_low *l, uint64_t now_ns, uint64_t value, uint64_t window_ns);

/* Difference between the latest value and the minimum. */
uint64_t davy_low_rise(const struct davy_low *l);

struct davy_heap_state {
	struct davy_forecast forecast;
	uint64_t good_until_ns; /* expiry of the current alarm; 0: no alarm */
	uint64_t short_ns;	/* time since when a load has almost no room left; 0: it has room */
	uint64_t load_ns;	/* last time that it filled as fast as a load; 0: never */
	uint32_t pid;		/* the process named as the cause */
	uint32_t pad;
};

/* A rise of VRAM use. A large rise that has ended is a model load. */
struct davy_rise {
	uint64_t from; /* bytes used at its start */
	uint64_t top;
	uint64_t rose_ns; /* last increase; 0: no sample yet */
};

struct davy_spill {
	struct davy_low gtt; /* only while VRAM is full */
	uint64_t wanted;     /* bytes in this window that requested VRAM and got GTT */
	uint64_t wanted_ns;
	uint64_t found_ns; /* start of a jump, confirmed or not; 0: none */
	uint64_t bytes;
	uint64_t gtt_before;
	uint64_t seep_from;  /* least GTT since VRAM became full; valid while "full" */
	uint64_t evicted;    /* maximum of the client's evicted bytes */
	uint64_t asked_ns;   /* last time that its owner requested VRAM and got GTT */
	uint64_t returns_ns; /* since when they decrease while it works; 0: they do not */
	uint32_t pid;	     /* owner; 0: unknown */
	uint8_t raised;
	uint8_t of_client; /* from the client's own counter, not from the device's */
	uint8_t full;
	uint8_t pressed; /* another process took the room: this one suffers */
};

struct davy_memory_device {
	char device[DAVY_DEVICE_LEN]; /* "": empty */
	uint64_t used_ns;
	struct davy_ev_memory now;
	struct davy_heap_state heap[DAVY_HEAP_COUNT];
	struct davy_rise rise;
	struct davy_spill spill;
	uint64_t proven_left; /* the least free VRAM with which an engine computed */
	uint32_t pressed_pid; /* culprit of an active host_pressure */
	uint32_t proven;      /* proven_left is known */
};

/* One open file of a process on a device. Usually one file holds all of its memory. */
struct davy_memory_client {
	uint32_t pid;	 /* 0: empty */
	uint8_t settled; /* it had a model and stopped growing: new memory is no model load */
	uint8_t large;	 /* has as much memory as a model */
	uint8_t pad[2];
	uint64_t client_id;
	uint64_t used_ns;
	uint64_t bytes; /* sum of VRAM, GTT and system memory */
	uint64_t from;	/* bytes at the start of the current growth */
	uint64_t top;	/* maximum since the last reset */
	uint64_t grown; /* bytes at the last growth */
	uint64_t grew_ns;
	uint64_t first_ns;    /* first seen */
	uint64_t first_bytes; /* what it had then */
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
	uint64_t evicted_count; /* entries replaced because the table was full */
	uint32_t spilling;	/* devices with a possible or confirmed spill */
	uint32_t device_count;	/* slots ever used; some may be empty again */
	uint32_t cgroup_count;
	uint32_t pad;
};

/* NULL if absent. The _get form creates an entry and may replace the oldest. */
struct davy_memory_device *davy_memory_device(struct davy_memory *m, const char *device);
struct davy_memory_cgroup *davy_memory_cgroup_get(struct davy_memory *m,
						  const struct davy_ev_dmem *in, uint64_t now_ns);

/* The client of a process on a device, with the most memory; NULL: unknown. */
const struct davy_memory_client *davy_memory_client_of(const struct davy_memory *m, uint32_t pid,
						       const char *device);

/* The client whose memory grew most on the device within "within_ns"; NULL: unknown. */
const struct davy_memory_client *davy_memory_grower(const struct davy_memory *m, const char *device,
						    uint64_t now_ns, uint64_t within_ns);

/* The client whose GTT grew most on the device within the window; NULL: none. */
const struct davy_memory_client *davy_memory_spiller(const struct davy_memory *m,
						     const char *device);

/* The client with the most memory on the device; NULL: unknown. */
const struct davy_memory_client *davy_memory_largest(const struct davy_memory *m,
						     const char *device);

/* Like davy_memory_largest, except one process. */
const struct davy_memory_client *davy_memory_largest_but(const struct davy_memory *m,
							 const char *device, uint32_t pid);

/* True if the client has stopped growing, now or before its current growth. */
bool davy_memory_settled(const struct davy_memory_client *c, uint64_t now_ns);

void davy_memory_apply(struct davy_memory *m, const struct davy_event *ev);
void davy_memory_forget(struct davy_memory *m, uint32_t pid);

#endif

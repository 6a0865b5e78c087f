/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's view of the GPUs: their number, their memory, and their users. */
#ifndef DAVY_AGENT_GPUS_H
#define DAVY_AGENT_GPUS_H

#include <systemd/sd-event.h>

#include "sensors/gpu/clients.h"
#include "sensors/gpu/gpu_memory.h"
#include "sensors/gpu/gpus.h"
#include "sensors/gpu/lockup.h"
#include "sensors/proc/process_traces.h"
#include "agent/sense/agent_nvml.h"
#include "agent/sense/agent_versions.h"

#define DAVY_GPU_CLIENTS_MAX 512

struct davy_agent;

struct davy_watched_gpu {
	struct davy_gpu gpu;
	struct davy_ev_memory memory;
	uint64_t sampled_ns; /* 0: never */
	uint64_t next_ns;
	uint64_t counted_ns;	     /* last reading of the driver's counters */
	uint64_t reported_available; /* the host's memory in the last event */
	uint32_t reported_pressure;
	bool readable; /* the driver reports at least totals */
	struct davy_nvml_gpu nvml;
	struct davy_lockups lockups;
	uint64_t lockups_ns; /* last reading; 0: never */
	struct davy_device_versions versions;
};

struct davy_gpu_client {
	uint32_t pid;	/* 0: empty */
	uint32_t round; /* of the last reply that contained it */
	bool by_nvml;	/* not by fdinfo */
	struct davy_fdinfo info;
};

struct davy_gpus {
	struct davy_watched_gpu gpu[DAVY_GPUS_MAX];
	size_t count;
	struct davy_gpu_client client[DAVY_GPU_CLIENTS_MAX];
	struct davy_clients *reader; /* NULL: fdinfo cannot be read */
	sd_event_source *source;
	uint32_t reader_count; /* number of the reader that the source watches */
	uint32_t round;
	uint64_t listed_ns;
	uint64_t asked_ns;
	uint32_t blocked_pid; /* last reported pid */
};

int davy_agent_gpus_open(struct davy_agent *a);
void davy_agent_gpus_close(struct davy_agent *a);
void davy_agent_gpus_tick(struct davy_agent *a, uint64_t now_ns);

/* Call it when devices change: the next tick lists them again. */
void davy_agent_gpus_changed(struct davy_agent *a);

/* NULL: there is no such device, or it has no driver. */
struct davy_watched_gpu *davy_agent_gpu(struct davy_agent *a, const char *device);

/* Reports a sample if it differs from the last one, and sets the time of the next one. */
void davy_agent_gpus_take(struct davy_agent *a, struct davy_watched_gpu *w,
			  const struct davy_ev_memory *memory, bool readable, uint64_t now_ns);

/* All processes of a device, with their memory on it. */
void davy_agent_gpus_processes(struct davy_agent *a, const struct davy_nvml_record *r);

/* The memory of a process on each device, from the last reply. */
void davy_agent_gpus_used(const struct davy_agent *a, uint32_t pid,
			  struct davy_used_devices *ret_used);

#endif

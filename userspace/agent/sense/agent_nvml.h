/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory and processes of NVIDIA GPUs, from a worker that asks NVML (davylamp-probe nvml --follow).
 * It runs while a GPU is bound to the nvidia driver. NVML blocks for ever when a GPU's firmware has
 * stopped: a worker that misses its deadline is killed, and that GPU waits longer each time. If a
 * worker ends without a request, every GPU waits. A suspended GPU is not asked, which would wake
 * it.
 */
#ifndef DAVY_AGENT_NVML_H
#define DAVY_AGENT_NVML_H

#include "agent/sense/worker.h"
#include "core/event/event.h"
#include "sensors/gpu/gpus.h"
#include "sensors/gpu/nvml_record.h"

struct davy_agent;
struct davy_watched_gpu;

/* Of one GPU. */
struct davy_nvml_gpu {
	uint32_t failures;  /* not forgotten yet */
	uint64_t failed_ns; /* the last one */
	uint32_t has;	    /* enum davy_nvml_has: the values below that are known */
	uint32_t temperature_c;
	bool ecc_known; /* earlier errors are not reported as new */
	uint64_t ecc_count;
	uint64_t throttle;	      /* bits of enum davy_clock_reason */
	char reason[DAVY_REASON_LEN]; /* why its memory is not known; "": it is */
};

struct davy_nvml {
	struct davy_worker worker; /* no worker without a source */
	struct davy_workers_stuck stuck;
	struct davy_nvml_request request;
	uint64_t asked_ns; /* 0: no request is pending */
	bool answered;	   /* this worker has answered */
	uint64_t serial;
	uint64_t record_count;		/* valid ones of a GPU's memory */
	uint64_t record_ns;		/* of the last one */
	struct davy_ev_sensor reported; /* the last event about this sensor */
	uint64_t lost_ns;		/* since then it is not live; 0: it is, or was never */
};

/* True if NVML is the source of this GPU's memory. */
bool davy_nvml_reads(const struct davy_gpu *gpu);

/* Requests a record, or tries later. davy_agent_gpus_take() gets the memory. */
void davy_agent_nvml_ask(struct davy_agent *a, struct davy_watched_gpu *w, uint64_t now_ns);

/* Ends a late worker, and one without a GPU; reports changes of the sensor. */
void davy_agent_nvml_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_nvml_close(struct davy_agent *a);

/* For the status. False: no GPU uses the nvidia driver; the reason says so. */
bool davy_agent_nvml_sensor(const struct davy_agent *a, struct davy_ev_sensor *ret_sensor);

#endif

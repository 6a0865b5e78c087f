/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol between the agent and its NVML worker (davylamp-probe nvml --follow): one request
 * about one GPU, one record, each one packet of fixed size on a SOCK_SEQPACKET socket. Both
 * programs come from the same build. The worker runs vendor code: the agent uses only records that
 * davy_nvml_record_valid() has checked. Vendor code passes numbers only, no text.
 */
#ifndef DAVY_NVML_RECORD_H
#define DAVY_NVML_RECORD_H

#include <stdbool.h>

#include "core/event/types.h"

#define DAVY_NVML_VERSION   1 /* of the two structs */
#define DAVY_NVML_FD	    3 /* the worker's end of the socket */
#define DAVY_NVML_LIBRARY   "libnvidia-ml.so.1"
#define DAVY_NVML_THROTTLE  2  /* the bit of the first enum davy_clock_reason */
#define DAVY_NVML_PROCESSES 64 /* those with the most memory */

/* The step that failed. Until DAVY_NVML_DEVICE it is the same for every GPU. */
enum davy_nvml_stage {
	DAVY_NVML_LOAD = 0,
	DAVY_NVML_SYMBOLS = 1,
	DAVY_NVML_INIT = 2,
	DAVY_NVML_DEVICE = 3,
	DAVY_NVML_MEMORY = 4,
	DAVY_NVML_DONE = 5, /* no step failed */
	DAVY_NVML_STAGE_COUNT = 6,
};

/* Values that not every GPU has. */
enum davy_nvml_has {
	DAVY_NVML_HAS_ECC = 1,
	DAVY_NVML_HAS_THROTTLE = 2,
	DAVY_NVML_HAS_TEMPERATURE = 4,
	DAVY_NVML_HAS_PROCESSES = 8,
	DAVY_NVML_HAS_ALL = 15,
};

struct davy_nvml_request {
	uint64_t serial;
	uint32_t version;
	uint32_t pad;
	char device[DAVY_DEVICE_LEN]; /* PCI address, as in sysfs */
};

struct davy_nvml_process {
	uint64_t bytes;
	uint32_t pid;
	uint32_t pad;
};

/* Numbers are 0 where a stage has failed, or a value is missing. */
struct davy_nvml_record {
	uint64_t serial;
	char device[DAVY_DEVICE_LEN]; /* as nvmlDeviceGetPciInfo_v3 names it */
	uint32_t stage;		      /* enum davy_nvml_stage */
	uint32_t error;		      /* nvmlReturn_t of that stage */
	uint32_t has;		      /* enum davy_nvml_has */
	uint32_t temperature_c;
	uint64_t total;	    /* bytes */
	uint64_t used;	    /* with what driver and firmware reserve */
	uint64_t ecc_count; /* uncorrected since the driver's start (volatile) */
	uint64_t throttle;  /* nvmlClocksEventReasons */
	uint32_t process_count;
	uint32_t pad;
	struct davy_nvml_process process[DAVY_NVML_PROCESSES]; /* each pid once */
};

/*
 * Checks that the record answers the request, that numbers are possible, counts within the array,
 * pids valid and unique. Does not modify the record.
 */
bool davy_nvml_record_valid(const struct davy_nvml_record *r, const struct davy_nvml_request *q);

/* Why a stage failed, and what to do: at most DAVY_REASON_LEN bytes. */
void davy_nvml_reason(uint32_t stage, uint32_t error, char ret_reason[DAVY_REASON_LEN]);
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a model can fit at all: its least size against the free memory. The estimate errs towards
 * "it fits": compute buffers are not counted. Pure.
 */
#ifndef DAVY_FIT_H
#define DAVY_FIT_H

#include "core/event/types.h"

#define DAVY_FIT_UNKNOWN UINT64_MAX /* of the free memory */

struct davy_fit_question {
	uint64_t weight_bytes; /* 0: unknown, and no verdict */
	uint64_t cache_bytes;  /* at least */
	uint32_t layers;       /* 0: unknown */
	int32_t gpu_layers;    /* DAVY_LAYERS_AUTO, DAVY_LAYERS_ALL, or a number */
	bool adapts;	       /* it places as many layers on the GPU as fit */
	bool sets_layers;      /* it has an option for their number */
	bool shared;	       /* the GPU uses the host's memory */
	uint64_t device_free;
	uint64_t host_free;
	uint64_t memory_max; /* memory limit of the process; DAVY_FIT_UNKNOWN: none */
	uint64_t vram_max;   /* quota of VRAM; 0: none. The engine does not see it */
};

enum davy_fit_verdict {
	DAVY_FIT_NOT_KNOWN = 0, /* the model's size or the free memory is unknown */
	DAVY_FIT_FITS = 1,
	DAVY_FIT_PARTLY = 2, /* the CPU will compute some of the layers */
	DAVY_FIT_DEVICE = 3, /* not on the device */
	DAVY_FIT_HOST = 4,   /* not in the host's memory */
	DAVY_FIT_LIMIT = 5,  /* not within the limit */
};

struct davy_fit {
	enum davy_fit_verdict verdict;
	uint64_t device_bytes; /* least size of the model */
	uint64_t host_bytes;
	uint64_t free_bytes; /* of the memory that was compared */
	uint32_t layers;     /* as many fit into the quota; 0: as in the command */
};

void davy_fit_judge(const struct davy_fit_question *question, enum davy_backend backend,
		    struct davy_fit *ret_fit);

/* Whether the verdict forbids a start. */
bool davy_fit_refuses(const struct davy_fit *fit);

#endif

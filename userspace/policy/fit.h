/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a model can find room at all: what it takes at least against what is free. An estimate
 * that errs towards "it fits": buffers of a computation are not counted. Pure.
 */
#ifndef DAVY_FIT_H
#define DAVY_FIT_H

#include "core/event/types.h"

#define DAVY_FIT_UNKNOWN UINT64_MAX /* of what is free */

struct davy_fit_question {
	uint64_t weight_bytes; /* 0: not known, and nothing is judged */
	uint64_t cache_bytes;  /* at least */
	uint32_t layers;       /* 0: not known */
	int32_t gpu_layers;    /* DAVY_LAYERS_AUTO, DAVY_LAYERS_ALL, or so many */
	bool adapts;	       /* it places as many layers on the GPU as find room */
	bool shared;	       /* the GPU's memory is the host's */
	uint64_t device_free;
	uint64_t host_free;
	uint64_t memory_max; /* a limit of the process's own memory; DAVY_FIT_UNKNOWN: none */
};

enum davy_fit_verdict {
	DAVY_FIT_NOT_KNOWN = 0, /* the model, or what is free */
	DAVY_FIT_FITS = 1,
	DAVY_FIT_PARTLY = 2, /* some layers will be computed by the CPU */
	DAVY_FIT_DEVICE = 3, /* not on the device */
	DAVY_FIT_HOST = 4,   /* not in the host's memory */
	DAVY_FIT_LIMIT = 5,  /* not within the limit */
};

struct davy_fit {
	enum davy_fit_verdict verdict;
	uint64_t device_bytes; /* that it takes at least */
	uint64_t host_bytes;
	uint64_t free_bytes; /* of what it does not fit into, or fits */
};

void davy_fit_judge(const struct davy_fit_question *question, enum davy_backend backend,
		    struct davy_fit *ret_fit);

/* Whether that verdict stands against a start. */
bool davy_fit_refuses(const struct davy_fit *fit);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a model can find room at all: what it takes at least against what is free. An estimate
 * that errs towards "it fits": buffers of a computation are not counted. Pure.
 */
#ifndef DL_POLICY_FIT_H
#define DL_POLICY_FIT_H

#include "core/event/types.h"

#define DL_FIT_UNKNOWN UINT64_MAX /* of what is free */

struct dl_fit_question {
	uint64_t weight_bytes; /* 0: not known, and nothing is judged */
	uint64_t cache_bytes;  /* at least */
	uint32_t layers;       /* 0: not known */
	int32_t gpu_layers;    /* DL_LAYERS_AUTO, DL_LAYERS_ALL, or so many */
	bool adapts;	       /* it places as many layers on the GPU as find room */
	bool shared;	       /* the GPU's memory is the host's */
	uint64_t device_free;
	uint64_t host_free;
	uint64_t memory_max; /* a limit of the process's own memory; DL_FIT_UNKNOWN: none */
};

enum dl_fit_verdict {
	DL_FIT_NOT_KNOWN = 0, /* the model, or what is free */
	DL_FIT_FITS = 1,
	DL_FIT_PARTLY = 2, /* some layers will be computed by the CPU */
	DL_FIT_DEVICE = 3, /* not on the device */
	DL_FIT_HOST = 4,   /* not in the host's memory */
	DL_FIT_LIMIT = 5,  /* not within the limit */
};

struct dl_fit {
	enum dl_fit_verdict verdict;
	uint64_t device_bytes; /* that it takes at least */
	uint64_t host_bytes;
	uint64_t free_bytes; /* of what it does not fit into, or fits */
};

void dl_fit_judge(const struct dl_fit_question *question, enum dl_backend backend,
		  struct dl_fit *ret_fit);

/* Whether that verdict stands against a start. */
bool dl_fit_refuses(const struct dl_fit *fit);

#endif

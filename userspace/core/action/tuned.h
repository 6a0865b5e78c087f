/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tuner's state of one workload. A caller that stores it compares "changes". */
#ifndef DAVY_TUNED_H
#define DAVY_TUNED_H

#include "core/tuner/tuner.h"

#define DAVY_TUNED_MAX 32 /* workloads; further ones start with the settings of their command */

struct davy_tuned {
	struct davy_tuner tuner;
	uint32_t configured[DAVY_TUNER_SETTINGS]; /* in its command; 0: unknown */
	uint32_t layers_asked; /* requested for the GPU; the model may have fewer */
	uint32_t workload;     /* 0: empty */
	uint32_t changes;      /* all changes since the start */
	uint32_t fixed;	       /* bits of settings that could not be changed */
	uint64_t counted_ns;   /* its soak is counted up to this time */
	uint32_t answers;      /* number of changes that are not soaks */
	uint32_t layers_fit;   /* of a load that was refused, until the tuner's answer; 0: none */
	bool loading;	       /* earlier knowledge is being loaded */
	bool own;	       /* newer knowledge exists: do not overwrite it */
	bool higher;	       /* the tuner would raise it now */
};

#endif

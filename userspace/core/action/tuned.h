/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the settings of one workload; who keeps it over starts looks at "changes". */
#ifndef DAVY_TUNED_H
#define DAVY_TUNED_H

#include "core/tuner/tuner.h"

#define DAVY_TUNED_MAX 32 /* workloads; of more, the rest are started as they are told */

struct davy_tuned {
	struct davy_tuner tuner;
	uint32_t told[DAVY_TUNER_KNOBS]; /* what its command asks for; 0: not known */
	uint32_t layers_asked;		 /* for the GPU, of a model that may have fewer */
	uint32_t workload;		 /* 0: empty */
	uint32_t changes;		 /* of it, of all time */
	uint32_t fixed;			 /* bits of knobs that could not be changed */
	uint64_t counted_ns;		 /* its soak is counted up to then */
	uint32_t answers;		 /* of the changes: all but soaks */
	bool told_of;			 /* what was known before is just being told */
	bool own;			 /* something was found out since, which is not told over */
	bool higher;			 /* the tuner would raise it now */
};

#endif

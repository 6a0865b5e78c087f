/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the events of a log come down to: the last failure in causal order (what a failure drags
 * along is aftermath and does not count); where none is told, the failure whose aftermath is seen;
 * else the strongest precursor, of equals the latest.
 */
#ifndef DL_SENSORS_KMSG_VERDICT_H
#define DL_SENSORS_KMSG_VERDICT_H

#include "sensors/kmsg/kmsg_block.h"

struct dl_log_verdict {
	uint64_t count[DL_PART_COUNT];
	struct dl_log_event best[DL_PART_COUNT]; /* valid where count is not 0 */
};

void dl_log_verdict_add(struct dl_log_verdict *v, const struct dl_log_event *ev);

/* NULL: nothing is wrong that this log would tell. */
const struct dl_log_event *dl_log_verdict_conclude(const struct dl_log_verdict *v);

#endif

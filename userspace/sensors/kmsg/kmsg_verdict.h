/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the events of a log come down to: the last failure in causal order (what a failure drags
 * along is aftermath and does not count); where none is told, the failure whose aftermath is seen;
 * else the strongest precursor, of equals the latest.
 */
#ifndef DAVY_KMSG_VERDICT_H
#define DAVY_KMSG_VERDICT_H

#include "sensors/kmsg/kmsg_block.h"

struct davy_log_verdict {
	uint64_t count[DAVY_PART_COUNT];
	struct davy_log_event best[DAVY_PART_COUNT]; /* valid where count is not 0 */
};

void davy_log_verdict_add(struct davy_log_verdict *v, const struct davy_log_event *ev);

/* NULL: nothing is wrong that this log would tell. */
const struct davy_log_event *davy_log_verdict_conclude(const struct davy_log_verdict *v);

#endif

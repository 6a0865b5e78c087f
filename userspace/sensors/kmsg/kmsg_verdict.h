/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Summarizes the events of a log: the last failure in causal order (consequences of a failure do
 * not count). Without a failure line, the failure whose consequences are present. Otherwise the
 * strongest precursor, and of equal ones the latest.
 */
#ifndef DAVY_KMSG_VERDICT_H
#define DAVY_KMSG_VERDICT_H

#include "sensors/kmsg/kmsg_block.h"

struct davy_log_verdict {
	uint64_t count[DAVY_PART_COUNT];
	struct davy_log_event best[DAVY_PART_COUNT]; /* valid where count is not 0 */
};

void davy_log_verdict_add(struct davy_log_verdict *v, const struct davy_log_event *ev);

/* NULL: the log shows no problem. */
const struct davy_log_event *davy_log_verdict_conclude(const struct davy_log_verdict *v);

#endif

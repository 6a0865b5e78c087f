/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_verdict.h"

void davy_log_verdict_add(struct davy_log_verdict *v, const struct davy_log_event *ev)
{
	uint8_t role = ev->role < DAVY_PART_COUNT ? ev->role : DAVY_PART_NONE;
	struct davy_log_event *best = &v->best[role];

	if (!v->count[role] || ev->weight > best->weight ||
	    (ev->weight == best->weight && ev->order > best->order))
		*best = *ev;
	v->count[role]++;
}

const struct davy_log_event *davy_log_verdict_conclude(const struct davy_log_verdict *v)
{
	static const uint8_t roles[] = { DAVY_PART_FAILURE, DAVY_PART_AFTERMATH,
					 DAVY_PART_PRECURSOR };

	for (size_t i = 0; i < sizeof(roles); i++)
		if (v->count[roles[i]])
			return &v->best[roles[i]];
	return NULL;
}

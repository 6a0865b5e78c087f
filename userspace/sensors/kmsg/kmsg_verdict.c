/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_verdict.h"

void dl_log_verdict_add(struct dl_log_verdict *v, const struct dl_log_event *ev)
{
	uint8_t role = ev->role < DL_PART_COUNT ? ev->role : DL_PART_NONE;
	struct dl_log_event *best = &v->best[role];

	if (!v->count[role] || ev->weight > best->weight ||
	    (ev->weight == best->weight && ev->order > best->order))
		*best = *ev;
	v->count[role]++;
}

const struct dl_log_event *dl_log_verdict_conclude(const struct dl_log_verdict *v)
{
	static const uint8_t roles[] = { DL_PART_FAILURE, DL_PART_AFTERMATH, DL_PART_PRECURSOR };

	for (size_t i = 0; i < sizeof(roles); i++)
		if (v->count[roles[i]])
			return &v->best[roles[i]];
	return NULL;
}

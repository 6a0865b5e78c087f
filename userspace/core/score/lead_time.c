/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lead time histograms, and the sum of several histories. */
#include "core/score/incident.h"

uint64_t davy_lead_time_median_ns(const struct davy_lead_times *lead_time)
{
	uint64_t seen = 0, end;

	for (size_t i = 0; i < DAVY_LEAD_TIME_SLOTS; i++) {
		seen += lead_time->slot[i];
		if (!seen || 2 * seen < lead_time->count)
			continue;
		end = i < DAVY_LEAD_TIME_SLOTS - 1 ? DAVY_LEAD_TIME_SLOT_NS << i
						   : lead_time->max_ns;
		return end < lead_time->max_ns ? end : lead_time->max_ns;
	}
	return 0;
}

static void lead_time_add(struct davy_lead_times *to, const struct davy_lead_times *from)
{
	if (!from->count)
		return;
	to->min_ns = to->count && to->min_ns < from->min_ns ? to->min_ns : from->min_ns;
	to->max_ns = to->max_ns > from->max_ns ? to->max_ns : from->max_ns;
	to->sum_ns += from->sum_ns;
	to->count += from->count;
	for (size_t i = 0; i < DAVY_LEAD_TIME_SLOTS; i++)
		to->slot[i] += from->slot[i];
}

void davy_foresight_add(struct davy_foresight *to, const struct davy_foresight *from)
{
	for (size_t i = 0; i < DAVY_HZ_COUNT; i++) {
		struct davy_hazard_score *score = &to->hazard[i];

		score->predictions += from->hazard[i].predictions;
		score->confirmed += from->hazard[i].confirmed;
		score->averted += from->hazard[i].averted;
		score->late += from->hazard[i].late;
		score->false_alarms += from->hazard[i].false_alarms;
		lead_time_add(&score->lead_time, &from->hazard[i].lead_time);
	}
	for (size_t i = 0; i < DAVY_CLASS_COUNT; i++) {
		to->class[i].failures += from->class[i].failures;
		to->class[i].missed += from->class[i].missed;
		lead_time_add(&to->class[i].lead_time, &from->class[i].lead_time);
	}
	davy_calibration_add(&to->calibration, &from->calibration);
}

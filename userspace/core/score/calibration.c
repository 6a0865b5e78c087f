/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probability that a failure follows an alarm, and how well the stated probabilities hold. An
 * estimate is the share of confirmed alarms, of the laboratory and of this host together, with one
 * confirmed and one false alarm more: it is never certain.
 */
#include <assert.h>

#include "core/score/incident.h"

struct calibration_prior {
	uint8_t alarms;
	uint8_t confirmed;
};

/*
 * By level 2 and 3; made by tests/foresight/priors. At most 5 alarms each: after as many of its
 * own, a host counts more than the laboratory. A failure that no event shows, such as thrash
 * without an error, is none here either.
 */
static const struct calibration_prior priors[DAVY_HZ_COUNT][DAVY_SCORED_LEVELS] = {
	[DAVY_HZ_ENGINE_EXCEPTION] = { { 0, 0 }, { 3, 0 } },
	[DAVY_HZ_ENGINE_WEDGED] = { { 5, 5 }, { 0, 0 } },
	[DAVY_HZ_JOB_STALL] = { { 5, 5 }, { 5, 5 } },
	[DAVY_HZ_FAULT_STORM] = { { 5, 3 }, { 5, 5 } },
	[DAVY_HZ_EVICTION_STORM] = { { 5, 5 }, { 5, 0 } },
	[DAVY_HZ_ALLOC_FAILURE] = { { 5, 4 }, { 5, 4 } },
	[DAVY_HZ_EXHAUSTION] = { { 5, 5 }, { 5, 5 } },
	[DAVY_HZ_SILENT_SPILL] = { { 5, 1 }, { 5, 0 } },
	[DAVY_HZ_HOST_PRESSURE] = { { 5, 5 }, { 5, 5 } },
	[DAVY_HZ_SILENT_CPU] = { { 5, 0 }, { 0, 0 } },
	[DAVY_HZ_HARDWARE] = { { 5, 5 }, { 5, 5 } },
	[DAVY_HZ_DRIVER_WARNING] = { { 5, 5 }, { 5, 4 } },
	[DAVY_HZ_JOB_HEADROOM] = { { 5, 5 }, { 5, 5 } },
	[DAVY_HZ_RESTORE_HOG] = { { 5, 3 }, { 5, 4 } },
	[DAVY_HZ_QUEUE_THRASH] = { { 5, 0 }, { 5, 3 } },
};

uint32_t davy_foresight_probability(const struct davy_step *s, enum davy_hazard hazard,
				    uint32_t level)
{
	const struct davy_foresight *f = &s->core->foresight;
	uint64_t alarms, confirmed;
	size_t i;

	assert(hazard < DAVY_HZ_COUNT && level <= 3);
	if (level < DAVY_SCORED_FROM)
		return 0;
	i = level - DAVY_SCORED_FROM;
	alarms = priors[hazard][i].alarms + f->earlier[hazard][i].alarms +
		 f->calibration.of[hazard][i].alarms;
	confirmed = priors[hazard][i].confirmed + f->earlier[hazard][i].confirmed +
		    f->calibration.of[hazard][i].confirmed;
	assert(confirmed <= alarms);
	confirmed = 1000 * (confirmed + 1) / (alarms + 2);
	return (uint32_t)(confirmed ? confirmed : 1);
}

void davy_scores_restore(struct davy_step *s)
{
	const struct davy_ev_scores *in = &s->ev->scores;
	struct davy_level_score *score =
		&s->core->foresight.earlier[in->hazard][in->level - DAVY_SCORED_FROM];

	score->alarms = in->alarms;
	score->confirmed = in->confirmed;
}

void davy_calibration_result(struct davy_calibration *c, const struct davy_prediction *prediction,
			     bool confirmed)
{
	for (size_t i = 0; i < DAVY_SCORED_LEVELS; i++) {
		uint64_t stated = prediction->stated_permille[i];
		uint64_t error = confirmed ? 1000 - stated : stated;
		struct davy_reliability *bin = &c->bin[stated * DAVY_RELIABILITY_BINS / 1000];

		if (!stated)
			continue;
		assert(stated < 1000);
		c->of[prediction->hazard][i].alarms++;
		c->of[prediction->hazard][i].confirmed += confirmed;
		c->error_sum += error * error;
		bin->alarms++;
		bin->stated_permille += stated;
		bin->confirmed += confirmed;
	}
}

void davy_calibration_add(struct davy_calibration *to, const struct davy_calibration *from)
{
	for (size_t i = 0; i < DAVY_HZ_COUNT; i++)
		for (size_t j = 0; j < DAVY_SCORED_LEVELS; j++) {
			to->of[i][j].alarms += from->of[i][j].alarms;
			to->of[i][j].confirmed += from->of[i][j].confirmed;
		}
	for (size_t i = 0; i < DAVY_RELIABILITY_BINS; i++) {
		to->bin[i].alarms += from->bin[i].alarms;
		to->bin[i].stated_permille += from->bin[i].stated_permille;
		to->bin[i].confirmed += from->bin[i].confirmed;
	}
	to->error_sum += from->error_sum;
}

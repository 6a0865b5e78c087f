/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/score/doubt.h"

#include <string.h>

#include "core/score/incident.h"

/* One or two are chance: most alarms state 30 % and more, and those of level 3 twice as much. */
#define FALSE_LIMIT	 3
#define FALSE_LIMIT_HIGH 6
#define DAY_NS		 (24ULL * 3600 * DAVY_NS_PER_S)

static bool doubt_is_of(const struct davy_doubt *d, const struct davy_doubt *subject)
{
	return d->last_ns && d->hazard == subject->hazard && d->stranger == subject->stranger &&
	       davy_same_name(d->device, subject->device) && davy_same_name(d->comm, subject->comm);
}

static struct davy_doubt *doubt_find(struct davy_foresight *f, const struct davy_doubt *subject)
{
	for (size_t i = 0; i < DAVY_DOUBTS; i++)
		if (doubt_is_of(&f->doubts[i], subject))
			return &f->doubts[i];
	return NULL;
}

static struct davy_doubt *doubt_oldest(struct davy_foresight *f)
{
	struct davy_doubt *oldest = &f->doubts[0];

	for (size_t i = 1; i < DAVY_DOUBTS; i++)
		if (f->doubts[i].last_ns < oldest->last_ns)
			oldest = &f->doubts[i];
	return oldest;
}

void davy_doubt_result(struct davy_step *s, const struct davy_prediction *prediction,
		       bool confirmed)
{
	struct davy_foresight *f = &s->core->foresight;
	struct davy_doubt of = { .hazard = prediction->hazard, .stranger = prediction->stranger },
			  *d;

	memcpy(of.device, prediction->device, sizeof(of.device));
	memcpy(of.comm, prediction->comm, sizeof(of.comm));
	d = doubt_find(f, &of);
	if (confirmed) {
		if (d)
			memset(d, 0, sizeof(*d));
		return;
	}
	if (!d) {
		d = doubt_oldest(f);
		*d = of;
	}
	if (s->now_ns - d->last_ns > DAY_NS)
		d->count = 0;
	d->count++;
	d->last_ns = s->now_ns;
}

/* It states a failure, or false ones mean nothing. */
static bool doubt_is_barred(const struct davy_hazard_row *row, const struct davy_plan *note)
{
	return row->repeats || !davy_leads_of(&row->precursor, note->form) ||
	       (row->device_fails && note->level >= row->device_fails) ||
	       (row->engine_fails && note->level >= row->engine_fails);
}

bool davy_doubted(const struct davy_step *s, const struct davy_plan *note)
{
	const struct davy_process *p = davy_world_process(&s->core->world, note->pid);
	struct davy_doubt of = { .hazard = note->hazard, .stranger = davy_is_stranger(p) };
	const struct davy_doubt *d;

	if (doubt_is_barred(s->hazards[note->hazard], note))
		return false;
	memcpy(of.device, note->device, sizeof(of.device));
	memcpy(of.comm, note->comm, sizeof(of.comm));
	d = doubt_find(&s->core->foresight, &of);
	return d && d->count >= (note->level > 2 ? FALSE_LIMIT_HIGH : FALSE_LIMIT) &&
	       s->now_ns - d->last_ns <= DAY_NS;
}

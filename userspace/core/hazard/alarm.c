/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <string.h>

/*
 * An alarm that returns within this time of its end is the same state, which comes and goes: it
 * then stands until its precursor was absent for that time. Not longer than a prediction is valid.
 */
#define RETURNS_NS (300 * DAVY_NS_PER_S)
#define PAUSE_NS   (2 * DAVY_NS_PER_S) /* most senses report each second */

static bool alarm_same_subject(const struct davy_alarm *a, const struct davy_plan *note)
{
	return a->note.hazard == note->hazard && a->note.pid == note->pid &&
	       davy_same_name(a->note.device, note->device) &&
	       davy_same_name(a->note.ring, note->ring);
}

static struct davy_alarm *alarm_find(struct davy_core *core, const struct davy_plan *note)
{
	for (size_t i = 0; core->alarm_count && i < DAVY_CORE_ALARMS; i++)
		if (core->alarms[i].used && alarm_same_subject(&core->alarms[i], note))
			return &core->alarms[i];
	return NULL;
}

/* Order of replacement: never used, the one that ended first, the one not seen for longest. */
static bool alarm_is_worth_less(const struct davy_alarm *a, const struct davy_alarm *than)
{
	if (a->used != than->used)
		return !a->used;
	return a->used ? a->last_ns < than->last_ns : a->ended_ns < than->ended_ns;
}

/* The slot in which the same alarm ended, otherwise the one that is worth least. */
static struct davy_alarm *alarm_take_slot(struct davy_step *s, const struct davy_plan *note)
{
	struct davy_core *core = s->core;
	struct davy_alarm *least = &core->alarms[0];

	for (size_t i = 0; i < DAVY_CORE_ALARMS; i++) {
		struct davy_alarm *a = &core->alarms[i];

		if (!a->used && a->ended_ns && alarm_same_subject(a, note))
			return a;
		if (alarm_is_worth_less(a, least))
			least = a;
	}
	if (least->used) {
		core->dropped_count++;
		davy_foresight_ended(s, least);
	}
	return least;
}

/* "was": the slot as it was taken. */
static bool alarm_returns(const struct davy_step *s, const struct davy_alarm *was,
			  const struct davy_plan *note)
{
	return !was->used && was->ended_ns && s->now_ns - was->ended_ns <= RETURNS_NS &&
	       alarm_same_subject(was, note);
}

static void alarm_seen_at_level(const struct davy_step *s, struct davy_alarm *a)
{
	if (s->now_ns - a->strong_ns > PAUSE_NS)
		a->lasting_ns = s->now_ns;
	a->strong_ns = s->now_ns;
}

bool davy_alarm_raise(struct davy_step *s, struct davy_plan *note)
{
	struct davy_alarm *a = alarm_find(s->core, note);
	bool returned = a && a->returned;

	assert(note->level >= 1 && note->level <= 3);
	davy_sample_seen(s, note, a && a->note.level > note->level ? a->note.level : note->level);
	if (note->level > 1 && davy_doubted(s, note))
		note->level = 1;
	if (a && a->note.level >= note->level) {
		a->last_ns = s->now_ns;
		if (a->note.level == note->level)
			alarm_seen_at_level(s, a);
		return false;
	}
	if (!a) {
		a = alarm_take_slot(s, note);
		returned = alarm_returns(s, a, note);
	}
	davy_plan_usage(&s->core->world, note, s->hazards[note->hazard]->shortage, s->now_ns);
	note->probability_permille = davy_foresight_states(s, note);
	davy_emit(s, note);
	s->core->alarm_count += !a->used;
	memset(a, 0, sizeof(*a));
	a->used = true;
	a->returned = returned;
	a->last_ns = a->strong_ns = a->lasting_ns = s->now_ns;
	a->note = *note;
	davy_foresight_raised(s, note);
	davy_escalation_raised(s, a);
	return true;
}

/* "over": the subject has recovered or is gone, so that the same alarm would be another state. */
static void alarm_end(struct davy_step *s, struct davy_alarm *a, bool over)
{
	struct davy_plan plan = a->note;

	plan.kind = DAVY_PLAN_CLEAR;
	plan.at_ns = s->now_ns;
	davy_emit(s, &plan);
	davy_foresight_ended(s, a);
	a->used = false;
	a->ended_ns = over ? 0 : s->now_ns;
	s->core->alarm_count--;
}

static struct davy_alarm *alarm_find_subject(struct davy_step *s, enum davy_hazard hazard,
					     uint32_t pid, const char *device, const char *ring)
{
	struct davy_plan subject;

	memset(&subject, 0, sizeof(subject));
	subject.hazard = (uint8_t)hazard;
	subject.pid = pid;
	davy_copy_name(subject.device, sizeof(subject.device), device);
	davy_copy_name(subject.ring, sizeof(subject.ring), ring);
	return alarm_find(s->core, &subject);
}

void davy_alarm_keep(struct davy_step *s, enum davy_hazard hazard, uint32_t pid, const char *device,
		     const char *ring)
{
	struct davy_alarm *a = alarm_find_subject(s, hazard, pid, device, ring);

	if (!a)
		return;
	a->last_ns = s->now_ns;
	if (!s->hazards[hazard]->weakens)
		alarm_seen_at_level(s, a);
}

void davy_alarm_clear(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
		      const char *device, const char *ring)
{
	struct davy_alarm *a = alarm_find_subject(s, hazard, pid, device, ring);

	if (a)
		alarm_end(s, a, true);
}

uint32_t davy_alarm_level(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
			  const char *device, const char *ring)
{
	const struct davy_alarm *a = alarm_find_subject(s, hazard, pid, device, ring);

	return a ? a->note.level : 0;
}

#define UNPROVEN_NS (24ULL * 3600 * DAVY_NS_PER_S)

bool davy_device_unproven(const struct davy_step *s, const struct davy_plan *note)
{
	const struct davy_process *p;
	size_t at = 0;

	if (note->level < 3 || !note->device[0] || s->now_ns - note->at_ns > UNPROVEN_NS)
		return false;
	while ((p = davy_world_process_next(&s->core->world, &at)))
		if (davy_process_worked_ns(p) > note->at_ns + DAVY_NS_PER_S &&
		    p->engine != DAVY_ENGINE_NONE && davy_same_name(p->device, note->device))
			return false;
	return true;
}

static bool alarm_stands(const struct davy_step *s, const struct davy_alarm *a)
{
	const struct davy_hazard_row *row = s->hazards[a->note.hazard];

	return row->stands && row->stands(s, &a->note);
}

/* Time without its precursor after which an alarm ends. */
static uint64_t alarm_rest(const struct davy_alarm *a, uint64_t clear_ns)
{
	return a->returned && a->note.level > 1 && clear_ns < RETURNS_NS ? RETURNS_NS : clear_ns;
}

void davy_alarms_tick(struct davy_step *s)
{
	uint64_t clear_ns = davy_config_ns(&s->core->config, DAVY_CFG_CLEAR_MS);

	if (!s->core->alarm_count)
		return;
	/* Half of the room is for actions; what ends later is reported later. */
	for (size_t i = 0; i < DAVY_CORE_ALARMS && s->count < s->max / 2; i++) {
		struct davy_alarm *a = &s->core->alarms[i];

		if (a->used && s->now_ns - a->last_ns >= alarm_rest(a, clear_ns) &&
		    !alarm_stands(s, a))
			alarm_end(s, a, false);
	}
}

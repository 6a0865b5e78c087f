/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <string.h>

static bool alarm_same_subject(const struct davy_alarm *a, const struct davy_plan *note)
{
	return a->used && a->note.hazard == note->hazard && a->note.pid == note->pid &&
	       davy_same_name(a->note.device, note->device) &&
	       davy_same_name(a->note.ring, note->ring);
}

static struct davy_alarm *alarm_find(struct davy_core *core, const struct davy_plan *note)
{
	for (size_t i = 0; core->alarm_count && i < DAVY_CORE_ALARMS; i++)
		if (alarm_same_subject(&core->alarms[i], note))
			return &core->alarms[i];
	return NULL;
}

static struct davy_alarm *alarm_take_slot(struct davy_step *s)
{
	struct davy_core *core = s->core;
	struct davy_alarm *oldest = &core->alarms[0];

	for (size_t i = 0; i < DAVY_CORE_ALARMS; i++) {
		if (!core->alarms[i].used)
			return &core->alarms[i];
		if (core->alarms[i].last_ns < oldest->last_ns)
			oldest = &core->alarms[i];
	}
	core->dropped_count++;
	davy_foresight_ended(s, oldest);
	return oldest;
}

bool davy_alarm_raise(struct davy_step *s, struct davy_plan *note)
{
	struct davy_alarm *a = alarm_find(s->core, note);

	assert(note->level >= 1 && note->level <= 3);
	if (a && a->note.level >= note->level) {
		a->last_ns = s->now_ns;
		if (a->note.level == note->level)
			a->strong_ns = s->now_ns;
		return false;
	}
	if (!a)
		a = alarm_take_slot(s);
	davy_plan_usage(&s->core->world, note, s->hazards[note->hazard]->shortage, s->now_ns);
	davy_emit(s, note);
	s->core->alarm_count += !a->used;
	memset(a, 0, sizeof(*a));
	a->used = true;
	a->last_ns = a->strong_ns = s->now_ns;
	a->note = *note;
	davy_foresight_raised(s, note);
	davy_escalation_raised(s, a);
	return true;
}

static void alarm_end(struct davy_step *s, struct davy_alarm *a)
{
	struct davy_plan plan = a->note;

	plan.kind = DAVY_PLAN_CLEAR;
	plan.at_ns = s->now_ns;
	davy_emit(s, &plan);
	davy_foresight_ended(s, a);
	a->used = false;
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
		a->strong_ns = s->now_ns;
}

void davy_alarm_clear(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
		      const char *device, const char *ring)
{
	struct davy_alarm *a = alarm_find_subject(s, hazard, pid, device, ring);

	if (a)
		alarm_end(s, a);
}

uint32_t davy_alarm_level(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
			  const char *device, const char *ring)
{
	const struct davy_alarm *a = alarm_find_subject(s, hazard, pid, device, ring);

	return a ? a->note.level : 0;
}

static bool alarm_stands(const struct davy_step *s, const struct davy_alarm *a)
{
	const struct davy_hazard_row *row = s->hazards[a->note.hazard];

	return row->stands && row->stands(s, &a->note);
}

void davy_alarms_tick(struct davy_step *s)
{
	uint64_t clear_ns = davy_config_ns(&s->core->config, DAVY_CFG_CLEAR_MS);

	if (!s->core->alarm_count)
		return;
	for (size_t i = 0; i < DAVY_CORE_ALARMS && s->count < s->max; i++) {
		struct davy_alarm *a = &s->core->alarms[i];

		if (a->used && s->now_ns - a->last_ns >= clear_ns && !alarm_stands(s, a))
			alarm_end(s, a);
	}
}

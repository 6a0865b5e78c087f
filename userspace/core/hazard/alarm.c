/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/action/acts.h"

#include <assert.h>
#include <string.h>

#include "core/world/usage.h"

static bool same_subject(const struct dl_alarm *a, const struct dl_plan *note)
{
	return a->used && a->note.hazard == note->hazard && a->note.pid == note->pid &&
	       dl_same_name(a->note.device, note->device) && dl_same_name(a->note.ring, note->ring);
}

static struct dl_alarm *find(struct dl_core *core, const struct dl_plan *note)
{
	for (size_t i = 0; core->alarm_count && i < DL_CORE_ALARMS; i++)
		if (same_subject(&core->alarms[i], note))
			return &core->alarms[i];
	return NULL;
}

static struct dl_alarm *take_slot(struct dl_step *s)
{
	struct dl_core *core = s->core;
	struct dl_alarm *oldest = &core->alarms[0];

	for (size_t i = 0; i < DL_CORE_ALARMS; i++) {
		if (!core->alarms[i].used)
			return &core->alarms[i];
		if (core->alarms[i].last_ns < oldest->last_ns)
			oldest = &core->alarms[i];
	}
	core->dropped_count++;
	dl_foresight_ended(s, oldest);
	return oldest;
}

bool dl_alarm_raise(struct dl_step *s, struct dl_plan *note)
{
	struct dl_alarm *a = find(s->core, note);

	assert(note->level >= 1 && note->level <= 3);
	if (a && a->note.level >= note->level) {
		a->last_ns = s->now_ns;
		if (a->note.level == note->level)
			a->strong_ns = s->now_ns;
		return false;
	}
	if (!a)
		a = take_slot(s);
	dl_plan_shares(&s->core->world, note, s->now_ns);
	dl_emit(s, note);
	s->core->alarm_count += !a->used;
	memset(a, 0, sizeof(*a));
	a->used = true;
	a->last_ns = a->strong_ns = s->now_ns;
	a->note = *note;
	dl_foresight_raised(s, note);
	dl_ladder_raised(s, a);
	return true;
}

static void end(struct dl_step *s, struct dl_alarm *a)
{
	struct dl_plan plan = a->note;

	plan.rung = DL_RUNG_CLEAR;
	plan.at_ns = s->now_ns;
	dl_emit(s, &plan);
	dl_foresight_ended(s, a);
	a->used = false;
	s->core->alarm_count--;
}

static struct dl_alarm *find_of(struct dl_step *s, enum dl_hazard hazard, uint32_t pid,
				const char *device, const char *ring)
{
	struct dl_plan subject;

	memset(&subject, 0, sizeof(subject));
	subject.hazard = (uint8_t)hazard;
	subject.pid = pid;
	dl_copy_name(subject.device, sizeof(subject.device), device);
	dl_copy_name(subject.ring, sizeof(subject.ring), ring);
	return find(s->core, &subject);
}

void dl_alarm_keep(struct dl_step *s, enum dl_hazard hazard, uint32_t pid, const char *device,
		   const char *ring)
{
	struct dl_alarm *a = find_of(s, hazard, pid, device, ring);

	if (!a)
		return;
	a->last_ns = s->now_ns;
	if (hazard != DL_HZ_JOB_STALL) /* any share of the timeout keeps that one */
		a->strong_ns = s->now_ns;
}

void dl_alarm_clear(struct dl_step *s, enum dl_hazard hazard, uint32_t pid, const char *device,
		    const char *ring)
{
	struct dl_alarm *a = find_of(s, hazard, pid, device, ring);

	if (a)
		end(s, a);
}

uint32_t dl_alarm_level(struct dl_step *s, enum dl_hazard hazard, uint32_t pid, const char *device,
			const char *ring)
{
	const struct dl_alarm *a = find_of(s, hazard, pid, device, ring);

	return a ? a->note.level : 0;
}

/* A wedged engine stays so until it gives a token or ends: silence is no recovery. */
static bool stands(struct dl_step *s, const struct dl_alarm *a)
{
	const struct dl_process *p;

	if (a->note.hazard != DL_HZ_ENGINE_WEDGED)
		return false;
	p = dl_world_process(&s->core->world, a->note.pid);
	if (!p || dl_gave_token(p, a->note.at_ns))
		return false;
	return !dl_same_name(a->note.detail, DL_DETAIL_SILENT) || p->life.done_ns < a->note.at_ns;
}

void dl_alarms_tick(struct dl_step *s)
{
	uint64_t clear_ns = dl_config_ns(&s->core->config, DL_CFG_CLEAR_MS);

	if (!s->core->alarm_count)
		return;
	for (size_t i = 0; i < DL_CORE_ALARMS && s->count < s->max; i++) {
		struct dl_alarm *a = &s->core->alarms[i];

		if (a->used && s->now_ns - a->last_ns >= clear_ns && !stands(s, a))
			end(s, a);
	}
}

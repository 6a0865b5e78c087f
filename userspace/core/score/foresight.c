/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signs, their results, and the counts. */
#include <assert.h>
#include <string.h>

#include "core/score/incident.h"

static const struct davy_precursor *foresight_precursor(const struct davy_step *s, uint8_t hazard)
{
	return &s->hazards[hazard]->precursor;
}

static bool foresight_can_lead(const struct davy_step *s, const struct davy_sign *sign,
			       enum davy_log_class class)
{
	return foresight_precursor(s, sign->hazard)->leads & 1 << class;
}

/* A subject without device and process is the host, which matches everything. */
static bool foresight_same_subject(const struct davy_sign *sign, const char *device, uint32_t pid)
{
	if ((!sign->device[0] && !sign->pid) || (!device[0] && !pid))
		return true;
	return (pid && sign->pid == pid) || (device[0] && davy_same_name(sign->device, device));
}

bool davy_sign_could_lead(const struct davy_step *s, const struct davy_sign *sign,
			  const struct davy_incident *e)
{
	return foresight_can_lead(s, sign, (enum davy_log_class)e->class) &&
	       foresight_same_subject(sign, e->device, e->pid);
}

static uint64_t foresight_horizon_ns(const struct davy_step *s, const struct davy_sign *sign)
{
	return davy_config_ns(&s->core->config, foresight_precursor(s, sign->hazard)->horizon);
}

/* True if the sign was raised before "at_ns" and was still valid then. */
static bool foresight_before(const struct davy_step *s, const struct davy_sign *sign,
			     uint64_t at_ns)
{
	return sign->used && sign->at_ns < at_ns &&
	       (sign->standing || at_ns <= sign->last_ns ||
		at_ns - sign->last_ns <= foresight_horizon_ns(s, sign));
}

static void foresight_confirm(struct davy_foresight *f, struct davy_sign *sign)
{
	f->hazard[sign->hazard].confirmed += !sign->confirmed;
	f->hazard[sign->hazard].signs += sign->stranger && !sign->confirmed;
	sign->confirmed = true;
}

void davy_signs_before(struct davy_step *s, const struct davy_incident *e)
{
	struct davy_foresight *f = &s->core->foresight;

	for (size_t i = 0; f->sign_count && i < DAVY_FORESIGHT_SIGNS; i++)
		if (foresight_before(s, &f->signs[i], e->first_ns) &&
		    davy_sign_could_lead(s, &f->signs[i], e))
			foresight_confirm(f, &f->signs[i]);
}

void davy_signs_within(struct davy_step *s, const struct davy_incident *e,
		       enum davy_log_class class)
{
	struct davy_foresight *f = &s->core->foresight;

	for (size_t i = 0; f->sign_count && i < DAVY_FORESIGHT_SIGNS; i++) {
		struct davy_sign *sign = &f->signs[i];

		if (foresight_before(s, sign, s->now_ns) && !sign->late &&
		    foresight_can_lead(s, sign, class) &&
		    foresight_same_subject(sign, e->device, e->pid))
			foresight_confirm(f, sign);
	}
}

const struct davy_sign *davy_signs_first(const struct davy_step *s, const struct davy_incident *e)
{
	const struct davy_foresight *f = &s->core->foresight;
	const struct davy_sign *first = NULL;

	for (size_t i = 0; f->sign_count && i < DAVY_FORESIGHT_SIGNS; i++) {
		const struct davy_sign *sign = &f->signs[i];

		if (foresight_before(s, sign, e->first_ns) && davy_sign_could_lead(s, sign, e) &&
		    (!first || sign->at_ns < first->at_ns))
			first = sign;
	}
	return first;
}

static void foresight_count_lead(struct davy_lead *lead, uint64_t ns)
{
	size_t slot = 0;

	while (slot < DAVY_LEAD_SLOTS - 1 && ns >= DAVY_LEAD_SLOT_NS << slot)
		slot++;
	lead->slot[slot]++;
	lead->min_ns = lead->count && lead->min_ns < ns ? lead->min_ns : ns;
	lead->max_ns = lead->max_ns > ns ? lead->max_ns : ns;
	lead->sum_ns += ns;
	lead->count++;
}

void davy_scores_failure(struct davy_step *s, const struct davy_incident *e,
			 const struct davy_sign *first)
{
	struct davy_foresight *f = &s->core->foresight;
	struct davy_class_score *class = &f->class[e->class];

	class->failures++;
	if (!first) {
		class->missed++;
		return;
	}
	foresight_count_lead(&class->lead, e->first_ns - first->at_ns);
	foresight_count_lead(&f->hazard[first->hazard].lead, e->first_ns - first->at_ns);
}

static bool foresight_same_alarm(const struct davy_sign *sign, const struct davy_plan *note)
{
	return sign->used && sign->hazard == note->hazard && sign->pid == note->pid &&
	       davy_same_name(sign->device, note->device) && davy_same_name(sign->ring, note->ring);
}

static struct davy_sign *foresight_standing(struct davy_foresight *f, const struct davy_plan *note)
{
	for (size_t i = 0; f->sign_count && i < DAVY_FORESIGHT_SIGNS; i++)
		if (f->signs[i].standing && foresight_same_alarm(&f->signs[i], note))
			return &f->signs[i];
	return NULL;
}

/*
 * Some alarms end with each job. A sign that is raised again within the clear time is the same
 * sign, unless it already has a result.
 */
static struct davy_sign *foresight_recent(struct davy_step *s, const struct davy_plan *note)
{
	struct davy_foresight *f = &s->core->foresight;
	uint64_t clear_ns = davy_config_ns(&s->core->config, DAVY_CFG_CLEAR_MS);

	for (size_t i = 0; f->sign_count && i < DAVY_FORESIGHT_SIGNS; i++) {
		struct davy_sign *sign = &f->signs[i];

		if (foresight_same_alarm(sign, note) && !sign->confirmed && !sign->late &&
		    s->now_ns - sign->last_ns <= clear_ns)
			return sign;
	}
	return NULL;
}

static void foresight_drop(struct davy_foresight *f, struct davy_sign *sign)
{
	assert(f->sign_count > 0);
	memset(sign, 0, sizeof(*sign));
	f->sign_count--;
}

/* Order of replacement: signs of ordinary users, ended signs, least recently seen signs. */
static bool foresight_is_worth_less(const struct davy_sign *sign, const struct davy_sign *than)
{
	if (sign->stranger != than->stranger)
		return sign->stranger;
	if (sign->standing != than->standing)
		return than->standing;
	return sign->last_ns < than->last_ns;
}

static struct davy_sign *foresight_take(struct davy_core *core)
{
	struct davy_foresight *f = &core->foresight;
	struct davy_sign *oldest = &f->signs[0];

	for (size_t i = 0; i < DAVY_FORESIGHT_SIGNS && oldest->used; i++) {
		struct davy_sign *sign = &f->signs[i];

		if (!sign->used || foresight_is_worth_less(sign, oldest))
			oldest = sign;
	}
	if (oldest->used) {
		core->dropped_count++;
		foresight_drop(f, oldest);
	}
	f->sign_count++;
	return oldest;
}

static void foresight_add(struct davy_step *s, const struct davy_plan *note)
{
	struct davy_sign *sign = foresight_take(s->core);

	sign->used = true;
	sign->standing = true;
	sign->at_ns = sign->last_ns = s->now_ns;
	sign->hazard = note->hazard;
	sign->pid = note->pid;
	sign->workload = note->workload;
	sign->kind = note->evidence_count ? note->evidence[0].kind : s->ev->kind;
	memcpy(sign->device, note->device, sizeof(sign->device));
	memcpy(sign->ring, note->ring, sizeof(sign->ring));
	sign->late = davy_incident_in_progress(s, sign);
	sign->stranger = davy_is_stranger(davy_world_process(&s->core->world, note->pid));
	s->core->foresight.hazard[note->hazard].signs += !sign->stranger;
}

void davy_foresight_raised(struct davy_step *s, const struct davy_plan *note)
{
	const struct davy_precursor *p = foresight_precursor(s, note->hazard);
	struct davy_sign *sign;

	if (p->fails_as && !davy_is_stranger(davy_world_process(&s->core->world, note->pid)))
		davy_incident_of_alarm(s, note, (enum davy_log_class)p->fails_as);
	if (!p->leads || note->level < davy_config_u64(&s->core->config, DAVY_CFG_FORESIGHT_LEVEL))
		return;
	if (foresight_standing(&s->core->foresight, note))
		return;
	sign = foresight_recent(s, note);
	if (sign)
		sign->standing = true;
	else
		foresight_add(s, note);
}

void davy_foresight_ended(struct davy_step *s, const struct davy_alarm *alarm)
{
	struct davy_sign *sign = foresight_standing(&s->core->foresight, &alarm->note);

	if (!sign)
		return;
	sign->standing = false;
	sign->last_ns = alarm->last_ns;
}

/*
 * If an action succeeded before any failure, the signs against which it was taken count as averted.
 */
void davy_foresight_acted(struct davy_step *s, const struct davy_workload *w)
{
	struct davy_foresight *f = &s->core->foresight;

	for (size_t i = 0; f->sign_count && i < DAVY_FORESIGHT_SIGNS; i++) {
		struct davy_sign *sign = &f->signs[i];

		if (!sign->used || sign->workload != w->id || sign->at_ns > w->act_ns ||
		    sign->confirmed || sign->late)
			continue;
		f->hazard[sign->hazard].averted++;
		foresight_drop(f, sign);
	}
}

void davy_foresight_tick(struct davy_step *s)
{
	struct davy_foresight *f = &s->core->foresight;

	for (size_t i = 0; f->sign_count && i < DAVY_FORESIGHT_SIGNS; i++) {
		struct davy_sign *sign = &f->signs[i];

		if (!sign->used || sign->standing ||
		    s->now_ns - sign->last_ns <= foresight_horizon_ns(s, sign))
			continue;
		if (!sign->stranger) {
			f->hazard[sign->hazard].late += sign->late && !sign->confirmed;
			f->hazard[sign->hazard].false_alarms += !sign->late && !sign->confirmed;
		}
		foresight_drop(f, sign);
	}
}

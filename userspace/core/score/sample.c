/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/score/incident.h"

#include <assert.h>
#include <string.h>

static struct davy_reading *sample_find(struct davy_samples *all, uint8_t hazard, uint32_t pid,
					const char *device, const char *ring)
{
	for (size_t i = 0; all->reading_count && i < DAVY_SAMPLE_READINGS; i++) {
		struct davy_prediction *of = &all->readings[i].of;

		if (of->used && of->hazard == hazard && of->pid == pid &&
		    davy_same_name(of->device, device) && davy_same_name(of->ring, ring))
			return &all->readings[i];
	}
	return NULL;
}

static void sample_drop(struct davy_samples *all, struct davy_reading *r)
{
	assert(all->reading_count > 0 && r->of.used);
	memset(r, 0, sizeof(*r));
	all->reading_count--;
}

/* NULL: not to be followed, or no room. */
static struct davy_reading *sample_begin(struct davy_step *s, const struct davy_tunable *t,
					 const struct davy_plan *note)
{
	struct davy_samples *all = &s->core->samples;
	size_t place = 0;
	struct davy_reading r = { .of = { .used = true,
					  .hazard = note->hazard,
					  .pid = note->pid,
					  .workload = note->workload,
					  .at_ns = s->now_ns } };

	memcpy(r.of.device, note->device, sizeof(r.of.device));
	memcpy(r.of.ring, note->ring, sizeof(r.of.ring));
	memcpy(r.model, note->model, sizeof(r.model));
	if ((!r.of.device[0] && !r.model[0]) || davy_incident_in_progress(s, &r.of) ||
	    davy_is_stranger(davy_world_process(&s->core->world, note->pid)))
		return NULL;
	r.base = davy_config_u64(&s->core->config, (enum davy_config_key)t->key);
	while (place < DAVY_SAMPLE_READINGS && all->readings[place].of.used)
		place++;
	if (place == DAVY_SAMPLE_READINGS) {
		s->core->dropped_count++;
		return NULL;
	}
	all->reading_count++;
	return memcpy(&all->readings[place], &r, sizeof(r));
}

static uint64_t sample_step(const struct davy_reading *r, size_t step)
{
	return r->base + r->base * step / DAVY_SAMPLE_STEPS;
}

static void sample_observe(const struct davy_step *s, struct davy_reading *r, uint64_t value)
{
	r->of.last_ns = s->now_ns;
	r->most = value > r->most ? value : r->most;
	for (size_t i = 0; i < DAVY_SAMPLE_STEPS && value >= sample_step(r, i); i++)
		if (!r->step_ns[i])
			r->step_ns[i] = s->now_ns;
}

void davy_sample_seen(struct davy_step *s, const struct davy_plan *note, uint32_t level)
{
	const struct davy_tunable *t = davy_tunable_of(note->hazard);
	struct davy_reading *r;

	if (!t || note->form != DAVY_FORM_PLAIN || note->unit != davy_config_rows[t->key].unit)
		return;
	r = sample_find(&s->core->samples, note->hazard, note->pid, note->device, note->ring);
	if (!r)
		r = sample_begin(s, t, note);
	if (!r)
		return;
	r->of.raised |= level >= davy_config_u64(&s->core->config, DAVY_CFG_FORESIGHT_LEVEL);
	sample_observe(s, r, note->observed);
}

void davy_sample_kept(struct davy_step *s, enum davy_hazard hazard, uint32_t pid,
		      const char *device, const char *ring, uint64_t value)
{
	struct davy_reading *r = sample_find(&s->core->samples, (uint8_t)hazard, pid, device, ring);

	if (r)
		sample_observe(s, r, value);
}

static void sample_make(struct davy_step *s, const struct davy_reading *r,
			enum davy_sample_result result, uint64_t value)
{
	const struct davy_device_state *d = davy_world_device(&s->core->world, r->of.device);
	struct davy_samples *all = &s->core->samples;
	struct davy_sample *made = &all->made[all->made_count++ % DAVY_SAMPLES_MADE];

	memset(made, 0, sizeof(*made));
	made->at_s = s->core->wall_s + (s->now_ns - s->core->wall_ns) / DAVY_NS_PER_S;
	made->value = value;
	made->key = davy_tunable_of(r->of.hazard)->key;
	made->result = (uint8_t)result;
	memcpy(made->device, r->of.device, sizeof(made->device));
	memcpy(made->model, r->model, sizeof(made->model));
	if (d)
		memcpy(made->driver, d->driver, sizeof(made->driver));
}

/*
 * A failure after the alarm: the sample has the largest step that was reached in time, or the
 * default. Without a prediction, it is missed if the default foresees it.
 */
static void sample_failed(struct davy_step *s, const struct davy_reading *r, uint64_t failed_ns,
			  bool missed)
{
	enum davy_config_key key = (enum davy_config_key)davy_tunable_of(r->of.hazard)->key;
	const struct davy_process *p = davy_world_process(&s->core->world, r->of.pid);
	size_t step = DAVY_SAMPLE_STEPS - 1;
	bool in_time;

	while (step && (!r->step_ns[step] || r->step_ns[step] + DAVY_SAMPLE_LEAD_NS > failed_ns))
		step--;
	in_time = r->step_ns[step] && r->step_ns[step] + DAVY_SAMPLE_LEAD_NS <= failed_ns;
	if (r->of.raised)
		sample_make(s, r, DAVY_SAMPLE_CONFIRMED, sample_step(r, step));
	else if (missed && in_time &&
		 sample_step(r, step) < davy_threshold(s, key, r->of.device, p))
		sample_make(s, r, DAVY_SAMPLE_MISSED, sample_step(r, step));
}

static bool sample_is_over(const struct davy_step *s, const struct davy_reading *r, uint64_t at_ns)
{
	enum davy_config_key horizon = s->hazards[r->of.hazard]->precursor.horizon;

	return at_ns > r->of.last_ns &&
	       at_ns - r->of.last_ns > davy_config_ns(&s->core->config, horizon);
}

void davy_samples_failure(struct davy_step *s, const struct davy_incident *e,
			  enum davy_log_class class, bool missed)
{
	struct davy_samples *all = &s->core->samples;
	struct davy_incident failure = *e;

	failure.class = (uint8_t) class;
	for (size_t i = 0; all->reading_count && i < DAVY_SAMPLE_READINGS; i++) {
		struct davy_reading *r = &all->readings[i];

		if (!r->of.used || sample_is_over(s, r, e->first_ns) ||
		    !davy_prediction_could_lead(s, &r->of, &failure))
			continue;
		if (r->of.at_ns < e->first_ns)
			sample_failed(s, r, e->first_ns, missed);
		sample_drop(all, r);
	}
}

void davy_samples_acted(struct davy_step *s, const struct davy_workload *w)
{
	struct davy_samples *all = &s->core->samples;

	for (size_t i = 0; all->reading_count && i < DAVY_SAMPLE_READINGS; i++) {
		struct davy_prediction *of = &all->readings[i].of;

		if (of->used && of->workload == w->id && of->at_ns <= w->act_ns)
			sample_drop(all, &all->readings[i]);
	}
}

void davy_samples_tick(struct davy_step *s)
{
	struct davy_samples *all = &s->core->samples;

	for (size_t i = 0; all->reading_count && i < DAVY_SAMPLE_READINGS; i++) {
		struct davy_reading *r = &all->readings[i];

		if (!r->of.used || !sample_is_over(s, r, s->now_ns))
			continue;
		if (r->of.raised)
			sample_make(s, r, DAVY_SAMPLE_FALSE, r->most);
		sample_drop(all, r);
	}
}

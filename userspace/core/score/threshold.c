/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/score/threshold.h"

#include <string.h>

#include "core/event/plan.h"

#define FALSE_MAX     64 /* of one proposal */
#define ROLLBACKS_MAX 4

/*
 * The limits were measured with 'davylamp tune --grid KEY=V1,V2' on the traces of 'make tune': up
 * to level 3 its "not_worse" holds. 'davylamp tune --limits' repeats it for these values
 * (tests/foresight). Not in the table: exhaustion.level2, which loses lead time from 17.5 s on.
 */
const struct davy_tunable davy_tunables[] = {
	{ DAVY_HZ_JOB_STALL, DAVY_CFG_STALL_LEVEL2, 750 },
	{ DAVY_HZ_JOB_HEADROOM, DAVY_CFG_HEADROOM_LEVEL2, 750 },
	{ 0 },
};

const struct davy_tunable *davy_tunable_of(uint8_t hazard)
{
	for (const struct davy_tunable *t = davy_tunables; t->key; t++)
		if (t->hazard == hazard)
			return t;
	return NULL;
}

struct judged {
	uint64_t base, now, bound; /* default, in force, not more than this */
	uint64_t since_s;	   /* the last change; 0: none */
	uint64_t before_s, before; /* the time before it, and its false alarms */
	uint64_t first_s, last_s;  /* of the false alarms since then */
	uint32_t rollbacks;
	bool missed;		   /* since then, and the default foresees it */
	uint64_t value[FALSE_MAX]; /* ascending */
};

static void threshold_changed(const struct davy_sample *first, const struct davy_sample *s,
			      struct judged *j, struct davy_threshold_verdict *v)
{
	j->before += v->false_count;
	j->before_s = s->at_s > first->at_s ? s->at_s - first->at_s : 0; /* a wall clock */
	j->since_s = s->at_s;
	j->missed = false;
	v->false_count = 0;
	j->rollbacks += s->result == DAVY_SAMPLE_TAKEN_BACK && j->rollbacks < ROLLBACKS_MAX;
}

static void threshold_add_false(const struct davy_sample *s, struct judged *j,
				struct davy_threshold_verdict *v)
{
	uint32_t at = v->false_count;

	if (at == FALSE_MAX)
		return;
	if (!at)
		j->first_s = s->at_s;
	j->last_s = s->at_s;
	for (; at && j->value[at - 1] > s->value; at--)
		j->value[at] = j->value[at - 1];
	j->value[at] = s->value;
	v->false_count++;
}

/* A confirmed or missed failure: no threshold above its value foresees the like in time. */
static void threshold_add_failure(const struct davy_sample *s, struct judged *j,
				  struct davy_threshold_verdict *v)
{
	bool missed = s->result == DAVY_SAMPLE_MISSED;

	j->missed |= missed && s->value >= j->base;
	j->bound = s->value < j->bound ? s->value : j->bound;
	v->missed += missed;
	v->confirmed += !missed;
}

/* The value in force is above the default: is it worse? */
static uint32_t threshold_worse(const struct judged *j, uint32_t false_count, uint64_t now_s)
{
	uint64_t after_s = now_s > j->since_s ? now_s - j->since_s : 0;

	if (j->missed)
		return DAVY_THRESHOLD_MISSED;
	if (!j->before || false_count < DAVY_THRESHOLD_FALSE || after_s < DAVY_THRESHOLD_SPAN_S ||
	    after_s < j->before_s || false_count * j->before_s < j->before * after_s)
		return DAVY_THRESHOLD_KEEP;
	return DAVY_THRESHOLD_NO_BETTER;
}

/* The smallest value, in whole percent, that would have prevented half of the false alarms. */
static void threshold_propose(const struct judged *j, struct davy_threshold_verdict *v)
{
	uint32_t needed = (uint32_t)DAVY_THRESHOLD_FALSE << j->rollbacks;
	uint64_t to;

	if (v->false_count < needed || j->last_s < j->first_s + DAVY_THRESHOLD_SPAN_S)
		return;
	to = (j->value[(v->false_count - 1) / 2] / 10 + 1) * 10;
	if (to > j->bound || to <= j->now)
		return;
	while (v->removed < v->false_count && j->value[v->removed] < to)
		v->removed++;
	v->to = to;
	v->why = DAVY_THRESHOLD_FEWER;
}

/* The other levels' values limit it, too. */
static struct judged threshold_begin(const struct davy_config *config,
				     const struct davy_sample *like)
{
	enum davy_config_key key = (enum davy_config_key)like->key;
	struct judged j = { .base = davy_config_u64(config, key) };
	struct davy_config_order order;

	for (const struct davy_tunable *t = davy_tunables; t->key; t++)
		if (t->key == like->key)
			j.bound = t->limit;

	j.now = (uint64_t)davy_config_value_for(config, key, like->driver, like->device,
						like->model);
	for (size_t i = 0; davy_config_order(i, &order); i++) {
		uint64_t high = (uint64_t)davy_config_value_for(config, order.high, like->driver,
								like->device, like->model);

		if (order.low == key && high < j.bound)
			j.bound = high;
	}
	return j;
}

void davy_threshold_judge(const struct davy_config *config, const struct davy_sample *samples,
			  size_t count, uint64_t now_s, struct davy_threshold_verdict *ret_verdict)
{
	struct davy_threshold_verdict v = { 0 };
	struct judged j;

	memset(ret_verdict, 0, sizeof(*ret_verdict));
	if (!count)
		return;
	j = threshold_begin(config, &samples[count - 1]);
	v.to = j.now;
	for (size_t i = 0; i < count; i++) {
		const struct davy_sample *s = &samples[i];

		if (s->result == DAVY_SAMPLE_FALSE)
			threshold_add_false(s, &j, &v);
		else if (s->result == DAVY_SAMPLE_CONFIRMED || s->result == DAVY_SAMPLE_MISSED)
			threshold_add_failure(s, &j, &v);
		else
			threshold_changed(&samples[0], s, &j, &v);
	}
	if (j.now > j.base)
		v.why = threshold_worse(&j, v.false_count, now_s);
	if (v.why)
		v.to = j.base;
	else
		threshold_propose(&j, &v);
	*ret_verdict = v;
}

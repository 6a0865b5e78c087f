/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sizes of a setting: which exist, which are bad, which is next. */
#include "core/tuner/tuner_turn.h"

#include <string.h>

static uint32_t tuner_size_step(const struct davy_tuner_range *range)
{
	return range->step ? range->step : 1;
}

uint32_t davy_tuner_floor(const struct davy_tuner_range *range)
{
	return range->floor ? range->floor : 1;
}

bool davy_tuner_movable(const struct davy_tuner_range *range)
{
	return range->ceiling > davy_tuner_floor(range);
}

uint32_t davy_tuner_steps(const struct davy_tuner_range *range)
{
	uint32_t span = range->ceiling - davy_tuner_floor(range), step = tuner_size_step(range);

	return davy_tuner_movable(range) ? span / step + (span % step != 0) + 1 : 1;
}

uint32_t davy_tuner_in_force(const struct davy_tuner_range *range, uint32_t size)
{
	if (!davy_tuner_movable(range) || !size || size > range->ceiling)
		return range->ceiling;
	return size > davy_tuner_floor(range) ? size : davy_tuner_floor(range);
}

/* The largest valid size that is at most "size"; "size" is in the range. */
static uint32_t tuner_size_on_step(const struct davy_tuner_range *range, uint32_t size)
{
	uint32_t over = (size - davy_tuner_floor(range)) % tuner_size_step(range);

	return size == range->ceiling ? size : size - over;
}

static uint32_t tuner_size_step_down(const struct davy_tuner_range *range, uint32_t size)
{
	return tuner_size_on_step(range, size - 1);
}

uint32_t davy_tuner_lower(const struct davy_tuner_range *range, uint32_t size, uint32_t downs,
			  bool at_once)
{
	uint64_t part = downs < 31 ? size >> (downs + 1) : 0;
	uint64_t next;

	if (at_once || part < davy_tuner_floor(range))
		part = davy_tuner_floor(range);
	if (!at_once && !downs && (uint64_t)part * 2 < size)
		part++; /* half of three is two */
	next = tuner_size_on_step(range, (uint32_t)part);
	if (next < part && next + tuner_size_step(range) < size)
		next += tuner_size_step(range);
	return next < size ? (uint32_t)next : tuner_size_step_down(range, size);
}

/* Half way between; 0: no size between. */
static uint32_t tuner_size_between(const struct davy_tuner_range *range, uint32_t good,
				   uint32_t bad)
{
	uint32_t half = tuner_size_on_step(range, good + (bad - good) / 2);
	uint64_t up = (uint64_t)tuner_size_on_step(range, good) + tuner_size_step(range);

	if (half > good)
		return half;
	return up < bad ? (uint32_t)up : 0;
}

struct davy_tuner_climb davy_tuner_higher(const struct davy_turn *u, uint32_t setting)
{
	const struct davy_tuner_range *range = &u->bounds->range[setting];
	const struct davy_tuner_mark *bad = &u->b->setting[setting].bad[0];
	struct davy_tuner_climb c = { .setting = setting, .depth = u->b->failed_depth };

	c.from = davy_tuner_in_force(range, u->b->setting[setting].size);
	if (c.from >= range->ceiling || (bad->size && bad->size <= c.from))
		return c; /* its soak did not reach the depth of the failure */
	c.to = range->ceiling;
	if (!bad->size || bad->size > range->ceiling)
		return c;
	c.depth = bad->depth;
	c.doubtful = bad->doubtful;
	c.to = bad->doubtful ? 0 : tuner_size_between(range, c.from, bad->size);
	if (c.to)
		return c;
	c.to = bad->size;
	c.again = true;
	c.until_s = bad->until_s;
	return c;
}

/* Keeps the smallest sizes; each size has one mark. */
static struct davy_tuner_mark *tuner_size_mark(struct davy_tuner_size *k, uint32_t size)
{
	size_t at = 0;

	while (at < DAVY_TUNER_MARKS && k->bad[at].size && k->bad[at].size < size)
		at++;
	if (at == DAVY_TUNER_MARKS)
		at--; /* larger than all marks: replace the largest */
	else if (k->bad[at].size != size)
		memmove(&k->bad[at + 1], &k->bad[at],
			(DAVY_TUNER_MARKS - at - 1) * sizeof(k->bad[0]));
	k->bad[at].size = size;
	return &k->bad[at];
}

uint64_t davy_tuner_wait(uint32_t first_s, uint32_t most_s, uint32_t times)
{
	uint64_t wait = (uint64_t)first_s << (times < 31 ? times : 31);

	return wait < most_s ? wait : most_s;
}

void davy_tuner_mark_bad(const struct davy_turn *u, struct davy_tuner_size *k, uint32_t size)
{
	const struct davy_tuner_times *times = &u->bounds->times;
	bool again = k->tried && size >= k->tried, known = k->bad[0].size == size;
	struct davy_tuner_mark *m = tuner_size_mark(k, size);

	if (!again)
		k->times = 0;
	m->doubtful = 0;
	if (!known || m->depth > u->t->failed_depth)
		m->depth = u->t->failed_depth;
	m->until_s = u->t->failed_s + davy_tuner_wait(times->bad_s, times->bad_max_s, k->times);
	k->tried = again ? k->tried : size;
	k->times = (uint16_t)(k->times + (k->times < UINT16_MAX));
}

void davy_tuner_mark_doubtful(const struct davy_turn *u, struct davy_tuner_size *k, uint32_t size)
{
	struct davy_tuner_mark *m = tuner_size_mark(k, size);

	m->doubtful = 1;
	m->depth = u->t->failed_depth;
	m->until_s = u->t->failed_s + davy_tuner_backoff(u);
}

void davy_tuner_refute(struct davy_tuner_size *k)
{
	memmove(&k->bad[0], &k->bad[1], (DAVY_TUNER_MARKS - 1) * sizeof(k->bad[0]));
	memset(&k->bad[DAVY_TUNER_MARKS - 1], 0, sizeof(k->bad[0]));
}

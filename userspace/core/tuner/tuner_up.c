/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reactions to a soak: refutes bad marks and starts the next probation. */
#include "core/tuner/tuner_turn.h"

#include <string.h>

/* A slot cannot exceed its part of the context, and few slots are filled to the last token. */
uint32_t davy_tuner_needed_depth(const struct davy_turn *u, uint32_t failed_depth)
{
	const struct davy_tuner_range *range = u->bounds->range;
	uint32_t context = davy_tuner_in_force(&range[DAVY_TUNER_CONTEXT],
					       u->b->setting[DAVY_TUNER_CONTEXT].size);
	uint32_t slots = davy_tuner_in_force(&range[DAVY_TUNER_PARALLEL],
					     u->b->setting[DAVY_TUNER_PARALLEL].size);
	uint32_t slot = context / (slots ? slots : 1);
	uint32_t most = slot - slot / 8;

	return context && most < failed_depth ? most : failed_depth;
}

uint64_t davy_tuner_needed_soak(const struct davy_turn *u)
{
	const struct davy_tuner_times *times = &u->bounds->times;
	uint64_t soak = (uint64_t)times->soak_s << u->b->lessons;
	uint64_t most = (uint64_t)times->lasted_s * DAVY_TUNER_TRIAL;

	if (most < times->soak_s)
		return times->soak_s;
	return soak < most ? soak : most;
}

bool davy_tuner_soaked(const struct davy_turn *u, uint32_t failed_depth)
{
	return u->t->soak_s >= davy_tuner_needed_soak(u) &&
	       u->t->soak_depth >= davy_tuner_needed_depth(u, failed_depth);
}

/*
 * A size that survives at the depth of its failure is not bad. If no size is bad, forget failures.
 */
static void tuner_up_refute(struct davy_turn *u)
{
	bool deep = davy_tuner_soaked(u, u->b->failed_depth), bad = false;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		struct davy_tuner_size *k = &u->b->setting[i];
		uint32_t size = davy_tuner_in_force(&u->bounds->range[i], k->size);

		while (k->bad[0].size && k->bad[0].size <= size &&
		       davy_tuner_soaked(u, k->bad[0].depth))
			davy_tuner_refute(k);
		if (deep) {
			k->downs = 0;
			k->believed = k->believed > size ? k->believed : size;
		}
		bad = bad || k->bad[0].size || k->size;
	}
	if (u->b->active && !u->b->setting[u->b->active - 1].bad[0].size)
		u->b->active = 0;
	if (!bad)
		u->b->failed_depth = u->b->failures = 0;
}

/* The most preferred backend before the current one. A CPU's soak never reaches a GPU's depth. */
static uint8_t tuner_up_better_backend(const struct davy_turn *u, uint64_t *ret_until_s)
{
	const uint8_t *list = u->bounds->backends;

	for (size_t i = 0; i < DAVY_BACKEND_COUNT && list[i] && list[i] != u->t->backend; i++) {
		const struct davy_tuner_backend *to = &u->t->of[list[i]];
		uint32_t needed = davy_tuner_needed_depth(u, to->failed_depth);

		if (u->t->backend != DAVY_BACKEND_CPU && u->t->soak_depth < needed)
			continue;
		if (u->now_s >= to->until_s)
			return list[i];
		if (!*ret_until_s || to->until_s < *ret_until_s)
			*ret_until_s = to->until_s;
	}
	return DAVY_BACKEND_UNKNOWN;
}

/* Doubtful sizes first, sizes that were bad last, otherwise the largest gain. */
static bool tuner_up_better(const struct davy_tuner_climb *c, const struct davy_tuner_climb *than)
{
	if (!than->to || c->doubtful != than->doubtful)
		return !than->to || c->doubtful;
	if (c->again != than->again)
		return than->again;
	return (uint64_t)c->to * than->from > (uint64_t)than->to * c->from;
}

/* "to" is 0: none. Other sizes wait for the time of a doubtful one, but not for its depth. */
static struct davy_tuner_climb tuner_up_best_climb(const struct davy_turn *u)
{
	struct davy_tuner_climb best = { 0 };

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		struct davy_tuner_climb c = davy_tuner_higher(u, i);
		bool due = u->now_s >= c.until_s;

		if (c.to && (due ? davy_tuner_soaked(u, c.depth) : c.doubtful) &&
		    tuner_up_better(&c, &best))
			best = c;
	}
	return best;
}

static uint64_t tuner_up_earliest(const struct davy_turn *u)
{
	uint64_t earliest_s = 0;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		struct davy_tuner_climb c = davy_tuner_higher(u, i);

		if (c.to && c.until_s > u->now_s && (!earliest_s || c.until_s < earliest_s))
			earliest_s = c.until_s;
	}
	return earliest_s;
}

static void tuner_up_begin_probation(struct davy_turn *u, uint8_t probing, uint32_t depth)
{
	u->t->probe_depth = depth;
	u->t->climbed_s = u->now_s ? u->now_s : 1;
	u->t->probing = probing;
}

/* Unchanged, or, if sizes may be the cause, alternately the smallest and the command's. */
static void tuner_up_take_turn(struct davy_turn *u)
{
	struct davy_tuner_backend *b = u->b;
	bool smallest = b->turn == DAVY_TUNER_TURN_SMALLEST;

	if (b->turn == DAVY_TUNER_TURN_NONE)
		return;
	b->turn = smallest ? DAVY_TUNER_TURN_CONFIGURED : DAVY_TUNER_TURN_SMALLEST;
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		b->setting[i].size = smallest || b->setting[i].bad[0].size
					     ? davy_tuner_floor(&u->bounds->range[i])
					     : 0;
}

static void tuner_up_try_backend(struct davy_turn *u, uint8_t backend)
{
	uint8_t from = u->t->backend;

	u->reason->why = DAVY_TUNER_OTHER_AGAIN;
	davy_tuner_put_backend(u, backend);
	tuner_up_take_turn(u);
	u->t->previous = from;
	tuner_up_begin_probation(u, DAVY_TUNER_PROBES_BACKEND, u->b->failed_depth);
}

static void tuner_up_try_size(struct davy_turn *u, const struct davy_tuner_climb *c)
{
	u->reason->why = c->again ? DAVY_TUNER_AGAIN : DAVY_TUNER_RAISE;
	u->b->setting[c->setting].good = c->from;
	davy_tuner_put(u, c->setting, c->to);
	tuner_up_begin_probation(u, (uint8_t)(c->setting + 1), c->depth);
}

/* Wait until the last probation has passed, or until the depth is no longer reached. */
static bool tuner_up_waits_for_depth(const struct davy_turn *u)
{
	return u->t->probing && !davy_tuner_soaked(u, u->t->probe_depth) &&
	       u->t->soak_s < (uint64_t)u->bounds->times.lasted_s * DAVY_TUNER_TRIAL;
}

static void tuner_up_wait_until(struct davy_turn *u, uint64_t until_s)
{
	if (until_s && (!u->reason->until_s || until_s < u->reason->until_s))
		u->reason->until_s = until_s;
}

void davy_tuner_up(struct davy_turn *u)
{
	struct davy_tuner *t = u->t;
	struct davy_tuner_climb climb;
	uint8_t backend;

	u->reason->why = DAVY_TUNER_KEEPS;
	u->reason->needed_depth = davy_tuner_needed_depth(u, u->b->failed_depth);
	if (t->soak_s < davy_tuner_needed_soak(u))
		return;
	tuner_up_refute(u);
	if (t->climbed_s && u->now_s < t->climbed_s + davy_tuner_backoff(u)) {
		tuner_up_wait_until(u, t->climbed_s + davy_tuner_backoff(u));
		return;
	}
	if (tuner_up_waits_for_depth(u)) {
		u->reason->needed_depth = davy_tuner_needed_depth(u, t->probe_depth);
		return;
	}
	if (t->probing && davy_tuner_soaked(u, t->probe_depth))
		t->backoff_s = 0; /* the probation succeeded */
	backend = tuner_up_better_backend(u, &u->reason->until_s);
	if (backend) {
		tuner_up_try_backend(u, backend);
		return;
	}
	climb = tuner_up_best_climb(u);
	if (climb.to && u->now_s >= climb.until_s)
		tuner_up_try_size(u, &climb);
	else
		tuner_up_wait_until(u, climb.to ? climb.until_s : tuner_up_earliest(u));
}

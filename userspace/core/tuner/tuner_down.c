/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reactions to trouble: ends a failed probation, lowers a setting, switches the backend. */
#include "core/tuner/tuner_turn.h"

#include <string.h>

#define BIT(setting) (1u << (setting))
#define ALL	     ((1u << DAVY_TUNER_SETTINGS) - 1)

/* A quantised cache does not shorten jobs. */
#define OF_TIME (ALL & ~(1u << DAVY_TUNER_CACHE_TYPE))

/* Settings whose size may be the cause; 0: none, only another backend helps. */
static const uint8_t settings_of[DAVY_CLASS_COUNT] = {
	[DAVY_CLASS_NONE] = ALL,	[DAVY_CLASS_GPU_RESET] = ALL,
	[DAVY_CLASS_HANG] = OF_TIME,	[DAVY_CLASS_RING_TIMEOUT] = OF_TIME,
	[DAVY_CLASS_DEVICE_LOST] = ALL, [DAVY_CLASS_OOM_GTT_HOST] = ALL,
	[DAVY_CLASS_OOM_VRAM] = ALL,	[DAVY_CLASS_EVICTION_THRASH] = ALL,
	[DAVY_CLASS_OTHER] = ALL,
};

bool davy_tuner_matters(uint32_t setting, uint32_t class)
{
	return setting < DAVY_TUNER_SETTINGS && class < DAVY_CLASS_COUNT &&
	       (settings_of[class] & BIT(setting));
}

static uint32_t tuner_down_size_of(const struct davy_turn *u, uint32_t setting)
{
	return davy_tuner_in_force(&u->bounds->range[setting], u->b->setting[setting].size);
}

static bool tuner_down_had_lasted(const struct davy_turn *u)
{
	bool lasted = false;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		if (tuner_down_size_of(u, i) > u->b->lasted[i])
			return false;
		lasted = lasted || u->b->lasted[i];
	}
	return lasted && u->t->failed_depth <= u->b->lasted_depth;
}

/* True if the setting had lasted. Exceptions: a recent chance failure, or doubt about a size. */
static bool tuner_down_by_chance(const struct davy_turn *u)
{
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (u->b->setting[i].bad[0].doubtful)
			return false;
	if (u->b->chance_s && u->t->failed_s - u->b->chance_s < u->bounds->times.bad_s)
		return false;
	return tuner_down_had_lasted(u);
}

static void tuner_down_note_failure(struct davy_turn *u)
{
	struct davy_tuner_backend *b = u->b;

	if (tuner_down_had_lasted(u)) { /* no longer true */
		memset(b->lasted, 0, sizeof(b->lasted));
		b->lasted_depth = 0;
	}
	if (!b->failures || b->failed_depth > u->t->failed_depth)
		b->failed_depth = u->t->failed_depth;
	b->failures = (uint16_t)(b->failures + (b->failures < UINT16_MAX));
}

static void tuner_down_leave(struct davy_turn *u, uint8_t to, bool chance)
{
	const struct davy_tuner_times *times = &u->bounds->times;
	struct davy_tuner_backend *b = u->b;

	if (chance) {
		b->until_s = u->t->failed_s + davy_tuner_backoff(u);
	} else {
		b->until_s =
			u->t->failed_s + davy_tuner_wait(times->bad_s, times->bad_max_s, b->times);
		b->times = (uint16_t)(b->times + (b->times < UINT16_MAX));
	}
	davy_tuner_put_backend(u, to);
}

/* The searched setting while it can go down, otherwise the next one that can. */
static uint32_t tuner_down_setting(struct davy_turn *u, uint32_t class)
{
	uint32_t active = u->b->active - 1u; /* none: larger than all settings */

	if (u->bounds->layers_fit && davy_tuner_matters(DAVY_TUNER_LAYERS, class) &&
	    u->bounds->layers_fit < tuner_down_size_of(u, DAVY_TUNER_LAYERS))
		return DAVY_TUNER_LAYERS;
	if (davy_tuner_matters(active, class)) {
		if (tuner_down_size_of(u, active) > davy_tuner_floor(&u->bounds->range[active]))
			return active;
		if (u->b->setting[active].downs) /* its floor did not help */
			memset(u->b->setting[active].bad, 0, sizeof(u->b->setting[active].bad));
		u->b->active = 0;
	}
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (davy_tuner_matters(i, class) &&
		    tuner_down_size_of(u, i) > davy_tuner_floor(&u->bounds->range[i]))
			return i;
	return DAVY_TUNER_SETTINGS;
}

/* A believed size failed: its soak was too short. */
static void tuner_down_learn(struct davy_turn *u, struct davy_tuner_size *k, uint32_t size)
{
	if (size > k->believed)
		return;
	k->believed = 0;
	if (u->b->lessons < DAVY_TUNER_LESSONS)
		u->b->lessons++;
}

static void tuner_down_lower(struct davy_turn *u, uint32_t setting, bool chance)
{
	const struct davy_tuner_range *range = &u->bounds->range[setting];
	struct davy_tuner_size *k = &u->b->setting[setting];
	uint32_t size = tuner_down_size_of(u, setting), good = davy_tuner_in_force(range, k->good);
	bool at_once = !chance && u->t->soak_s < u->bounds->times.at_once_s;

	if (davy_tuner_soaked(u, u->b->failed_depth))
		k->downs = 0;
	if (chance) {
		davy_tuner_mark_doubtful(u, k, size);
	} else {
		tuner_down_learn(u, k, size);
		davy_tuner_mark_bad(u, k, size);
	}
	u->b->active = (uint8_t)(setting + 1);
	u->reason->why = DAVY_TUNER_LOWER;
	if (k->good && good < size) {
		u->reason->why = DAVY_TUNER_BACK;
		davy_tuner_put(u, setting, good);
	} else {
		if (u->bounds->layers_fit && setting == DAVY_TUNER_LAYERS)
			size = u->bounds->layers_fit;
		else
			size = davy_tuner_lower(range, size, k->downs, at_once);
		davy_tuner_put(u, setting, size);
		k->downs = (uint16_t)(k->downs + (k->downs < UINT16_MAX));
	}
}

/*
 * The next listed backend that is not known to be bad, otherwise the last. After a host crash
 * always the last. The current backend if it is the last.
 */
static uint8_t tuner_down_backend_after(const struct davy_turn *u, uint32_t class)
{
	const uint8_t *list = u->bounds->backends;
	uint8_t to = u->t->backend;
	bool after = false;

	for (size_t i = 0; i < DAVY_BACKEND_COUNT && list[i]; i++) {
		if (after) {
			to = list[i];
			if (class != DAVY_CLASS_HOST_CRASH && u->now_s >= u->t->of[to].until_s)
				break;
		}
		after = after || list[i] == u->t->backend;
	}
	return to;
}

static void tuner_down_other_backend(struct davy_turn *u, uint32_t class, bool chance)
{
	uint8_t to = tuner_down_backend_after(u, class);
	bool sizes = class < DAVY_CLASS_COUNT && settings_of[class];

	if (to == u->t->backend) {
		u->reason->why = DAVY_TUNER_NOWHERE;
		u->t->soak_s = u->t->soak_depth = 0;
		return;
	}
	if (sizes && !chance) { /* no size helped, so none is known to be good or bad */
		memset(u->b->setting, 0, sizeof(u->b->setting));
		u->b->active = 0;
		u->b->turn = DAVY_TUNER_TURN_SMALLEST;
	}
	u->reason->why = DAVY_TUNER_OTHER;
	tuner_down_leave(u, to, chance);
}

/* A failure that does not depend on sizes says nothing about the size on probation. */
static bool tuner_down_in_probation(const struct davy_turn *u)
{
	return u->t->probing == DAVY_TUNER_PROBES_BACKEND ||
	       davy_tuner_matters(u->t->probing - 1u, u->t->failed_class);
}

static void tuner_down_end_probation(struct davy_turn *u)
{
	uint32_t setting = u->t->probing - 1u;

	u->t->backoff_s =
		davy_tuner_wait((uint32_t)davy_tuner_backoff(u), u->bounds->times.backoff_max_s, 1);
	if (setting < DAVY_TUNER_SETTINGS) {
		tuner_down_lower(u, setting, false); /* back to the previous size */
	} else if (davy_tuner_listed(u->bounds, u->t->previous)) {
		u->reason->why = DAVY_TUNER_OTHER;
		if (!u->b->turn && settings_of[u->t->failed_class])
			u->b->turn = DAVY_TUNER_TURN_SMALLEST;
		tuner_down_leave(u, u->t->previous, false);
	} else {
		tuner_down_other_backend(u, u->t->failed_class, false);
	}
}

void davy_tuner_down(struct davy_turn *u)
{
	uint32_t class = u->t->failed_class, setting;
	bool chance = tuner_down_by_chance(u);

	u->reason->chance = chance;
	u->reason->class = u->t->failed_class;
	u->reason->depth = u->t->failed_depth;
	if (chance)
		u->b->chance_s = u->t->failed_s;
	else
		tuner_down_note_failure(u);
	if (!chance && tuner_down_in_probation(u)) {
		tuner_down_end_probation(u);
		return;
	}
	setting = tuner_down_setting(u, class);
	if (setting < DAVY_TUNER_SETTINGS)
		tuner_down_lower(u, setting, chance);
	else
		tuner_down_other_backend(u, class, chance);
}

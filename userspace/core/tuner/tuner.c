/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/tuner/tuner_turn.h"

#include <string.h>

#define DAY_S 86400u

const struct davy_tuner_times davy_tuner_times = {
	.soak_s = 3600,
	.lasted_s = DAY_S / 3,
	.at_once_s = 120,
	.backoff_s = DAY_S / 4,
	.backoff_max_s = 4 * DAY_S,
	.bad_s = 4 * DAY_S,
	.bad_max_s = 32 * DAY_S,
};

const char *davy_tuner_setting_name(uint32_t setting)
{
	static const char *const names[DAVY_TUNER_SETTINGS] = {
		[DAVY_TUNER_UBATCH] = "ubatch",	    [DAVY_TUNER_CONTEXT] = "context",
		[DAVY_TUNER_PARALLEL] = "parallel", [DAVY_TUNER_CACHE_TYPE] = "cache_type",
		[DAVY_TUNER_LAYERS] = "layers",
	};

	return setting < DAVY_TUNER_SETTINGS ? names[setting] : "unknown";
}

const char *davy_tuner_why_name(uint32_t why)
{
	static const char *const names[DAVY_TUNER_WHY_COUNT] = {
		[DAVY_TUNER_AS_CONFIGURED] = "as_configured",
		[DAVY_TUNER_KEEPS] = "keeps",
		[DAVY_TUNER_LOWER] = "lower",
		[DAVY_TUNER_BACK] = "back",
		[DAVY_TUNER_OTHER] = "other_backend",
		[DAVY_TUNER_NOWHERE] = "nowhere_left",
		[DAVY_TUNER_RAISE] = "raise",
		[DAVY_TUNER_AGAIN] = "again",
		[DAVY_TUNER_OTHER_AGAIN] = "backend_again",
	};

	return why < DAVY_TUNER_WHY_COUNT ? names[why] : "unknown";
}

void davy_tuner_trouble(struct davy_tuner *t, uint64_t now_s, uint32_t depth, uint32_t class)
{
	if (!t->failed) {
		t->failed_class = (uint8_t)(class < DAVY_CLASS_COUNT ? class : DAVY_CLASS_NONE);
		t->failed_depth = 0;
		t->failed_s = now_s;
	}
	t->failed = 1;
	if (t->failed_depth < depth)
		t->failed_depth = depth;
}

void davy_tuner_soak(struct davy_tuner *t, uint64_t now_s, uint64_t seconds, uint32_t depth)
{
	uint64_t passed_s = now_s > t->set_s ? now_s - t->set_s : 0;

	if (t->failed)
		return;
	passed_s = passed_s > t->soak_s ? passed_s - t->soak_s : 0;
	t->soak_s += seconds < passed_s ? seconds : passed_s;
	if (t->soak_depth < depth)
		t->soak_depth = depth;
}

void davy_tuner_found(struct davy_tuner *t, uint64_t now_s, const struct davy_tuner_bounds *bounds,
		      const struct davy_tuner_setting *found)
{
	bool other = found->backend != t->backend, less = other;

	t->backend = (uint8_t)found->backend;
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		const struct davy_tuner_range *range = &bounds->range[i];
		struct davy_tuner_size *k = &t->of[t->backend].setting[i];
		uint32_t is = davy_tuner_in_force(range, found->size[i]);

		if (is != davy_tuner_in_force(range, k->size)) {
			k->size = is < range->ceiling ? is : 0;
			k->good = 0;
		}
		other = other || is != t->in_force[i];
		less = less || is < t->in_force[i];
		t->in_force[i] = is;
	}
	if (!t->set_s || !other)
		return;
	t->soak_s = t->soak_depth = 0;
	t->failed = t->failed && !less;
	t->probing = 0;
	t->set_s = now_s;
}

static void tuner_doubt(struct davy_tuner_backend *b, bool in_force)
{
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		struct davy_tuner_size *k = &b->setting[i];

		memset(&k->bad[1], 0, sizeof(k->bad) - sizeof(k->bad[0]));
		k->bad[0].doubtful = k->bad[0].size != 0;
		k->bad[0].until_s = 0;
		k->good = k->believed = k->tried = 0;
		k->times = k->downs = 0;
		if (b->turn && !in_force)
			k->size = 0;
	}
	memset(b->lasted, 0, sizeof(b->lasted));
	b->lasted_depth = 0;
	b->until_s = b->chance_s = 0;
	b->times = b->lessons = 0;
	b->turn = DAVY_TUNER_TURN_NONE;
}

void davy_tuner_environment(struct davy_tuner *t, uint64_t stamp)
{
	bool other = t->stamp && t->stamp != stamp;

	t->stamp = stamp;
	if (!other)
		return;
	for (size_t i = 0; i < DAVY_BACKEND_COUNT; i++)
		tuner_doubt(&t->of[i], i == t->backend);
	t->soak_s = t->backoff_s = 0;
	t->soak_depth = 0;
	t->failed = t->probing = 0;
}

uint64_t davy_tuner_backoff(const struct davy_turn *u)
{
	const struct davy_tuner_times *times = &u->bounds->times;
	uint64_t backoff = u->t->backoff_s > times->backoff_s ? u->t->backoff_s : times->backoff_s;

	return backoff < times->backoff_max_s ? backoff : times->backoff_max_s;
}

void davy_tuner_put(struct davy_turn *u, uint32_t setting, uint32_t size)
{
	const struct davy_tuner_range *range = &u->bounds->range[setting];
	struct davy_tuner_size *k = &u->b->setting[setting];

	u->reason->setting = (uint8_t)setting;
	u->reason->from = davy_tuner_in_force(range, k->size);
	u->reason->to = davy_tuner_in_force(range, size);
	k->size = u->reason->to < range->ceiling ? u->reason->to : 0;
	k->good = u->reason->to < u->reason->from ? 0 : k->good;
	u->t->soak_s = u->t->soak_depth = 0;
	u->t->probing = 0;
}

void davy_tuner_put_backend(struct davy_turn *u, uint8_t backend)
{
	u->reason->setting = DAVY_TUNER_SETTINGS;
	u->reason->from = u->t->backend;
	u->reason->to = backend;
	u->t->backend = backend;
	u->b = &u->t->of[backend];
	u->t->soak_s = u->t->soak_depth = 0;
	u->t->probing = 0;
}

/* If the clock went back, limit all waiting times to their maximum from now on. */
static void tuner_limit_times(struct davy_turn *u)
{
	uint64_t most_s = u->now_s + u->bounds->times.bad_max_s;
	struct davy_tuner *t = u->t;

	if (t->climbed_s > u->now_s)
		t->climbed_s = u->now_s;
	if (t->set_s > u->now_s)
		t->set_s = u->now_s;
	if (t->failed_s > u->now_s || t->failed_s < t->climbed_s)
		t->failed_s = u->now_s;
	for (size_t i = 0; i < DAVY_BACKEND_COUNT; i++) {
		if (t->of[i].until_s > most_s)
			t->of[i].until_s = most_s;
		if (t->of[i].chance_s > u->now_s)
			t->of[i].chance_s = u->now_s;
		for (size_t j = 0; j < (size_t)DAVY_TUNER_SETTINGS * DAVY_TUNER_MARKS; j++) {
			struct davy_tuner_size *k = &t->of[i].setting[j / DAVY_TUNER_MARKS];
			struct davy_tuner_mark *m = &k->bad[j % DAVY_TUNER_MARKS];

			if (m->until_s > most_s)
				m->until_s = most_s;
		}
	}
}

bool davy_tuner_listed(const struct davy_tuner_bounds *bounds, uint8_t backend)
{
	for (size_t i = 0; i < DAVY_BACKEND_COUNT && bounds->backends[i]; i++)
		if (bounds->backends[i] == backend)
			return true;
	return false;
}

/* The first listed backend that is not known to be bad, otherwise the last. */
static uint8_t tuner_first_backend(const struct davy_turn *u)
{
	const uint8_t *list = u->bounds->backends;
	uint8_t backend = DAVY_BACKEND_UNKNOWN;

	for (size_t i = 0; i < DAVY_BACKEND_COUNT && list[i]; i++) {
		backend = list[i];
		if (u->now_s >= u->t->of[backend].until_s)
			break;
	}
	return backend;
}

/*
 * The setting in force is the last answer. If the bounds have changed since, the soak restarts, and
 * trouble is dropped if the new setting is smaller. Before the first answer, the engine ran as in
 * its command.
 */
static void tuner_apply_bounds(struct davy_turn *u)
{
	struct davy_tuner *t = u->t;
	bool first = !t->set_s, other = false, less = false;

	if (!davy_tuner_listed(u->bounds, t->backend) && (t->backend || u->bounds->backends[0])) {
		t->backend = tuner_first_backend(u);
		other = less = true;
	}
	u->b = &t->of[t->backend];
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		uint32_t size = davy_tuner_in_force(&u->bounds->range[i], u->b->setting[i].size);

		other = other || size != t->in_force[i];
		less = less || size < t->in_force[i];
	}
	if (first)
		t->set_s = u->now_s > t->soak_s ? u->now_s - t->soak_s : 1;
	if (first || !other)
		return;
	memset(u->b->lasted, 0, sizeof(u->b->lasted));
	u->b->lasted_depth = 0;
	t->soak_s = t->soak_depth = 0;
	t->failed = t->failed && !less;
	t->probing = 0;
	t->set_s = u->now_s;
}

static void tuner_note_lasted(struct davy_turn *u)
{
	struct davy_tuner_backend *b = u->b;
	uint32_t size[DAVY_TUNER_SETTINGS];

	if (u->t->soak_s < u->bounds->times.lasted_s || !u->bounds->times.lasted_s)
		return;
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		size[i] = davy_tuner_in_force(&u->bounds->range[i], b->setting[i].size);
		if (size[i] < b->lasted[i] && u->t->soak_depth <= b->lasted_depth)
			return; /* a larger setting lasted as well */
	}
	memcpy(b->lasted, size, sizeof(b->lasted));
	b->lasted_depth = u->t->soak_depth;
	b->times = 0;
	b->turn = DAVY_TUNER_TURN_NONE;
}

void davy_tuner_setting(const struct davy_tuner *t, const struct davy_tuner_bounds *bounds,
			struct davy_tuner_setting *ret_setting)
{
	memset(ret_setting, 0, sizeof(*ret_setting));
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		const struct davy_tuner_range *range = &bounds->range[i];
		uint32_t size = davy_tuner_in_force(range, t->of[t->backend].setting[i].size);

		if (size < range->ceiling)
			ret_setting->size[i] = size;
	}
	ret_setting->backend =
		davy_tuner_listed(bounds, t->backend) ? t->backend : bounds->backends[0];
}

/* A probation ends after some back-offs; then failed probations no longer extend the back-off. */
static void tuner_end_probation(struct davy_turn *u)
{
	struct davy_tuner *t = u->t;
	uint64_t at_s = t->failed ? t->failed_s : u->now_s;

	if (!t->climbed_s || at_s - t->climbed_s < DAVY_TUNER_TRIAL * davy_tuner_backoff(u) ||
	    (t->probing && !davy_tuner_soaked(u, t->probe_depth)))
		return;
	t->backoff_s = 0;
	t->probing = 0;
}

static bool tuner_is_untouched(const struct davy_turn *u)
{
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (u->b->setting[i].size || u->b->setting[i].bad[0].size)
			return false;
	return u->t->backend == u->bounds->backends[0];
}

void davy_tuner_next(struct davy_tuner *t, uint64_t now_s, const struct davy_tuner_bounds *bounds,
		     struct davy_tuner_setting *ret_setting, struct davy_tuner_reason *ret_reason)
{
	struct davy_turn u = { .t = t, .bounds = bounds, .reason = ret_reason, .now_s = now_s };
	uint8_t backend;

	memset(ret_reason, 0, sizeof(*ret_reason));
	tuner_limit_times(&u);
	tuner_apply_bounds(&u);
	tuner_note_lasted(&u);
	tuner_end_probation(&u);
	ret_reason->soak_s = t->soak_s;
	ret_reason->soak_depth = t->soak_depth;
	backend = t->backend;
	if (t->failed)
		davy_tuner_down(&u);
	else if (!tuner_is_untouched(&u))
		davy_tuner_up(&u);
	if (ret_reason->why == DAVY_TUNER_KEEPS && tuner_is_untouched(&u))
		ret_reason->why = DAVY_TUNER_AS_CONFIGURED;
	t->failed = 0;
	if (ret_reason->why != DAVY_TUNER_KEEPS)
		ret_reason->needed_depth = davy_tuner_needed_depth(&u, u.b->failed_depth);
	if (ret_reason->from != ret_reason->to || backend != t->backend)
		t->set_s = now_s;
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		t->in_force[i] = davy_tuner_in_force(&bounds->range[i], u.b->setting[i].size);
	davy_tuner_setting(t, bounds, ret_setting);
}

static bool tuner_valid_size(const struct davy_tuner_size *k)
{
	for (size_t i = 0; i < DAVY_TUNER_MARKS; i++) {
		if (k->bad[i].doubtful > 1 || (!k->bad[i].size && k->bad[i].doubtful))
			return false;
		if (i && k->bad[i].size && k->bad[i].size <= k->bad[i - 1].size)
			return false;
		if (i && k->bad[i].size && !k->bad[i - 1].size)
			return false;
	}
	return true;
}

bool davy_tuner_valid(const struct davy_tuner *t)
{
	if (t->backend >= DAVY_BACKEND_COUNT || t->previous >= DAVY_BACKEND_COUNT ||
	    t->probing > DAVY_TUNER_PROBES_BACKEND || t->failed > 1 ||
	    t->failed_class >= DAVY_CLASS_COUNT)
		return false;
	for (size_t i = 0; i < DAVY_BACKEND_COUNT; i++) {
		if (t->of[i].active > DAVY_TUNER_SETTINGS ||
		    t->of[i].turn >= DAVY_TUNER_TURN_COUNT || t->of[i].lessons > DAVY_TUNER_LESSONS)
			return false;
		for (size_t j = 0; j < DAVY_TUNER_SETTINGS; j++)
			if (!tuner_valid_size(&t->of[i].setting[j]))
				return false;
	}
	return true;
}

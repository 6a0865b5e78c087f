/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/tuner/tuner_turn.h"

#include <string.h>

#define DAY_S 86400u

const struct dl_tuner_times dl_tuner_times = {
	.soak_s = 3600,
	.lasted_s = DAY_S / 3,
	.at_once_s = 120,
	.backoff_s = DAY_S / 4,
	.backoff_max_s = 4 * DAY_S,
	.bad_s = 4 * DAY_S,
	.bad_max_s = 32 * DAY_S,
};

const char *dl_tuner_knob_name(uint32_t knob)
{
	static const char *const names[DL_TUNER_KNOBS] = {
		[DL_TUNER_UBATCH] = "ubatch",	  [DL_TUNER_CONTEXT] = "context",
		[DL_TUNER_PARALLEL] = "parallel", [DL_TUNER_CACHE_TYPE] = "cache_type",
		[DL_TUNER_LAYERS] = "layers",
	};

	return knob < DL_TUNER_KNOBS ? names[knob] : "unknown";
}

const char *dl_tuner_why_name(uint32_t why)
{
	static const char *const names[DL_TUNER_WHY_COUNT] = {
		[DL_TUNER_AS_TOLD] = "as_told",
		[DL_TUNER_KEEPS] = "keeps",
		[DL_TUNER_LOWER] = "lower",
		[DL_TUNER_BACK] = "back",
		[DL_TUNER_OTHER] = "other_backend",
		[DL_TUNER_NOWHERE] = "nowhere_left",
		[DL_TUNER_RAISE] = "raise",
		[DL_TUNER_AGAIN] = "again",
		[DL_TUNER_OTHER_AGAIN] = "backend_again",
	};

	return why < DL_TUNER_WHY_COUNT ? names[why] : "unknown";
}

void dl_tuner_trouble(struct dl_tuner *t, uint64_t now_s, uint32_t depth, uint32_t class)
{
	if (!t->failed) {
		t->failed_class = (uint8_t)(class < DL_CLASS_COUNT ? class : DL_CLASS_NONE);
		t->failed_depth = 0;
		t->failed_s = now_s;
	}
	t->failed = 1;
	if (t->failed_depth < depth)
		t->failed_depth = depth;
}

void dl_tuner_soak(struct dl_tuner *t, uint64_t now_s, uint64_t seconds, uint32_t depth)
{
	uint64_t passed_s = now_s > t->set_s ? now_s - t->set_s : 0;

	if (t->failed)
		return;
	passed_s = passed_s > t->soak_s ? passed_s - t->soak_s : 0;
	t->soak_s += seconds < passed_s ? seconds : passed_s;
	if (t->soak_depth < depth)
		t->soak_depth = depth;
}

void dl_tuner_found(struct dl_tuner *t, uint64_t now_s, const struct dl_tuner_bounds *bounds,
		    const struct dl_tuner_setting *found)
{
	bool other = found->backend != t->backend, less = other;

	t->backend = (uint8_t)found->backend;
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++) {
		const struct dl_tuner_range *range = &bounds->range[i];
		struct dl_tuner_size *k = &t->of[t->backend].knob[i];
		uint32_t is = dl_tuner_in_force(range, found->size[i]);

		if (is != dl_tuner_in_force(range, k->size)) {
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

static void doubt(struct dl_tuner_backend *b, bool in_force)
{
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++) {
		struct dl_tuner_size *k = &b->knob[i];

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
	b->turn = DL_TUNER_TURN_NONE;
}

void dl_tuner_environment(struct dl_tuner *t, uint64_t stamp)
{
	bool other = t->stamp && t->stamp != stamp;

	t->stamp = stamp;
	if (!other)
		return;
	for (size_t i = 0; i < DL_BACKEND_COUNT; i++)
		doubt(&t->of[i], i == t->backend);
	t->soak_s = t->backoff_s = 0;
	t->soak_depth = 0;
	t->failed = t->probing = 0;
}

uint64_t dl_tuner_backoff(const struct dl_turn *u)
{
	const struct dl_tuner_times *times = &u->bounds->times;
	uint64_t backoff = u->t->backoff_s > times->backoff_s ? u->t->backoff_s : times->backoff_s;

	return backoff < times->backoff_max_s ? backoff : times->backoff_max_s;
}

void dl_tuner_put(struct dl_turn *u, uint32_t knob, uint32_t size)
{
	const struct dl_tuner_range *range = &u->bounds->range[knob];
	struct dl_tuner_size *k = &u->b->knob[knob];

	u->reason->knob = (uint8_t)knob;
	u->reason->from = dl_tuner_in_force(range, k->size);
	u->reason->to = dl_tuner_in_force(range, size);
	k->size = u->reason->to < range->ceiling ? u->reason->to : 0;
	k->good = u->reason->to < u->reason->from ? 0 : k->good;
	u->t->soak_s = u->t->soak_depth = 0;
	u->t->probing = 0;
}

void dl_tuner_put_backend(struct dl_turn *u, uint8_t backend)
{
	u->reason->knob = DL_TUNER_KNOBS;
	u->reason->from = u->t->backend;
	u->reason->to = backend;
	u->t->backend = backend;
	u->b = &u->t->of[backend];
	u->t->soak_s = u->t->soak_depth = 0;
	u->t->probing = 0;
}

/* A clock that went back makes nobody wait longer than it would have from now on. */
static void mend_clock(struct dl_turn *u)
{
	uint64_t most_s = u->now_s + u->bounds->times.bad_max_s;
	struct dl_tuner *t = u->t;

	if (t->climbed_s > u->now_s)
		t->climbed_s = u->now_s;
	if (t->set_s > u->now_s)
		t->set_s = u->now_s;
	if (t->failed_s > u->now_s || t->failed_s < t->climbed_s)
		t->failed_s = u->now_s;
	for (size_t i = 0; i < DL_BACKEND_COUNT; i++) {
		if (t->of[i].until_s > most_s)
			t->of[i].until_s = most_s;
		if (t->of[i].chance_s > u->now_s)
			t->of[i].chance_s = u->now_s;
		for (size_t j = 0; j < (size_t)DL_TUNER_KNOBS * DL_TUNER_MARKS; j++) {
			struct dl_tuner_size *k = &t->of[i].knob[j / DL_TUNER_MARKS];
			struct dl_tuner_mark *m = &k->bad[j % DL_TUNER_MARKS];

			if (m->until_s > most_s)
				m->until_s = most_s;
		}
	}
}

bool dl_tuner_listed(const struct dl_tuner_bounds *bounds, uint8_t backend)
{
	for (size_t i = 0; i < DL_BACKEND_COUNT && bounds->backends[i]; i++)
		if (bounds->backends[i] == backend)
			return true;
	return false;
}

/* The first of the list that is not known to be bad, else the last. */
static uint8_t first_backend(const struct dl_turn *u)
{
	const uint8_t *list = u->bounds->backends;
	uint8_t backend = DL_BACKEND_UNKNOWN;

	for (size_t i = 0; i < DL_BACKEND_COUNT && list[i]; i++) {
		backend = list[i];
		if (u->now_s >= u->t->of[backend].until_s)
			break;
	}
	return backend;
}

/*
 * What is in force is what was answered last, unless the bounds are others now: then no soak is of
 * the setting that comes, nor trouble if that is less. Before the first answer it ran as told.
 */
static void look_at_bounds(struct dl_turn *u)
{
	struct dl_tuner *t = u->t;
	bool first = !t->set_s, other = false, less = false;

	if (!dl_tuner_listed(u->bounds, t->backend) && (t->backend || u->bounds->backends[0])) {
		t->backend = first_backend(u);
		other = less = true;
	}
	u->b = &t->of[t->backend];
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++) {
		uint32_t size = dl_tuner_in_force(&u->bounds->range[i], u->b->knob[i].size);

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

static void note_what_lasted(struct dl_turn *u)
{
	struct dl_tuner_backend *b = u->b;
	uint32_t size[DL_TUNER_KNOBS];

	if (u->t->soak_s < u->bounds->times.lasted_s || !u->bounds->times.lasted_s)
		return;
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++) {
		size[i] = dl_tuner_in_force(&u->bounds->range[i], b->knob[i].size);
		if (size[i] < b->lasted[i] && u->t->soak_depth <= b->lasted_depth)
			return; /* with more it did, too */
	}
	memcpy(b->lasted, size, sizeof(b->lasted));
	b->lasted_depth = u->t->soak_depth;
	b->times = 0;
	b->turn = DL_TUNER_TURN_NONE;
}

void dl_tuner_setting(const struct dl_tuner *t, const struct dl_tuner_bounds *bounds,
		      struct dl_tuner_setting *ret_setting)
{
	memset(ret_setting, 0, sizeof(*ret_setting));
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++) {
		const struct dl_tuner_range *range = &bounds->range[i];
		uint32_t size = dl_tuner_in_force(range, t->of[t->backend].knob[i].size);

		if (size < range->ceiling)
			ret_setting->size[i] = size;
	}
	ret_setting->backend =
		dl_tuner_listed(bounds, t->backend) ? t->backend : bounds->backends[0];
}

/* A probation is over when it has lived for some back-offs, and so is what others have cost. */
static void end_probation(struct dl_turn *u)
{
	struct dl_tuner *t = u->t;
	uint64_t at_s = t->failed ? t->failed_s : u->now_s;

	if (!t->climbed_s || at_s - t->climbed_s < DL_TUNER_TRIAL * dl_tuner_backoff(u) ||
	    (t->probing && !dl_tuner_soaked(u, t->probe_depth)))
		return;
	t->backoff_s = 0;
	t->probing = 0;
}

static bool untouched(const struct dl_turn *u)
{
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++)
		if (u->b->knob[i].size || u->b->knob[i].bad[0].size)
			return false;
	return u->t->backend == u->bounds->backends[0];
}

void dl_tuner_next(struct dl_tuner *t, uint64_t now_s, const struct dl_tuner_bounds *bounds,
		   struct dl_tuner_setting *ret_setting, struct dl_tuner_reason *ret_reason)
{
	struct dl_turn u = { .t = t, .bounds = bounds, .reason = ret_reason, .now_s = now_s };
	uint8_t backend;

	memset(ret_reason, 0, sizeof(*ret_reason));
	mend_clock(&u);
	look_at_bounds(&u);
	note_what_lasted(&u);
	end_probation(&u);
	ret_reason->soak_s = t->soak_s;
	ret_reason->soak_depth = t->soak_depth;
	backend = t->backend;
	if (t->failed)
		dl_tuner_down(&u);
	else if (!untouched(&u))
		dl_tuner_up(&u);
	if (ret_reason->why == DL_TUNER_KEEPS && untouched(&u))
		ret_reason->why = DL_TUNER_AS_TOLD;
	t->failed = 0;
	if (ret_reason->why != DL_TUNER_KEEPS)
		ret_reason->needed_depth = dl_tuner_needed_depth(&u, u.b->failed_depth);
	if (ret_reason->from != ret_reason->to || backend != t->backend)
		t->set_s = now_s;
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++)
		t->in_force[i] = dl_tuner_in_force(&bounds->range[i], u.b->knob[i].size);
	dl_tuner_setting(t, bounds, ret_setting);
}

static bool valid_size(const struct dl_tuner_size *k)
{
	for (size_t i = 0; i < DL_TUNER_MARKS; i++) {
		if (k->bad[i].doubtful > 1 || (!k->bad[i].size && k->bad[i].doubtful))
			return false;
		if (i && k->bad[i].size && k->bad[i].size <= k->bad[i - 1].size)
			return false;
		if (i && k->bad[i].size && !k->bad[i - 1].size)
			return false;
	}
	return true;
}

bool dl_tuner_valid(const struct dl_tuner *t)
{
	if (t->backend >= DL_BACKEND_COUNT || t->previous >= DL_BACKEND_COUNT ||
	    t->probing > DL_TUNER_PROBES_BACKEND || t->failed > 1 ||
	    t->failed_class >= DL_CLASS_COUNT)
		return false;
	for (size_t i = 0; i < DL_BACKEND_COUNT; i++) {
		if (t->of[i].active > DL_TUNER_KNOBS || t->of[i].turn >= DL_TUNER_TURN_COUNT ||
		    t->of[i].lessons > DL_TUNER_LESSONS)
			return false;
		for (size_t j = 0; j < DL_TUNER_KNOBS; j++)
			if (!valid_size(&t->of[i].knob[j]))
				return false;
	}
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/months.h"

#include <string.h>

#include "lab/random.h"

#define MINUTE_S 60u
#define HOUR_S	 3600u
#define DAY_S	 86400u
#define CLIMBS	 512 /* whose times are kept */

#define NONE DAVY_TUNER_SETTINGS

struct life {
	const struct davy_month_case *c;
	struct davy_month *m;
	struct davy_random random;
	struct davy_tuner tuner;
	struct davy_tuner_bounds bounds;
	struct davy_tuner_setting in_force, best, configured;
	uint64_t now_s, end_s, upgrade_s;
	uint64_t away_since_s; /* 0: the best setting is in force */
	uint64_t climbed_s[CLIMBS];
	uint32_t limit;	     /* limit of the setting */
	uint32_t from_depth; /* fatal from this depth on */
	uint32_t deepest;    /* deepest request */
	uint32_t dead;	     /* failing GPU backends */
	bool broken;	     /* the fault is present */
	bool again;	     /* a bad setting is being retried */
};

static uint32_t months_between(struct life *l, uint32_t least, uint32_t most)
{
	return (uint32_t)davy_random_between(&l->random, least, most);
}

/* A power of two times the floor, as is common in commands, or any value. */
static struct davy_tuner_range range(struct life *l, uint32_t floor, uint32_t step, uint32_t most)
{
	struct davy_tuner_range r = { .floor = floor, .ceiling = floor * 2, .step = step };

	while (r.ceiling * 2 <= most && davy_random_chance(&l->random, 850))
		r.ceiling *= 2;
	if (davy_random_chance(&l->random, 200))
		r.ceiling -= r.ceiling / 8;
	return r;
}

static void make_host(struct life *l)
{
	struct davy_tuner_range *r = l->bounds.range;

	l->bounds.times = davy_tuner_times;
	r[DAVY_TUNER_UBATCH] = range(l, 64, 64, 2048);
	r[DAVY_TUNER_CONTEXT] = range(l, 4096, 2048, 131072);
	r[DAVY_TUNER_PARALLEL] = range(l, 1, 1, 8);
	r[DAVY_TUNER_CACHE_TYPE] = (struct davy_tuner_range){ 1, 3, 1 };
	r[DAVY_TUNER_LAYERS] = (struct davy_tuner_range){ 4, months_between(l, 16, 81), 1 };
	l->bounds.backends[0] = DAVY_BACKEND_VULKAN;
	if (davy_random_chance(&l->random, 500))
		l->bounds.backends[1] = DAVY_BACKEND_ROCM;
	l->bounds.backends[l->bounds.backends[1] ? 2 : 1] = DAVY_BACKEND_CPU;
}

static uint32_t gpu_backends(const struct life *l)
{
	return l->bounds.backends[1] == DAVY_BACKEND_CPU ? 1 : 2;
}

static void make_fault(struct life *l)
{
	const struct davy_tuner_range *r = &l->bounds.range[l->c->setting];
	uint32_t slots = l->bounds.range[DAVY_TUNER_PARALLEL].ceiling;

	l->deepest = l->bounds.range[DAVY_TUNER_CONTEXT].ceiling / slots;
	if (l->c->setting == DAVY_TUNER_UBATCH)
		l->from_depth = months_between(l, l->deepest / 16, l->deepest / 2);
	else if (!l->c->at_load)
		l->from_depth = months_between(l, 64, 400); /* any slot is deeper */
	l->dead = l->c->dead < gpu_backends(l) ? l->c->dead : gpu_backends(l);
	if (l->c->setting == NONE)
		return;
	l->limit = r->floor + months_between(l, 0, davy_tuner_steps(r) - 2) * r->step;
}

static void look_for_best(struct life *l)
{
	memset(&l->best, 0, sizeof(l->best));
	l->best.backend = l->bounds.backends[l->broken ? l->dead : 0];
	if (l->broken && l->c->setting < NONE)
		l->best.size[l->c->setting] = l->limit;
}

static uint32_t bits(uint32_t steps)
{
	uint32_t n = 0;

	while (n < 31 && 1u << n < steps)
		n++;
	return n;
}

/* Failures that the tuner may need: it first halves all settings before the faulty one. */
static uint32_t allowed(const struct life *l)
{
	const struct davy_month_case *c = l->c;
	uint32_t search = 1;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS && (c->setting == NONE || i <= c->setting);
	     i++)
		if (davy_tuner_matters(i, c->class))
			search += bits(davy_tuner_steps(&l->bounds.range[i]));
	return c->setting == NONE ? search * l->dead : search;
}

static bool at_best(const struct life *l)
{
	return !memcmp(&l->in_force, &l->best, sizeof(l->best));
}

static uint32_t months_in_force(const struct life *l, uint32_t setting)
{
	return l->in_force.size[setting] ? l->in_force.size[setting]
					 : l->bounds.range[setting].ceiling;
}

static void months_pass(struct life *l, uint64_t seconds)
{
	l->now_s += seconds;
	if (!l->m->reached)
		return;
	l->m->whole_s += seconds;
	if (at_best(l))
		l->m->best_s += seconds;
	else if (l->m->away_s < l->now_s - l->away_since_s)
		l->m->away_s = l->now_s - l->away_since_s;
}

static void count_climb(struct life *l, const struct davy_tuner_reason *reason)
{
	uint32_t within = 1, n = l->m->climbs;

	if (reason->why != DAVY_TUNER_RAISE && reason->why != DAVY_TUNER_AGAIN &&
	    reason->why != DAVY_TUNER_OTHER_AGAIN)
		return;
	l->again = reason->why != DAVY_TUNER_RAISE;
	l->climbed_s[n % CLIMBS] = l->now_s;
	for (uint32_t i = n; i-- > 0 && n - i < CLIMBS; within++)
		if (l->now_s - l->climbed_s[i % CLIMBS] >= l->bounds.times.backoff_s)
			break;
	l->m->climbs++;
	if (l->m->climbs_at_once < within)
		l->m->climbs_at_once = within;
}

static void check_bounds(struct life *l)
{
	bool listed = false;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (months_in_force(l, i) < l->bounds.range[i].floor ||
		    months_in_force(l, i) > l->bounds.range[i].ceiling)
			l->m->out_of_bounds = true;
	for (size_t i = 0; i < DAVY_BACKEND_COUNT; i++)
		listed = listed ||
			 (l->in_force.backend && l->in_force.backend == l->bounds.backends[i]);
	if (!listed)
		l->m->out_of_bounds = true;
}

static void months_start(struct life *l)
{
	struct davy_tuner_reason reason;
	bool was_best = at_best(l);

	davy_tuner_next(&l->tuner, l->now_s, &l->bounds, &l->in_force, &reason);
	count_climb(l, &reason);
	check_bounds(l);
	if (memcmp(&l->in_force, &l->configured, sizeof(l->configured)) != 0)
		l->m->touched = true;
	if (at_best(l))
		l->m->reached = true;
	else if (was_best)
		l->away_since_s = l->now_s;
	if (at_best(l) && l->broken == false && l->upgrade_s && l->now_s >= l->upgrade_s &&
	    !l->m->back_s)
		l->m->back_s = l->now_s - l->upgrade_s + 1;
}

static bool backend_is_dead(const struct life *l)
{
	for (uint32_t i = 0; l->broken && i < l->dead; i++)
		if (l->bounds.backends[i] == l->in_force.backend)
			return true;
	return false;
}

static bool too_large(const struct life *l)
{
	return l->broken && l->c->setting < NONE && l->in_force.backend != DAVY_BACKEND_CPU &&
	       months_in_force(l, l->c->setting) > l->limit;
}

static uint32_t deadly_depth(const struct life *l)
{
	if (!l->c->deeper)
		return l->from_depth;
	return (uint32_t)((uint64_t)l->deepest * l->limit / months_in_force(l, l->c->setting));
}

static bool months_by_chance(struct life *l, uint64_t seconds)
{
	uint64_t days = l->c->chance_days;

	return days && l->in_force.backend != DAVY_BACKEND_CPU &&
	       davy_random_between(&l->random, 0, days * DAY_S) < seconds;
}

static void dies(struct life *l, uint32_t depth, bool chance)
{
	davy_tuner_trouble(&l->tuner, l->now_s, depth,
			   chance ? DAVY_CLASS_DEVICE_LOST : l->c->class);
	if (chance)
		l->m->chances++;
	else if (l->again)
		l->m->later++;
	else
		l->m->failures++;
	l->again = false;
}

/* Half are short, few have the full depth. */
static uint32_t wanted_depth(struct life *l)
{
	uint32_t kind = months_between(l, 0, 99);

	if (kind < 50)
		return months_between(l, 100, l->deepest / 8);
	return months_between(l, l->deepest / 8, kind < 85 ? l->deepest / 2 : l->deepest);
}

/* False: the engine died. */
static bool session(struct life *l, uint32_t wanted)
{
	uint32_t slot =
		months_in_force(l, DAVY_TUNER_CONTEXT) / months_in_force(l, DAVY_TUNER_PARALLEL);
	uint32_t depth = wanted < slot ? wanted : slot;
	uint32_t seconds = months_between(l, 5 * MINUTE_S, 90 * MINUTE_S);
	bool bad = backend_is_dead(l) || too_large(l);
	bool now = !l->c->one_in || months_between(l, 1, l->c->one_in) == 1;

	if (bad && l->c->at_load) {
		months_pass(l, months_between(l, 1, 60));
		dies(l, 0, false);
	} else if (bad && now && depth >= deadly_depth(l)) {
		months_pass(l, months_between(l, 1, seconds));
		dies(l, months_between(l, deadly_depth(l), depth), false);
	} else if (months_by_chance(l, seconds)) {
		months_pass(l, months_between(l, 1, seconds));
		dies(l, months_between(l, 0, depth), true);
	} else {
		months_pass(l, seconds);
		davy_tuner_soak(&l->tuner, l->now_s, seconds, depth);
		return true;
	}
	return false;
}

static void upgrade(struct life *l)
{
	l->upgrade_s = l->now_s;
	l->broken = l->c->upgrade == DAVY_MONTH_BREAKS;
	davy_tuner_environment(&l->tuner, 2);
	look_for_best(l);
	l->m->reached = at_best(l);
	l->m->whole_s = l->m->best_s = l->m->away_s = 0;
	l->away_since_s = l->now_s;
	l->again = false;
	if (l->broken)
		l->m->failures = l->m->later = 0;
}

static void one_session(struct life *l)
{
	uint32_t wanted = wanted_depth(l);

	months_pass(l, months_between(l, 10 * MINUTE_S, 6 * HOUR_S));
	for (int tries = 0; tries < 4; tries++) { /* a user retries after a failure */
		months_start(l);
		if (session(l, wanted))
			return;
		months_pass(l, months_between(l, 10, 10 * MINUTE_S));
	}
}

void davy_month_run(const struct davy_month_case *c, uint64_t seed, struct davy_month *ret_month)
{
	struct life l = { .c = c, .m = ret_month, .now_s = 1000000 };
	uint64_t middle_s;

	memset(ret_month, 0, sizeof(*ret_month));
	davy_random_seed(&l.random, c->name, seed);
	ret_month->days = months_between(&l, 30, 90);
	l.end_s = l.now_s + (uint64_t)ret_month->days * DAY_S;
	middle_s = l.now_s + (uint64_t)ret_month->days * DAY_S / 2;
	make_host(&l);
	make_fault(&l);
	l.configured.backend = l.bounds.backends[0];
	l.broken = c->upgrade != DAVY_MONTH_BREAKS && c->class && (c->setting < NONE || c->dead);
	ret_month->allowed = allowed(&l);
	davy_tuner_environment(&l.tuner, 1);
	look_for_best(&l);
	l.away_since_s = l.now_s;
	while (l.now_s < l.end_s) {
		if (c->upgrade && !l.upgrade_s && l.now_s >= middle_s)
			upgrade(&l);
		one_session(&l);
	}
	months_start(&l);
	ret_month->stayed = ret_month->reached && (at_best(&l) || l.tuner.probing);
	ret_month->on_cpu = l.in_force.backend == DAVY_BACKEND_CPU;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fleet/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/event/log_kind.h"
#include "engines/engine.h"
#include "lib/hash.h"

#define UBATCH_DEFAULT 512 /* llama.cpp, common/common.h, n_ubatch */
#define UBATCH_FLOOR   32
#define FIRST_OF       100
#define SIZES_MAX      24 /* different ubatch of one group */

/* What the hosts of a group report about one ubatch. */
struct judge_size {
	uint32_t ubatch;
	uint32_t bad, good; /* hosts; good only of rows with failures, the sample is apart */
	uint64_t survived_s, faults, rows;
};

struct judge_group {
	const struct davy_judge_question *q;
	const struct davy_fleet_row *of; /* one of its rows */
	struct judge_size size[SIZES_MAX];
	size_t count;
	uint32_t hosts_init; /* that cannot start there at all */
	uint32_t learned;    /* the largest value that a host with failures has found */
};

/* The rows of one host with one ubatch in one group. */
struct judge_run {
	uint64_t survived_s, faults, init;
};

static const char *const verdict_names[DAVY_FLEET_VERDICT_COUNT] = { "taken", "most hosts disagree",
								     "survived here", "withdrawn" };

const char *davy_fleet_verdict_name(enum davy_fleet_verdict verdict)
{
	return verdict < DAVY_FLEET_VERDICT_COUNT ? verdict_names[verdict] : "";
}

bool davy_fleet_first(const char *host, uint64_t rule)
{
	uint64_t h = davy_fnv(davy_fnv_text(DAVY_FNV_START, host), &rule, sizeof(rule));

	return (h ^ h >> 32) % FIRST_OF == 0;
}

void davy_fleet_engine_of(const char *build, char ret_name[DAVY_LEDGER_VERSION])
{
	size_t len = strcspn(build, " ,");

	ret_name[0] = 0;
	for (int i = DAVY_ENGINE_NONE + 1; i < DAVY_ENGINE_COUNT; i++) {
		const char *name = davy_engine_name((enum davy_engine)i);

		if (strlen(name) == len && !memcmp(name, build, len))
			memcpy(ret_name, name, len + 1);
	}
}

static uint32_t judge_ubatch(const struct davy_fleet_row *e)
{
	return e->ubatch ? e->ubatch : UBATCH_DEFAULT;
}

static void judge_add(struct judge_run *run, const struct davy_fleet_row *e)
{
	run->survived_s += e->entry.survived_s;
	for (int i = DAVY_CLASS_NONE + 1; i < DAVY_CLASS_OTHER; i++) {
		if (i == DAVY_CLASS_RUNNER_CRASH_INIT || i == DAVY_CLASS_DISCOVERY_MISS ||
		    i == DAVY_CLASS_WRONG_OUTPUT)
			run->init += e->entry.faults[i];
		else
			run->faults += e->entry.faults[i];
	}
}

static bool judge_is_bad(uint64_t faults, uint64_t survived_s)
{
	return faults && survived_s / faults < DAVY_FLEET_BAD_S;
}

static bool judge_is_good(const struct judge_run *run)
{
	uint64_t faults = run->faults + run->init;

	return run->survived_s >= DAVY_FLEET_GOOD_S && !judge_is_bad(faults, run->survived_s);
}

static struct judge_size *judge_size_of(struct judge_group *g, uint32_t ubatch)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->size[i].ubatch == ubatch)
			return &g->size[i];
	if (g->count == SIZES_MAX)
		return NULL;
	g->size[g->count].ubatch = ubatch;
	return &g->size[g->count++];
}

static void judge_close(struct judge_group *g, const struct davy_fleet_row *e,
			const struct judge_run *run, uint32_t *least_bad, uint32_t *most_good)
{
	struct judge_size *s = judge_size_of(g, judge_ubatch(e));

	if (!s)
		return;
	if (judge_is_bad(run->faults, run->survived_s) && s->ubatch < *least_bad)
		*least_bad = s->ubatch;
	if (judge_is_good(run) && s->ubatch > *most_good)
		*most_good = s->ubatch;
	s->survived_s += run->survived_s;
	s->faults += run->faults;
	s->rows++;
}

static int judge_order(const void *a, const void *b)
{
	const struct davy_fleet_row *const *x = a, *const *y = b;
	int host;

	if ((*x)->group != (*y)->group)
		return (*x)->group < (*y)->group ? -1 : 1;
	host = strcmp((*x)->host, (*y)->host);
	if (host)
		return host;
	return judge_ubatch(*x) < judge_ubatch(*y) ? -1 : judge_ubatch(*x) > judge_ubatch(*y);
}

/*
 * The rows of one host in one group, by ubatch. It counts once as bad, at the smallest ubatch with
 * which it fails, and once as good, at the largest.
 */
static void judge_host(struct judge_group *g, const struct davy_fleet_row *const *row, size_t count)
{
	struct judge_run host = { 0 };
	uint32_t least_bad = UINT32_MAX, most_good = 0, learned = 0;

	for (size_t i = 0, next; i < count; i = next) {
		struct judge_run run = { 0 };

		for (next = i; next < count && judge_ubatch(row[next]) == judge_ubatch(row[i]);
		     next++) {
			judge_add(&run, row[next]);
			learned = row[next]->learned > learned ? row[next]->learned : learned;
		}
		judge_close(g, row[i], &run, &least_bad, &most_good);
		host.init += run.init;
		host.survived_s += run.survived_s;
	}
	for (size_t i = 0; i < g->count; i++) {
		g->size[i].bad += g->size[i].ubatch == least_bad;
		g->size[i].good += g->size[i].ubatch == most_good;
	}
	g->hosts_init += judge_is_bad(host.init, host.survived_s);
	g->learned = learned > g->learned ? learned : g->learned;
}

static void judge_sum(struct judge_group *g, const struct davy_fleet_row *const *row, size_t count)
{
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && !strcmp(row[next]->host, row[i]->host);)
			next++;
		judge_host(g, row + i, next - i);
	}
}

static int judge_by_size(const void *a, const void *b)
{
	const struct judge_size *x = a, *y = b;

	return x->ubatch < y->ubatch ? -1 : x->ubatch > y->ubatch;
}

/* Hosts of the sample that survive in this group with "from" to "to"; each counts once. */
static uint32_t judge_lived(const struct judge_group *g, uint32_t from, uint32_t to,
			    uint64_t *ret_survived_s)
{
	const struct davy_fleet_table *t = g->q->lived;
	uint32_t hosts = 0;

	for (size_t i = 0; t && i < t->count; i++) {
		struct judge_run run = { 0 };
		bool first = true;

		for (size_t j = 0; j < t->count && first; j++) {
			const struct davy_fleet_row *e = &t->row[j];

			if (e->group != g->of->group || judge_ubatch(e) < from ||
			    judge_ubatch(e) > to || strcmp(e->host, t->row[i].host) != 0)
				continue;
			first = j >= i;
			judge_add(&run, e);
		}
		if (!first)
			continue;
		hosts += judge_is_good(&run);
		*ret_survived_s += run.survived_s;
	}
	return hosts;
}

static bool judge_own_survives(const struct judge_group *g, uint32_t from)
{
	struct judge_run run = { 0 };

	for (size_t i = 0; i < g->q->own_count; i++)
		if (g->q->own[i].group == g->of->group && judge_ubatch(&g->q->own[i]) >= from)
			judge_add(&run, &g->q->own[i]);
	return judge_is_good(&run);
}

/* Failures in 1000 hours; one hour more for each host, so that a single failure is not for ever. */
static uint64_t judge_rate(const struct judge_size *s)
{
	return s->faults * 3600000 / (s->survived_s + s->rows * 3600);
}

/* The narrowed value fails with a quorum of hosts, too, and more often than the larger one. */
static bool judge_is_worse(const struct judge_group *g, const struct judge_size *at)
{
	for (const struct judge_size *larger = at + 1; larger < g->size + g->count; larger++)
		if (larger->bad >= g->q->quorum && judge_rate(at) > judge_rate(larger))
			return true;
	return false;
}

static uint32_t judge_narrower(const struct judge_group *g, uint32_t bad, struct davy_fleet_rule *r)
{
	uint32_t best = 0;

	for (uint32_t at = bad / 2; at >= UBATCH_FLOOR && !best; at /= 2) {
		uint64_t survived_s = 0;

		r->hosts_narrow = judge_lived(g, at, bad - 1, &survived_s);
		r->narrow_s = survived_s;
		best = r->hosts_narrow ? at : 0;
	}
	if (!best && g->learned && g->learned < bad)
		best = g->learned;
	return best ? best : bad / 2;
}

static void judge_say(const struct judge_group *g, struct davy_fleet_rule *r)
{
	uint64_t h = davy_fnv(g->of->group, &r->bad, sizeof(r->bad));

	r->group = g->of->group;
	r->id = davy_fnv(h, &r->ubatch, sizeof(r->ubatch));
	davy_copy_name(r->device, sizeof(r->device), g->of->device);
	davy_copy_name(r->engine, sizeof(r->engine), g->of->environment.engine);
	davy_copy_name(r->model, sizeof(r->model), g->of->model);
	r->backend = g->of->backend;
}

static enum davy_fleet_verdict judge_verdict(const struct judge_group *g,
					     const struct davy_fleet_rule *r)
{
	uint64_t all = (uint64_t)r->hosts_bad + r->hosts_good;

	if (judge_own_survives(g, r->bad))
		return DAVY_FLEET_CONTRADICTED;
	return (uint64_t)r->hosts_bad * 100 < all * g->q->share ? DAVY_FLEET_NO_SHARE
								: DAVY_FLEET_TAKE;
}

static bool judge_group(struct judge_group *g, struct davy_fleet_rule *r)
{
	uint32_t bad = 0, good = 0;
	uint64_t unused_s = 0;
	size_t at = 0;

	qsort(g->size, g->count, sizeof(g->size[0]), judge_by_size);
	while (at < g->count && (bad += g->size[at].bad) < g->q->quorum)
		at++;
	if (at == g->count && g->hosts_init < g->q->quorum)
		return false;
	if (at < g->count)
		r->bad = g->size[at].ubatch;
	r->hosts_bad = at < g->count ? bad : g->hosts_init;
	if (at < g->count && r->bad / 2 >= UBATCH_FLOOR)
		r->ubatch = judge_narrower(g, r->bad, r);
	for (size_t i = at < g->count ? at : 0; i < g->count; i++)
		good += g->size[i].good;
	r->hosts_good = good + (uint32_t)((uint64_t)judge_lived(g, r->bad, UINT32_MAX, &unused_s) *
					  g->q->lived_scale / 100);
	judge_say(g, r);
	r->verdict = at < g->count && judge_is_worse(g, &g->size[at]) ? DAVY_FLEET_WITHDRAWN
								      : judge_verdict(g, r);
	return true;
}

/* Same device with the same driver; a device without PCI has no driver. */
static bool judge_is_here(const struct davy_judge_question *q, const struct davy_fleet_row *e)
{
	for (size_t i = 0; i < q->device_count; i++)
		if (!strcmp(q->device[i].device, e->device))
			return !strcmp(q->device[i].driver, e->environment.driver);
	return !strchr(e->device, ':') && !e->environment.driver[0];
}

/* An engine of which this host runs another build only is another engine. */
static bool judge_may_run(const struct davy_judge_question *q, const struct davy_fleet_row *e)
{
	char name[DAVY_LEDGER_VERSION], other[DAVY_LEDGER_VERSION];
	bool others = false;

	davy_fleet_engine_of(e->environment.engine, name);
	if (!name[0])
		return false;
	for (size_t i = 0; i < q->own_count; i++) {
		const char *build = q->own[i].environment.engine;

		if (!strcmp(build, e->environment.engine))
			return true;
		davy_fleet_engine_of(build, other);
		others |= !strcmp(name, other);
	}
	return !others;
}

static void judge_count_faults(const struct davy_fleet_row *const *row, size_t count,
			       struct davy_fleet_rule *r)
{
	for (size_t i = 0; i < count; i++)
		for (int j = 0; j < DAVY_CLASS_COUNT; j++)
			if (judge_ubatch(row[i]) >= r->bad)
				r->faults[j] += row[i]->entry.faults[j];
}

size_t davy_fleet_judge(const struct davy_judge_question *q, struct davy_fleet_rule *ret_rules)
{
	const struct davy_fleet_row **row = calloc(q->failed->count + 1, sizeof(void *));
	struct judge_group *g = malloc(sizeof(*g));
	size_t count = 0, rules = 0;

	for (size_t i = 0; row && i < q->failed->count; i++)
		if (judge_is_here(q, &q->failed->row[i]) && judge_may_run(q, &q->failed->row[i]))
			row[count++] = &q->failed->row[i];
	if (row && g)
		qsort(row, count, sizeof(void *), judge_order);
	for (size_t i = 0, next; g && i < count && rules < DAVY_FLEET_RULES_MAX; i = next) {
		struct davy_fleet_rule *r = &ret_rules[rules];

		for (next = i; next < count && row[next]->group == row[i]->group;)
			next++;
		memset(g, 0, sizeof(*g));
		memset(r, 0, sizeof(*r));
		g->q = q;
		g->of = row[i];
		judge_sum(g, row + i, next - i);
		if (!judge_group(g, r))
			continue;
		judge_count_faults(row + i, next - i, r);
		rules++;
	}
	free(g);
	free(row);
	return rules;
}

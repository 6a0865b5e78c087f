/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/event/plan.h"
#include "lib/log.h"
#include "store/config_value.h"

#define AT_ONCE 48 /* configurations of one reading: a core takes half a MiB */

bool dl_search_key(int key)
{
	const char *name = dl_config_rows[key].name;
	size_t length = strcspn(name, ".");

	for (int i = 1; i < DL_HZ_COUNT; i++) {
		const char *hazard = dl_hazard_name((enum dl_hazard)i);

		if (strlen(hazard) == length && !strncmp(hazard, name, length))
			return true;
	}
	return false;
}

static bool in_order(const struct dl_config *config)
{
	struct dl_config_order order;

	for (size_t i = 0; dl_config_order(i, &order); i++)
		if (config->value[order.low] > config->value[order.high])
			return false;
	return true;
}

static struct dl_config with(const struct dl_config *base, int key, int64_t value)
{
	struct dl_config config = *base;

	config.value[key] = value;
	return config;
}

int dl_search_add(struct dl_search *search, int key, int64_t value)
{
	const struct dl_config_row *row = &dl_config_rows[key];
	struct dl_config config = with(&search->base, key, value);
	struct dl_candidate *c;

	if (value < row->min || value > row->max)
		return -ERANGE;
	if (!in_order(&config))
		return -EINVAL;
	if (value == search->base.value[key])
		return 0;
	for (size_t i = 0; i < search->count; i++)
		if (search->candidate[i].key == key && search->candidate[i].value == value)
			return 0;
	if (search->count == DL_CANDIDATES_MAX)
		return -E2BIG;
	c = &search->candidate[search->count++];
	memset(c, 0, sizeof(*c));
	c->key = key;
	c->value = value;
	c->far = llabs(value - search->base.value[key]);
	return 0;
}

static void add_step(struct dl_search *search, int key, int64_t permille)
{
	int64_t base = search->base.value[key];
	int64_t value = base / 1000 * permille + base % 1000 * permille / 1000;

	dl_search_add(search, key, dl_config_value_round(dl_config_rows[key].unit, value));
}

void dl_search_add_all(struct dl_search *search)
{
	search->by_steps = true;
	for (int key = 0; key < DL_CFG_COUNT; key++) {
		if (!dl_search_key(key))
			continue;
		add_step(search, key, 500);
		add_step(search, key, 2000);
	}
}

/* A summary of each of "count" configurations. */
static int sum_up(const struct dl_cases *cases, const struct dl_config *configs, size_t count,
		  unsigned int jobs, struct dl_summary *ret_summaries)
{
	struct dl_score *scores;
	int err = dl_score_all(cases, configs, count, jobs, &scores);

	for (size_t i = 0; i < count && !err; i++)
		err = dl_summary_make(cases, scores + i, count, &ret_summaries[i]);
	dl_scores_free(scores);
	return err;
}

static int try_from(struct dl_search *search, size_t first, const struct dl_cases *cases,
		    unsigned int jobs)
{
	struct dl_config configs[AT_ONCE];
	struct dl_summary *sums = calloc(AT_ONCE, sizeof(*sums));
	int err = sums ? 0 : -ENOMEM;

	for (size_t from = first; from < search->count && !err; from += AT_ONCE) {
		size_t count = search->count - from < AT_ONCE ? search->count - from : AT_ONCE;

		for (size_t i = 0; i < count; i++)
			configs[i] = with(&search->base, search->candidate[from + i].key,
					  search->candidate[from + i].value);
		err = sum_up(cases, configs, count, jobs, sums);
		for (size_t i = 0; i < count && !err; i++)
			search->candidate[from + i].alone = sums[i];
	}
	free(sums);
	return err;
}

static int try_each(struct dl_search *search, const struct dl_cases *cases, unsigned int jobs)
{
	int err = try_from(search, 0, cases, jobs);
	size_t count = search->count;

	if (err || !search->by_steps)
		return err;
	for (size_t i = 0; i < count; i++) {
		const struct dl_candidate *c = &search->candidate[i];

		if (memcmp(&c->alone, &search->before, sizeof(c->alone)) != 0)
			add_step(search, c->key,
				 c->value < search->base.value[c->key] ? 750 : 1500);
	}
	return try_from(search, count, cases, jobs);
}

/* One that is better than the base. */
struct good {
	struct dl_candidate *candidate;
};

/* The best first; of two values of a key that are as good, the nearer. */
static int by_worth(const void *a, const void *b)
{
	const struct dl_candidate *x = ((const struct good *)a)->candidate;
	const struct dl_candidate *y = ((const struct good *)b)->candidate;
	int order = dl_summary_compare(&x->alone, &y->alone);

	if (!order && x->key == y->key)
		order = (x->far > y->far) - (x->far < y->far);
	return order ? order : (x > y) - (x < y);
}

/* One more to the proposal, if it still helps with the others. */
static int take(struct dl_search *search, struct dl_candidate *c, const struct dl_cases *cases,
		unsigned int jobs)
{
	struct dl_config config = with(&search->proposal, c->key, c->value);
	struct dl_summary sum;
	int err;

	if (!in_order(&config))
		return 0;
	err = search->taken_count ? sum_up(cases, &config, 1, jobs, &sum) : 0;
	if (err)
		return err;
	if (!search->taken_count)
		sum = c->alone;
	if (!dl_summary_better(&sum, &search->after) || !dl_summary_not_worse(&sum, &search->after))
		return 0;
	search->proposal = config;
	search->after = sum;
	search->taken_count++;
	c->taken = true;
	return 0;
}

static int combine(struct dl_search *search, const struct dl_cases *cases, unsigned int jobs)
{
	struct good good[DL_CANDIDATES_MAX];
	bool seen[DL_CFG_COUNT] = { false };
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; i < search->count; i++) {
		struct dl_candidate *c = &search->candidate[i];

		if (dl_summary_better(&c->alone, &search->before) &&
		    dl_summary_not_worse(&c->alone, &search->before))
			good[count++].candidate = c;
	}
	qsort(good, count, sizeof(good[0]), by_worth);
	for (size_t i = 0; i < count && !err; i++) {
		struct dl_candidate *c = good[i].candidate;

		if (seen[c->key])
			continue; /* a better value of this key was tried */
		seen[c->key] = true;
		err = take(search, c, cases, jobs);
	}
	return err;
}

int dl_search_run(struct dl_search *search, struct dl_cases *cases, unsigned int jobs)
{
	int err = dl_score_whole(cases, &search->base, 1, jobs, &search->scores);

	if (!err)
		err = dl_summary_make(cases, search->scores, 1, &search->before);
	search->proposal = search->base;
	search->after = search->before;
	if (!err)
		err = try_each(search, cases, jobs);
	if (!err)
		err = combine(search, cases, jobs);
	if (err == -ENOMEM)
		dl_log("no memory to score %zu traces", cases->count);
	return err;
}

void dl_search_free(struct dl_search *search)
{
	dl_scores_free(search->scores);
	search->scores = NULL;
}

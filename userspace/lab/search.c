/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/event/plan.h"
#include "lib/log.h"
#include "store/config_value.h"

#define AT_ONCE 48 /* configurations per pass: a core needs half a MiB */

bool davy_search_key(int key)
{
	const char *name = davy_config_rows[key].name;
	size_t length = strcspn(name, ".");

	for (int i = 1; i < DAVY_HZ_COUNT; i++) {
		const char *hazard = davy_hazard_name((enum davy_hazard)i);

		if (strlen(hazard) == length && !strncmp(hazard, name, length))
			return true;
	}
	return false;
}

static bool in_order(const struct davy_config *config)
{
	struct davy_config_order order;

	for (size_t i = 0; davy_config_order(i, &order); i++)
		if (config->value[order.low] > config->value[order.high])
			return false;
	return true;
}

static struct davy_config with(const struct davy_config *base, int key, int64_t value)
{
	struct davy_config config = *base;

	config.value[key] = value;
	return config;
}

int davy_search_add(struct davy_search *search, int key, int64_t value)
{
	const struct davy_config_row *row = &davy_config_rows[key];
	struct davy_config config = with(&search->base, key, value);
	struct davy_candidate *c;

	if (value < row->min || value > row->max)
		return -ERANGE;
	if (!in_order(&config))
		return -EINVAL;
	if (value == search->base.value[key])
		return 0;
	for (size_t i = 0; i < search->count; i++)
		if (search->candidate[i].key == key && search->candidate[i].value == value)
			return 0;
	if (search->count == DAVY_CANDIDATES_MAX)
		return -E2BIG;
	c = &search->candidate[search->count++];
	memset(c, 0, sizeof(*c));
	c->key = key;
	c->value = value;
	c->far = llabs(value - search->base.value[key]);
	return 0;
}

static void add_step(struct davy_search *search, int key, int64_t permille)
{
	int64_t base = search->base.value[key];
	int64_t value = base / 1000 * permille + base % 1000 * permille / 1000;

	davy_search_add(search, key, davy_config_value_round(davy_config_rows[key].unit, value));
}

void davy_search_add_all(struct davy_search *search)
{
	search->by_steps = true;
	for (int key = 0; key < DAVY_CFG_COUNT; key++) {
		if (!davy_search_key(key))
			continue;
		add_step(search, key, 500);
		add_step(search, key, 2000);
	}
}

/* Makes a summary for each of "count" configurations. */
static int search_sum_up(const struct davy_cases *cases, const struct davy_config *configs,
			 size_t count, unsigned int jobs, struct davy_summary *ret_summaries)
{
	struct davy_score *scores;
	int err = davy_score_all(cases, configs, count, jobs, &scores);

	for (size_t i = 0; i < count && !err; i++)
		err = davy_summary_make(cases, scores + i, count, &ret_summaries[i]);
	davy_scores_free(scores);
	return err;
}

static int try_from(struct davy_search *search, size_t first, const struct davy_cases *cases,
		    unsigned int jobs)
{
	struct davy_config configs[AT_ONCE];
	struct davy_summary *sums = calloc(AT_ONCE, sizeof(*sums));
	int err = sums ? 0 : -ENOMEM;

	for (size_t from = first; from < search->count && !err; from += AT_ONCE) {
		size_t count = search->count - from < AT_ONCE ? search->count - from : AT_ONCE;

		for (size_t i = 0; i < count; i++)
			configs[i] = with(&search->base, search->candidate[from + i].key,
					  search->candidate[from + i].value);
		err = search_sum_up(cases, configs, count, jobs, sums);
		for (size_t i = 0; i < count && !err; i++)
			search->candidate[from + i].alone = sums[i];
	}
	free(sums);
	return err;
}

static int try_each(struct davy_search *search, const struct davy_cases *cases, unsigned int jobs)
{
	int err = try_from(search, 0, cases, jobs);
	size_t count = search->count;

	if (err || !search->by_steps)
		return err;
	for (size_t i = 0; i < count; i++) {
		const struct davy_candidate *c = &search->candidate[i];

		if (!davy_summary_not_worse(&c->alone, &search->before) ||
		    !davy_summary_not_worse(&search->before, &c->alone)) /* it matters */
			add_step(search, c->key,
				 c->value < search->base.value[c->key] ? 750 : 1500);
	}
	return try_from(search, count, cases, jobs);
}

/* A candidate that is better than the base. */
struct good {
	struct davy_candidate *candidate;
};

/* The best first; of two equal values of a key, the nearer one. */
static int by_worth(const void *a, const void *b)
{
	const struct davy_candidate *x = ((const struct good *)a)->candidate;
	const struct davy_candidate *y = ((const struct good *)b)->candidate;
	int order = davy_summary_compare(&x->alone, &y->alone);

	if (!order && x->key == y->key)
		order = (x->far > y->far) - (x->far < y->far);
	return order ? order : (x > y) - (x < y);
}

/* Adds a candidate to the proposal if it improves it. */
static int search_take(struct davy_search *search, struct davy_candidate *c,
		       const struct davy_cases *cases, unsigned int jobs)
{
	struct davy_config config = with(&search->proposal, c->key, c->value);
	struct davy_summary sum;
	int err;

	if (!in_order(&config))
		return 0;
	err = search->taken_count ? search_sum_up(cases, &config, 1, jobs, &sum) : 0;
	if (err)
		return err;
	if (!search->taken_count)
		sum = c->alone;
	if (!davy_summary_better(&sum, &search->after) ||
	    !davy_summary_not_worse(&sum, &search->after))
		return 0;
	search->proposal = config;
	search->after = sum;
	search->taken_count++;
	c->taken = true;
	return 0;
}

static int combine(struct davy_search *search, const struct davy_cases *cases, unsigned int jobs)
{
	struct good good[DAVY_CANDIDATES_MAX] = { 0 };
	bool seen[DAVY_CFG_COUNT] = { false };
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; i < search->count; i++) {
		struct davy_candidate *c = &search->candidate[i];

		if (davy_summary_better(&c->alone, &search->before) &&
		    davy_summary_not_worse(&c->alone, &search->before))
			good[count++].candidate = c;
	}
	qsort(good, count, sizeof(good[0]), by_worth);
	for (size_t i = 0; i < count && !err; i++) {
		struct davy_candidate *c = good[i].candidate;

		if (seen[c->key])
			continue; /* a better value of this key was tried */
		seen[c->key] = true;
		err = search_take(search, c, cases, jobs);
	}
	return err;
}

int davy_search_run(struct davy_search *search, struct davy_cases *cases, unsigned int jobs)
{
	int err = davy_score_whole(cases, &search->base, 1, jobs, &search->scores);

	if (!err)
		err = davy_summary_make(cases, search->scores, 1, &search->before);
	search->proposal = search->base;
	search->after = search->before;
	if (!err)
		err = try_each(search, cases, jobs);
	if (!err)
		err = combine(search, cases, jobs);
	if (err == -ENOMEM)
		davy_log("no memory to score %zu traces", cases->count);
	return err;
}

void davy_search_free(struct davy_search *search)
{
	davy_scores_free(search->scores);
	search->scores = NULL;
}

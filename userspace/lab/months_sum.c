/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums up many histories of a case. */
#include "lab/months.h"

#include <string.h>

#define HOUR_S 3600u

struct sorted {
	uint32_t count;
	uint64_t value[DAVY_MONTHS_MOST];
};

static void months_sum_insert(struct sorted *s, uint64_t value)
{
	uint32_t at = s->count++;

	for (; at && s->value[at - 1] > value; at--)
		s->value[at] = s->value[at - 1];
	s->value[at] = value;
}

static uint32_t at(const struct sorted *s, uint32_t permille)
{
	return s->count ? (uint32_t)s->value[(s->count - 1) * permille / 1000] : 0;
}

struct sums {
	struct sorted failures, allowed, back;
	uint64_t whole_s, best_s;
};

static uint32_t months_sum_larger(uint32_t a, uint64_t b)
{
	return a > b ? a : (uint32_t)b;
}

static void months_sum_add(struct davy_months *all, struct sums *sums,
			   const struct davy_month_case *c, const struct davy_month *m)
{
	months_sum_insert(&sums->failures, m->failures);
	months_sum_insert(&sums->allowed, m->allowed);
	sums->whole_s += m->whole_s;
	sums->best_s += m->best_s;
	all->histories++;
	all->stayed += m->stayed;
	all->over += m->failures > m->allowed;
	all->later_most = months_sum_larger(all->later_most, m->later);
	all->climbs_at_once = months_sum_larger(all->climbs_at_once, m->climbs_at_once);
	all->away_most_hours = months_sum_larger(all->away_most_hours, m->away_s / HOUR_S);
	all->touched += m->touched;
	all->on_cpu += m->on_cpu;
	all->out_of_bounds += m->out_of_bounds;
	if (c->upgrade != DAVY_MONTH_MENDS)
		return;
	if (m->back_s)
		months_sum_insert(&sums->back, m->back_s / HOUR_S);
	else
		all->never_back++;
}

void davy_months_run(const struct davy_month_case *c, uint64_t seed, uint32_t histories,
		     struct davy_months *ret_months)
{
	struct sums sums;

	memset(&sums, 0, sizeof(sums));
	memset(ret_months, 0, sizeof(*ret_months));
	for (uint32_t i = 0; i < histories && i < DAVY_MONTHS_MOST; i++) {
		struct davy_month m;

		davy_month_run(c, seed + i, &m);
		months_sum_add(ret_months, &sums, c, &m);
	}
	ret_months->failures_median = at(&sums.failures, 500);
	ret_months->failures_most = at(&sums.failures, 1000);
	ret_months->allowed_median = at(&sums.allowed, 500);
	ret_months->allowed_most = at(&sums.allowed, 1000);
	ret_months->back_hours = at(&sums.back, 500);
	ret_months->back_most_hours = at(&sums.back, 1000);
	if (sums.whole_s)
		ret_months->best_permille = (uint32_t)(sums.best_s * 1000 / sums.whole_s);
}

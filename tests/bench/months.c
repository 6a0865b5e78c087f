/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Months with one fault, and the tuner's settings in them: a table. months [SEED [COUNT]] */
#include <stdio.h>
#include <stdlib.h>

#include "lab/months.h"

static void print_days(uint32_t hours)
{
	printf("%u.%u", hours / 24, hours % 24 * 10 / 24);
}

static void print_row(const struct davy_month_case *c, const struct davy_months *m)
{
	printf("| %s | %u | %u.%u %% | %u, %u | %u, %u | %u | %u | %u | ", c->name, m->histories,
	       m->stayed * 100 / m->histories, m->stayed * 1000 / m->histories % 10,
	       m->failures_median, m->failures_most, m->allowed_median, m->allowed_most, m->over,
	       m->later_most, m->climbs_at_once);
	if (c->upgrade == DAVY_MONTH_MENDS) {
		print_days(m->back_hours);
		printf(", ");
		print_days(m->back_most_hours);
	}
	printf(" | %u.%u %% | ", m->best_permille / 10, m->best_permille % 10);
	print_days(m->away_most_hours);
	printf(" |\n");
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint32_t count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 300;

	printf("| months of a model (seed %llu) | histories | best setting found and kept "
	       "| failures until then: median, most | binary search: median, most | more than that "
	       "| later, most | probations per back-off, most | days until back: median, most "
	       "| share of time at the best | longest away, days |\n"
	       "|---|---|---|---|---|---|---|---|---|---|---|\n",
	       (unsigned long long)seed);
	for (size_t i = 0; i < davy_month_case_count; i++) {
		struct davy_months m;

		davy_months_run(&davy_month_cases[i], seed, count ? count : 1, &m);
		print_row(&davy_month_cases[i], &m);
	}
	return 0;
}

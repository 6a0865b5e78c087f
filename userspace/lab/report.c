/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/event/plan.h"
#include "lib/text.h"
#include "store/config_file.h"
#include "store/config_value.h"

#define KINDS_MAX 256

static double seconds(uint64_t ns)
{
	return (double)ns / DAVY_NS_PER_S;
}

static void print_tally(const char *name, const struct davy_score_sum *t)
{
	if (!t->count)
		return;
	printf("%-18s %4u  %8u  %8u  %6.1f %%  ", name, t->count, t->reported, t->foreseen,
	       100.0 * t->foreseen / t->count);
	if (t->labelled)
		printf("%7u.%u %%  ", t->ratio_permille / 10, t->ratio_permille % 10);
	else
		printf("%11s  ", "-");
	if (t->foreseen)
		printf("%8.1f s  ", seconds(t->lead_time_ns));
	else
		printf("%10s  ", "-");
	if (t->labelled)
		printf("%8.1f s\n", seconds(t->possible_ns));
	else
		printf("%10s\n", "-");
}

static void print_false(const struct davy_summary *sum)
{
	uint64_t milli = davy_false_per_day_milli(sum);

	printf("false alarms: %u in %.1f h of benign traces", sum->false_benign,
	       seconds(sum->benign_ns) / 3600);
	if (milli != UINT64_MAX)
		printf(" (%" PRIu64 ".%02" PRIu64 " in 24 h)", milli / 1000, milli % 1000 / 10);
	printf(", %u before failures or about others\n", sum->false_failure);
	for (int i = 1; i < DAVY_HZ_COUNT && i < DAVY_JUDGE_HAZARDS; i++)
		if (sum->false_of[i])
			printf("  %-18s %u\n", davy_hazard_name((enum davy_hazard)i),
			       sum->false_of[i]);
	printf("false acts: %u; acted in time: %u of %u failures (%.1f %%)\n", sum->false_acts,
	       sum->all.acted, sum->all.count,
	       sum->all.count ? 100.0 * sum->all.acted / sum->all.count : 0);
}

/* Traces of one kind: of one scenario, or one recorded trace. */
struct kind {
	const char *name;
	uint32_t count, failed, missed, alarms;
};

static const char *name_of(const struct davy_case *of)
{
	const char *slash = strrchr(of->path, '/');

	if (of->label.scenario[0])
		return of->label.scenario;
	return slash ? slash + 1 : of->path;
}

static size_t kinds_of(const struct davy_cases *cases, const struct davy_score *scores,
		       struct kind *kinds)
{
	size_t count = 0, k;

	for (size_t i = 0; i < cases->count; i++) {
		const char *name = name_of(&cases->at[i]);

		for (k = 0; k < count && strcmp(kinds[k].name, name) != 0; k++)
			;
		if (k == KINDS_MAX)
			continue;
		if (k == count)
			kinds[count++] = (struct kind){ .name = name };
		kinds[k].count++;
		kinds[k].failed += cases->at[i].failed;
		kinds[k].missed += cases->at[i].failed && !scores[i].foreseen;
		kinds[k].alarms += scores[i].false_count;
	}
	return count;
}

/* The unit is the shape: it is foreseen if each of its traces is. */
static void print_shapes(const struct davy_cases *cases, const struct davy_score *scores)
{
	struct kind kinds[KINDS_MAX];
	size_t count = kinds_of(cases, scores, kinds), failing = 0, whole = 0, part = 0;

	for (size_t i = 0; i < count; i++) {
		failing += kinds[i].failed > 0;
		whole += kinds[i].failed && !kinds[i].missed;
		part += kinds[i].missed && kinds[i].missed < kinds[i].failed;
	}
	printf("scenarios: %zu of %zu foreseen in each trace, %zu in some\n", whole, failing, part);
}

static void print_named(const struct davy_score_sum *t)
{
	if (t->foreseen)
		printf("process: %u right, %u wrong, %u not named, %u of no process\n",
		       t->named[DAVY_NAMED_RIGHT], t->named[DAVY_NAMED_WRONG],
		       t->named[DAVY_NAMED_NOBODY], t->named[DAVY_NAMED_UNKNOWN]);
}

static void print_kinds(const struct davy_cases *cases, const struct davy_score *scores)
{
	struct kind kinds[KINDS_MAX];
	size_t count = kinds_of(cases, scores, kinds);
	char name[128];

	for (size_t i = 0; i < count; i++) {
		if (!kinds[i].missed && !kinds[i].alarms)
			continue;
		printf("  %-22s", davy_text_safe(name, sizeof(name), kinds[i].name));
		if (kinds[i].missed)
			printf(" %u of %u missed", kinds[i].missed, kinds[i].count);
		if (kinds[i].alarms)
			printf("%s %u false in %u", kinds[i].missed ? "," : "", kinds[i].alarms,
			       kinds[i].count);
		printf("\n");
	}
}

static void print_change(const struct davy_search *search, int key, int64_t value,
			 const struct davy_summary *sum)
{
	char from[DAVY_CONFIG_VALUE_LEN], to[DAVY_CONFIG_VALUE_LEN];

	davy_config_value_text(davy_config_rows[key].unit, search->base.value[key], from);
	davy_config_value_text(davy_config_rows[key].unit, value, to);
	printf("  %s: %s -> %s", davy_config_rows[key].name, from, to);
	if (sum)
		printf(": foreseen %u -> %u, false %u -> %u, lead time %u.%u %% -> %u.%u %%",
		       search->before.all.foreseen, sum->all.foreseen,
		       search->before.false_benign + search->before.false_failure,
		       sum->false_benign + sum->false_failure,
		       search->before.all.ratio_permille / 10,
		       search->before.all.ratio_permille % 10, sum->all.ratio_permille / 10,
		       sum->all.ratio_permille % 10);
	printf("\n");
}

static void print_search(const struct davy_search *search)
{
	if (!search->count)
		return;
	printf("\n%zu candidates tried", search->count);
	if (!search->taken_count) {
		printf("; none is better in one respect and not worse in another\n");
		return;
	}
	printf("; better, and worse in no respect:\n");
	for (size_t i = 0; i < search->count; i++)
		if (search->candidate[i].taken)
			print_change(search, search->candidate[i].key, search->candidate[i].value,
				     &search->candidate[i].alone);
	printf("together: foreseen %u of %u, median lead time %u.%u %% of the possible one, %u "
	       "false alarms\n",
	       search->after.all.foreseen, search->after.all.count,
	       search->after.all.ratio_permille / 10, search->after.all.ratio_permille % 10,
	       search->after.false_benign + search->after.false_failure);
}

void davy_tune_print(const struct davy_search *search, const struct davy_cases *cases)
{
	const struct davy_summary *sum = &search->before;

	printf("%-18s %4s  %8s  %8s  %8s  %11s  %10s  %10s\n", "failure", "n", "reported",
	       "foreseen", "", "lead time %", "lead time", "possible");
	for (uint32_t class = 1; class < DAVY_CLASS_COUNT; class ++)
		print_tally(davy_label_class_name(class), &sum->of_class[class]);
	print_tally("all", &sum->all);
	if (sum->unknown_count)
		printf("%u traces have no label and no failure: not scored\n", sum->unknown_count);
	print_shapes(cases, search->scores);
	print_named(&sum->all);
	print_false(sum);
	print_kinds(cases, search->scores);
	print_search(search);
}

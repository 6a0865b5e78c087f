/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DAY_NS	       ((uint64_t)86400 * DAVY_NS_PER_S)
#define NOISE_PERMILLE 5

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* For an even count, the lower of the two middle values. */
static uint64_t summary_median(uint64_t *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), ascending);
	return values[(count - 1) / 2];
}

/* Three kinds of values of all traces. */
struct values {
	uint64_t *ratio, *lead_time, *possible;
	size_t ratios, leads, possibles;
};

static bool summary_counts(const struct davy_case *of, uint32_t class)
{
	return of->failed && (class == DAVY_CLASS_NONE || of->label.class == class);
}

/* DAVY_CLASS_NONE: all classes. */
static void tally(const struct davy_cases *cases, const struct davy_score *scores, size_t stride,
		  uint32_t class, struct values *v, struct davy_score_sum *t)
{
	memset(t, 0, sizeof(*t));
	v->ratios = v->leads = v->possibles = 0;
	for (size_t i = 0; i < cases->count; i++) {
		const struct davy_case *of = &cases->at[i];
		const struct davy_score *s = &scores[i * stride];

		if (!summary_counts(of, class))
			continue;
		t->count++;
		t->foreseen += s->foreseen;
		t->reported += s->reported;
		t->acted += s->acted;
		t->named[s->named] += s->foreseen;
		if (s->foreseen)
			v->lead_time[v->leads++] = s->lead_time_ns;
		if (!of->labelled)
			continue;
		v->ratio[v->ratios++] = davy_lead_time_permille(of, s);
		v->possible[v->possibles++] = of->label.failure_ns - of->label.precursor_ns;
	}
	t->labelled = (uint32_t)v->ratios;
	t->ratio_permille = (uint32_t)summary_median(v->ratio, v->ratios);
	t->lead_time_ns = summary_median(v->lead_time, v->leads);
	t->possible_ns = summary_median(v->possible, v->possibles);
}

static void count_false(struct davy_summary *sum, const struct davy_case *of,
			const struct davy_score *s)
{
	sum->event_count += s->event_count;
	sum->false_acts += s->false_act_count;
	if (of->failed) {
		sum->false_failure += s->false_count;
	} else if (of->labelled) {
		sum->benign_count++;
		sum->benign_ns += of->label.duration_ns;
		sum->false_benign += s->false_count;
	} else {
		sum->unknown_count++;
	}
	for (size_t i = 0; i < DAVY_JUDGE_HAZARDS; i++)
		sum->false_of[i] += s->false_of[i];
}

int davy_summary_make(const struct davy_cases *cases, const struct davy_score *scores,
		      size_t stride, struct davy_summary *sum)
{
	uint64_t *room = calloc(cases->count + 1, 3 * sizeof(*room));
	struct values v = { .ratio = room };

	if (!room)
		return -ENOMEM;
	v.lead_time = room + cases->count;
	v.possible = v.lead_time + cases->count;
	memset(sum, 0, sizeof(*sum));
	for (size_t i = 0; i < cases->count; i++)
		count_false(sum, &cases->at[i], &scores[i * stride]);
	tally(cases, scores, stride, DAVY_CLASS_NONE, &v, &sum->all);
	for (uint32_t class = 1; class < DAVY_CLASS_COUNT; class ++)
		tally(cases, scores, stride, class, &v, &sum->of_class[class]);
	free(room);
	return 0;
}

uint64_t davy_false_per_day_milli(const struct davy_summary *sum)
{
	if (!sum->benign_ns)
		return UINT64_MAX;
	return (uint64_t)((unsigned __int128)DAY_NS * 1000 * sum->false_benign / sum->benign_ns);
}

/* Ignores nanoseconds; with more foreseen failures the medians are not comparable. */
static bool class_worse(const struct davy_score_sum *a, const struct davy_score_sum *b)
{
	if (a->foreseen != b->foreseen)
		return a->foreseen < b->foreseen;
	return a->lead_time_ns + a->lead_time_ns / 1000 * NOISE_PERMILLE < b->lead_time_ns;
}

bool davy_summary_not_worse(const struct davy_summary *a, const struct davy_summary *b)
{
	for (uint32_t class = 1; class < DAVY_CLASS_COUNT; class ++)
		if (class_worse(&a->of_class[class], &b->of_class[class]))
			return false;
	return a->false_benign <= b->false_benign && a->false_failure <= b->false_failure &&
	       a->all.ratio_permille >= b->all.ratio_permille;
}

bool davy_summary_better(const struct davy_summary *a, const struct davy_summary *b)
{
	return a->all.foreseen > b->all.foreseen || a->false_benign < b->false_benign ||
	       a->false_failure < b->false_failure ||
	       a->all.ratio_permille > b->all.ratio_permille + NOISE_PERMILLE;
}

int davy_summary_compare(const struct davy_summary *a, const struct davy_summary *b)
{
	uint32_t false_a = a->false_benign + a->false_failure;
	uint32_t false_b = b->false_benign + b->false_failure;

	if (a->all.foreseen != b->all.foreseen)
		return a->all.foreseen > b->all.foreseen ? -1 : 1;
	if (false_a != false_b)
		return false_a < false_b ? -1 : 1;
	if (a->all.ratio_permille != b->all.ratio_permille)
		return a->all.ratio_permille > b->all.ratio_permille ? -1 : 1;
	return 0;
}

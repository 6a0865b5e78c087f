/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/foresight_text.h"

#include "lib/message.h"
#include "lib/text.h"
#include "report/plan_text.h"

#define NUMBER(value) ((json_int_t)(value))

static void foresight_text_put_lead_time(json_t *o, const struct davy_lead_times *lead_time)
{
	if (!lead_time->count)
		return;
	json_object_set_new(o, "lead",
			    json_pack("{s:I, s:I, s:I, s:I}", "min_ns", NUMBER(lead_time->min_ns),
				      "median_ns", NUMBER(davy_lead_time_median_ns(lead_time)),
				      "max_ns", NUMBER(lead_time->max_ns), "mean_ns",
				      NUMBER(lead_time->sum_ns / lead_time->count)));
}

static json_t *foresight_text_classes(const struct davy_foresight *f, json_int_t *ret_failures,
				      json_int_t *ret_missed)
{
	json_t *all = json_object();

	for (uint32_t i = 0; i < DAVY_CLASS_COUNT; i++) {
		const struct davy_class_score *score = &f->class[i];
		json_t *o;

		*ret_failures += NUMBER(score->failures);
		*ret_missed += NUMBER(score->missed);
		if (!score->failures)
			continue;
		o = json_pack("{s:I, s:I, s:I}", "failures", NUMBER(score->failures), "foreseen",
			      NUMBER(score->lead_time.count), "missed", NUMBER(score->missed));
		foresight_text_put_lead_time(o, &score->lead_time);
		json_object_set_new(all, davy_log_class_name(i), o);
	}
	return all;
}

static json_t *foresight_text_hazards(const struct davy_foresight *f)
{
	json_t *all = json_object();

	for (uint32_t i = 0; i < DAVY_HZ_COUNT; i++) {
		const struct davy_hazard_score *score = &f->hazard[i];
		json_t *o;

		if (!score->predictions)
			continue;
		o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "signs", NUMBER(score->predictions),
			      "confirmed", NUMBER(score->confirmed), "averted",
			      NUMBER(score->averted), "late", NUMBER(score->late), "false_alarms",
			      NUMBER(score->false_alarms), "foreseen",
			      NUMBER(score->lead_time.count));
		foresight_text_put_lead_time(o, &score->lead_time);
		json_object_set_new(all, davy_hazard_name((enum davy_hazard)i), o);
	}
	return all;
}

static json_t *foresight_text_levels(const struct davy_level_score *score)
{
	json_t *levels = json_object();
	char name[8];

	for (uint32_t i = 0; i < DAVY_SCORED_LEVELS; i++) {
		if (!score[i].alarms)
			continue;
		snprintf(name, sizeof(name), "%u", DAVY_SCORED_FROM + i);
		json_object_set_new(levels, name,
				    json_pack("{s:I, s:I}", "alarms", NUMBER(score[i].alarms),
					      "confirmed", NUMBER(score[i].confirmed)));
	}
	return levels;
}

static json_t *foresight_text_reliability(const struct davy_calibration *c, uint64_t *ret_alarms,
					  uint64_t *ret_confirmed)
{
	json_t *list = json_array();

	for (size_t i = 0; i < DAVY_RELIABILITY_BINS; i++) {
		const struct davy_reliability *bin = &c->bin[i];
		uint64_t of = bin->alarms;

		*ret_alarms += of;
		*ret_confirmed += bin->confirmed;
		if (of)
			json_array_append_new(
				list, json_pack("{s:I, s:I, s:I, s:I}", "from_permille",
						NUMBER(i * 1000 / DAVY_RELIABILITY_BINS), "alarms",
						NUMBER(of), "stated_permille",
						NUMBER((bin->stated_permille + of / 2) / of),
						"confirmed", NUMBER(bin->confirmed)));
	}
	return list;
}

/*
 * NULL: nothing is scored. The base rate's score is the best that one and the same probability for
 * all alarms can have.
 */
static json_t *foresight_text_calibration(const struct davy_calibration *c)
{
	uint64_t n = 0, k = 0;
	json_t *bins = foresight_text_reliability(c, &n, &k), *hazards;

	if (!n) {
		json_decref(bins);
		return NULL;
	}
	hazards = json_object();
	for (uint32_t i = 0; i < DAVY_HZ_COUNT; i++) {
		json_t *levels = foresight_text_levels(c->of[i]);

		if (json_object_size(levels))
			json_object_set(hazards, davy_hazard_name((enum davy_hazard)i), levels);
		json_decref(levels);
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "alarms", NUMBER(n), "confirmed",
			 NUMBER(k), "brier_milli", NUMBER(c->error_sum / n / 1000),
			 "base_rate_brier_milli", NUMBER(1000 * k * (n - k) / n / n), "reliability",
			 bins, "hazards", hazards);
}

json_t *davy_foresight_json(const struct davy_foresight *f)
{
	json_int_t failures = 0, missed = 0;
	json_t *by_class = foresight_text_classes(f, &failures, &missed);

	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o*}", "failures", failures, "foreseen",
			 failures - missed, "missed", missed, "classes", by_class, "hazards",
			 foresight_text_hazards(f), "calibration",
			 foresight_text_calibration(&f->calibration));
}

static void foresight_print_lead_time(FILE *out, const json_t *o)
{
	static const char *const keys[] = { "min_ns", "median_ns", "max_ns" };
	const json_t *lead_time = json_object_get(o, "lead");
	char text[DAVY_DURATION_TEXT_SIZE];

	for (size_t i = 0; lead_time && i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_int_t ns = davy_message_number(lead_time, keys[i], 0);

		davy_duration_text(ns > 0 ? (uint64_t)ns : 0, text, sizeof(text));
		fprintf(out, "%s %s", i ? "," : "  lead time", text);
	}
	fprintf(out, "%s\n", lead_time ? " (min, median, max)" : "");
}

static void print_rows(FILE *out, const json_t *all, const char *const *keys, size_t count)
{
	const char *name;
	json_t *o;

	json_object_foreach((json_t *)all, name, o)
	{
		char safe[64];

		fprintf(out, "  %-18s", davy_text_safe(safe, sizeof(safe), name));
		for (size_t i = 0; i < count; i++)
			fprintf(out, " %9lld", (long long)davy_message_number(o, keys[i], 0));
		foresight_print_lead_time(out, o);
	}
}

static double foresight_text_percent(const json_t *o, const char *key, double of)
{
	return of > 0 ? 100 * (double)davy_message_number(o, key, 0) / of : 0;
}

static void foresight_text_print_calibration(FILE *out, const json_t *c)
{
	double alarms = (double)davy_message_number(c, "alarms", 0);
	const json_t *bin;
	size_t i;

	if (alarms <= 0)
		return;
	fprintf(out,
		"probabilities        %.0f alarms, %.0f %% followed by a failure; Brier score %.3f "
		"(%.3f if each had stated %.0f %%)\n",
		alarms, foresight_text_percent(c, "confirmed", alarms),
		(double)davy_message_number(c, "brier_milli", 0) / 1000,
		(double)davy_message_number(c, "base_rate_brier_milli", 0) / 1000,
		foresight_text_percent(c, "confirmed", alarms));
	fprintf(out, "  %-18s %9s %9s %9s\n", "stated", "alarms", "mean", "happened");
	json_array_foreach(json_object_get(c, "reliability"), i, bin)
	{
		int from = (int)davy_message_number(bin, "from_permille", 0) / 10;
		char range[32];

		snprintf(range, sizeof(range), "%d to %d %%", from, from + 10);
		fprintf(out, "  %-18s %9lld %7.0f %% %7.0f %%\n", range,
			(long long)davy_message_number(bin, "alarms", 0),
			foresight_text_percent(bin, "stated_permille", 1000),
			foresight_text_percent(bin, "confirmed",
					       (double)davy_message_number(bin, "alarms", 0)));
	}
}

void davy_foresight_print(FILE *out, const char *when, const json_t *foresight)
{
	static const char *const of_class[] = { "failures", "foreseen", "missed" };
	static const char *const of_hazard[] = { "signs", "confirmed",	  "averted",
						 "late",  "false_alarms", "foreseen" };
	const json_t *by_class = json_object_get(foresight, "classes");
	const json_t *by_hazard = json_object_get(foresight, "hazards");

	if (when[0] && (json_object_size(by_class) || json_object_size(by_hazard)))
		fprintf(out, "foresight, %s\n", when);
	if (json_object_size(by_class)) {
		fprintf(out, "failures             %9s %9s %9s\n", "seen", "foreseen", "missed");
		print_rows(out, by_class, of_class, 3);
	}
	if (json_object_size(by_hazard)) {
		fprintf(out, "precursors           %9s %9s %9s %9s %9s %9s\n", "raised",
			"confirmed", "averted", "late", "false", "foreseen");
		print_rows(out, by_hazard, of_hazard, 6);
	}
	foresight_text_print_calibration(out, json_object_get(foresight, "calibration"));
}

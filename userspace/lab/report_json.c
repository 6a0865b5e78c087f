/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "core/event/plan.h"
#include "lib/text.h"
#include "lab/report.h"

static json_t *tally_json(const struct davy_score_sum *t)
{
	return json_pack(
		"{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I}", "count", (int)t->count,
		"acted", (int)t->acted, "foreseen", (int)t->foreseen, "reported", (int)t->reported,
		"named_right", (int)t->named[DAVY_NAMED_RIGHT], "named_wrong",
		(int)t->named[DAVY_NAMED_WRONG], "named_nobody", (int)t->named[DAVY_NAMED_NOBODY],
		"lead_permille", (int)t->ratio_permille, "lead_ns", (json_int_t)t->lead_time_ns,
		"possible_ns", (json_int_t)t->possible_ns);
}

static json_t *summary_json(const struct davy_summary *sum)
{
	json_t *classes = json_object(), *hazards = json_object();
	uint64_t milli = davy_false_per_day_milli(sum);

	for (uint32_t class = 1; class < DAVY_CLASS_COUNT; class ++)
		if (sum->of_class[class].count)
			json_object_set_new(classes, davy_label_class_name(class),
					    tally_json(&sum->of_class[class]));
	for (int i = 1; i < DAVY_HZ_COUNT && i < DAVY_JUDGE_HAZARDS; i++)
		if (sum->false_of[i])
			json_object_set_new(hazards, davy_hazard_name((enum davy_hazard)i),
					    json_integer(sum->false_of[i]));
	return json_pack("{s:o, s:o, s:i, s:I, s:i, s:i, s:i, s:o, s:o, s:i, s:I}", "all",
			 tally_json(&sum->all), "classes", classes, "benign",
			 (int)sum->benign_count, "benign_ns", (json_int_t)sum->benign_ns,
			 "false_benign", (int)sum->false_benign, "false_failure",
			 (int)sum->false_failure, "false_acts", (int)sum->false_acts,
			 "false_per_day_milli",
			 milli == UINT64_MAX ? json_null() : json_integer((json_int_t)milli),
			 "false_by_hazard", hazards, "not_scored", (int)sum->unknown_count,
			 "events", (json_int_t)sum->event_count);
}

static const char *const named[DAVY_NAMED_COUNT] = {
	[DAVY_NAMED_UNKNOWN] = "unknown",
	[DAVY_NAMED_RIGHT] = "right",
	[DAVY_NAMED_WRONG] = "wrong",
	[DAVY_NAMED_NOBODY] = "none",
};

static json_t *trace_json(const struct davy_case *of, const struct davy_score *s)
{
	char path[8192];
	json_t *o = json_pack(
		"{s:s, s:s, s:s, s:b, s:b, s:b, s:i, s:i, s:s, s:i}", "trace",
		davy_text_safe(path, sizeof(path), of->path), "scenario", of->label.scenario,
		"class",
		of->labelled || of->failed ? davy_label_class_name(of->label.class) : "unknown",
		"labelled", of->labelled, "foreseen", s->foreseen, "reported", s->reported,
		"no_credit", (int)s->no_credit_count, "false", (int)s->false_count, "acted",
		s->acted ? davy_action_name((enum davy_action)s->act) : "", "false_acts",
		(int)s->false_act_count);

	if (!o || !s->foreseen)
		return o;
	json_object_set_new(o, "hazard",
			    json_string(davy_hazard_name((enum davy_hazard)s->hazard)));
	json_object_set_new(o, "level", json_integer(s->level));
	json_object_set_new(o, "named", json_string(named[s->named]));
	json_object_set_new(o, "lead_ns", json_integer((json_int_t)s->lead_time_ns));
	if (of->labelled)
		json_object_set_new(o, "lead_permille",
				    json_integer(davy_lead_time_permille(of, s)));
	return o;
}

static json_t *candidate_json(const struct davy_search *search, const struct davy_candidate *c)
{
	return json_pack("{s:s, s:I, s:b, s:b, s:i, s:i, s:i}", "key",
			 davy_config_rows[c->key].name, "value", (json_int_t)c->value, "taken",
			 c->taken, "not_worse", davy_summary_not_worse(&c->alone, &search->before),
			 "foreseen", (int)c->alone.all.foreseen, "false",
			 (int)(c->alone.false_benign + c->alone.false_failure), "lead_permille",
			 (int)c->alone.all.ratio_permille);
}

int davy_tune_print_json(const struct davy_search *search, const struct davy_cases *cases)
{
	json_t *traces = json_array(), *candidates = json_array(), *report;
	int err;

	for (size_t i = 0; i < cases->count; i++)
		json_array_append_new(traces, trace_json(&cases->at[i], &search->scores[i]));
	for (size_t i = 0; i < search->count; i++)
		json_array_append_new(candidates, candidate_json(search, &search->candidate[i]));
	report =
		json_pack("{s:o, s:o, s:o, s:o}", "before", summary_json(&search->before), "after",
			  summary_json(&search->after), "candidates", candidates, "traces", traces);
	if (!report)
		return -ENOMEM;
	err = json_dumpf(report, stdout, JSON_COMPACT) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(report);
	return err;
}

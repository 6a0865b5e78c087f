/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/file.h"
#include "lib/number.h"
#include "lib/options.h"
#include "store/config_file.h"
#include "store/config_value.h"
#include "lab/check2_set.h"
#include "lab/check3_set.h"
#include "lab/check4_set.h"
#include "lab/check5_set.h"
#include "lab/check_set.h"
#include "lab/progress.h"
#include "lab/synth.h"
#include "lab/lab_verbs.h"
#include "verb/trace_usage.h"
#include "verb/verb.h"

#define COUNT_MAX    100000
#define DURATION_MAX (DAVY_H * 24 * 7)

struct options {
	uint64_t seed, count, calm_ns;
	const char *out;
	bool json;
};

static void synth_list(const struct davy_scenario *table, size_t count, bool json)
{
	for (size_t i = 0; i < count; i++) {
		const struct davy_scenario *s = &table[i];
		const char *class = davy_label_class_name(s->class);

		if (!json) {
			printf("%-21s %-18s %s\n", s->name, class, s->what);
			continue;
		}
		printf("{\"scenario\":\"%s\",\"class\":\"%s\",\"seconds\":%u,\"what\":\"%s\"}\n",
		       s->name, class, s->calm_s, s->what);
	}
}

static int scenarios(bool json)
{
	synth_list(davy_scenarios, davy_scenario_count, json);
	synth_list(davy_check2_scenarios, davy_check2_scenario_count, json);
	synth_list(davy_check3_scenarios, davy_check3_scenario_count, json);
	synth_list(davy_check4_scenarios, davy_check4_scenario_count, json);
	synth_list(davy_check5_scenarios, davy_check5_scenario_count, json);
	return ferror(stdout) ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static bool synth_is_file(const char *out)
{
	size_t length = strlen(out);

	return length > 6 && !strcmp(out + length - 6, ".trace");
}

/* The scenarios of all tables: the held-out sets come last. */
static size_t synth_total(void)
{
	return davy_scenario_count + davy_check_scenario_count + davy_check2_scenario_count +
	       davy_check3_scenario_count + davy_check4_scenario_count + davy_check5_scenario_count;
}

static const struct davy_scenario *synth_at(size_t i)
{
	if (i < davy_scenario_count)
		return &davy_scenarios[i];
	i -= davy_scenario_count;
	if (i < davy_check_scenario_count)
		return &davy_check_scenarios[i];
	i -= davy_check_scenario_count;
	if (i < davy_check2_scenario_count)
		return &davy_check2_scenarios[i];
	i -= davy_check2_scenario_count;
	if (i < davy_check3_scenario_count)
		return &davy_check3_scenarios[i];
	i -= davy_check3_scenario_count;
	if (i < davy_check4_scenario_count)
		return &davy_check4_scenarios[i];
	return &davy_check5_scenarios[i - davy_check4_scenario_count];
}

/* No word but its own takes a part of the held-out set "set". */
static bool synth_is_of_set(const struct davy_scenario *s, const char *set, const char *word)
{
	size_t length = strlen(set);

	if (!strcmp(word, s->name))
		return true;
	if (strncmp(word, set, length) != 0)
		return false;
	if (!strcmp(word + length, "-failures"))
		return s->class != DAVY_CLASS_NONE;
	if (!strcmp(word + length, "-benign"))
		return s->class == DAVY_CLASS_NONE;
	return !word[length];
}

static bool synth_belongs(size_t i, const char *word)
{
	const struct davy_scenario *s = synth_at(i);
	bool day = davy_scenario_is_day(s);

	if (i >= synth_total() - davy_check5_scenario_count)
		return synth_is_of_set(s, "check5", word);
	if (i >= synth_total() - davy_check5_scenario_count - davy_check4_scenario_count)
		return synth_is_of_set(s, "check4", word);
	if (i >= davy_scenario_count + davy_check_scenario_count + davy_check2_scenario_count)
		return synth_is_of_set(s, "check3", word);
	if (i >= davy_scenario_count + davy_check_scenario_count)
		return synth_is_of_set(s, "check2", word);
	if (i >= davy_scenario_count)
		return synth_is_of_set(s, "check", word);
	if (!strcmp(word, "failures"))
		return s->class != DAVY_CLASS_NONE;
	if (!strcmp(word, "benign"))
		return s->class == DAVY_CLASS_NONE && !day;
	if (!strcmp(word, "days"))
		return day;
	return !strcmp(word, "all") || !strcmp(word, s->name);
}

static int synth_make(const struct davy_scenario *scenario, uint64_t seed, const struct options *o)
{
	char path[PATH_MAX];
	int n, err;

	if (synth_is_file(o->out))
		n = snprintf(path, sizeof(path), "%s", o->out);
	else
		n = snprintf(path, sizeof(path), "%s/%s-%" PRIu64 ".trace", o->out, scenario->name,
			     seed);
	err = n < 0 || (size_t)n >= sizeof(path) ? -ENAMETOOLONG : 0;
	if (!err)
		err = davy_synth_write(scenario, seed, o->calm_ns, path);
	if (err)
		davy_log("'%s' cannot be created: %s", err == -ENAMETOOLONG ? o->out : path,
			 strerror(-err));
	return err;
}

static int synth(const char *word, const struct options *o)
{
	struct davy_progress progress;
	size_t kinds = 0, done = 0;
	int err = 0;

	for (size_t i = 0; i < synth_total(); i++)
		kinds += synth_belongs(i, word);
	if (!kinds) {
		davy_log("unknown scenario '%s'; 'davylamp trace scenarios' lists them", word);
		return DAVY_EXIT_USAGE;
	}
	if (synth_is_file(o->out) && kinds * o->count != 1) {
		davy_log("--out '%s': several traces need a folder", o->out);
		return DAVY_EXIT_USAGE;
	}
	if (!synth_is_file(o->out))
		err = davy_make_dirs(o->out);
	if (err)
		davy_log("'%s' cannot be created: %s", o->out, strerror(-err));
	davy_progress_begin(&progress, "traces", kinds * o->count);
	for (size_t i = 0; i < synth_total() && !err; i++) {
		if (!synth_belongs(i, word))
			continue;
		for (uint64_t n = 0; n < o->count && !err; n++) {
			err = synth_make(synth_at(i), o->seed + n, o);
			davy_progress_show(&progress, ++done);
		}
	}
	davy_progress_end(&progress);
	return err ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static bool synth_wrong(const char *text)
{
	davy_log("'%s': expected a whole number, or a time such as '30 min'; see 'davylamp trace "
		 "--help'",
		 text);
	return false;
}

static bool take_seed(void *seed, const char *text)
{
	return davy_number(text, INT64_MAX - COUNT_MAX, seed) || synth_wrong(text);
}

static bool synth_take_count(void *count, const char *text)
{
	return (davy_number(text, COUNT_MAX, count) && *(uint64_t *)count) || synth_wrong(text);
}

static bool take_duration(void *calm_ns, const char *text)
{
	int64_t ms;

	if (davy_config_value(DAVY_UNIT_MS, text, &ms) || ms <= 0 ||
	    (uint64_t)ms > DURATION_MAX / DAVY_MS)
		return synth_wrong(text);
	*(uint64_t *)calm_ns = (uint64_t)ms * DAVY_MS;
	return true;
}

int davy_verb_synth(int argc, char **argv)
{
	struct options o = { .seed = 1, .count = 1 };
	const struct davy_option options[] = {
		{ "seed", .take = take_seed, .arg = &o.seed },
		{ "count", .take = synth_take_count, .arg = &o.count },
		{ "duration", .take = take_duration, .arg = &o.calm_ns },
		{ "out", .text = &o.out },
		{ "json", .flag = &o.json },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, davy_trace_usage, options);

	if (first <= 0)
		return -first;
	if (first + 1 == argc && !strcmp(argv[first], "scenarios"))
		return scenarios(o.json);
	if (first + 2 != argc || strcmp(argv[first], "synth") != 0 || !o.out) {
		davy_log("expected 'davylamp trace scenarios', 'davylamp trace synth SCENARIO "
			 "--out DIR' or 'davylamp trace discovery -- COMMAND'");
		return DAVY_EXIT_USAGE;
	}
	return synth(argv[first + 1], &o);
}

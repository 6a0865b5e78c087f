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
#include "lab/progress.h"
#include "lab/sets.h"
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

static void synth_list(const struct davy_scenario *s, bool json)
{
	const char *class = davy_label_class_name(s->class);

	if (json)
		printf("{\"scenario\":\"%s\",\"class\":\"%s\",\"seconds\":%u,\"what\":\"%s\"}\n",
		       s->name, class, s->calm_s, s->what);
	else
		printf("%-21s %-18s %s\n", s->name, class, s->what);
}

static int scenarios(bool json)
{
	for (size_t set = 0; set < DAVY_SETS; set++)
		for (size_t i = 0; i < *davy_scenario_sets[set].count; i++)
			synth_list(&davy_scenario_sets[set].scenario[i], json);
	return ferror(stdout) ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static bool synth_is_file(const char *out)
{
	size_t length = strlen(out);

	return length > 6 && !strcmp(out + length - 6, ".trace");
}

/* No word but its own takes a part of a held-out set. */
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

static bool synth_belongs(const struct davy_scenario *s, const char *set, const char *word)
{
	bool day = davy_scenario_is_day(s);

	if (*set)
		return synth_is_of_set(s, set, word);
	if (!strcmp(word, "failures"))
		return s->class != DAVY_CLASS_NONE;
	if (!strcmp(word, "benign"))
		return s->class == DAVY_CLASS_NONE && !day;
	if (!strcmp(word, "days"))
		return day;
	return !strcmp(word, "all") || !strcmp(word, s->name);
}

/* The next scenario that the word takes; NULL: there is none. Both positions are 0 at first. */
static const struct davy_scenario *synth_next(const char *word, size_t *set, size_t *i)
{
	for (; *set < DAVY_SETS; ++*set, *i = 0)
		while (*i < *davy_scenario_sets[*set].count) {
			const struct davy_scenario *s = &davy_scenario_sets[*set].scenario[(*i)++];

			if (synth_belongs(s, davy_scenario_sets[*set].name, word))
				return s;
		}
	return NULL;
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
	const struct davy_scenario *s;
	size_t kinds = 0, done = 0, set = 0, at = 0;
	int err = 0;

	while (synth_next(word, &set, &at))
		kinds++;
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
	set = at = 0;
	while (!err && (s = synth_next(word, &set, &at)))
		for (uint64_t n = 0; n < o->count && !err; n++) {
			err = synth_make(s, o->seed + n, o);
			davy_progress_show(&progress, ++done);
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

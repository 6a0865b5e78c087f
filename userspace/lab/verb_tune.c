/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/score/threshold.h"
#include "lib/file.h"
#include "lib/number.h"
#include "lib/options.h"
#include "store/config_file.h"
#include "store/config_value.h"
#include "store/learned.h"
#include "lab/apply.h"
#include "lab/lab_verbs.h"
#include "lab/report.h"
#include "verb/thresholds.h"
#include "verb/verb.h"

#define JOBS_MAX 256

static const char usage[] =
	"usage: davylamp tune [OPTIONS] TRACE|DIR...\n"
	"\n"
	"Replays traces and scores the alarms against the labels: failures foreseen, lead\n"
	"time, false alarms. Then searches for thresholds that are better in one respect\n"
	"and worse in none. Without a label, a trace is scored by the failure in its\n"
	"events.\n"
	"\n"
	"  --policy FILE      start from these thresholds (default: the built-in ones)\n"
	"  --grid KEY=V1,V2   try only these values; may be repeated\n"
	"  --limits           try only the highest values that an agent may adopt\n"
	"  --score-only       do not search\n"
	"  --apply            write the result to STATE/hazards.conf\n"
	"  --state DIR        state directory (/var/lib/davylamp)\n"
	"  --config DIR       the administrator's hazards.conf, which takes precedence\n"
	"                     (/etc/davylamp)\n"
	"  --jobs N           parallel replays (default: number of CPUs)\n"
	"  --json             one JSON object\n"
	"  -h, --help         print this text\n";

#define GRIDS_MAX 64

struct options {
	const char *policy, *state, *config;
	const char *grid[GRIDS_MAX + 1]; /* ends with NULL */
	size_t grids;
	unsigned int jobs;
	bool limits, score_only, apply, json;
};

static bool take_grid(void *arg, const char *text)
{
	struct options *o = arg;

	if (o->grids == GRIDS_MAX)
		return false;
	o->grid[o->grids++] = text;
	return true;
}

static bool take_jobs(void *jobs, const char *text)
{
	uint64_t n;

	if (davy_number(text, JOBS_MAX, &n) && n) {
		*(unsigned int *)jobs = (unsigned int)n;
		return true;
	}
	davy_log("--jobs '%s': expected a number from 1 to %d", text, JOBS_MAX);
	return false;
}

/* As davy_options_read. */
static int tune_parse(int argc, char **argv, struct options *o)
{
	const struct davy_option options[] = {
		{ "policy", .text = &o->policy }, { "grid", .take = take_grid, .arg = o },
		{ "limits", .flag = &o->limits }, { "score-only", .flag = &o->score_only },
		{ "apply", .flag = &o->apply },	  { "state", .text = &o->state },
		{ "config", .text = &o->config }, { "jobs", .take = take_jobs, .arg = &o->jobs },
		{ "json", .flag = &o->json },	  { 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);

	if (first <= 0)
		return first;
	if (o->apply && o->score_only) {
		davy_log("--apply and --score-only exclude each other");
		return -DAVY_EXIT_USAGE;
	}
	if (first < argc)
		return first;
	davy_log("expected traces: 'davylamp tune DIR'; 'davylamp trace synth all --out DIR' makes "
		 "some");
	return -DAVY_EXIT_USAGE;
}

static bool add_values(struct davy_search *search, int key, const char *grid, char *list)
{
	for (char *at = list, *word; (word = strsep(&at, ","));) {
		enum davy_unit unit = davy_config_rows[key].unit;
		int64_t value;
		int wrong = davy_config_value(unit, word, &value);
		int err = wrong ? wrong : davy_search_add(search, key, value);

		if (!err)
			continue;
		davy_log("--grid '%s': '%s' %s, expected %s; see davylamp.conf(5)", grid, word,
			 wrong		  ? "is not a value"
			 : err == -ERANGE ? "is out of its range"
			 : err == -EINVAL ? "conflicts with the other values"
					  : "is one too many",
			 davy_config_value_form(unit));
		return false;
	}
	return true;
}

/* KEY=V1,V2 */
static bool read_grid(struct davy_search *search, const char *grid)
{
	const char *equals = strchr(grid, '=');
	char name[64] = "", values[1024] = "";
	int key;

	if (equals && (size_t)(equals - grid) < sizeof(name) && strlen(equals) < sizeof(values)) {
		memcpy(name, grid, (size_t)(equals - grid));
		snprintf(values, sizeof(values), "%s", equals + 1);
	}
	key = davy_config_find(name);
	if (key < 0 || !davy_search_key(key)) {
		davy_log("--grid '%s': expected a key of a hazard and its values, such as "
			 "'eviction_storm.bytes=128 MiB,512 MiB'",
			 grid);
		return false;
	}
	return add_values(search, key, grid, values);
}

/* The agent reads the administrator's file after ours. */
static void tell_shadowed(const struct davy_search *search, const struct options *o)
{
	char path[PATH_MAX], list[1024];
	int n = snprintf(path, sizeof(path), "%s/hazards.conf", o->config);
	int err = n < 0 || (size_t)n >= sizeof(path)
			  ? -ENAMETOOLONG
			  : davy_tune_shadowed(search, path, list, sizeof(list));

	if (err == -EBADMSG)
		davy_log("'%s' and the result are not compatible: an agent with both ignores the "
			 "result",
			 path);
	else if (err)
		davy_log("'%s': %s", path, strerror(-err));
	else if (list[0])
		davy_log("'%s' takes precedence with other values: %s", path, list);
}

static int tune_apply(const struct davy_search *search, const struct davy_cases *cases,
		      const struct options *o, char **sources)
{
	char path[PATH_MAX];
	size_t count = 0;
	int n = snprintf(path, sizeof(path), "%s/hazards.conf", o->state);
	int err = n < 0 || (size_t)n >= sizeof(path) ? -ENAMETOOLONG : 0;

	if (!search->taken_count) {
		davy_log("no better values found; '%s' is unchanged", path);
		return DAVY_EXIT_NOTHING;
	}
	while (sources[count])
		count++;
	if (!err)
		err = davy_make_dirs(o->state);
	if (!err)
		err = davy_tune_apply(search, cases, path, sources, count);
	if (err == -EEXIST)
		davy_log("'%s' was not written by tune; nothing is changed; move it away first",
			 path);
	else if (err)
		davy_log("'%s': %s", path, strerror(-err));
	else
		davy_log("'%s' is written; SIGHUP makes a running agent read it", path);
	if (!err)
		tell_shadowed(search, o);
	return err ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static int tune(struct davy_search *search, struct davy_cases *cases, const struct options *o,
		char **sources)
{
	int err, status = DAVY_EXIT_DONE;
	bool failed = false;

	for (char **source = sources; *source; source++)
		failed |= davy_cases_add(cases, *source) != 0;
	if (!cases->count || davy_search_run(search, cases, o->jobs))
		return DAVY_EXIT_FAILED;
	err = 0;
	if (o->json)
		err = davy_tune_print_json(search, cases);
	else
		davy_tune_print(search, cases);
	if (err || fflush(stdout))
		return DAVY_EXIT_FAILED;
	if (o->apply)
		status = tune_apply(search, cases, o, sources);
	return failed || cases->wrong_count ? DAVY_EXIT_FAILED : status;
}

int davy_verb_tune(int argc, char **argv)
{
	struct options o = { .state = DAVY_STATE_DIR, .config = DAVY_CONFIG_DIR };
	struct davy_search *search;
	struct davy_cases cases = { 0 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int first, status = DAVY_EXIT_DONE;

	o.jobs = cpus > 0 && cpus < JOBS_MAX ? (unsigned int)cpus : 1;
	first = tune_parse(argc, argv, &o);
	if (first <= 0)
		return -first;
	search = calloc(1, sizeof(*search));
	if (!search)
		return DAVY_EXIT_FAILED;
	davy_config_defaults(&search->base);
	if (o.policy && davy_thresholds_file_read(o.policy, &search->base))
		status = DAVY_EXIT_FAILED;
	for (const char **grid = o.grid; *grid && !status; grid++)
		status = read_grid(search, *grid) ? 0 : DAVY_EXIT_USAGE;
	for (const struct davy_tunable *t = davy_tunables; t->key && o.limits && !status; t++)
		davy_search_add(search, t->key, t->limit);
	if (!status && !o.grids && !o.score_only && !o.limits)
		davy_search_add_all(search);
	if (!status)
		status = tune(search, &cases, &o, argv + first);
	davy_search_free(search);
	davy_cases_free(&cases);
	free(search);
	return status;
}

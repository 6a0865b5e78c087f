/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lab/host_month.h"
#include "lab/lab_verbs.h"
#include "lib/number.h"
#include "lib/options.h"
#include "store/config_value.h"
#include "verb/verb.h"

static const char usage[] =
	"usage: davylamp-lab month [OPTIONS] [CASE...]\n"
	"\n"
	"Simulates a month of one host, with the default thresholds and with thresholds\n"
	"that are tuned from what the alarms of this host led to. Prints the versions of\n"
	"the tuned thresholds, the false alarms per week and the missed failures.\n"
	"\n"
	"  --seed N       (1)\n"
	"  --json         one JSON object for each case\n"
	"  -h, --help     print this text\n";

static const char *const whys[] = {
	[DAVY_THRESHOLD_KEEP] = "keep",
	[DAVY_THRESHOLD_FEWER] = "fewer false alarms",
	[DAVY_THRESHOLD_MISSED] = "back: a failure was missed",
	[DAVY_THRESHOLD_NO_BETTER] = "back: no fewer false alarms",
};

static void month_print_side(const char *name, const struct davy_host_side *side)
{
	printf("  %-12s", name);
	for (size_t i = 0; i < DAVY_HOST_WEEKS; i++)
		printf(" %6u", side->false_alarms[i]);
	printf("   %2u of %u   %" PRIu64 ".%" PRIu64 " s\n", side->missed, side->failures,
	       side->lead_time_ns / DAVY_NS_PER_S, side->lead_time_ns / (DAVY_NS_PER_S / 10) % 10);
}

static void month_print(const struct davy_host_case *c, const struct davy_host_month *m)
{
	printf("%s: %s (%" PRIu64 " events)\n", c->name, c->what, m->event_count);
	for (size_t i = 0; i < m->version_count; i++) {
		const struct davy_host_version *v = &m->version[i];
		const struct davy_config_row *row = &davy_config_rows[v->key];
		char from[DAVY_CONFIG_VALUE_LEN], to[DAVY_CONFIG_VALUE_LEN];

		davy_config_value_text(row->unit, (int64_t)v->from, from);
		davy_config_value_text(row->unit, (int64_t)v->verdict.to, to);
		printf("  day %2" PRIu64 " %02" PRIu64 ":%02" PRIu64
		       "  version %zu: %s %s -> %s, %s: %u false alarms (%u prevented), "
		       "%u confirmed, %u missed\n",
		       v->at_s / 86400 + 1, v->at_s / 3600 % 24, v->at_s / 60 % 60, i + 1,
		       row->name, from, to, whys[v->verdict.why], v->verdict.false_count,
		       v->verdict.removed, v->verdict.confirmed, v->verdict.missed);
	}
	printf("  false alarms  week 1      2      3      4 (29-30)   missed   median lead\n");
	month_print_side("defaults", &m->by_default);
	month_print_side("tuned", &m->tuned);
}

static json_t *month_side_json(const struct davy_host_side *side)
{
	json_t *weeks = json_array();

	for (size_t i = 0; i < DAVY_HOST_WEEKS; i++)
		json_array_append_new(weeks, json_integer(side->false_alarms[i]));
	return json_pack("{s:o, s:i, s:i, s:I}", "false_alarms", weeks, "failures",
			 (int)side->failures, "missed", (int)side->missed, "lead_ns",
			 (json_int_t)side->lead_time_ns);
}

static int month_print_json(const struct davy_host_case *c, const struct davy_host_month *m)
{
	json_t *versions = json_array(), *o;
	int err;

	for (size_t i = 0; i < m->version_count; i++) {
		const struct davy_host_version *v = &m->version[i];

		json_array_append_new(
			versions,
			json_pack("{s:I, s:s, s:I, s:I, s:s, s:b, s:i, s:i, s:i, s:i}", "at_s",
				  (json_int_t)v->at_s, "key", davy_config_rows[v->key].name, "from",
				  (json_int_t)v->from, "to", (json_int_t)v->verdict.to, "why",
				  whys[v->verdict.why], "back",
				  v->verdict.why != DAVY_THRESHOLD_FEWER, "false",
				  (int)v->verdict.false_count, "removed", (int)v->verdict.removed,
				  "confirmed", (int)v->verdict.confirmed, "missed",
				  (int)v->verdict.missed));
	}
	o = json_pack("{s:s, s:o, s:o, s:o}", "case", c->name, "versions", versions, "default",
		      month_side_json(&m->by_default), "tuned", month_side_json(&m->tuned));
	err = o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;
	json_decref(o);
	return err || putchar('\n') < 0;
}

static int month_run(const struct davy_host_case *c, uint64_t seed, bool json)
{
	struct davy_host_month m;

	if (davy_host_month_run(c, seed, &m)) {
		davy_log("no memory for a simulated host");
		return DAVY_EXIT_FAILED;
	}
	if (json)
		return month_print_json(c, &m) ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
	month_print(c, &m);
	return DAVY_EXIT_DONE;
}

static bool month_is_named(const char *name, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return !count;
}

int davy_verb_month(int argc, char **argv)
{
	const char *seed_text = "1";
	bool json = false;
	const struct davy_option options[] = {
		{ "seed", .text = &seed_text },
		{ "json", .flag = &json },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	int status = DAVY_EXIT_USAGE;
	uint64_t seed;

	if (first <= 0)
		return -first;
	if (!davy_number(seed_text, UINT32_MAX, &seed)) {
		davy_log("--seed '%s': expected a number", seed_text);
		return DAVY_EXIT_USAGE;
	}
	for (size_t i = 0; i < davy_host_case_count; i++)
		if (month_is_named(davy_host_cases[i].name, argv + first, argc - first))
			status = month_run(&davy_host_cases[i], seed, json);
	if (status == DAVY_EXIT_USAGE)
		davy_log("'%s' is no case; see davylamp-lab month without a name", argv[first]);
	return fflush(stdout) ? DAVY_EXIT_FAILED : status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../core/plan.h"
#include "../lib/text.h"
#include "../store/learned.h"
#include "verbs.h"

static const char usage[] =
	"usage: davylamp policy show [--json] [--state DIR]\n"
	"\n"
	"What the agent has learned: which model on which device and backend is\n"
	"open-circuit, since when, and why. Needs no running agent.\n"
	"\n"
	"  --json       one JSON object a line\n"
	"  --state DIR  where it is kept (/var/lib/davylamp)\n"
	"  -h, --help   this text\n";

static const char *local_time(int64_t wall_s, char *buf, size_t size)
{
	time_t t = (time_t)wall_s;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, size, "%" PRId64, wall_s);
	return buf;
}

static void print(const struct dl_learned_entry *e)
{
	char device[128], model[256], because[512], since[32], until[32];

	printf("%s on %s, model %s: breaker %s\n", dl_backend_name(e->backend),
	       dl_text_safe(device, sizeof(device), e->device[0] ? e->device : "any device"),
	       dl_text_safe(model, sizeof(model), e->model), dl_breaker_state_name(e->state));
	printf("    since %s", local_time(e->since_s, since, sizeof(since)));
	if (e->state == DL_BREAKER_OPEN)
		printf(", one start may try it from %s on",
		       local_time(e->until_s, until, sizeof(until)));
	printf("; opened %u time%s\n    because it %s\n", e->open_count,
	       e->open_count == 1 ? "" : "s", dl_text_safe(because, sizeof(because), e->because));
}

static void print_json(const struct dl_learned_entry *e)
{
	char device[128], model[256], because[512];
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:i, s:s}", "backend",
			      dl_backend_name(e->backend), "device",
			      dl_text_safe(device, sizeof(device), e->device), "model",
			      dl_text_safe(model, sizeof(model), e->model), "state",
			      dl_breaker_state_name(e->state), "since", (json_int_t)e->since_s,
			      "until", (json_int_t)e->until_s, "openings", (int)e->open_count,
			      "because", dl_text_safe(because, sizeof(because), e->because));

	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

static int show(const char *dir, bool json)
{
	struct dl_learned learned;
	int line, err = dl_learned_load(dir, &learned, &line);

	if (err == -EBADMSG)
		dl_log("'%s/%s', line %d: not understood; mend or remove it", dir, DL_LEARNED_NAME,
		       line);
	else if (err)
		dl_log("'%s/%s': %s", dir, DL_LEARNED_NAME, strerror(-err));
	if (err)
		return DL_EXIT_FAILED;
	for (size_t i = 0; i < learned.count; i++) {
		if (json)
			print_json(&learned.entry[i]);
		else
			print(&learned.entry[i]);
	}
	if (!learned.count && !json)
		printf("nothing learned: every backend is closed-circuit\n");
	return DL_EXIT_DONE;
}

int dl_verb_policy(int argc, char **argv)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "state", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *dir = DL_STATE_DIR;
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) >= 0) {
		if (c == 'h')
			return fputs(usage, stdout) < 0 ? DL_EXIT_FAILED : DL_EXIT_DONE;
		if (c == 'j')
			json = true;
		else if (c == 'd')
			dir = optarg;
		else
			return DL_EXIT_USAGE;
	}
	if (optind + 1 != argc || strcmp(argv[optind], "show") != 0) {
		dl_log("what about the policy? 'davylamp policy show'");
		return DL_EXIT_USAGE;
	}
	return show(dir, json);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "lib/message.h"
#include "lib/options.h"
#include "report/foresight_text.h"
#include "report/plan_text.h"
#include "reporter/dossier.h"
#include "store/trace.h"
#include "verb/thresholds.h"
#include "verb/verb.h"

static const char usage[] =
	"usage: davylamp replay [--json] [--summary [--final]] [--policy FILE]\n"
	"                       TRACE...\n"
	"\n"
	"Feeds recorded traces to the core again and prints its decisions, which are\n"
	"identical to those of the live run. Needs no root and no GPU.\n"
	"\n"
	"  --json         one JSON object per line\n"
	"  --summary      instead of the decisions print a summary of all traces:\n"
	"                 failures, lead times, the hazards that foresaw\n"
	"                 them, false alarms, and how well stated\n"
	"                 probabilities held\n"
	"  --final        assume that no failure follows the last event of a trace:\n"
	"                 alarms without a result at this point count as false\n"
	"  --policy FILE  use these thresholds instead of the recorded ones\n"
	"  -h, --help     print this text\n";

static int print_plan(const struct davy_plan *plan, bool json)
{
	char text[DAVY_PLAN_TEXT_SIZE];
	char *dump;
	int err;

	if (!json) {
		davy_plan_text(plan, text, sizeof(text));
		return puts(text) < 0 ? -EIO : 0;
	}
	dump = davy_plan_json(plan);
	if (!dump)
		return -ENOMEM;
	err = puts(dump) < 0 ? -EIO : 0;
	free(dump);
	return err;
}

struct replay_options {
	bool json;
	bool summary;
	bool final;
	const char *policy; /* NULL: as recorded */
	struct davy_config config;
	struct davy_foresight total;
};

static bool replay_is_config(const struct davy_event *ev)
{
	return ev->kind == DAVY_EV_CONFIG || ev->kind == DAVY_EV_CONFIG_FOR;
}

static int replay_replay(struct davy_trace_reader *trace, struct davy_core *core,
			 const struct replay_options *o)
{
	struct davy_plan plans[DAVY_PLANS_MAX];
	struct davy_event ev;
	int more, err = 0;

	while (!err && (more = davy_trace_next(trace, &ev)) > 0) {
		size_t count = 0;

		if (!o->policy || !replay_is_config(&ev))
			count = davy_core_step(core, &ev, plans, DAVY_PLANS_MAX);
		for (size_t i = 0; !o->summary && i < count && !err; i++)
			err = print_plan(&plans[i], o->json);
	}
	return err ? err : more;
}

static int replay_file(const char *path, struct replay_options *o)
{
	struct davy_trace_reader *trace = NULL;
	struct davy_core *core = malloc(sizeof(*core));
	int err;

	if (!core)
		return -ENOMEM;
	err = davy_trace_open(path, &trace);
	if (!err) {
		davy_core_init(core);
		if (o->policy)
			core->config = o->config;
		err = replay_replay(trace, core, o);
		if (o->final)
			davy_foresight_end(&core->foresight);
		davy_foresight_add(&o->total, &core->foresight);
	}
	if (trace && davy_trace_skipped(trace))
		davy_log("'%s' was written by a newer davylamp: %" PRIu64 " events of unknown "
			 "kinds were skipped; use that version to get its decisions",
			 path, davy_trace_skipped(trace));
	davy_trace_reader_free(trace);
	free(core);
	if (err == -EINVAL)
		davy_log("'%s' is not a trace; 'davylamp run --record FILE' makes one", path);
	else if (err == -EPROTONOSUPPORT)
		davy_log("'%s' was written by a newer davylamp; replay it with that version", path);
	else if (err == -ESTALE)
		davy_log("'%s' was written by an older davylamp; replay it with that version",
			 path);
	else if (err == -EBADMSG)
		davy_log("'%s' is truncated or corrupted; it was replayed up to the defect", path);
	else if (err)
		davy_log("'%s': %s", path, strerror(-err));
	return err;
}

static int print_summary(const struct replay_options *o)
{
	json_t *foresight = davy_foresight_json(&o->total);
	bool any = davy_message_number(foresight, "failures", 0) ||
		   json_object_size(json_object_get(foresight, "hazards"));

	if (!foresight)
		return -ENOMEM;
	if (o->json) {
		json_dumpf(foresight, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (any) {
		davy_foresight_print(stdout, "", foresight);
	} else {
		puts("no failure and no precursor");
	}
	json_decref(foresight);
	return 0;
}

int davy_report_replay(int argc, char **argv)
{
	static struct replay_options o;
	const struct davy_option options[] = {
		{ "json", .flag = &o.json },
		{ "summary", .flag = &o.summary },
		{ "final", .flag = &o.final },
		{ "policy", .text = &o.policy },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	bool failed = false;

	if (first <= 0)
		return -first;
	if (first == argc) {
		davy_log("expected a trace: 'davylamp replay FILE'; 'davylamp run --record FILE' "
			 "makes one");
		return DAVY_EXIT_USAGE;
	}
	if (o.final && !o.summary) {
		davy_log("'--final' needs '--summary'");
		return DAVY_EXIT_USAGE;
	}
	davy_config_defaults(&o.config);
	if (o.policy && davy_thresholds_file_read(o.policy, &o.config))
		return DAVY_EXIT_FAILED;
	for (int i = first; i < argc; i++)
		failed |= replay_file(argv[i], &o) != 0;
	if (o.summary)
		failed |= print_summary(&o) != 0;
	return failed ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

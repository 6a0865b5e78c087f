/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/core.h"
#include "../report/plan_text.h"
#include "../store/trace.h"
#include "verbs.h"

static const char usage[] =
	"usage: davylamp replay [--json] TRACE...\n"
	"\n"
	"Prints the decisions that the agent made, or would have made, over recorded\n"
	"traces: the same bytes as the live run. Needs no root and no GPU.\n"
	"\n"
	"  --json      one JSON object a line\n"
	"  -h, --help  this text\n";

static int print_plan(const struct dl_plan *plan, bool json)
{
	char text[DL_PLAN_TEXT_SIZE];
	char *dump;
	int err;

	if (!json) {
		dl_plan_text(plan, text, sizeof(text));
		return puts(text) < 0 ? -EIO : 0;
	}
	dump = dl_plan_json(plan);
	if (!dump)
		return -ENOMEM;
	err = puts(dump) < 0 ? -EIO : 0;
	free(dump);
	return err;
}

static int replay(struct dl_trace_reader *trace, struct dl_core *core, bool json)
{
	struct dl_plan plans[DL_PLANS_MAX];
	struct dl_event ev;
	int more, err = 0;

	while (!err && (more = dl_trace_next(trace, &ev)) > 0) {
		size_t count = dl_core_step(core, &ev, plans, DL_PLANS_MAX);

		for (size_t i = 0; i < count && !err; i++)
			err = print_plan(&plans[i], json);
	}
	return err ? err : more;
}

static int replay_file(const char *path, bool json)
{
	struct dl_trace_reader *trace = NULL;
	struct dl_core *core = malloc(sizeof(*core));
	int err;

	if (!core)
		return -ENOMEM;
	err = dl_trace_open(path, &trace);
	if (!err) {
		dl_core_init(core);
		err = replay(trace, core, json);
	}
	dl_trace_reader_free(trace);
	free(core);
	if (err == -EINVAL)
		dl_log("'%s' is not a trace; 'davylamp run --record FILE' makes one", path);
	else if (err == -EPROTONOSUPPORT)
		dl_log("'%s' was written by a newer davylamp; replay it with that one", path);
	else if (err == -ESTALE)
		dl_log("'%s' was written by an older davylamp; replay it with that one", path);
	else if (err == -EBADMSG)
		dl_log("'%s' is cut short or corrupted; what is whole was replayed", path);
	else if (err)
		dl_log("'%s': %s", path, strerror(-err));
	return err;
}

int dl_verb_replay(int argc, char **argv)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool json = false, failed = false;
	int c;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) >= 0) {
		if (c == 'h')
			return fputs(usage, stdout) < 0 ? DL_EXIT_FAILED : DL_EXIT_DONE;
		if (c != 'j')
			return DL_EXIT_USAGE;
		json = true;
	}
	if (optind == argc) {
		dl_log("which trace? 'davylamp replay FILE'; 'davylamp run --record FILE' makes "
		       "one");
		return DL_EXIT_USAGE;
	}
	for (int i = optind; i < argc; i++)
		failed |= replay_file(argv[i], json) != 0;
	return failed ? DL_EXIT_FAILED : DL_EXIT_DONE;
}

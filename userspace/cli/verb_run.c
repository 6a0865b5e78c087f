/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "lib/message.h"
#include "lib/options.h"
#include "cli/verbs.h"

static const char usage[] =
	"usage: davylamp run [OPTIONS]\n"
	"\n"
	"Runs the agent: watches GPU drivers and inference engines, prints events and\n"
	"decisions, and acts on adopted workloads. Needs root.\n"
	"\n"
	"  --mode MODE     observe, advise or enforce (default: as in hazards.conf)\n"
	"  --json          one JSON object per line\n"
	"  --record FILE   write all events to a trace for 'davylamp replay'\n"
	"  --socket PATH   the agent's socket (/run/davylamp/agent.sock)\n"
	"  --state DIR     learned rules and data (/var/lib/davylamp)\n"
	"  --config DIR    hazards.conf and backend.conf (/etc/davylamp)\n"
	"  --verbose       print the result of loading each BPF program\n"
	"  -h, --help      print this text\n"
	"\n"
	"Prints one line for each event and decision; 'davylamp top' shows a screen.\n"
	"SIGHUP reloads the configuration.\n";

/* Exit status; negative after --help. */
static int run_parse(int argc, char **argv, struct davy_agent_options *o)
{
	const char *mode = NULL;
	bool verbose = false;
	const struct davy_option options[] = {
		{ "mode", .text = &mode },
		{ "json", .flag = &o->json },
		{ "record", .text = &o->record_path },
		{ "socket", .text = &o->socket_path },
		{ "state", .text = &o->state_dir },
		{ "config", .text = &o->config_dir },
		{ "verbose", .flag = &verbose },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);

	if (first <= 0)
		return first ? -first : -1;
	davy_log_verbose(verbose);
	if (mode)
		o->mode = davy_mode_from_name(mode);
	if (mode && o->mode < 0) {
		davy_log("--mode '%s': expected observe, advise or enforce", mode);
		return DAVY_EXIT_USAGE;
	}
	if (first == argc)
		return 0;
	davy_log("unexpected argument '%s'; see 'davylamp run --help'", argv[first]);
	return DAVY_EXIT_USAGE;
}

int davy_verb_run(int argc, char **argv)
{
	struct davy_agent_options options = {
		.mode = -1,
		.socket_path = DAVY_SOCKET_DEFAULT,
		.state_dir = DAVY_STATE_DIR,
		.config_dir = DAVY_CONFIG_DIR,
		.data_dir = DAVY_DATA_DIR "/policies",
	};
	int err = run_parse(argc, argv, &options);

	if (err)
		return err < 0 ? DAVY_EXIT_DONE : err;
	if (geteuid()) {
		davy_log("the agent needs root to load its kernel programs; run it as root, or as "
			 "the service davylamp.service. 'davylamp replay' and 'davylamp status' do "
			 "not");
		return DAVY_EXIT_NOT_PERMITTED;
	}
	umask(077);
	err = davy_agent_run(&options);
	if (err)
		davy_log("the agent has ended: %s", strerror(-err));
	return err ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

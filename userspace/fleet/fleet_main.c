/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-fleet, the program of 'davylamp fleet': this host's evidence for other hosts, and what
 * theirs says about this host, through etcd.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fleet/fleet.h"
#include "lib/log.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "store/learned.h"
#include "verb/verb.h"

static const char usage[] =
	"usage: davylamp fleet run [OPTIONS]\n"
	"       davylamp fleet status [--json]\n"
	"       davylamp fleet evidence [--model NAME] [--device ID] [--json]\n"
	"       davylamp fleet export\n"
	"       davylamp fleet import FILE\n"
	"\n"
	"Shares through etcd which settings of a model survive on which GPU, and takes\n"
	"rules on which several hosts agree as the policy layer 'fleet'. Only rules that\n"
	"narrow are taken: a smaller ubatch, fewer backends, a warning.\n"
	"\n"
	"run        publishes and watches until a signal arrives (the service)\n"
	"status     connection, rows and rules of this host\n"
	"evidence   which settings live on a GPU, by hosts and hours, from etcd\n"
	"export     rules and evidence as JSON, for sites without a network\n"
	"import     takes the rules of an exported file on this host\n"
	"\n"
	"  --model NAME    file name or alias of the model\n"
	"  --device ID     PCI vendor and device, such as 1002:744c\n"
	"  --config FILE   (" DAVY_FLEET_CONFIG ")\n"
	"  --state DIR     the agent's state directory (" DAVY_STATE_DIR ")\n"
	"  --socket PATH   the agent's socket (" DAVY_SOCKET_DEFAULT ")\n"
	"  --json          one JSON object\n"
	"  -h, --help      print this text\n";

static const struct {
	const char *name;
	int (*run)(const struct davy_fleet_options *o);
	int words;
} fleet_verbs[] = {
	{ "run", davy_fleet_run, 0 },		{ "status", davy_fleet_status, 0 },
	{ "evidence", davy_fleet_evidence, 0 }, { "export", davy_fleet_export, 0 },
	{ "import", davy_fleet_import, 1 },
};

int main(int argc, char **argv)
{
	struct davy_fleet_options o = { .config = DAVY_FLEET_CONFIG,
					.state = DAVY_STATE_DIR,
					.socket = DAVY_SOCKET_DEFAULT };
	const struct davy_option options[] = {
		{ "config", .text = &o.config },
		{ "state", .text = &o.state },
		{ "socket", .text = &o.socket },
		{ "model", .text = &o.model },
		{ "device", .text = &o.device },
		{ "json", .flag = &o.json },
		{ 0 },
	};
	int first, status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED;
	first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	if (first <= 0)
		return -first;
	for (size_t i = 0; first < argc && i < sizeof(fleet_verbs) / sizeof(fleet_verbs[0]); i++) {
		if (strcmp(argv[first], fleet_verbs[i].name) != 0)
			continue;
		if (argc - first - 1 != fleet_verbs[i].words) {
			davy_log("fleet %s: expected %s; see 'davylamp fleet --help'", argv[first],
				 fleet_verbs[i].words ? "a file" : "no further argument");
			return DAVY_EXIT_USAGE;
		}
		o.file = argv[first + 1];
		status = fleet_verbs[i].run(&o);
		return fflush(stdout) && !status ? DAVY_EXIT_FAILED : status;
	}
	davy_log("expected run, status, evidence, export or import; see 'davylamp fleet --help'");
	return DAVY_EXIT_USAGE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-report, the program of 'davylamp report', 'log', 'replay' and 'schema': one incident
 * as text, JSON, HTML or for a tracker, from the running agent or from a trace. It changes nothing.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "reporter/dossier.h"
#include "verb/verb.h"

static const char usage[] =
	"usage: davylamp report [ID] [TRACE] [OPTIONS]\n"
	"\n"
	"Prints one incident: what, where, since when, who, what was tried, how it ended,\n"
	"and the decisions and events around it. From the running agent, or from a trace\n"
	"of 'davylamp run --record'. Without ID: the latest; --list shows all.\n"
	"\n"
	"  --list          the incidents, one a line\n"
	"  --html          one HTML file with a picture of the time line\n"
	"  --json          one JSON object\n"
	"  --upstream T    as the tracker asks for it: drm-amd, llama.cpp or ollama\n"
	"  --redact        without names, paths, addresses and texts of programs\n"
	"  --socket PATH   the agent's socket (/run/davylamp/agent.sock)\n"
	"  -h, --help      print this text\n";

struct reporter_options {
	bool list, html, json, redact;
	const char *upstream, *socket, *trace;
	uint64_t id; /* 0: the latest */
};

static int reporter_parse(int argc, char **argv, struct reporter_options *o)
{
	const struct davy_option options[] = {
		{ "list", .flag = &o->list },
		{ "html", .flag = &o->html },
		{ "json", .flag = &o->json },
		{ "redact", .flag = &o->redact },
		{ "upstream", .text = &o->upstream },
		{ "socket", .text = &o->socket },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);

	if (first <= 0)
		return first;
	for (int i = first; i < argc; i++) {
		if (!o->id && davy_number(argv[i], UINT32_MAX, &o->id))
			continue;
		if (o->trace || !*argv[i] || isdigit((unsigned char)*argv[i])) {
			davy_log("unexpected argument '%s'; see 'davylamp report --help'", argv[i]);
			return -DAVY_EXIT_USAGE;
		}
		o->trace = argv[i];
	}
	if (o->html + o->json + o->list + (o->upstream != NULL) <= 1)
		return 1;
	davy_log("--list, --html, --json and --upstream exclude each other");
	return -DAVY_EXIT_USAGE;
}

static int reporter_gather(const struct reporter_options *o, struct davy_dossier *d)
{
	int err =
		o->trace ? davy_dossier_of_trace(d, o->trace) : davy_dossier_of_agent(d, o->socket);

	if (!err)
		return DAVY_EXIT_DONE;
	if (!o->trace && davy_message_no_agent(err)) {
		davy_log("no agent answers on '%s' (%s); name a trace, or start the agent with "
			 "'davylamp run' as root",
			 o->socket, strerror(-err));
		return DAVY_EXIT_NOTHING;
	}
	if (err == -EBADMSG && o->trace) {
		davy_log("'%s' is truncated or corrupted; what is before the defect is reported",
			 o->trace);
		return DAVY_EXIT_DONE;
	}
	if (err == -EINVAL && o->trace)
		davy_log("'%s' is not a trace; 'davylamp run --record FILE' makes one", o->trace);
	else
		davy_log("'%s': %s", o->trace ? o->trace : o->socket, strerror(-err));
	return err == -EACCES ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_FAILED;
}

static void reporter_list(const struct davy_dossier *d)
{
	for (size_t i = 0; i < d->incidents.count; i++) {
		const struct davy_told_incident *in = &d->incidents.at[i];

		printf("%-6lld %10.3f s  %-18s level %d  %zu decisions%s%s\n", (long long)in->id,
		       (double)in->begun_ns / 1e9, in->hazard, in->level,
		       json_array_size(in->lines), in->failure ? ", a failure" : "",
		       in->ended_ns ? "" : ", stands");
	}
}

static const struct davy_told_incident *reporter_find(const struct davy_dossier *d, uint64_t id)
{
	for (size_t i = d->incidents.count; i; i--)
		if (!id || d->incidents.at[i - 1].id == (json_int_t)id)
			return &d->incidents.at[i - 1];
	return NULL;
}

static int reporter_print(const struct reporter_options *o, const struct davy_dossier *d)
{
	const struct davy_told_incident *in = reporter_find(d, o->id);
	int status = DAVY_EXIT_DONE;
	json_t *account;

	if (!in) {
		davy_log(o->id ? "no incident has this number; see 'davylamp report --list'"
			       : "no incident is known");
		return DAVY_EXIT_NOTHING;
	}
	account = davy_account(d, in, o->redact);
	if (o->html) {
		davy_account_html(account, d, in, stdout);
	} else if (o->json) {
		json_dumpf(account, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (!o->upstream) {
		davy_account_text(account, stdout);
	} else if (!davy_account_upstream(account, o->upstream, stdout)) {
		davy_log("--upstream '%s': expected drm-amd, llama.cpp or ollama", o->upstream);
		status = DAVY_EXIT_USAGE;
	}
	json_decref(account);
	return status;
}

int main(int argc, char **argv)
{
	struct reporter_options o = { .socket = DAVY_SOCKET_DEFAULT };
	struct davy_dossier *d;
	int status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED;
	if (argc > 1 && !strcmp(argv[1], "log"))
		return davy_report_log(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "replay"))
		return davy_report_replay(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "schema"))
		return davy_report_schema(argc - 1, argv + 1);
	status = reporter_parse(argc, argv, &o);
	if (status <= 0)
		return -status;
	d = calloc(1, sizeof(*d));
	if (!d)
		return DAVY_EXIT_FAILED;
	status = reporter_gather(&o, d);
	if (!status && o.list)
		reporter_list(d);
	else if (!status)
		status = reporter_print(&o, d);
	davy_dossier_done(d);
	free(d);
	return fflush(stdout) && !status ? DAVY_EXIT_FAILED : status;
}

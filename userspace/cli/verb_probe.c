/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/probe_run.h"
#include "lib/message.h"
#include "cli/client.h"
#include "cli/probe_print.h"
#include "cli/verbs.h"

#define SPARE_MS      1000  /* the probe's own limit comes first */
#define FACTS_MS      4000  /* /health, models, props, slots: a second each */
#define START_MS      10000 /* an agent that is asked has a queue */
#define ARGUMENTS_MAX 16
#define TIMEOUT_S     10

static const char usage[] =
	"usage: davylamp probe vulkan [--device INDEX|BDF] [OPTIONS]\n"
	"       davylamp probe engine --port N [OPTIONS]\n"
	"\n"
	"Whether a GPU or an engine still does work, found out by davylamp-probe, in a\n"
	"sandbox and without privileges: every Vulkan device fills 1 MiB, the engine on\n"
	"127.0.0.1 gives one token. A crash or a hang of the driver is told by its signal\n"
	"and stage. Exit status 0: healthy, 1: not.\n"
	"\n"
	"  --device X         one device, by its index or PCI address\n"
	"  --port N           port of the engine\n"
	"  --timeout SECONDS  limit of the probe, or of the completion (10)\n"
	"  --uid N, --gid N   as this user, such as the engine's\n"
	"  --groups N,N...    with these groups (those of the GPUs' device files)\n"
	"  --memory MIB       limit of the address space\n"
	"  --agent            let the running agent do it, in its service's surroundings\n"
	"  --socket PATH      the agent's socket (/run/davylamp/agent.sock)\n"
	"  --json             one JSON object\n"
	"  -h, --help         this text\n";

static const struct option names[] = {
	{ "device", required_argument, NULL, 'd' },  { "port", required_argument, NULL, 'p' },
	{ "timeout", required_argument, NULL, 't' }, { "uid", required_argument, NULL, 'u' },
	{ "gid", required_argument, NULL, 'g' },     { "groups", required_argument, NULL, 'G' },
	{ "memory", required_argument, NULL, 'm' },  { "agent", no_argument, NULL, 'a' },
	{ "socket", required_argument, NULL, 's' },  { "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },	     { 0 },
};

struct request {
	const char *arguments[ARGUMENTS_MAX];
	size_t count;
	const char *port;
	uint32_t timeout_s;
	char timeout[16];
	bool json;
	bool agent;
	const char *socket_path;
	sd_event *loop;
	json_t *finding;
};

static void add(struct request *r, const char *option, const char *value)
{
	if (r->count + 2 < ARGUMENTS_MAX) {
		r->arguments[r->count++] = option;
		r->arguments[r->count++] = value;
	}
}

static bool take_timeout(struct request *r, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	r->timeout_s = (uint32_t)value;
	return *text >= '0' && *text <= '9' && !*end && value > 0 && value <= 240;
}

/* False when it is not understood; what davylamp-probe checks is left to it. */
static bool take(struct request *r, int c)
{
	switch (c) {
	case 'd':
		add(r, "--device", optarg);
		return true;
	case 'p':
		r->port = optarg;
		add(r, "--port", optarg);
		return true;
	case 't':
		return take_timeout(r, optarg);
	case 'u':
		add(r, "--uid", optarg);
		return true;
	case 'g':
		add(r, "--gid", optarg);
		return true;
	case 'G':
		add(r, "--groups", optarg);
		return true;
	case 'm':
		add(r, "--memory", optarg);
		return true;
	case 'a':
		r->agent = true;
		return true;
	case 's':
		r->socket_path = optarg;
		return true;
	case 'j':
		r->json = true;
		return true;
	default:
		return false;
	}
}

static void on_finding(void *arg, const struct davy_probe_finding *finding)
{
	struct request *r = arg;

	r->finding = davy_probe_finding_json(finding);
	sd_event_exit(r->loop, 0);
}

static int run_here(struct request *r, uint32_t limit_ms)
{
	char program[PATH_MAX];
	struct davy_probe_request probe = { .program = program,
					    .arguments = r->arguments,
					    .limit_ms = limit_ms,
					    .done = on_finding,
					    .arg = r };
	struct davy_probe_finding finding;
	int err = davy_probe_path(program, sizeof(program));

	if (!err)
		err = sd_event_new(&r->loop);
	if (err >= 0)
		err = davy_probe_start(r->loop, &probe);
	if (err >= 0) {
		sd_event_loop(r->loop);
	} else {
		davy_probe_not_started(err, &finding);
		r->finding = davy_probe_finding_json(&finding);
	}
	sd_event_unref(r->loop);
	return r->finding ? DAVY_EXIT_DONE : DAVY_EXIT_FAILED;
}

static int ask_agent(struct request *r, uint32_t limit_ms)
{
	json_t *list = json_array();
	json_t *question;

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(list, json_string(r->arguments[i]));
	question = json_pack("{s:s, s:o, s:I}", "op", "probe", "arguments", list, "limit_ms",
			     (json_int_t)limit_ms);
	return davy_client_ask_for(r->socket_path, question, (int)limit_ms + START_MS, &r->finding);
}

static int probe(struct request *r, bool engine)
{
	uint32_t limit_ms = r->timeout_s * 1000 + SPARE_MS + (engine ? FACTS_MS : 0);
	int status;

	snprintf(r->timeout, sizeof(r->timeout), "%u", engine ? r->timeout_s * 1000 : r->timeout_s);
	add(r, engine ? "--timeout-ms" : "--timeout", r->timeout);
	status = r->agent ? ask_agent(r, limit_ms) : run_here(r, limit_ms);
	if (status)
		return status;
	if (r->json) {
		json_object_del(r->finding, "op");
		json_dumpf(r->finding, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		davy_print_finding(r->finding);
	}
	status = json_is_true(json_object_get(r->finding, "healthy")) ? DAVY_EXIT_DONE
								      : DAVY_EXIT_FAILED;
	json_decref(r->finding);
	return status;
}

int davy_verb_probe(int argc, char **argv)
{
	struct request r = { .socket_path = DAVY_SOCKET_DEFAULT,
			     .timeout_s = TIMEOUT_S,
			     .count = 1 };
	bool engine;
	int c;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) >= 0) {
		if (c == 'h')
			return fputs(usage, stdout) < 0 ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
		if (c == '?')
			return DAVY_EXIT_USAGE;
		if (!take(&r, c)) {
			davy_log("'%s' is not a number of seconds from 1 to 240", optarg);
			return DAVY_EXIT_USAGE;
		}
	}
	if (optind + 1 != argc ||
	    (strcmp(argv[optind], "vulkan") != 0 && strcmp(argv[optind], "engine") != 0)) {
		davy_log("what is to be probed? 'davylamp probe vulkan' or 'davylamp probe engine "
			 "--port N'");
		return DAVY_EXIT_USAGE;
	}
	engine = argv[optind][0] == 'e';
	if (engine && !r.port) {
		davy_log("which engine? 'davylamp probe engine --port N'");
		return DAVY_EXIT_USAGE;
	}
	r.arguments[0] = argv[optind];
	return probe(&r, engine);
}

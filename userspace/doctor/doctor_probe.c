/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "act/probe_run.h"
#include "lib/message.h"
#include "store/config_value.h"
#include "lib/options.h"
#include "verb/client.h"
#include "doctor/probe_print.h"
#include "verb/verb.h"

#define SPARE_MS       1000  /* the probe's own limit expires first */
#define FACTS_MS       4000  /* /health, models, props, slots: a second each */
#define START_MS       10000 /* the agent queues requests */
#define ARGUMENTS_MAX  16
#define TIMEOUT_MS     10000
#define TIMEOUT_MAX_MS 240000

static const char usage[] =
	"usage: davylamp probe vulkan [--device INDEX|BDF] [OPTIONS]\n"
	"       davylamp probe engine --port N [OPTIONS]\n"
	"\n"
	"Tests whether a GPU or an engine works. davylamp-probe runs the test in a\n"
	"sandbox without privileges: each Vulkan device fills 1 MiB; the engine on\n"
	"127.0.0.1 generates one token. A crash or hang of the driver is reported with\n"
	"its signal and stage. Exit status 0: healthy, 1: not healthy.\n"
	"\n"
	"  --device X         one device: index or PCI address\n"
	"  --port N           port of the engine\n"
	"  --timeout T        time limit of the probe, or of the completion (10 s)\n"
	"  --uid N, --gid N   run as this user, such as the engine's\n"
	"  --groups N,N...    run with these groups (those of the GPU's device files)\n"
	"  --memory MIB       limit of the address space\n"
	"  --agent            let the running agent start the probe, in the environment\n"
	"                     of its service\n"
	"  --socket PATH      the agent's socket (/run/davylamp/agent.sock)\n"
	"  --json             one JSON object\n"
	"  -h, --help         print this text\n";

struct request {
	const char *arguments[ARGUMENTS_MAX];
	size_t count;
	uint32_t timeout_ms;
	char timeout[16];
	bool json;
	bool agent;
	const char *socket_path;
	sd_event *loop;
	json_t *finding;
};

static void probe_add(struct request *r, const char *option, const char *value)
{
	if (r->count + 2 < ARGUMENTS_MAX) {
		r->arguments[r->count++] = option;
		r->arguments[r->count++] = value;
	}
}

static void probe_on_finding(void *arg, const struct davy_probe_finding *finding)
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
					    .done = probe_on_finding,
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

static int probe_ask_agent(struct request *r, uint32_t limit_ms)
{
	json_t *list = json_array();
	json_t *question;

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(list, json_string(r->arguments[i]));
	question = json_pack("{s:s, s:o, s:I}", "op", "probe", "arguments", list, "limit_ms",
			     (json_int_t)limit_ms);
	return davy_client_ask_for(r->socket_path, question, (int)limit_ms + START_MS, &r->finding);
}

static int probe_probe(struct request *r, bool engine)
{
	uint32_t limit_ms = r->timeout_ms + SPARE_MS + (engine ? FACTS_MS : 0);
	int status;

	snprintf(r->timeout, sizeof(r->timeout), "%u",
		 engine ? r->timeout_ms : (r->timeout_ms + 999) / 1000);
	probe_add(r, engine ? "--timeout-ms" : "--timeout", r->timeout);
	status = r->agent ? probe_ask_agent(r, limit_ms) : run_here(r, limit_ms);
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

int davy_doctor_probe(int argc, char **argv)
{
	struct request r = { .socket_path = DAVY_SOCKET_DEFAULT,
			     .count = 1,
			     .timeout_ms = TIMEOUT_MS };
	/* Options that davylamp-probe validates. */
	static const char *const names[] = { "--device", "--port",   "--uid",
					     "--gid",	 "--groups", "--memory" };
	const char *value[6] = { NULL }, *timeout = NULL;
	const struct davy_option options[] = {
		{ names[0] + 2, .text = &value[0] },
		{ names[1] + 2, .text = &value[1] },
		{ names[2] + 2, .text = &value[2] },
		{ names[3] + 2, .text = &value[3] },
		{ names[4] + 2, .text = &value[4] },
		{ names[5] + 2, .text = &value[5] },
		{ "timeout", .text = &timeout },
		{ "agent", .flag = &r.agent },
		{ "socket", .text = &r.socket_path },
		{ "json", .flag = &r.json },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	bool engine;

	if (first <= 0)
		return -first;
	if (timeout && !davy_config_time_limit("--timeout", timeout, TIMEOUT_MAX_MS, &r.timeout_ms))
		return DAVY_EXIT_USAGE;
	if (first + 1 != argc ||
	    (strcmp(argv[first], "vulkan") != 0 && strcmp(argv[first], "engine") != 0)) {
		davy_log("expected what to probe: 'davylamp probe vulkan' or 'davylamp probe "
			 "engine --port N'");
		return DAVY_EXIT_USAGE;
	}
	engine = argv[first][0] == 'e';
	if (engine && !value[1]) {
		davy_log("expected a port: 'davylamp probe engine --port N'");
		return DAVY_EXIT_USAGE;
	}
	r.arguments[0] = argv[first];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (value[i])
			probe_add(&r, names[i], value[i]);
	return probe_probe(&r, engine);
}

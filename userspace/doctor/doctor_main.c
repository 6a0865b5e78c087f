/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-doctor, the program of 'davylamp doctor' and 'probe'. The doctor reads host, service and
 * engine, runs the catalogue of checks, concludes the root cause, and writes the policy with
 * --apply.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "act/probe_run.h"
#include "doctor/checks.h"
#include "doctor/next.h"
#include "doctor/print.h"
#include "doctor/probe_print.h"
#include "doctor/read.h"
#include "engines/engine.h"
#include "lib/message.h"
#include "lib/text.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "store/config_value.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "verb/policy_pin.h"
#include "verb/start_finding.h"
#include "verb/verb.h"

#define TIMEOUT_S     20
#define DEADLINE_S    120 /* for all, without the time of the programs that are run */
#define DEADLINE_RUNS 16  /* maximum number of programs run */

static const char usage[] =
	"usage: davylamp doctor [--unit UNIT | --user USER | --pid PID] [OPTIONS]\n"
	"       davylamp doctor [OPTIONS] -- COMMAND [ARGUMENT...]\n"
	"       davylamp doctor --overview [--json] [--socket PATH]\n"
	"\n"
	"Finds out why an engine does not use its GPU. Checks driver, device files,\n"
	"permissions, environment, runtimes, the engine's libraries and its device\n"
	"discovery, as the user of the service. Prints one root cause: which layer fails,\n"
	"which layers are proven healthy, and the resulting policy. Each finding has\n"
	"evidence, a fix, and a command that verifies the fix. Vendor code runs in\n"
	"davylamp-probe. The last line is the next command for this host.\n"
	"\n"
	"  --unit UNIT        the service, running or not: ollama.service\n"
	"  --user USER        a user: NAME, UID, UID:GID or UID:GID:GROUP,GROUP\n"
	"  --pid PID          the user, environment and cgroup of a process (default\n"
	"                     without --unit, --user and --pid: the running engine, if\n"
	"                     there is exactly one; else the caller)\n"
	"  --engine E         path of the engine's program, or its name (ollama)\n"
	"  --model GGUF       a model file to compare with the GPU's memory\n"
	"  --timeout T        time limit of each program that is run (20 s)\n"
	"  --apply            write the policy as a rule of the administrator, like\n"
	"                     'davylamp policy pin'; 'policy unpin' removes it\n"
	"  --overview         only print what is here, what is missing, and the next\n"
	"                     command; like davylamp without arguments\n"
	"  --all              also print checks that do not apply to this host\n"
	"  --policies DIR     shipped rules (" DAVY_DATA_DIR "/policies)\n"
	"  --config DIR       the administrator's rules (/etc/davylamp)\n"
	"  --state DIR        the agent's rules (/var/lib/davylamp)\n"
	"  --socket PATH      socket of the agent, to report a failed start to it\n"
	"                     (/run/davylamp/agent.sock)\n"
	"  --json             one JSON object per line; the last one is the conclusion\n"
	"  -h, --help         print this text\n"
	"\n"
	"COMMAND runs as the device discovery of an engine other than llama-server.\n"
	"Exit status, by the worst finding: 0 healthy, 1 failure, 5 warning, 6 a check\n"
	"could not be made, 4 no GPU; 2 usage error, 3 not permitted.\n";

struct doctor_options {
	struct davy_who_asked asked;
	const char *engine, *model;
	const char *policies, *config, *state, *socket;
	char *const *command; /* NULL: the engine's own */
	uint32_t limit_ms;
	bool apply, all, json, overview;
};

/* Input and results. Large, therefore on the heap. */
struct doctor {
	struct davy_doctor_facts *facts; /* shared memory: children fill it */
	struct davy_findings findings;
	struct davy_conclusion conclusion;
	struct davy_policy_layers layers;
	struct davy_who *who;
};

#define TIMEOUT_MAX_MS 240000

static bool doctor_main_take_timeout(void *limit_ms, const char *text)
{
	return davy_config_time_limit("--timeout", text, TIMEOUT_MAX_MS, limit_ms);
}

static void doctor_main_read_rules(const struct doctor_options *o, struct doctor *d)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	struct davy_policy_set set;
	int err;

	davy_policy_layers_init(&d->layers);
	err = davy_policy_dirs_read(o->policies, o->state, o->config, &d->layers, error);
	if (err)
		davy_log("doctor: %s; continuing without rules", error[0] ? error : strerror(-err));
	set = davy_policy_set_of(&d->layers);
	davy_read_rules(d->facts, &set);
}

static int doctor_main_overview(const struct doctor_options *o, struct doctor *d)
{
	davy_read_self(d->facts);
	davy_read_gpus(d->facts);
	davy_read_lamp(d->facts, o->socket);
	if (o->json)
		davy_overview_print_json(stdout, d->facts);
	else
		davy_overview_print(stdout, d->facts);
	return fflush(stdout) ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static void doctor_main_read_all(const struct doctor_options *o, struct doctor *d)
{
	char path[PATH_MAX];
	const char *program = davy_probe_path(path, sizeof(path)) ? NULL : path;

	davy_read_self(d->facts);
	davy_read_gpus(d->facts);
	davy_read_parameters(d->facts);
	davy_read_engine(d->facts, d->who, o->engine);
	doctor_main_read_rules(o, d);
	davy_read_nodes(d->facts, d->who);
	davy_read_variables(d->facts, d->who);
	davy_read_icds(d->facts, d->who);
	davy_read_runtimes(d->facts, d->who, program, o->limit_ms);
	davy_read_runs(d->facts, d->who, program, o->command, o->limit_ms);
	davy_read_lamp(d->facts, o->socket);
	if (o->model)
		davy_read_model(d->facts, o->model);
}

/* Appends a rule for this GPU and engine, like 'davylamp policy pin'. */
static int doctor_main_apply(const struct doctor_options *o, const struct doctor *d)
{
	char backends[64], words[3][96], reason[DAVY_RULE_TEXT_LEN];
	char *list[] = { words[0], words[1], words[2] };
	const struct davy_conclusion *c = &d->conclusion;
	const char *engine = d->facts->engine.name;
	struct davy_pin pin = { .config_dir = o->config,
				.device = c->gpu ? c->gpu->device : NULL,
				.words = list,
				.count = 1,
				.json = o->json,
				.reason = reason,
				.once = true };

	if (!c->policy_count) {
		davy_log("doctor: no policy follows; nothing is written");
		return DAVY_EXIT_NOTHING;
	}
	davy_conclusion_backends(c, backends, sizeof(backends));
	snprintf(words[0], sizeof(words[0]), "backends=%s", backends);
	if (engine[0])
		snprintf(words[pin.count++], sizeof(words[0]), "engine=%s%s", engine,
			 d->facts->engine.engine == DAVY_ENGINE_OLLAMA ? "*" : "");
	if (c->vendor)
		snprintf(words[pin.count++], sizeof(words[0]), "vendor=%s", c->vendor);
	snprintf(reason, sizeof(reason), "davylamp doctor: %s%s%s",
		 c->cause[0].finding->check->fault, c->cause[0].finding->about[0] ? ", " : "",
		 c->cause[0].finding->about);
	return davy_policy_pin(&pin);
}

/* Reports each failed device discovery of the engine. */
static void doctor_main_tell_agent(const struct doctor_options *o, const struct doctor *d)
{
	const struct davy_doctor_facts *facts = d->facts;
	const struct davy_doctor_gpu *gpu = d->conclusion.gpu;
	char where[DAVY_DETAIL_LEN];
	struct davy_start_finding f = { .engine = davy_engine_name(facts->engine.engine),
					.device = gpu ? gpu->device : NULL,
					.model = o->model ? davy_base_name(o->model) : NULL,
					.unit = facts->service.unit,
					.where = where };

	for (size_t i = 0; i < facts->run_count; i++) {
		const struct davy_doctor_run *run = &facts->run[i];
		bool died = run->end == DAVY_END_SIGNAL || (run->end == DAVY_END_EXIT && run->code);

		if (!died || run->backend == DAVY_BACKEND_UNKNOWN)
			continue;
		snprintf(where, sizeof(where), "%s%s%s", davy_doctor_stage_name(run->stage),
			 run->where[0] ? " in " : "",
			 run->where[0] ? davy_base_name(run->where) : "");
		f.backend = run->backend;
		f.status = run->end == DAVY_END_SIGNAL ? run->code & 0x7f : (run->code & 0xff) << 8;
		if (davy_finding_tell(o->socket, &f))
			davy_log("doctor: reported to the agent: %s fails at %s",
				 davy_doctor_backend_title(run->backend), where);
	}
}

static int doctor_main_examine(const struct doctor_options *o, struct doctor *d)
{
	char why[DAVY_DOCTOR_WHY];
	int status, err;

	if (o->overview)
		return doctor_main_overview(o, d);
	err = davy_who_read(&o->asked, &d->facts->service, &d->who, why);
	if (err) {
		davy_log("doctor: %s", why[0] ? why : strerror(-err));
		return err == -EACCES || err == -EPERM ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_USAGE;
	}
	doctor_main_read_all(o, d);
	davy_checks_run(d->facts, &d->findings);
	davy_doctor_judge(d->facts, &d->findings, &d->conclusion);
	if (o->json)
		davy_doctor_print_json(stdout, d->facts, &d->findings, &d->conclusion);
	else
		davy_doctor_print(stdout, d->facts, &d->findings, &d->conclusion, o->all);
	doctor_main_tell_agent(o, d);
	status = davy_doctor_exit(&d->findings, &d->conclusion);
	if (o->apply) {
		int applied = doctor_main_apply(o, d);

		if (applied && applied != DAVY_EXIT_NOTHING)
			status = applied;
	}
	return fflush(stdout) ? DAVY_EXIT_FAILED : status;
}

static void on_deadline(int signal_number)
{
	static const char text[] = "davylamp: doctor: a process or file system "
				   "does not answer; giving up\n";

	(void)signal_number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		errno = 0;
	_exit(DAVY_EXIT_FAILED);
}

/*
 * Children have a time limit, but this process may also hang on a read. SIGTERM is not handled: it
 * also ends a process that waits in the kernel, where no handler runs.
 */
static void set_deadline(const struct doctor_options *o)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM };
	struct itimerspec when = { .it_value = { .tv_sec = DEADLINE_S } };
	struct sigaction action = { .sa_handler = on_deadline };
	timer_t timer;

	when.it_value.tv_sec += (time_t)DEADLINE_RUNS * o->limit_ms / 1000;
	sigaction(SIGALRM, &action, NULL);
	alarm((unsigned int)when.it_value.tv_sec);
	when.it_value.tv_sec++;
	if (!timer_create(CLOCK_MONOTONIC, &event, &timer))
		timer_settime(timer, 0, &when, NULL);
}

int main(int argc, char **argv)
{
	struct doctor_options o = { .policies = DAVY_DATA_DIR "/policies",
				    .config = DAVY_CONFIG_DIR,
				    .state = DAVY_STATE_DIR,
				    .socket = DAVY_SOCKET_DEFAULT,
				    .limit_ms = TIMEOUT_S * 1000 };
	const struct davy_option options[] = {
		{ "unit", .text = &o.asked.unit },
		{ "user", .text = &o.asked.user },
		{ "pid", .text = &o.asked.pid },
		{ "engine", .text = &o.engine },
		{ "model", .text = &o.model },
		{ "timeout", .take = doctor_main_take_timeout, .arg = &o.limit_ms },
		{ "apply", .flag = &o.apply },
		{ "overview", .flag = &o.overview },
		{ "all", .flag = &o.all },
		{ "policies", .text = &o.policies },
		{ "config", .text = &o.config },
		{ "state", .text = &o.state },
		{ "socket", .text = &o.socket },
		{ "json", .flag = &o.json },
		{ 0 },
	};
	struct doctor *d;
	int first, status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED; /* no stderr for a message */
	if (argc > 1 && !strcmp(argv[1], "probe"))
		return davy_doctor_probe(argc - 1, argv + 1);
	first = davy_options_read(argc, argv, DAVY_OPTIONS_FIRST, usage, options);
	if (first <= 0)
		return -first;
	if (first < argc && !strcmp(argv[first - 1], "--"))
		o.command = argv + first;
	if ((first < argc && !o.command) ||
	    (o.asked.unit != NULL) + (o.asked.user != NULL) + (o.asked.pid != NULL) > 1) {
		davy_log("doctor: %s; see 'davylamp doctor --help'",
			 first < argc && !o.command
				 ? "a command must follow '--'"
				 : "--unit, --user and --pid exclude each other");
		return DAVY_EXIT_USAGE;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return DAVY_EXIT_FAILED;
	set_deadline(&o);
	d->facts = davy_facts_new();
	status = d->facts ? doctor_main_examine(&o, d) : DAVY_EXIT_FAILED;
	davy_who_free(d->who);
	davy_facts_free(d->facts);
	free(d);
	return status;
}

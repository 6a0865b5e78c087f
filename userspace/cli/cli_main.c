/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/standard_fds.h"
#include "cli/verbs.h"

#define LAB "davylamp-lab" /* not installed */

static const struct {
	const char *name;
	int (*run)(int argc, char **argv); /* NULL: another program runs it */
	const char *what;
} verbs[] = {
	{ "run", davy_verb_run, "run the agent: watch GPU drivers and engines, and act" },
	{ "exec", NULL, "start an engine on a safe backend" },
	{ "status", davy_verb_status, "show the state of the running agent" },
	{ "top", NULL, "watch devices, engines and incidents on one screen" },
	{ "exporter", NULL, "serve the state as metrics for Prometheus" },
	{ "probe", NULL, "test whether a GPU or an engine works" },
	{ "doctor", NULL, "find out why an engine does not use its GPU" },
	{ "act", davy_verb_act, "execute an action on a workload" },
	{ "report", NULL, "one incident as text, HTML or for a bug tracker" },
	{ "fleet", NULL, "learn from other hosts, through etcd" },
	{ "policy", NULL, "show and change rules; adopt services" },
	{ "replay", NULL, "print the decisions for a recorded trace" },
	{ "trace", davy_verb_trace, "trace an engine's start; make synthetic traces" },
	{ "tune", NULL, "score thresholds and search for better ones" },
	{ "log", NULL, "report GPU failures in a saved kernel log" },
	{ "schema", NULL, "print the JSON schema of an output" },
	{ "release", davy_verb_release, "undo all actions, or detach from a module" },
};

/* Verbs that other programs in the same directory run. */
static const struct program {
	const char *verb, *word; /* word: the one after the verb; NULL: any */
	int first;		 /* index in argv of the first argument that it gets */
	const char *name;
} programs[] = {
	{ "exec", NULL, 2, "davylamp-exec" },
	{ "policy", NULL, 2, "davylamp-policy" },
	{ "doctor", NULL, 2, "davylamp-doctor" },
	{ "probe", NULL, 1, "davylamp-doctor" },
	{ "fleet", NULL, 2, "davylamp-fleet" },
	{ "top", NULL, 2, "davylamp-top" },
	{ "exporter", NULL, 2, "davylamp-exporter" },
	{ "report", NULL, 2, "davylamp-report" },
	{ "log", NULL, 1, "davylamp-report" },
	{ "replay", NULL, 1, "davylamp-report" },
	{ "schema", NULL, 1, "davylamp-report" },
	{ "trace", "discovery", 3, "davylamp-trace" },
	{ "trace", "scenarios", 2, LAB },
	{ "trace", "synth", 2, LAB },
	{ "tune", NULL, 1, LAB },
};

static const struct program *cli_main_program_of(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct program *p = &programs[i];

		if (!strcmp(argv[1], p->verb) &&
		    (!p->word || (argc > 2 && !strcmp(argv[2], p->word))))
			return p;
	}
	return NULL;
}

/* Replaces this process; returns only on error. */
static int program_start(const struct program *p, char **argv)
{
	char path[PATH_MAX];
	int err = davy_program_path(p->name, path, sizeof(path));

	if (!err) {
		argv[p->first - 1] = (char *)p->name;
		execv(path, argv + p->first - 1);
		err = -errno;
	}
	if (err == -ENOENT && !strcmp(p->name, LAB)) {
		davy_log("'%s' is not installed; run 'make lab-program' in davylamp's source tree "
			 "and use the davylamp that is built there",
			 path);
		return DAVY_EXIT_NOTHING;
	}
	davy_log("'%s' cannot be started: %s; install it in the directory of davylamp", path,
		 strerror(-err));
	return DAVY_EXIT_FAILED;
}

static void cli_main_help(void)
{
	printf("usage: davylamp VERB [OPTIONS]\n\n"
	       "Protects LLM inference from GPU driver failures. Without a verb: what is on\n"
	       "this host, what is missing, and the next command.\n\n");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		printf("  %-9s %s\n", verbs[i].name, verbs[i].what);
	printf("\nSee 'davylamp VERB --help' and davylamp(8).\n");
}

/* What is here, what is missing, and the next command. */
static int cli_main_overview(void)
{
	static const struct program doctor = { .first = 1, .name = "davylamp-doctor" };
	char option[] = "--overview", *argv[] = { NULL, option, NULL };

	return program_start(&doctor, argv);
}

int main(int argc, char **argv)
{
	const struct program *program;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED; /* no stderr for a message */
	if (argc < 2)
		return cli_main_overview();
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		cli_main_help();
		return DAVY_EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("davylamp %s\n", DAVY_VERSION);
		return DAVY_EXIT_DONE;
	}
	program = cli_main_program_of(argc, argv);
	if (program)
		return program_start(program, argv);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (verbs[i].run && !strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	davy_log("unknown verb '%s'; see 'davylamp --help'", argv[1]);
	return DAVY_EXIT_USAGE;
}

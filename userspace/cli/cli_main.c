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
	int (*run)(int argc, char **argv); /* NULL: a program of its own */
	const char *what;
} verbs[] = {
	{ "run", davy_verb_run, "watch the GPU drivers and the engines, and act" },
	{ "exec", davy_verb_exec, "start an engine on a backend known to be safe" },
	{ "status", davy_verb_status, "what the running agent sees" },
	{ "probe", davy_verb_probe, "whether the GPU and an engine still do work" },
	{ "doctor", NULL, "why an engine does not get its GPU" },
	{ "act", davy_verb_act, "pause or throttle a workload by hand" },
	{ "policy", davy_verb_policy, "what was learned about backends" },
	{ "replay", davy_verb_replay, "print the decisions of a recorded trace" },
	{ "trace", davy_verb_trace, "where an engine's start stops; synthetic traces" },
	{ "tune", NULL, "score thresholds over traces, and look for better ones" },
	{ "log", davy_verb_log, "what a saved kernel log tells about GPUs" },
	{ "release", davy_verb_release, "let go of a kernel module, so that it can be unloaded" },
};

/* What other programs do, which are beside this one. */
static const struct program {
	const char *verb, *word; /* the word behind the verb; NULL: any */
	int first;		 /* of the arguments that it gets, in ours */
	const char *name;
} programs[] = {
	{ "doctor", NULL, 2, "davylamp-doctor" },
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

/* Returns only when it cannot be started. */
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
		davy_log("the laboratory is not installed: there is no '%s'. 'make lab-program' in "
			 "davylamp's source builds it, beside the davylamp that is built there",
			 path);
		return DAVY_EXIT_NOTHING;
	}
	davy_log("'%s' cannot be started: %s; install it beside davylamp", path, strerror(-err));
	return DAVY_EXIT_FAILED;
}

static void help(void)
{
	printf("usage: davylamp VERB [OPTIONS]\n\n"
	       "Watches GPU drivers under LLM inference and moves engines out of harm's way.\n\n");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		printf("  %-9s %s\n", verbs[i].name, verbs[i].what);
	printf("\n'davylamp VERB --help' tells more; see also davylamp(8).\n");
}

int main(int argc, char **argv)
{
	const struct program *program;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED; /* nowhere to say why */
	if (argc < 2) {
		davy_log(
			"which verb? run, exec, status, probe, doctor, act, policy, replay, trace, "
			"tune, log or release; see 'davylamp --help'");
		return DAVY_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		help();
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lib/standard_fds.h"
#include "cli/verbs.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} verbs[] = {
	{ "run", davy_verb_run, "watch the GPU drivers and the engines, and act" },
	{ "exec", davy_verb_exec, "start an engine on a backend known to be safe" },
	{ "status", davy_verb_status, "what the running agent sees" },
	{ "probe", davy_verb_probe, "whether the GPU and an engine still do work" },
	{ "doctor", davy_verb_doctor, "why an engine does not get its GPU" },
	{ "act", davy_verb_act, "pause or throttle a workload by hand" },
	{ "policy", davy_verb_policy, "what was learned about backends" },
	{ "replay", davy_verb_replay, "print the decisions of a recorded trace" },
	{ "trace", davy_verb_trace, "where an engine's start stops; synthetic traces" },
	{ "tune", davy_verb_tune, "score thresholds over traces, and look for better ones" },
	{ "log", davy_verb_log, "what a saved kernel log tells about GPUs" },
	{ "release", davy_verb_release, "let go of a kernel module, so that it can be unloaded" },
};

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
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	davy_log("unknown verb '%s'; see 'davylamp --help'", argv[1]);
	return DAVY_EXIT_USAGE;
}

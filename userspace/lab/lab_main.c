/* SPDX-License-Identifier: GPL-2.0-or-later */
/* davylamp-lab, the program of 'davylamp tune' and 'davylamp trace synth'; not installed. */
#include <stdio.h>
#include <string.h>

#include "lab/lab_verbs.h"
#include "lib/standard_fds.h"
#include "verb/verb.h"

static const char usage[] = "usage: davylamp-lab tune [OPTIONS] TRACE|DIR...\n"
			    "       davylamp-lab month [OPTIONS] [CASE...]\n"
			    "       davylamp-lab scenarios [--json]\n"
			    "       davylamp-lab synth SCENARIO [OPTIONS] --out DIR|FILE.trace\n"
			    "\n"
			    "See 'davylamp tune --help' and 'davylamp trace --help'.\n";

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED; /* no stderr for a message */
	if (!strcmp(word, "tune"))
		return davy_verb_tune(argc - 1, argv + 1);
	if (!strcmp(word, "month"))
		return davy_verb_month(argc - 1, argv + 1);
	if (!strcmp(word, "scenarios") || !strcmp(word, "synth"))
		return davy_verb_synth(argc, argv);
	if (!strcmp(word, "-h") || !strcmp(word, "--help"))
		return fputs(usage, stdout) < 0 ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
	davy_log("expected tune, month, scenarios or synth; see 'davylamp-lab --help'");
	return DAVY_EXIT_USAGE;
}

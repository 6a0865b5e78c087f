/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp trace' without a word: davylamp-trace and davylamp-lab do what its words say. */
#include <getopt.h>
#include <stdio.h>

#include "verb/trace_usage.h"
#include "cli/verbs.h"

int davy_verb_trace(int argc, char **argv)
{
	static const struct option names[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	int c = getopt_long(argc, argv, "h", names, NULL);

	if (c == 'h')
		return fputs(davy_trace_usage, stdout) < 0 ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
	if (c < 0)
		davy_log(
			"'davylamp trace scenarios', 'davylamp trace synth SCENARIO --out DIR', or "
			"'davylamp trace discovery -- COMMAND'");
	return DAVY_EXIT_USAGE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp trace' without a command; davylamp-trace and davylamp-lab run the commands. */
#include "lib/options.h"
#include "verb/trace_usage.h"
#include "cli/verbs.h"

int davy_verb_trace(int argc, char **argv)
{
	static const struct davy_option none[] = { { 0 } };
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, davy_trace_usage, none);

	if (first <= 0)
		return -first;
	davy_log("expected a command: 'davylamp trace scenarios', 'davylamp trace synth SCENARIO "
		 "--out DIR', or 'davylamp trace discovery -- COMMAND'");
	return DAVY_EXIT_USAGE;
}

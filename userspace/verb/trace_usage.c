/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verb/trace_usage.h"

const char davy_trace_usage[] =
	"usage: davylamp trace scenarios [--json]\n"
	"       davylamp trace synth SCENARIO [OPTIONS] --out DIR|FILE.trace\n"
	"       davylamp trace discovery [OPTIONS] [--pid PID | --unit UNIT | -- COMMAND]\n"
	"\n"
	"discovery follows a real engine's start and tells where it stops to find a GPU;\n"
	"see 'davylamp trace discovery --help'. The others:\n"
	"\n"
	"Makes traces of hosts that never were, with a label that says what fails when,\n"
	"for 'davylamp tune'. SCENARIO is one of 'trace scenarios', or failures, benign,\n"
	"days or all. The same seed makes the same bytes.\n"
	"\n"
	"  --seed N      the first seed (1)\n"
	"  --count N     so many of each, of seeds that follow (1)\n"
	"  --duration T  of the ordinary work: before a failure, or all of it ('30 min')\n"
	"  --out PATH    a folder, or a file if it ends in .trace\n"
	"  --json        scenarios: one JSON object a line\n"
	"  -h, --help    this text\n";

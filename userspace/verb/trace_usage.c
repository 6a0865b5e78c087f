/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verb/trace_usage.h"

const char davy_trace_usage[] =
	"usage: davylamp trace scenarios [--json]\n"
	"       davylamp trace synth SCENARIO [OPTIONS] --out DIR|FILE.trace\n"
	"       davylamp trace discovery [OPTIONS] [--pid PID | --unit UNIT | -- COMMAND]\n"
	"\n"
	"discovery follows the start of a real engine and reports at which step it fails\n"
	"to find a GPU; see 'davylamp trace discovery --help'.\n"
	"\n"
	"synth makes traces of simulated hosts for 'davylamp tune', each with a label:\n"
	"what fails, and when. SCENARIO: a name that 'trace scenarios' lists, or\n"
	"failures, benign, days or all, or a held-out set: check, check2, check3, check4,\n"
	"check5, check6 or check7. The same seed gives the same bytes.\n"
	"\n"
	"  --seed N      first seed (1)\n"
	"  --count N     traces of each scenario, with consecutive seeds (1)\n"
	"  --duration T  normal operation before the failure ('30 min'); without a\n"
	"                failure, duration of the whole trace\n"
	"  --out PATH    a folder, or a file if it ends in .trace\n"
	"  --json        scenarios: one JSON object per line\n"
	"  -h, --help    print this text\n";

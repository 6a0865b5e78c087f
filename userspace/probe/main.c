/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/log.h"
#include "probe.h"

static const char usage[] =
	"usage: davylamp-probe engine --port N [--wait-ms N] [--timeout-ms N]\n"
	"\n"
	"Asks the engine on 127.0.0.1 for one token and prints one JSON line:\n"
	"HTTP status of /health and of the completion (0: no answer in time), tokens, ms.\n"
	"Run by davylamp; useful by hand to see whether an engine really answers.\n"
	"\n"
	"  --port N        port of the engine\n"
	"  --wait-ms N     wait that long for /health to be 200 (default 0)\n"
	"  --timeout-ms N  limit of the completion (default 10000)\n"
	"  -h, --help      this text\n";

static uint32_t number(const char *text, uint32_t max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || value > max) {
		dl_log("'%s' is not a number from 0 to %u", text, max);
		exit(DL_EXIT_USAGE);
	}
	return (uint32_t)value;
}

static int parse(int argc, char **argv, struct dl_probe_engine *options)
{
	static const struct option names[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "wait-ms", required_argument, NULL, 'w' },
		{ "timeout-ms", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) >= 0) {
		if (c == 'p')
			options->port = (uint16_t)number(optarg, UINT16_MAX);
		else if (c == 'w')
			options->wait_ms = number(optarg, 3600 * 1000);
		else if (c == 't')
			options->timeout_ms = number(optarg, 3600 * 1000);
		else if (c == 'h')
			return fputs(usage, stdout) < 0 ? DL_EXIT_FAILED : -1;
		else
			return DL_EXIT_USAGE;
	}
	if (optind + 1 != argc || strcmp(argv[optind], "engine") != 0 || !options->port) {
		dl_log("what to probe is missing: 'davylamp-probe engine --port N'; see --help");
		return DL_EXIT_USAGE;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct dl_probe_engine options = { .timeout_ms = 10000 };
	int err = parse(argc, argv, &options);

	if (err)
		return err < 0 ? DL_EXIT_DONE : err;
	err = dl_probe_confine();
	if (err) {
		dl_log("cannot give up privileges: %s; not going on", strerror(-err));
		return DL_EXIT_NOT_PERMITTED;
	}
	return dl_probe_engine(&options);
}

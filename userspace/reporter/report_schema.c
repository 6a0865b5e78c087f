/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp schema': prints the installed JSON schemas of the outputs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "reporter/dossier.h"
#include "verb/verb.h"
#include "lib/file.h"
#include "lib/options.h"

#define SCHEMA_MAX 65536

static const char usage[] =
	"usage: davylamp schema [NAME] [--policies DIR]\n"
	"\n"
	"Prints the JSON schema of an output. Without NAME: the names, one per line.\n"
	"A schema's \"$id\" has its version. Newer versions of davylamp may add members; if\n"
	"one is removed or has another meaning, the version changes.\n"
	"\n"
	"  --policies DIR  folder of the shipped rules, which has the schemas\n"
	"  -h, --help      print this text\n";

static const char *const names[] = { "status", "decision", "event", "report", "process" };

static bool schema_is_known(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static int schema_print(const char *policies, const char *name)
{
	static char text[SCHEMA_MAX];
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/schema/%s.json", policies, name);
	ssize_t n = length < PATH_MAX ? davy_read_whole(path, text, sizeof(text)) : -ENAMETOOLONG;

	if (n < 0) {
		davy_log("'%s': %s", path, strerror((int)-n));
		return DAVY_EXIT_FAILED;
	}
	return fputs(text, stdout) < 0 || fflush(stdout) ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

int davy_report_schema(int argc, char **argv)
{
	const char *policies = DAVY_DATA_DIR "/policies";
	const struct davy_option options[] = { { "policies", .text = &policies }, { 0 } };
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);

	if (first <= 0)
		return -first;
	if (argc - first == 1 && schema_is_known(argv[first]))
		return schema_print(policies, argv[first]);
	if (argc > first) {
		davy_log("no schema '%s'; 'davylamp schema' lists the names",
			 argv[argc - first > 1 ? first + 1 : first]);
		return DAVY_EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		puts(names[i]);
	return fflush(stdout) ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

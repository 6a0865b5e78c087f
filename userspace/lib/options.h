/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses command line options. A table defines where each value is stored. */
#ifndef DAVY_OPTIONS_H
#define DAVY_OPTIONS_H

#include <stdbool.h>

#define DAVY_OPTIONS_MAX 31

/* One of "flag", "text" and "take" is set. An empty row ends the table. */
struct davy_option {
	const char *name; /* "socket" */
	bool *flag;	  /* takes no value */
	const char **text;
	bool (*take)(void *arg, const char *text); /* false: invalid; prints the reason itself */
	void *arg;
};

enum davy_options_mode {
	DAVY_OPTIONS_ANYWHERE,
	DAVY_OPTIONS_FIRST, /* stop at the first word that is no option: a command may follow */
};

/*
 * Returns the index of the first word that is no option; options are moved before it. Otherwise
 * returns the negated exit status: -h and --help print "usage", errors are already printed.
 */
int davy_options_read(int argc, char **argv, enum davy_options_mode mode, const char *usage,
		      const struct davy_option *options);

#endif

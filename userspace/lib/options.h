/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a command line, by a table that says where each is written. */
#ifndef DAVY_OPTIONS_H
#define DAVY_OPTIONS_H

#include <stdbool.h>

#define DAVY_OPTIONS_MAX 31

/* One of "flag", "text" and "take" says where it goes. A table ends with an empty row. */
struct davy_option {
	const char *name; /* "socket" */
	bool *flag;	  /* takes no value */
	const char **text;
	bool (*take)(void *arg, const char *text); /* false: wrong, which has been said */
	void *arg;
};

enum davy_options_mode {
	DAVY_OPTIONS_ANYWHERE,
	DAVY_OPTIONS_FIRST, /* the first other word ends them: a command may follow */
};

/*
 * Index of the first word that is no option, options are moved before it; else the negated exit
 * status to end with: -h and --help print "usage", and what is wrong has been said.
 */
int davy_options_read(int argc, char **argv, enum davy_options_mode mode, const char *usage,
		      const struct davy_option *options);

#endif

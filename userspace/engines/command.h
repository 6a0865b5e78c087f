/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses a command line: the program behind wrappers, a loader or Python, and its options. */
#ifndef DAVY_COMMAND_H
#define DAVY_COMMAND_H

#include "engines/engine.h"

struct davy_command {
	const char *title;   /* argv[0], unmodified */
	const char *path;    /* the program, or Python's script */
	const char *program; /* its last component */
	const char *module;  /* of python -m, "" else */
	char *const *args;   /* its arguments; ends with NULL, never NULL itself */
	bool python;	     /* run by Python */
};

void davy_command_of(const struct davy_engine_look *look, struct davy_command *ret_command);

/* True if "text" is in "list" (words). '*' at the start or end of a word matches anything. */
bool davy_word_in(const char *list, const char *text);

/* The last value of the options in "names" ("-c --ctx-size"), also of "--name=value", or NULL. */
const char *davy_option(char *const args[], const char *names);
bool davy_has_option(char *const args[], const char *names);

/* The variable's value; NULL if it is not set or the environment is unknown. */
const char *davy_env(const struct davy_engine_look *look, const char *name);

/* The option, otherwise the variable: the command line has priority. */
const char *davy_setting(const struct davy_engine_look *look, const struct davy_command *command,
			 const char *names, const char *variable);

/* A number of tokens, also vLLM's "32k"; 0 if invalid. */
uint32_t davy_token_count(const char *text);
uint16_t davy_port(const char *text);

#endif

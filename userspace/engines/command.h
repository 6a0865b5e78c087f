/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command line taken apart: what runs behind a loader or Python, and its options. */
#ifndef DAVY_COMMAND_H
#define DAVY_COMMAND_H

#include "engines/engine.h"

struct davy_command {
	const char *title;   /* argv[0] as it stands */
	const char *path;    /* of what really runs: the program, or Python's script */
	const char *program; /* its last component */
	const char *module;  /* of python -m, "" else */
	char *const *args;   /* behind it; ends with NULL, never NULL itself */
};

void davy_command_of(const struct davy_engine_look *look, struct davy_command *ret_command);

/* Whether "text" is one of the words of "list"; a '*' at a word's end or beginning is anything. */
bool davy_word_in(const char *list, const char *text);

/* The last value of the options in "names" ("-c --ctx-size"), "--name=value" too, or NULL. */
const char *davy_option(char *const args[], const char *names);
bool davy_has_option(char *const args[], const char *names);

/* The variable's value; NULL when it is not set or the environment is not known. */
const char *davy_env(const struct davy_engine_look *look, const char *name);

/* The option, else the variable: the command line wins. */
const char *davy_setting(const struct davy_engine_look *look, const struct davy_command *command,
			 const char *names, const char *variable);

/* A number of tokens, "32k" as vLLM reads it too; 0 when it is none. */
uint32_t davy_token_count(const char *text);
uint16_t davy_port(const char *text);

#endif

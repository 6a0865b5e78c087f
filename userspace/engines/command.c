/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/command.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engines/wrapper.h"
#include "lib/text.h"

#define ENV_MAX 4096

/* glibc's ld.so(8) as of 2.43. */
static const char loaders[] = "ld-linux* ld-musl* ld.so ld64.so*";
static const char loader_values[] = "--library-path --preload --audit --argv0 --inhibit-rpath "
				    "--glibc-hwcaps-prepend --glibc-hwcaps-mask";
static const char pythons[] = "python python2* python3* pypy*";
static const char python_values[] = "-X -W --check-hash-based-pycs";

static bool command_word_matches(const char *word, size_t len, const char *text)
{
	size_t text_len = strlen(text);

	if (len > 1 && word[0] == '*')
		return text_len >= len - 1 &&
		       !strncmp(text + text_len - (len - 1), word + 1, len - 1);
	if (len > 1 && word[len - 1] == '*')
		return !strncmp(text, word, len - 1);
	return len == text_len && !strncmp(text, word, len);
}

bool davy_word_in(const char *list, const char *text)
{
	while (list && *list) {
		size_t len = strcspn(list, " ");

		if (len && command_word_matches(list, len, text))
			return true;
		list += len + (list[len] == ' ');
	}
	return false;
}

/* Skips the options before the program. Those in "values" have a value. */
static char *const *command_skip_options(char *const *at, const char *values)
{
	while (*at && (*at)[0] == '-' && (*at)[1]) {
		if (!strcmp(*at, "-m") || !strcmp(*at, "-c"))
			return at;
		if (davy_word_in(values, *at) && at[1])
			at++;
		at++;
	}
	return at;
}

static void command_of_python(struct davy_command *c)
{
	char *const *at = command_skip_options(c->args, python_values);

	if (!*at)
		return;
	if (!strcmp(*at, "-c")) { /* inline code: there is no program name */
		c->args = at + 1;
		return;
	}
	if (!strcmp(*at, "-m")) {
		if (!at[1])
			return;
		c->module = at[1];
		c->path = c->program = at[1];
		c->args = at + 2;
		return;
	}
	c->path = *at;
	c->program = davy_base_name(*at);
	c->args = at + 1;
}

void davy_command_of(const struct davy_engine_look *look, struct davy_command *ret_command)
{
	static char *const nothing[] = { NULL };
	struct davy_command c = { .title = "", .path = "", .program = "", .module = "", nothing };
	struct davy_wrapped own = { .argv = look->argv };

	if (look->typed)
		davy_wrapped_of(look->argv, &own);
	if (own.argv && own.argv[0]) {
		c.title = c.path = own.argv[0];
		c.program = davy_base_name(c.path);
		c.args = own.argv + 1;
	}
	if (davy_word_in(loaders, c.program) || davy_word_in(loaders, davy_base_name(look->exe))) {
		char *const *at = command_skip_options(c.args, loader_values);

		if (*at) {
			c.path = *at;
			c.program = davy_base_name(*at);
			c.args = at + 1;
		}
	}
	c.python = davy_word_in(pythons, c.program);
	if (c.python)
		command_of_python(&c);
	*ret_command = c;
}

/* The text after "name=", or NULL. */
static const char *command_after_name(const char *text, const char *name, size_t len)
{
	return !strncmp(text, name, len) && text[len] == '=' ? text + len + 1 : NULL;
}

static const char *command_value_at(char *const *at, const char *names)
{
	if (davy_word_in(names, *at))
		return at[1];
	if ((*at)[0] != '-' || (*at)[1] != '-' || !strchr(*at, '='))
		return NULL;
	while (*names) {
		size_t len = strcspn(names, " ");
		const char *value = command_after_name(*at, names, len);

		if (value)
			return value;
		names += len + (names[len] == ' ');
	}
	return NULL;
}

const char *davy_option(char *const args[], const char *names)
{
	const char *found = NULL;

	for (size_t i = 0; i < DAVY_ARGS_MAX && args[i]; i++) {
		const char *value = command_value_at(args + i, names);

		if (value)
			found = value; /* the last one counts */
	}
	return found;
}

bool davy_has_option(char *const args[], const char *names)
{
	for (size_t i = 0; i < DAVY_ARGS_MAX && args[i]; i++)
		if (davy_word_in(names, args[i]))
			return true;
	return false;
}

/* "env NAME=VALUE llama-server" */
static const char *command_assigned(char *const *at, char *const *end, const char *name, size_t len)
{
	const char *found = NULL;

	for (; at < end; at++) {
		const char *value = command_after_name(*at, name, len);

		if (value)
			found = value;
	}
	return found;
}

const char *davy_env(const struct davy_engine_look *look, const char *name)
{
	size_t len = strlen(name);
	struct davy_wrapped own = { .argv = look->argv };
	const char *assigned;

	if (look->typed)
		davy_wrapped_of(look->argv, &own);
	assigned = command_assigned(look->argv, own.argv, name, len);
	if (assigned || own.own_environment)
		return assigned;
	for (size_t i = 0; look->envp && i < ENV_MAX && look->envp[i]; i++) {
		const char *value = command_after_name(look->envp[i], name, len);

		if (value)
			return value;
	}
	return NULL;
}

const char *davy_setting(const struct davy_engine_look *look, const struct davy_command *command,
			 const char *names, const char *variable)
{
	const char *value = davy_option(command->args, names);

	if (!value && variable)
		value = davy_env(look, variable);
	return value && *value ? value : NULL;
}

uint32_t davy_token_count(const char *text)
{
	unsigned long long value;
	char *end;

	if (!text || !isdigit((unsigned char)text[0]))
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || value > UINT32_MAX)
		return 0;
	if (*end == 'k' || *end == 'K')
		value *= *end++ == 'k' ? 1000 : 1024;
	return *end || value > INT32_MAX ? 0 : (uint32_t)value;
}

uint16_t davy_port(const char *text)
{
	uint32_t port = davy_token_count(text);

	return port <= UINT16_MAX ? (uint16_t)port : 0;
}

void davy_engine_set_model(struct davy_engine_facts *facts, const char *name)
{
	davy_text_safe(facts->model, sizeof(facts->model), name);
	for (char *at = facts->model; *at; at++)
		if (*at == ';' || (*at == '#' && at == facts->model))
			*at = ',';
}

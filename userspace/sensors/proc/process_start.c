/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/process_start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"

static ssize_t process_start_read_proc(uint32_t pid, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), "/proc/%u/%s", pid, name);

	return err ? err : davy_read_file(path, buf, size);
}

static void process_start_split(char *text, ssize_t size, char **list, size_t max)
{
	size_t count = 0;

	for (char *at = text; size > 0 && at < text + size && count < max; at += strlen(at) + 1)
		list[count++] = at;
	list[count] = NULL;
}

int davy_process_start_texts(uint32_t pid, char command[DAVY_START_TEXT_MAX], size_t *ret_command,
			     char environment[DAVY_START_TEXT_MAX], size_t *ret_environment,
			     char ret_exe[PATH_MAX])
{
	ssize_t n = process_start_read_proc(pid, "cmdline", command, DAVY_START_TEXT_MAX);
	char path[PATH_MAX];

	if (n <= 0)
		return -ESRCH;
	*ret_command = (size_t)n;
	n = process_start_read_proc(pid, "environ", environment, DAVY_START_TEXT_MAX);
	*ret_environment = n > 0 ? (size_t)n : 0;
	environment[*ret_environment] = 0;
	n = davy_root_path(path, sizeof(path), "/proc/%u/exe", pid)
		    ? 0
		    : readlink(path, ret_exe, PATH_MAX - 1);
	ret_exe[n > 0 ? n : 0] = 0;
	return 0;
}

static void process_start_cut(struct davy_process_start *s, size_t command_size,
			      size_t environment_size)
{
	process_start_split(s->command, (ssize_t)command_size, s->argv, DAVY_ARGS_MAX);
	process_start_split(s->environment, (ssize_t)environment_size, s->envp, DAVY_START_ENV_MAX);
}

struct davy_process_start *davy_process_start_of(const char *command, size_t command_size,
						 const char *environment, size_t environment_size,
						 const char *exe)
{
	struct davy_process_start *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	memcpy(s->command, command, command_size);
	memcpy(s->environment, environment, environment_size);
	snprintf(s->exe, sizeof(s->exe), "%s", exe);
	process_start_cut(s, command_size, environment_size);
	return s;
}

struct davy_process_start *davy_process_start_read(uint32_t pid)
{
	struct davy_process_start *s = calloc(1, sizeof(*s));
	size_t command, environment;

	if (s && davy_process_start_texts(pid, s->command, &command, s->environment, &environment,
					  s->exe)) {
		free(s);
		return NULL;
	}
	if (s)
		process_start_cut(s, command, environment);
	return s;
}

struct davy_engine_look davy_process_start_look(const struct davy_process_start *start)
{
	return (struct davy_engine_look){
		.argv = start->argv, .envp = start->envp, .exe = start->exe, .parent = ""
	};
}

static bool process_start_is_named(const char *variable, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(variable, name, len) && variable[len] == '=';
}

bool davy_process_start_has(const struct davy_process_start *s, const char *name, const char *value)
{
	for (size_t i = 0; s->envp[i]; i++)
		if (process_start_is_named(s->envp[i], name))
			return !strcmp(s->envp[i] + strlen(name) + 1, value);
	return false;
}

void davy_process_start_unset(struct davy_process_start *s, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; s->envp[i]; i++)
		if (!process_start_is_named(s->envp[i], name))
			s->envp[kept++] = s->envp[i];
	s->envp[kept] = NULL;
}

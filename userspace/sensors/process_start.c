/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process_start.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/file.h"

static ssize_t read_proc(uint32_t pid, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	int err = dl_root_path(path, sizeof(path), "/proc/%u/%s", pid, name);

	return err ? err : dl_read_file(path, buf, size);
}

static void split(char *text, ssize_t size, char **list, size_t max)
{
	size_t count = 0;

	for (char *at = text; size > 0 && at < text + size && count < max; at += strlen(at) + 1)
		list[count++] = at;
	list[count] = NULL;
}

struct dl_process_start *dl_process_start_read(uint32_t pid)
{
	struct dl_process_start *s = calloc(1, sizeof(*s));
	char path[PATH_MAX];
	ssize_t n;

	if (!s)
		return NULL;
	n = read_proc(pid, "cmdline", s->command, sizeof(s->command));
	split(s->command, n, s->argv, DL_ARGS_MAX);
	if (n <= 0) {
		free(s);
		return NULL;
	}
	n = read_proc(pid, "environ", s->environment, sizeof(s->environment));
	split(s->environment, n, s->envp, DL_START_ENV_MAX);
	if (!dl_root_path(path, sizeof(path), "/proc/%u/exe", pid)) {
		n = readlink(path, s->exe, sizeof(s->exe) - 1);
		s->exe[n > 0 ? n : 0] = 0;
	}
	return s;
}

struct dl_engine_look dl_process_start_look(const struct dl_process_start *start)
{
	return (struct dl_engine_look){
		.argv = start->argv, .envp = start->envp, .exe = start->exe, .parent = ""
	};
}

static bool is_named(const char *variable, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(variable, name, len) && variable[len] == '=';
}

bool dl_process_start_has(const struct dl_process_start *s, const char *name, const char *value)
{
	for (size_t i = 0; s->envp[i]; i++)
		if (is_named(s->envp[i], name))
			return !strcmp(s->envp[i] + strlen(name) + 1, value);
	return false;
}

void dl_process_start_unset(struct dl_process_start *s, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; s->envp[i]; i++)
		if (!is_named(s->envp[i], name))
			s->envp[kept++] = s->envp[i];
	s->envp[kept] = NULL;
}

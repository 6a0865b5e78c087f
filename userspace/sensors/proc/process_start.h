/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command and environment of a process, kept after its end: a service is restarted with them.
 */
#ifndef DAVY_PROCESS_START_H
#define DAVY_PROCESS_START_H

#include <limits.h>

#include "engines/engine.h"

#define DAVY_START_TEXT_MAX ((size_t)64 * 1024) /* longer text is truncated */
#define DAVY_START_ENV_MAX  1024

struct davy_process_start {
	char command[DAVY_START_TEXT_MAX];
	char environment[DAVY_START_TEXT_MAX];
	char exe[PATH_MAX];
	char *argv[DAVY_ARGS_MAX + 1];
	char *envp[DAVY_START_ENV_MAX + 1];
};

/* The caller frees the result; NULL if the process is gone or memory is short. */
struct davy_process_start *davy_process_start_read(uint32_t pid);

/* Only the texts, each followed by a NUL. -ESRCH: the process is gone or has no command line. */
int davy_process_start_texts(uint32_t pid, char command[DAVY_START_TEXT_MAX], size_t *ret_command,
			     char environment[DAVY_START_TEXT_MAX], size_t *ret_environment,
			     char ret_exe[PATH_MAX]);

/* The same, from both texts: each shorter than DAVY_START_TEXT_MAX and followed by a NUL. */
struct davy_process_start *davy_process_start_of(const char *command, size_t command_size,
						 const char *environment, size_t environment_size,
						 const char *exe);

/* The form that the engines inspect; valid as long as "start". */
struct davy_engine_look davy_process_start_look(const struct davy_process_start *start);

/* True if it was started with NAME=value. */
bool davy_process_start_has(const struct davy_process_start *start, const char *name,
			    const char *value);

/* Removes the variable. */
void davy_process_start_unset(struct davy_process_start *start, const char *name);

#endif

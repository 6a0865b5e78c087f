/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process was started with, kept beyond its end: a service is started anew like it. */
#ifndef DAVY_PROCESS_START_H
#define DAVY_PROCESS_START_H

#include <limits.h>

#include "engines/engine.h"

#define DAVY_START_TEXT_MAX ((size_t)64 * 1024) /* what is longer is cut */
#define DAVY_START_ENV_MAX  1024

struct davy_process_start {
	char command[DAVY_START_TEXT_MAX];
	char environment[DAVY_START_TEXT_MAX];
	char exe[PATH_MAX];
	char *argv[DAVY_ARGS_MAX + 1];
	char *envp[DAVY_START_ENV_MAX + 1];
};

/* To be freed; NULL when it is gone, or there is no memory. */
struct davy_process_start *davy_process_start_read(uint32_t pid);

/* Only the texts, each with a NUL behind it. -ESRCH: it is gone, or has no command line. */
int davy_process_start_texts(uint32_t pid, char command[DAVY_START_TEXT_MAX], size_t *ret_command,
			     char environment[DAVY_START_TEXT_MAX], size_t *ret_environment,
			     char ret_exe[PATH_MAX]);

/*
 * The same, out of the texts of /proc/PID/{cmdline,environ}: each shorter than DAVY_START_TEXT_MAX
 * and with a NUL behind it.
 */
struct davy_process_start *davy_process_start_of(const char *command, size_t command_size,
						 const char *environment, size_t environment_size,
						 const char *exe);

/* As the engines look at it; good as long as "start" is. */
struct davy_engine_look davy_process_start_look(const struct davy_process_start *start);

/* Whether it was started with NAME=value. */
bool davy_process_start_has(const struct davy_process_start *start, const char *name,
			    const char *value);

/* As if the variable had not been set. */
void davy_process_start_unset(struct davy_process_start *start, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process was started with, kept beyond its end: a service is started anew like it. */
#ifndef DL_SENSORS_PROCESS_START_H
#define DL_SENSORS_PROCESS_START_H

#include <limits.h>

#include "engines/engine.h"

#define DL_START_TEXT_MAX ((size_t)64 * 1024) /* what is longer is cut */
#define DL_START_ENV_MAX  1024

struct dl_process_start {
	char command[DL_START_TEXT_MAX];
	char environment[DL_START_TEXT_MAX];
	char exe[PATH_MAX];
	char *argv[DL_ARGS_MAX + 1];
	char *envp[DL_START_ENV_MAX + 1];
};

/* To be freed; NULL when it is gone, or there is no memory. */
struct dl_process_start *dl_process_start_read(uint32_t pid);

/* Only the texts, each with a NUL behind it. -ESRCH: it is gone, or has no command line. */
int dl_process_start_texts(uint32_t pid, char command[DL_START_TEXT_MAX], size_t *ret_command,
			   char environment[DL_START_TEXT_MAX], size_t *ret_environment,
			   char ret_exe[PATH_MAX]);

/*
 * The same, out of the texts of /proc/PID/{cmdline,environ}: each shorter than DL_START_TEXT_MAX
 * and with a NUL behind it.
 */
struct dl_process_start *dl_process_start_of(const char *command, size_t command_size,
					     const char *environment, size_t environment_size,
					     const char *exe);

/* As the engines look at it; good as long as "start" is. */
struct dl_engine_look dl_process_start_look(const struct dl_process_start *start);

/* Whether it was started with NAME=value. */
bool dl_process_start_has(const struct dl_process_start *start, const char *name,
			  const char *value);

/* As if the variable had not been set. */
void dl_process_start_unset(struct dl_process_start *start, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages for users, on stderr. Only the layer that gives up or degrades logs; lower layers return
 * -errno. A message names the object in quotes, what failed, and what happens now.
 */
#ifndef DAVY_LOG_H
#define DAVY_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum davy_exit {
	DAVY_EXIT_DONE = 0,
	DAVY_EXIT_FAILED = 1,
	DAVY_EXIT_USAGE = 2,
	DAVY_EXIT_NOT_PERMITTED = 3,
	DAVY_EXIT_NOTHING = 4, /* nothing to do, or unsupported here */
};

/*
 * Sends all further messages to "write" instead of stderr; NULL: stderr again. If "write" returns
 * false, the line is lost and the next line reports it.
 */
typedef bool (*davy_log_writer)(void *arg, const char *text, size_t size);
void davy_log_through(davy_log_writer write, void *arg);

/* If stderr is the journal, the line has priority "warning", and davy_debug's "debug". */
void davy_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like davy_log, but only with --verbose. */
void davy_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void davy_log_verbose(int on);

#endif

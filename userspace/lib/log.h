/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages for people, on stderr. Only the layer that gives up or degrades logs; the layers below
 * return -errno. A message names the object in quotes, what was tried, and what happens now.
 */
#ifndef DL_LIB_LOG_H
#define DL_LIB_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum dl_exit {
	DL_EXIT_DONE = 0,
	DL_EXIT_FAILED = 1,
	DL_EXIT_USAGE = 2,
	DL_EXIT_NOT_PERMITTED = 3,
	DL_EXIT_NOTHING = 4, /* nothing to do, or unsupported here */
};

/*
 * From now on through "write" instead of stderr; NULL: as before. False from it: a line was lost,
 * which the next one that is written tells.
 */
typedef bool (*dl_log_writer)(void *arg, const char *text, size_t size);
void dl_log_through(dl_log_writer write, void *arg);

void dl_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As dl_log, and only when --verbose was given. */
void dl_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dl_log_verbose(int on);

#endif

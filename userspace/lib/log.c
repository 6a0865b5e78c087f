/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static int verbose;

void dl_log_verbose(int on)
{
	verbose = on;
}

static void say(const char *format, va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "davylamp: %s\n",
		line); /* one write: lines of several processes stay whole */
}

void dl_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void dl_debug(const char *format, ...)
{
	va_list args;

	if (!verbose)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int verbose;
static davy_log_writer writer;
static void *writer_arg;
static unsigned int lost_count;

void davy_log_through(davy_log_writer write, void *arg)
{
	writer = write;
	writer_arg = arg;
}

void davy_log_verbose(int on)
{
	verbose = on;
}

static void log_report_lost(void)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "davylamp: %u messages were not printed\n",
			 lost_count);

	if (writer(writer_arg, line, (size_t)n))
		lost_count = 0;
}

static void log_print(const char *format, va_list args)
{
	static const char name[] = "davylamp: ";
	char line[1024];
	size_t length = sizeof(name) - 1;

	memcpy(line, name, length);
	vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	length = strlen(line);
	line[length++] = '\n';
	if (!writer) { /* one write, so that lines of several processes do not mix */
		fwrite(line, 1, length, stderr);
		return;
	}
	if (lost_count)
		log_report_lost();
	lost_count += !writer(writer_arg, line, length);
}

void davy_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_print(format, args);
	va_end(args);
}

void davy_debug(const char *format, ...)
{
	va_list args;

	if (!verbose)
		return;
	va_start(args, format);
	log_print(format, args);
	va_end(args);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

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

/* The journal takes the priority of a line from its beginning: sd-daemon(3), systemd.exec(5). */
static const char *log_priority(const char *priority)
{
	const char *journal = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	if (!journal || sscanf(journal, "%llu:%llu", &device, &inode) != 2 ||
	    fstat(STDERR_FILENO, &st) || st.st_dev != device || st.st_ino != inode)
		return "";
	return priority;
}

static void log_report_lost(void)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%sdavylamp: %u messages were not printed\n",
			 log_priority(SD_WARNING), lost_count);

	if (writer(writer_arg, line, (size_t)n))
		lost_count = 0;
}

static void log_print(const char *priority, const char *format, va_list args)
{
	char line[1024];
	size_t length;

	length = (size_t)snprintf(line, sizeof(line), "%sdavylamp: ", log_priority(priority));
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
	log_print(SD_WARNING, format, args);
	va_end(args);
}

void davy_debug(const char *format, ...)
{
	va_list args;

	if (!verbose)
		return;
	va_start(args, format);
	log_print(SD_DEBUG, format, args);
	va_end(args);
}

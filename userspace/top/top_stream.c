/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On a pipe: a header, then a line for each decision and event, until the reader or agent ends. */
#include "top/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/message.h"
#include "lib/text.h"

#define LINE_SIZE 2048

static void stream_date(const json_t *status, json_int_t at_ns, char *buf, size_t size)
{
	time_t wall = (time_t)davy_top_wall(status, at_ns);
	struct tm tm;

	if (!gmtime_r(&wall, &tm) || !strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(buf, size, "-");
}

static void stream_header(const struct davy_top *top)
{
	const json_t *now = top->answer[0];
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	printf("# davylamp top on %s: mode %s, %zu GPUs, %zu engines, %zu alarms stand\n", host,
	       davy_message_text(now, "mode"), json_array_size(json_object_get(now, "gpus")),
	       json_array_size(json_object_get(now, "processes")),
	       json_array_size(json_object_get(now, "alarms")));
	printf("# time (UTC), seconds since boot, then HAZARD an alarm with its level, cleared its "
	       "end,\n# PLAN an action, outcome its result, FAILURE a failure, policy a breaker, "
	       "others: events\n");
}

static void stream_line(const struct davy_top *top, const json_t *line, bool json)
{
	const json_t *body = json_object_get(line, "json");
	json_int_t at_ns = davy_message_number(body, "at_ns", 0);
	char date[32], safe[LINE_SIZE];

	if (json) {
		json_dumpf(body, stdout, JSON_COMPACT);
		putchar('\n');
		return;
	}
	stream_date(top->answer[0], at_ns, date, sizeof(date));
	printf("%s %lld.%03lld %s\n", date, (long long)at_ns / 1000000000,
	       (long long)at_ns / 1000000 % 1000,
	       davy_text_shown(safe, sizeof(safe), davy_top_line_text(line)));
}

/* Prints and forgets the lines of the last answer; -EPIPE: the reader has ended. */
static int stream_lines(struct davy_top *top, bool json)
{
	const json_t *line;
	size_t i;

	json_array_foreach(top->lines, i, line)
	{
		if (json || davy_top_line_shown(top, line))
			stream_line(top, line, json);
	}
	json_array_clear(top->lines);
	return fflush(stdout) ? -errno : 0;
}

static void stream_wait(unsigned int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

int davy_top_stream(struct davy_top *top, unsigned int interval_ms, bool json)
{
	int err = 0;

	if (!json)
		stream_header(top);
	while (!err && !stream_lines(top, json)) {
		stream_wait(interval_ms);
		err = davy_top_take(top);
		if (err && err != -ENODATA && !top->in.replayed) {
			davy_log("%s; this view ends", top->trouble);
			return DAVY_EXIT_FAILED;
		}
	}
	return DAVY_EXIT_DONE;
}

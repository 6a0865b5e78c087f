/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decisions and events as they come: plain lines, or NDJSON with --json. davylamp-top has a screen.
 * If the reader closes the pipe or stops reading, only the output stops, not the agent.
 */
#include "agent/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "report/event_text.h"
#include "report/plan_text.h"

static bool write_message(void *arg, const char *text, size_t size)
{
	return davy_writer_put(arg, text, size);
}

static void open_one(struct davy_writer *writer, int fd, const char *name)
{
	int err = davy_writer_open(writer, fd);

	if (err)
		davy_log(
			"cannot open the terminal of %s again (%s): the agent writes nothing to it",
			name, strerror(-err));
}

void davy_output_open(struct davy_agent *a)
{
	a->terminal = !a->options.json && isatty(STDOUT_FILENO);
	open_one(&a->out, STDOUT_FILENO, "stdout");
	open_one(&a->messages, STDERR_FILENO, "stderr");
	davy_log_through(write_message, &a->messages);
}

void davy_output_close(struct davy_agent *a)
{
	davy_log_through(NULL, NULL);
	davy_writer_close(&a->out);
	davy_writer_close(&a->messages);
}

/* A reader that does not read loses lines, which are counted; it does not block the agent. */
static void emit(struct davy_agent *a, char *text)
{
	size_t length = strlen(text);

	text[length] = '\n'; /* replaces the terminating 0 */
	if (!davy_writer_put(&a->out, text, length + 1)) {
		a->unprinted_count++;
		return;
	}
	if (a->unprinted_count)
		davy_log("%" PRIu64 " lines were not printed: the reader did not read",
			 a->unprinted_count);
	a->unprinted_count = 0;
}

void davy_output_plan(struct davy_agent *a, const struct davy_plan *plan)
{
	char text[DAVY_PLAN_TEXT_SIZE];
	char *json;

	davy_recent_add_plan(&a->recent, plan);
	if (!a->options.json) {
		davy_plan_text(plan, text, sizeof(text));
		emit(a, text);
		return;
	}
	json = davy_plan_json(plan);
	if (json)
		emit(a, json);
	free(json);
}

void davy_output_event(struct davy_agent *a, const struct davy_event *ev)
{
	char text[DAVY_EVENT_TEXT_SIZE];
	bool shown = davy_event_text(ev, text, sizeof(text));
	char *json;

	if (shown)
		a->recent.event[a->recent.event_count++ % DAVY_RECENT_EVENTS] = *ev;
	if (!a->options.json) {
		if (shown)
			emit(a, text);
		return;
	}
	json = davy_event_json(ev);
	if (json)
		emit(a, json);
	free(json);
}

void davy_output_tick(struct davy_agent *a)
{
	davy_writer_flush(&a->messages);
	davy_writer_flush(&a->out);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-top, the program of 'davylamp top': a view of what the agent sees, decides and does. It
 * asks the agent's socket; any user may. It changes nothing without --allow-act.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/message.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "store/config_value.h"
#include "top/top.h"
#include "verb/verb.h"

#define INTERVAL_MS	1000
#define INTERVAL_MAX_MS 3600000

static const char usage[] =
	"usage: davylamp top [OPTIONS]\n"
	"\n"
	"Shows on one screen whether anything is wrong, where, since when, what happens\n"
	"next and what was done: GPUs, engines, incidents of the last hour, and the\n"
	"agent's decisions. '?' explains the keys. On a pipe: a header, then one line for\n"
	"each decision and event. Changes nothing without --allow-act.\n"
	"\n"
	"  --json         no screen: one JSON object a line, as of 'davylamp run --json'\n"
	"  --once         print one screen as text and end; its size: LINES and COLUMNS\n"
	"  --allow-act    keys that pause, throttle or migrate a workload, and undo that;\n"
	"                 each asks first. Needs root, and an agent in mode enforce\n"
	"  --interval T   time between two answers of the agent (1 s)\n"
	"  --record FILE  also write the agent's answers to FILE\n"
	"  --replay FILE  show recorded answers instead of an agent's\n"
	"  --socket PATH  the agent's socket (/run/davylamp/agent.sock)\n"
	"  -h, --help     print this text\n"
	"\n"
	"NO_COLOR=1 turns colours off.\n";

struct top_options {
	bool json, once, allow_act;
	const char *record, *replay, *socket;
	uint32_t interval_ms;
};

static bool top_take_interval(void *interval_ms, const char *text)
{
	return davy_config_time_limit("--interval", text, INTERVAL_MAX_MS, interval_ms);
}

static int top_parse(int argc, char **argv, struct top_options *o)
{
	const struct davy_option options[] = {
		{ "json", .flag = &o->json },
		{ "once", .flag = &o->once },
		{ "allow-act", .flag = &o->allow_act },
		{ "interval", .take = top_take_interval, .arg = &o->interval_ms },
		{ "record", .text = &o->record },
		{ "replay", .text = &o->replay },
		{ "socket", .text = &o->socket },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);

	if (first <= 0)
		return first;
	if (first < argc) {
		davy_log("unexpected argument '%s'; see 'davylamp top --help'", argv[first]);
		return -DAVY_EXIT_USAGE;
	}
	if (o->allow_act && (o->json || o->once || o->replay)) {
		davy_log("--allow-act adds keys to the screen; --json, --once and --replay have "
			 "none");
		return -DAVY_EXIT_USAGE;
	}
	return 1;
}

static int top_open_files(struct davy_top *top, const struct top_options *o)
{
	const char *path = o->replay;

	if (path && !(top->in.replayed = fopen(path, "re")))
		goto fail;
	path = o->record;
	if (path && !(top->in.record = fopen(path, "we")))
		goto fail;
	return 0;
fail:
	davy_log("'%s': %s", path, strerror(errno));
	return DAVY_EXIT_FAILED;
}

static int top_size(const char *name, int fallback)
{
	const char *text = getenv(name);
	long value = text ? strtol(text, NULL, 10) : 0;

	return value > 0 && value <= DAVY_CANVAS_COLS_MAX ? (int)value : fallback;
}

/* A recording is shown as it was at its end. */
static int top_once(struct davy_top *top)
{
	struct davy_canvas c = { .unicode = !strcmp(nl_langinfo(CODESET), "UTF-8") };

	while (top->in.replayed && !davy_top_take(top))
		;
	if (davy_canvas_resize(&c, top_size("LINES", 40), top_size("COLUMNS", 120)))
		return DAVY_EXIT_FAILED;
	davy_draw(top, &c);
	davy_canvas_print(&c, stdout);
	davy_canvas_done(&c);
	return fflush(stdout) ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static int top_first(struct davy_top *top, const struct top_options *o)
{
	int err = davy_top_take(top);

	if (!err)
		return DAVY_EXIT_DONE;
	if (o->replay)
		davy_log("'%s' has no recorded answers of an agent; 'davylamp top --record FILE' "
			 "makes them",
			 o->replay);
	else if (davy_message_no_agent(err))
		davy_log("no agent answers on '%s' (%s); start it with 'davylamp run' as root",
			 o->socket, strerror(-err));
	else
		davy_log("the agent on '%s' does not answer: %s", o->socket, strerror(-err));
	if (!o->replay && davy_message_no_agent(err))
		return DAVY_EXIT_NOTHING;
	return err == -EACCES ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_FAILED;
}

static int top_run(struct davy_top *top, const struct top_options *o)
{
	int status = top_open_files(top, o);

	if (!status)
		status = top_first(top, o);
	if (status)
		return status;
	if (o->once)
		return top_once(top);
	if (o->json || !isatty(STDOUT_FILENO))
		return davy_top_stream(top, o->interval_ms, o->json);
	return davy_top_screen(top, o->interval_ms);
}

int main(int argc, char **argv)
{
	struct top_options o = { .socket = DAVY_SOCKET_DEFAULT, .interval_ms = INTERVAL_MS };
	struct davy_top *top;
	int status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED;
	setlocale(LC_ALL, "");
	status = top_parse(argc, argv, &o);
	if (status <= 0)
		return -status;
	top = calloc(1, sizeof(*top));
	if (!top)
		return DAVY_EXIT_FAILED;
	top->in.socket_path = o.socket;
	top->act.allowed = o.allow_act;
	top->lines = json_array();
	status = top_run(top, &o);
	davy_top_done(top);
	if (top->in.replayed)
		fclose(top->in.replayed);
	if (top->in.record)
		fclose(top->in.record);
	free(top);
	return status;
}

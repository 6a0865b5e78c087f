/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view: NDJSON with --json, plain lines on a pipe, a screen that is redrawn on a terminal.
 * If the reader closes the pipe or stops reading, only the output stops, not the agent.
 */
#include "agent/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/text.h"
#include "report/event_text.h"
#include "report/plan_text.h"

#define DRAW_NS (250 * DAVY_NS_PER_MS)

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

static void line(struct davy_agent *a, char *text)
{
	if (a->terminal) {
		char *slot = a->recent[a->recent_count++ % DAVY_RECENT_MAX];

		snprintf(slot, sizeof(a->recent[0]), "%s", text);
		a->drawn_ns = 0;
		return;
	}
	emit(a, text);
}

void davy_output_plan(struct davy_agent *a, const struct davy_plan *plan)
{
	char text[DAVY_PLAN_TEXT_SIZE];
	char *json;

	if (!a->options.json) {
		davy_plan_text(plan, text, sizeof(text));
		line(a, text);
		return;
	}
	json = davy_plan_json(plan);
	if (json)
		line(a, json);
	free(json);
}

void davy_output_event(struct davy_agent *a, const struct davy_event *ev)
{
	char text[DAVY_EVENT_TEXT_SIZE];
	char *json;

	if (!a->options.json) {
		if (davy_event_text(ev, text, sizeof(text)))
			line(a, text);
		return;
	}
	json = davy_event_json(ev);
	if (json)
		line(a, json);
	free(json);
}

static void draw_process(FILE *out, const struct davy_tracked *t)
{
	char comm[4 * DAVY_COMM_LEN], model[256], device[128];

	fprintf(out, "  %-8u %-16s %-8s %-16s %-24s %s\x1b[K\n", t->pid,
		davy_text_safe(comm, sizeof(comm), t->reported.comm),
		davy_backend_name(t->reported.backend),
		davy_text_safe(device, sizeof(device),
			       t->reported.device[0] ? t->reported.device : "-"),
		davy_text_shown(model, sizeof(model),
				t->reported.model[0] ? t->reported.model : "-"),
		t->reported.workload ? "adopted" : "observed");
}

static void draw_policy_error(FILE *out, const struct davy_agent *a)
{
	char error[2 * DAVY_CONFIG_ERROR_LEN];

	if (a->policy_error[0])
		fprintf(out,
			"  \x1b[1mpolicy: %s; the previous policy stays in force\x1b[0m\x1b[K\n",
			davy_text_shown(error, sizeof(error), a->policy_error));
}

static void draw(FILE *out, const struct davy_agent *a, uint64_t now_ns)
{
	size_t first = a->recent_count > DAVY_RECENT_MAX ? a->recent_count - DAVY_RECENT_MAX : 0;
	struct davy_ev_sensor s;

	fprintf(out,
		"\x1b[H\x1b[1mdavylamp\x1b[0m  mode %s  up %" PRIu64 " s  events %" PRIu64
		"\x1b[K\n",
		davy_mode_name((enum davy_mode)a->core.config.value[DAVY_CFG_MODE]),
		(now_ns - a->started_ns) / DAVY_NS_PER_S, a->event_count);
	draw_policy_error(out, a);
	fprintf(out, "  sensors:");
	for (size_t i = 0; a->bpf && davy_bpf_sensor(a->bpf, i, &s); i++)
		fprintf(out, " %s%s", s.name, s.state == DAVY_SENSOR_LIVE ? "" : "(-)");
	fprintf(out, "\x1b[K\n\n  %-8s %-16s %-8s %-16s %-24s\x1b[K\n", "PID", "ENGINE", "BACKEND",
		"DEVICE", "MODEL");
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++)
		if (a->tracked[i].pid && a->tracked[i].reported.engine != DAVY_ENGINE_NONE)
			draw_process(out, &a->tracked[i]);
	fprintf(out, "\x1b[K\n");
	for (size_t i = first; i < a->recent_count; i++)
		fprintf(out, "%s\x1b[K\n", a->recent[i % DAVY_RECENT_MAX]);
	fprintf(out, "\x1b[J");
}

/* A screen without room in the buffer is dropped: the next one contains everything. */
static void put_frame(struct davy_agent *a, uint64_t now_ns)
{
	char *frame = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&frame, &size);

	if (!out)
		return;
	draw(out, a, now_ns);
	if (!fclose(out))
		davy_writer_put(&a->out, frame, size);
	free(frame);
}

void davy_output_tick(struct davy_agent *a, uint64_t now_ns)
{
	davy_writer_flush(&a->messages);
	if (!davy_writer_flush(&a->out) || !a->terminal || now_ns - a->drawn_ns < DRAW_NS)
		return;
	a->drawn_ns = now_ns;
	put_frame(a, now_ns);
}

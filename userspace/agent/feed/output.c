/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view: NDJSON with --json, plain lines on a pipe, a redrawn screen on a terminal. A
 * reader that goes away or stands still ends the printing, not the agent.
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

#define DRAW_NS (250 * DL_NS_PER_MS)

static bool write_message(void *arg, const char *text, size_t size)
{
	return dl_outlet_put(arg, text, size);
}

static void open_one(struct dl_outlet *outlet, int fd, const char *name)
{
	int err = dl_outlet_open(outlet, fd);

	if (err)
		dl_log("the terminal of %s cannot be opened again (%s): nothing is written to it",
		       name, strerror(-err));
}

void dl_output_open(struct dl_agent *a)
{
	a->terminal = !a->options.json && isatty(STDOUT_FILENO);
	open_one(&a->out, STDOUT_FILENO, "stdout");
	open_one(&a->messages, STDERR_FILENO, "stderr");
	dl_log_through(write_message, &a->messages);
}

void dl_output_close(struct dl_agent *a)
{
	dl_log_through(NULL, NULL);
	dl_outlet_close(&a->out);
	dl_outlet_close(&a->messages);
}

/* A reader that stands still costs lines, which are counted, not the agent's time. */
static void emit(struct dl_agent *a, char *text)
{
	size_t length = strlen(text);

	text[length] = '\n'; /* instead of its end */
	if (!dl_outlet_put(&a->out, text, length + 1)) {
		a->unprinted_count++;
		return;
	}
	if (a->unprinted_count)
		dl_log("%" PRIu64 " lines were not printed: the reader stood still",
		       a->unprinted_count);
	a->unprinted_count = 0;
}

static void line(struct dl_agent *a, char *text)
{
	if (a->terminal) {
		char *slot = a->recent[a->recent_count++ % DL_RECENT_MAX];

		snprintf(slot, sizeof(a->recent[0]), "%s", text);
		a->drawn_ns = 0;
		return;
	}
	emit(a, text);
}

void dl_output_plan(struct dl_agent *a, const struct dl_plan *plan)
{
	char text[DL_PLAN_TEXT_SIZE];
	char *json;

	if (!a->options.json) {
		dl_plan_text(plan, text, sizeof(text));
		line(a, text);
		return;
	}
	json = dl_plan_json(plan);
	if (json)
		line(a, json);
	free(json);
}

void dl_output_event(struct dl_agent *a, const struct dl_event *ev)
{
	char text[DL_EVENT_TEXT_SIZE];
	char *json;

	if (!a->options.json) {
		if (dl_event_text(ev, text, sizeof(text)))
			line(a, text);
		return;
	}
	json = dl_event_json(ev);
	if (json)
		line(a, json);
	free(json);
}

static void draw_process(FILE *out, const struct dl_tracked *t)
{
	char comm[4 * DL_COMM_LEN], model[256], device[128];

	fprintf(out, "  %-8u %-16s %-8s %-16s %-24s %s\x1b[K\n", t->pid,
		dl_text_safe(comm, sizeof(comm), t->told.comm), dl_backend_name(t->told.backend),
		dl_text_safe(device, sizeof(device), t->told.device[0] ? t->told.device : "-"),
		dl_text_shown(model, sizeof(model), t->told.model[0] ? t->told.model : "-"),
		t->told.workload ? "adopted" : "observed");
}

static void draw_policy_error(FILE *out, const struct dl_agent *a)
{
	char error[2 * DL_CONFIG_ERROR_LEN];

	if (a->policy_error[0])
		fprintf(out, "  \x1b[1mpolicy: %s; what was in force before stays\x1b[0m\x1b[K\n",
			dl_text_shown(error, sizeof(error), a->policy_error));
}

static void draw(FILE *out, const struct dl_agent *a, uint64_t now_ns)
{
	size_t first = a->recent_count > DL_RECENT_MAX ? a->recent_count - DL_RECENT_MAX : 0;
	struct dl_ev_sensor s;

	fprintf(out,
		"\x1b[H\x1b[1mdavylamp\x1b[0m  mode %s  up %" PRIu64 " s  events %" PRIu64
		"\x1b[K\n",
		dl_mode_name((enum dl_mode)a->core.config.value[DL_CFG_MODE]),
		(now_ns - a->started_ns) / DL_NS_PER_S, a->event_count);
	draw_policy_error(out, a);
	fprintf(out, "  sensors:");
	for (size_t i = 0; a->bpf && dl_bpf_sensor(a->bpf, i, &s); i++)
		fprintf(out, " %s%s", s.name, s.state == DL_SENSOR_LIVE ? "" : "(-)");
	fprintf(out, "\x1b[K\n\n  %-8s %-16s %-8s %-16s %-24s\x1b[K\n", "PID", "ENGINE", "BACKEND",
		"DEVICE", "MODEL");
	for (size_t i = 0; i < DL_TRACKED_MAX; i++)
		if (a->tracked[i].pid && a->tracked[i].told.engine != DL_ENGINE_NONE)
			draw_process(out, &a->tracked[i]);
	fprintf(out, "\x1b[K\n");
	for (size_t i = first; i < a->recent_count; i++)
		fprintf(out, "%s\x1b[K\n", a->recent[i % DL_RECENT_MAX]);
	fprintf(out, "\x1b[J");
}

/* One that finds no room is dropped: the next one says it all. */
static void put_frame(struct dl_agent *a, uint64_t now_ns)
{
	char *frame = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&frame, &size);

	if (!out)
		return;
	draw(out, a, now_ns);
	if (!fclose(out))
		dl_outlet_put(&a->out, frame, size);
	free(frame);
}

void dl_output_tick(struct dl_agent *a, uint64_t now_ns)
{
	dl_outlet_flush(&a->messages);
	if (!dl_outlet_flush(&a->out) || !a->terminal || now_ns - a->drawn_ns < DRAW_NS)
		return;
	a->drawn_ns = now_ns;
	put_frame(a, now_ns);
}
